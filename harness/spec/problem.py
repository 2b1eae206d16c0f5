"""A problem as its folder states it: `problems/<name>/task.yml`.

Owns the form of the file and the questions that the numbers in it answer (sizes of a shape, tolerance of an
output, cost of a call). It never imports `reference.py`: only the judge does, in a process of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PrivateAttr, field_validator, model_validator

from harness.dtypes import DTYPE_BYTES
from harness.errors import SpecError
from harness.spec.consistency import find_inconsistencies
from harness.spec.constraints import EACH_ONCE, NO_TRUTH, matching
from harness.spec.document import Strict, load_document
from harness.spec.expression import evaluate
from harness.spec.outside import find_outside_faults
from harness.spec.wording import hint_of_names

Name = Annotated[
    str,
    matching(r"[A-Za-z][A-Za-z0-9_-]{0,63}", "a name is a letter, then letters, digits, _ and -, 64 in all"),
]
Precision = Literal["float32", "tf32", "float16", "bfloat16", "fp8"]
Shape = Mapping[str, int]
Whole = Annotated[int, NO_TRUTH]
WholeOrText = Annotated[str | int, NO_TRUTH]
ShapeEntry = dict[str, WholeOrText]
"""An entry of a list of shapes: a size for each axis, and perhaps the name of a distribution."""

# The files that make up a problem: together they are its version.
PROBLEM_FILES = ("task.yml", "reference.py")


class Axis(Strict):
    """One axis that a shape gives a size to."""

    description: str
    multiple_of: Whole = Field(1, ge=1)
    minimum: Whole = Field(1, ge=1)


class TensorSpec(Strict):
    """A tensor of the interface: its sizes are expressions over axes and constants."""

    name: Name
    shape: tuple[WholeOrText, ...]
    dtype: str
    description: str = ""
    buffer: bool = False

    @field_validator("dtype")
    @classmethod
    def _known_dtype(cls, dtype: str) -> str:
        if dtype not in DTYPE_BYTES:
            raise ValueError(f"unknown dtype; one of {', '.join(DTYPE_BYTES)}{hint_of_names(dtype, list(DTYPE_BYTES))}")
        return dtype

    def sizes(self, values: Mapping[str, int]) -> tuple[int, ...]:
        """Return the sizes for axis values (constants included)."""
        return tuple(evaluate(size, values) for size in self.shape)


class Tolerance(Strict):
    """How far an output may be from the reference: |got - ref| <= atol + rtol |ref|, and ||got - ref|| / ||ref||.

    The margins on both sides are measured, by `harness qualify`, which also says when they are off. In units of the
    tolerance: `accepted` is the largest error of an honest kernel, `refused` the smallest that gives a wrong one away.
    """

    rtol: float = Field(ge=0, lt=1)
    atol: float = Field(ge=0)
    relative_l2: float | None = Field(None, gt=0, lt=1)
    accepted: float | None = Field(None, ge=0, lt=1)
    refused: float | None = Field(None, gt=1)

    @model_validator(mode="after")
    def _both_margins(self) -> Tolerance:
        if (self.accepted is None) != (self.refused is None):
            raise ValueError("accepted and refused are the margins on the two sides: give both, or neither")
        return self


class Cost(Strict):
    """What the mathematics needs per call, as expressions: floating-point operations, bytes read and written."""

    flops: str | int
    read_bytes: str | int
    write_bytes: str | int


class Suite(Strict):
    """A named list of cases; what is left out is taken from the problem's own tests and benchmarks."""

    distribution: Name | None = None
    tests: tuple[ShapeEntry, ...] | None = None
    benchmarks: tuple[ShapeEntry, ...] | None = None
    gameable: bool = False
    note: str = ""
    source: str = ""


