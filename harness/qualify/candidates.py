"""Loading a problem's mutants.py, with its faults reported as the organiser's, and choosing what is tried.

The module is organisers' code: trusted not to be hostile, not trusted to be right. Only the child process imports it.
It holds `compute(inputs, shape, arithmetic)`, the honest kernel, and `MUTANTS`, name -> mutant(inputs, shape); and may
hold `UNUSED` and `FIXED`: tensor name -> index of the elements that no output depends on, or that depend on no input.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import torch

from harness.errors import SpecError
from harness.qualify.arithmetic import LIMITS, VARIANTS
from harness.qualify.measurements import ACCEPT, EITHER, REFUSE, Candidate
from harness.qualify.mistakes import Mutant, Tensors
from harness.replay.inputs import Sample
from harness.replay.reference import load_module
from harness.spec import Problem

Index = tuple[slice, ...]


@dataclass(frozen=True)
class Roster:
    """Everything that is tried on a problem.

    Attributes:
        problem: the problem.
        candidates: honest variants, then mutants.
        functions: what each computes, by name.
        unused: the elements of inputs that no output depends on, by formula.
        fixed: the elements of outputs that depend on no input, by formula.
    """

    problem: Problem
    candidates: tuple[Candidate, ...]
    functions: Mapping[str, Callable[..., Any]]
    unused: Mapping[str, Index]
    fixed: Mapping[str, Index]

    def call(self, name: str, sample: Sample) -> Tensors:
        """Run a candidate on copies of a sample's inputs, and return its outputs in the declared dtypes.

        Raises:
            SpecError: it raised, or returned something of another form than task.yml declares.
        """
        copies = tuple(tensor.clone() for tensor in sample.inputs)
        try:
            with torch.no_grad():
                result = self.functions[name](copies, sample.request.sizes)
        except Exception as error:
            raise SpecError(
                f"{self._path}: {name} raised {type(error).__name__}: {error}{self._line(error)}"
            ) from error
        declared = self.problem.output_sizes(sample.request.sizes)
        found = tuple(result) if isinstance(result, (tuple, list)) else (result,)
        if [getattr(tensor, "shape", None) for tensor in found] != [torch.Size(sizes) for sizes in declared]:
            shapes = ", ".join(str(tuple(getattr(tensor, "shape", ()))) for tensor in found)
            raise SpecError(f"{self._path}: {name} returned shapes {shapes}; task.yml declares {_listed(declared)}")
        specs = self.problem.outputs
        return tuple(t.to(getattr(torch, s.dtype)).contiguous() for t, s in zip(found, specs, strict=True))

    @property
    def _path(self) -> str:
        return str(self.problem.folder / "mutants.py")

    def _line(self, error: Exception) -> str:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == self._path]
        return f" at line {lines[-1]}" if lines else ""


def load_roster(problem: Problem) -> Roster:
    """Import a problem's mutants.py.

    Raises:
        SpecError: there is none, it cannot be imported, or it lacks something.
    """
    path = problem.folder / "mutants.py"
    if not path.is_file():
        raise SpecError(f"{path}: no such file; a problem needs compute() and MUTANTS there to be qualified")
    module = load_module(path, f"mutants_of_{problem.name}")
    compute, mutants = getattr(module, "compute", None), getattr(module, "MUTANTS", None)
    if not callable(compute):
        raise SpecError(f"{path}: defines no function compute(), the honest kernel")
    if not isinstance(mutants, dict) or not mutants:
        raise SpecError(f"{path}: defines no MUTANTS, a dict of name -> function of (inputs, shape)")
    variants = {variant.name: partial(compute, arithmetic=variant) for variant in VARIANTS}
    clash = sorted(set(mutants) & set(variants))
    if clash:
        raise SpecError(f"{path}: a mutant cannot be called {clash[0]}: that is the name of a precision")
    honest = _variants(problem)
    return Roster(
        problem,
        (*honest, *_mutants(mutants)),
        {candidate.name: variants[candidate.name] for candidate in honest} | mutants,
        _indices(module, "UNUSED", [tensor.name for tensor in problem.inputs if not tensor.buffer], path),
        _indices(module, "FIXED", [tensor.name for tensor in problem.outputs], path),
    )


def declared(tensor: torch.Tensor, index: Index | None) -> torch.Tensor:
    """Return which elements of a tensor mutants.py declares to be of no account, as a mask."""
    mask = torch.zeros(tensor.shape, dtype=torch.bool)
    if index is not None:
        mask[index] = True
    return mask


def _variants(problem: Problem) -> tuple[Candidate, ...]:
    """The precisions from float32 down to the one that must fail."""
    least, too_low = LIMITS[problem.precision]
    chosen: list[Candidate] = []
    expected = ACCEPT
    for variant in VARIANTS:
        if variant is too_low:
            return (*chosen, Candidate(variant.name, mutant=False, expected=REFUSE))
        chosen.append(Candidate(variant.name, mutant=False, expected=expected))
        if variant is least:
            expected = EITHER
    return tuple(chosen)


def _mutants(mutants: Mapping[str, Mutant]) -> tuple[Candidate, ...]:
    terms = getattr(mutants, "terms", {})
    return tuple(
        Candidate(name, mutant=True, expected=REFUSE, mistake=_first_line(function), drops=terms.get(name))
        for name, function in mutants.items()
    )


def _first_line(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").split("\n")[0]


def _indices(module: ModuleType, name: str, tensors: list[str], path: object) -> Mapping[str, Index]:
    found = getattr(module, name, {})
    unknown = sorted(set(found) - set(tensors))
    if unknown:
        raise SpecError(f"{path}: {name} names {unknown[0]}, which is not one of {', '.join(tensors)}")
    return dict(found)


def _listed(shapes: tuple[tuple[int, ...], ...]) -> str:
    return ", ".join(str(shape) for shape in shapes)
