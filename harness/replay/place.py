"""Naming places in an output: axis labels, one element's place, the region that a set of elements makes up.

Labels come from task.yml's size expressions, and a one-letter axis described by a plural (`heads`) is called by it:
`[B, T/C, H, K, V]` reads `h[b=0, chunk=1, head=0, k=3, v=5]`. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch

from harness.replay.asked import Problem, TensorSpec

_QUOTIENT = re.compile(r"([A-Za-z_]\w*)\s*//?\s*([A-Za-z_]\w*|\d+)")
_COUNTED = re.compile(r"([a-z]+)s")
_PERIODS = (8, 16, 32, 64, 128, 256)


@dataclass(frozen=True)
class AxisLabel:
    """One axis of an output.

    Attributes:
        label: how its index is called.
        size: how long it is.
        chunk: positions per chunk where the axis runs through chunks (time), else None. An axis that counts the chunks
            themselves has 1.
    """

    label: str
    size: int
    chunk: int | None = None


def axis_labels(problem: Problem, tensor: TensorSpec, sizes: dict[str, int]) -> tuple[AxisLabel, ...]:
    """Return the axes of a tensor for a shape."""
    shape = tensor.sizes(problem.values(sizes))
    return tuple(_axis_label(problem, str(text), size) for text, size in zip(tensor.shape, shape, strict=True))


def _axis_label(problem: Problem, text: str, size: int) -> AxisLabel:
    axis = problem.axes.get(text)
    if axis is not None:
        counted = _COUNTED.fullmatch(axis.description) if len(text) == 1 else None
        label = counted.group(1) if counted else text.lower()
        return AxisLabel(label, size, axis.multiple_of if axis.multiple_of > 1 else None)
    quotient = _QUOTIENT.fullmatch(text)
    if quotient is None:
        return AxisLabel(text.lower(), size)
    over, under = quotient.groups()
    steps = problem.constants.get(under) or (int(under) if under.isdigit() else None)
    if over in problem.axes and steps is not None and steps == problem.axes[over].multiple_of:
        return AxisLabel("chunk", size, 1)
    return AxisLabel(under.lower() if len(under) > 1 and not under.isdigit() else text.lower(), size)


def place(name: str, axes: Sequence[AxisLabel], index: Sequence[int]) -> str:
    """Return an element's place, as in `h[b=0, chunk=1, head=0, k=3, v=5]`."""
    return f"{name}[{', '.join(f'{axis.label}={i}' for axis, i in zip(axes, index, strict=True))}]"


def projection(mask: torch.Tensor, axis: int) -> torch.Tensor:
    """Return for each position along an axis whether the mask holds anything there."""
    others = tuple(dim for dim in range(mask.dim()) if dim != axis)
    return mask.any(dim=others) if others else mask


def describe_region(mask: torch.Tensor, axes: Sequence[AxisLabel]) -> str | None:
    """Say where the True elements lie: the axes along which they are confined; None where there is no such axis."""
    parts = [_confinement(projection(mask, dim), axis) for dim, axis in enumerate(axes)]
    return ", ".join(part for part in parts if part) or None


def _confinement(present: torch.Tensor, axis: AxisLabel) -> str | None:
    positions = present.nonzero().flatten().tolist()
    if not positions or len(positions) == axis.size:
        return None
    first, last, count = positions[0], positions[-1], len(positions)
    if count == 1:
        return f"{axis.label}={first}"
    if last - first + 1 == count:
        share = f" (the last {count} of {axis.size})" if last == axis.size - 1 else ""
        share = f" (the first {count} of {axis.size})" if first == 0 else share
        return f"{axis.label}={first}..{last}{share}"
    steps = {after - before for before, after in pairwise(positions)}
    if len(steps) == 1 and count > 2:
        return f"{axis.label}={first}, {positions[1]}, ... {last} (one in {steps.pop()})"
    return None


def boundary(mask: torch.Tensor, dim: int, axis: AxisLabel) -> tuple[str, int, int] | None:
    """Find whether the True elements lie at the edge of every chunk or tile along an axis.

    Returns:
        ("first" or "last", how many positions, of how many), or None.
    """
    positions = projection(mask, dim).nonzero().flatten()
    for period in (axis.chunk,) if axis.chunk and axis.chunk > 1 else _PERIODS:
        blocks = axis.size // period
        if blocks < 2 or not len(positions):
            continue
        hit = len(set((positions // period).tolist()))
        residues = sorted(set((positions % period).tolist()))
        count = len(residues)
        if hit < 2 or 2 * hit < blocks or count > max(period // 8, 1):
            continue
        if residues == list(range(count)):
            return "first", count, period
        if residues == list(range(period - count, period)):
            return "last", count, period
    return None
