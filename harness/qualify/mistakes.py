"""What a problem's mutants.py is written with: the table of mutants, and the mistakes that any kernel can make.

A mutant is a function of the inputs (buffers included) and the shape that returns what a wrong kernel would, as a tuple
of tensors. Its name says the mistake, its docstring explains it in a line. Those here are made from a problem's own
`compute`, the honest kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import cycle
from typing import Any, TypeAlias

import torch

from harness.qualify.arithmetic import BFLOAT16, BFLOAT16_SUMS, TF32, Mixed

Tensors: TypeAlias = tuple[torch.Tensor, ...]
Shape: TypeAlias = Mapping[str, int]
Mutant: TypeAlias = Callable[[Tensors, Shape], Tensors]
Compute: TypeAlias = Callable[..., Tensors]  # (inputs, shape, arithmetic=FLOAT32)


class Mutants(dict[str, Mutant]):
    """A problem's mutants by name, and the terms of its formula that some of them leave out.

    Attributes:
        terms: the term that a mutant drops, by the mutant's name.
    """

    def __init__(self) -> None:
        super().__init__()
        self.terms: dict[str, str] = {}

    def add(self, mutant: Mutant) -> Mutant:
        """Add a mutant under its own name; works as a decorator."""
        name = mutant.__name__
        if name in self:
            raise ValueError(f"two mutants are called {name}")
        self[name] = mutant
        return mutant

    def drops(self, term: str) -> Callable[[Mutant], Mutant]:
        """Return a decorator that adds a mutant which is right but for one term of the formula."""

        def add(mutant: Mutant) -> Mutant:
            self.terms[mutant.__name__] = term
            return self.add(mutant)

        return add


def all_zero(compute: Compute) -> Mutant:
    """Return zeros of the right form."""

    def mutant(inputs: Tensors, shape: Shape) -> Tensors:
        return tuple(torch.zeros_like(output) for output in compute(inputs, shape))

    return _named(mutant, "all_zero", "Returns zeros.")


def bfloat16_sums(compute: Compute) -> Mutant:
    """Round every sum to bfloat16 while it grows."""

    def mutant(inputs: Tensors, shape: Shape) -> Tensors:
        return compute(inputs, shape, BFLOAT16_SUMS)

    return _named(mutant, "bfloat16_sums", "Adds up in bfloat16.")


def bfloat16_product(compute: Compute, number: int, count: int, name: str) -> Mutant:
    """Multiply with bfloat16 operands in one product of the formula, and with tf32 in the others.

    Args:
        compute: the honest kernel, which calls the arithmetic's `dot` for each product in turn.
        number: which product, from 0.
        count: how many there are.
        name: the mutant's.
    """

    def mutant(inputs: Tensors, shape: Shape) -> Tensors:
        turns = cycle([BFLOAT16 if turn == number else TF32 for turn in range(count)])
        return compute(inputs, shape, Mixed("mixed", turns=turns))

    return _named(mutant, name, f"Takes bfloat16 operands in product {number + 1} of {count}, tf32 in the others.")


def first_call_again(compute: Compute) -> Mutant:
    """Remember what the first call of each shape returned, and return it ever after."""
    remembered: dict[tuple[tuple[str, int], ...], Tensors] = {}

    def mutant(inputs: Tensors, shape: Shape) -> Tensors:
        key = tuple(sorted(shape.items()))
        if key not in remembered:
            remembered[key] = compute(inputs, shape)
        return tuple(output.clone() for output in remembered[key])

    return _named(mutant, "first_call_again", "Returns what it returned in its first call of the same shape.")


def input_returned(compute: Compute, given: int, output: int, name: str = "input_returned") -> Mutant:
    """Return an input, or a buffer as it came, in the place of one output.

    Args:
        compute: the honest kernel, which makes the other outputs.
        given: the number of the input.
        output: the number of the output.
        name: the mutant's.
    """

    def mutant(inputs: Tensors, shape: Shape) -> Tensors:
        return _replaced(compute(inputs, shape), output, inputs[given].clone())

    return _named(mutant, name, f"Returns input {given} as output {output}.")


def tail_unwritten(compute: Compute, output: int, dim: int, count: int, name: str = "tail_unwritten") -> Mutant:
    """Leave the end of an output as zeroed memory: harder to see than the harness's poison.

    Args:
        compute: the honest kernel.
        output: the number of the output.
        dim: along which of its axes.
        count: how many positions at the end are never written.
        name: the mutant's.
    """

    def mutant(inputs: Tensors, shape: Shape) -> Tensors:
        outputs = compute(inputs, shape)
        changed = outputs[output].clone()
        changed.narrow(dim, max(changed.shape[dim] - count, 0), min(count, changed.shape[dim])).zero_()
        return _replaced(outputs, output, changed)

    return _named(mutant, name, f"Never writes the last {count} of axis {dim} of output {output}: zeros stay there.")


def first_reused(compute: Compute, axis: str, dims: tuple[int | None, ...]) -> Mutant:
    """Use what belongs to index 0 of an axis, a batch or a head, for every other index.

    Args:
        compute: the honest kernel.
        axis: the axis' name in words, for the mutant's name.
        dims: where each output has it; None where it has not.
    """

    def reuse(output: torch.Tensor, dim: int | None) -> torch.Tensor:
        return output if dim is None else output.narrow(dim, 0, 1).expand_as(output).contiguous()

    def mutant(inputs: Tensors, shape: Shape) -> Tensors:
        return tuple(reuse(output, dim) for output, dim in zip(compute(inputs, shape), dims, strict=True))

    return _named(mutant, f"first_{axis}_reused", f"Computes the first {axis} and returns it for every other.")


def _replaced(outputs: Tensors, number: int, output: torch.Tensor) -> Tensors:
    return (*outputs[:number], output, *outputs[number + 1 :])


def _named(mutant: Any, name: str, mistake: str) -> Mutant:
    mutant.__name__, mutant.__doc__ = name, mistake
    named: Mutant = mutant
    return named
