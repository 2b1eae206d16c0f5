"""Loading problems as the tests need them: task.yml through the loader, Python files by path.

NAMES are those of our own of which tests here know more than what holds for every problem (test_every_problem.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import torch

from harness.replay.reference import load_module
from harness.spec.problem import Problem, Tolerance, load_problem

ROOT = Path(__file__).parents[2]
EVENT = ("causal_conv1d", "chunk_fwd_h", "chunk_fwd_o", "fp8_quant", "recompute_w_u")  # of the Helion Kernel Challenge
NAMES = (*EVENT, "gdn_forward", "softmax", "vector_add")
GATED = ("chunk_fwd_h", "chunk_fwd_o", "recompute_w_u")
CHUNKED = (*GATED, "gdn_forward")


@dataclass(frozen=True)
class Case:
    """A shape with a distribution."""

    shape: Mapping[str, int]
    distribution: str

    def __str__(self) -> str:
        return " ".join([*(f"{axis}={size}" for axis, size in self.shape.items()), self.distribution])


@cache
def problem(name: str) -> Problem:
    return load_problem(ROOT / "problems" / name)


@cache
def specification(name: str) -> ModuleType:
    return load_module(ROOT / "problems" / name / "reference.py", f"reference_of_{name}")


@cache
def kernels(name: str) -> ModuleType:
    """The problem's mutants.py: `compute`, the honest kernel in any arithmetic, and `MUTANTS`."""
    return load_module(ROOT / "problems" / name / "mutants.py", f"mutants_of_{name}")


def entry_case(name: str, entry: Mapping[str, int | str]) -> Case:
    shape = {axis: size for axis, size in entry.items() if axis != "distribution"}
    return Case(shape, entry.get("distribution", problem(name).default_distribution))


def cases_tested(name: str) -> Iterator[Case]:
    return (entry_case(name, entry) for entry in problem(name).tests)


def cases_timed(name: str) -> Iterator[Case]:
    return (entry_case(name, entry) for entry in problem(name).benchmarks)


def elements(name: str, case: Case) -> int:
    """How many elements the inputs and outputs of a case have together."""
    sizes = (*problem(name).input_sizes(case.shape), *problem(name).output_sizes(case.shape))
    return sum(math.prod(size) for size in sizes)


def draw(name: str, case: Case, seed: int = 0) -> tuple[torch.Tensor, ...]:
    return specification(name).generate(case.shape, case.distribution, torch.Generator().manual_seed(seed))


def expected(name: str, case: Case, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    return specification(name).reference(inputs, case.shape)


@dataclass(frozen=True)
class Distance:
    """How far an output is from the reference, in units of its tolerance: above 1 it fails."""

    elementwise: float
    relative_l2: float

    @property
    def worst(self) -> float:
        return max(self.elementwise, self.relative_l2)


def distance(got: torch.Tensor, reference: torch.Tensor, tolerance: Tolerance) -> Distance:
    error = (got.double() - reference).abs()
    norm = float(reference.norm())
    relative = float(error.norm()) / norm if norm else 0.0
    return Distance(
        elementwise=float((error / (tolerance.atol + tolerance.rtol * reference.abs())).max()),
        relative_l2=relative / tolerance.relative_l2,
    )


def distances(name: str, got: tuple[torch.Tensor, ...], reference: tuple[torch.Tensor, ...]) -> dict[str, Distance]:
    """Compare every output of a problem with the reference."""
    return {
        spec.name: distance(value, right, problem(name).tolerance_of(spec.name))
        for spec, value, right in zip(problem(name).outputs, got, reference, strict=True)
    }
