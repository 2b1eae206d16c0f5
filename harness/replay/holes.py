"""The likely cause of holes in an output: elements nobody wrote, NaN, infinity. Pure, and never a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from harness.replay.place import AxisLabel, projection

_EXP_LIMIT = 88.72  # exp of more than this is infinite in float32


def diagnose_unwritten(mask: torch.Tensor, axes: Sequence[AxisLabel]) -> str | None:
    """Return the likely cause of unwritten elements."""
    if bool(mask.all()):
        return "No kernel writes this output: is the tensor that is returned the one that the kernel stores to?"
    for dim, axis in enumerate(axes):
        positions = projection(mask, dim).nonzero().flatten().tolist()
        count, first = len(positions), positions[0]
        if count == axis.size or positions[-1] - first + 1 != count:
            continue
        if count == 1 and axis.chunk is None:
            return f"{axis.label}={first} is never written: the grid or an offset leaves it out."
        if first == axis.size - count and axis.chunk == 1:
            chunks = "chunk is" if count == 1 else f"{count} chunks are"
            return f"The last {chunks} never written (of {axis.size}): the loop over chunks ends early."
        if first == axis.size - count:
            return (
                f"The tail along {axis.label} (from {first} on) is never written: the grid or the mask doesn't cover "
                f"all {axis.size} positions."
            )
    return None


def diagnose_not_finite(
    inputs: Mapping[str, torch.Tensor], not_finite: torch.Tensor, expected: torch.Tensor
) -> str | None:
    """Return the likely cause of NaN or infinity.

    Args:
        inputs: what the call was given, by name.
        not_finite: which elements of the output are NaN or infinite.
        expected: the reference.
    """
    for name, tensor in inputs.items():
        if not _may_be_exponent(tensor, expected):
            continue
        spread = float(tensor.max() - tensor.min())
        if spread > _EXP_LIMIT:
            return (
                f"exp may have overflowed: values of {name} differ by up to {spread:.0f}, and exp of more than 88.7 is "
                f"infinite in float32. Take differences before exp, and mask before exp rather than after it."
            )
    if not bool(expected[not_finite].any()):
        return "NaN or infinity stands only where 0 is expected: a division by zero without its guard?"
    return None


def _may_be_exponent(tensor: torch.Tensor, output: torch.Tensor) -> bool:
    """Tell whether an input has one value for a whole row of the output, as gates have: its axes, less some."""
    if not tensor.is_floating_point() or not 1 < tensor.dim() < output.dim() or tensor.shape[0] != output.shape[0]:
        return False
    return all(size % whole == 0 for size, whole in zip(tensor.shape, output.shape, strict=False))