class Problem(Strict):
    """A problem of the season, as task.yml states it."""

    name: Name
    title: str
    aliases: Annotated[tuple[Name, ...], EACH_ONCE] = ()
    description: str
    axes: dict[Name, Axis]
    constants: dict[Name, Whole] = {}
    inputs: tuple[TensorSpec, ...] = Field(min_length=1)
    outputs: tuple[TensorSpec, ...] = Field(min_length=1)
    tolerance: dict[str, Tolerance]
    precision: Precision
    deterministic: bool = False
    distributions: dict[Name, str]
    tests: tuple[ShapeEntry, ...] = Field(min_length=1)
    benchmarks: tuple[ShapeEntry, ...] = Field(min_length=1)
    suites: dict[Name, Suite] = {}
    cost: Cost
    source: str = ""
    ranking: Literal["geometric_mean"] = "geometric_mean"

    _folder: Path = PrivateAttr()

    @property
    def folder(self) -> Path:
        """The folder that the problem was loaded from."""
        return self._folder

    @cached_property
    def version(self) -> str:
        """Content hash of the files that decide a verdict, 12 hex digits: boards never mix versions."""
        digest = hashlib.sha256()
        for name in PROBLEM_FILES:
            content = (self.folder / name).read_bytes()
            digest.update(f"{name} {len(content)}\n".encode() + content)
        return digest.hexdigest()[:12]

    def with_suites(self, suites: Mapping[str, Suite]) -> Problem:
        """Return the same problem, its version included, with further suites."""
        problem = self.model_copy(update={"suites": {**self.suites, **suites}})
        problem._folder = self._folder
        return problem

    @property
    def default_distribution(self) -> str:
        """The distribution that timing uses and that a shape without one gets."""
        return self.distributions["default"]

    @property
    def distribution_names(self) -> tuple[str, ...]:
        """The names of the input distributions."""
        return tuple(name for name in self.distributions if name != "default")

    def values(self, shape: Shape) -> dict[str, int]:
        """Return axis sizes and constants together."""
        return {**self.constants, **shape}

    def input_sizes(self, shape: Shape) -> tuple[tuple[int, ...], ...]:
        """Return the sizes of every input, buffers included, for a shape."""
        return tuple(tensor.sizes(self.values(shape)) for tensor in self.inputs)

    def output_sizes(self, shape: Shape) -> tuple[tuple[int, ...], ...]:
        """Return the sizes of every output for a shape."""
        return tuple(tensor.sizes(self.values(shape)) for tensor in self.outputs)

    def tolerance_of(self, output: str) -> Tolerance:
        """Return the tolerance of an output: its own, or the one for `all`."""
        return self.tolerance.get(output) or self.tolerance["all"]

    def cost_of(self, shape: Shape) -> tuple[int, int, int]:
        """Return (flops, read bytes, write bytes) of one call for a shape."""
        values = self.values(shape)
        return tuple(evaluate(text, values) for text in (self.cost.flops, self.cost.read_bytes, self.cost.write_bytes))  # type: ignore[return-value]


def load_problem(folder: Path) -> Problem:
    """Load and check the problem in a folder.

    Raises:
        SpecError: a file is missing, task.yml is not of the documented form, or reference.py takes something from
            outside of itself; every fault is listed.
    """
    path = folder / "task.yml"
    problem = load_document(path, Problem)
    faults = [*_name_fault(problem, folder), *find_inconsistencies(problem)]
    if faults:
        raise SpecError("\n".join(f"{path}: {fault}" for fault in faults))
    _check_reference(folder / "reference.py")
    problem._folder = folder
    return problem


def _check_reference(path: Path) -> None:
    """Hold reference.py to what the version covers; it is read, not run."""
    if not path.is_file():
        raise SpecError(f"{path}: no such file; a problem needs generate() and reference() there")
    faults = find_outside_faults(path.read_bytes())
    if faults:
        raise SpecError("\n".join(f"{path}: {fault}" for fault in faults))


def _name_fault(problem: Problem, folder: Path) -> Iterator[str]:
    if problem.name != folder.name:
        yield f"name: {problem.name!r} differs from the folder's, {folder.name!r}"


def problem_names(root: Path) -> tuple[str, ...]:
    """Return the names of all problems under `root`/problems, sorted."""
    return tuple(sorted(path.parent.name for path in (root / "problems").glob("*/task.yml")))
