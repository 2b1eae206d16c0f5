"""What the judge asks of a problem, as protocols: names, sizes, tolerances, axes.

Two classes answer: `spec.Problem`, read from task.yml, and `node.ProblemDocument`, which travels to a GPU machine that
has neither pydantic nor YAML. Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol


class Axis(Protocol):
    """One axis that a shape gives a size to."""

    @property
    def description(self) -> str:
        """What it counts."""

    @property
    def multiple_of(self) -> int:
        """What its size is a multiple of."""


class TensorSpec(Protocol):
    """A tensor of the interface."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def shape(self) -> Sequence[str | int]:
        """Its sizes as expressions over axes."""

    @property
    def dtype(self) -> str:
        """Its dtype, by torch's name."""

    @property
    def buffer(self) -> bool:
        """Whether it is memory for an output."""

    def sizes(self, values: Mapping[str, int]) -> tuple[int, ...]:
        """Return its sizes for axis values (constants included)."""


class Tolerance(Protocol):
    """How far an output may be from the reference."""

    @property
    def rtol(self) -> float:
        """Relative to the element."""

    @property
    def atol(self) -> float:
        """Absolute."""

    @property
    def relative_l2(self) -> float | None:
        """Over all elements; None for no cap."""


class Problem(Protocol):
    """A problem, as far as the judge is concerned."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def folder(self) -> Path:
        """Where its reference.py is."""

    @property
    def axes(self) -> Mapping[str, Axis]:
        """Its axes, in order."""

    @property
    def constants(self) -> Mapping[str, int]:
        """Sizes that no shape changes."""

    @property
    def inputs(self) -> Sequence[TensorSpec]:
        """Every input in order, buffers included."""

    @property
    def outputs(self) -> Sequence[TensorSpec]:
        """Every output in order."""

    @property
    def distribution_names(self) -> tuple[str, ...]:
        """The names of its input distributions."""

    def values(self, shape: Mapping[str, int]) -> dict[str, int]:
        """Return axis sizes and constants together."""

    def input_sizes(self, shape: Mapping[str, int]) -> tuple[tuple[int, ...], ...]:
        """Return the sizes of every input for a shape."""

    def output_sizes(self, shape: Mapping[str, int]) -> tuple[tuple[int, ...], ...]:
        """Return the sizes of every output for a shape."""

    def tolerance_of(self, output: str) -> Tolerance:
        """Return the tolerance of an output."""
