"""Kernels that compute something else than fp8_quant, each by one mistake, and the honest one they are made from.

`harness qualify fp8_quant` runs them all; every one must be refused. One mistake is missing because no finite input
shows it: without the outer clamp the result is the same, since |x| <= 448 s already.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from harness.qualify.arithmetic import FLOAT32, Arithmetic
from harness.qualify.mistakes import (
    Mutants,
    Shape,
    Tensors,
    all_zero,
    first_call_again,
    first_reused,
    input_returned,
    tail_unwritten,
)

MUTANTS = Mutants()
LARGEST = 448.0
EPS = 1e-10

Magnitude = Callable[[torch.Tensor], torch.Tensor]  # groups (tokens, groups, group) -> (tokens, groups)


def compute(inputs: Tensors, shape: Shape, arithmetic: Arithmetic = FLOAT32) -> Tensors:
    """The honest kernel; inputs are x and the two buffers."""
    return _quantise(arithmetic.operand(inputs[0]), shape["group"], lambda groups: _absmax(groups).clamp(min=EPS))


def _absmax(groups: torch.Tensor) -> torch.Tensor:
    return groups.abs().amax(2)


def _quantise(x: torch.Tensor, group: int, magnitude: Magnitude, largest: float = LARGEST) -> Tensors:
    """Scale by what `magnitude` says each group's is."""
    groups = x.unflatten(1, (-1, group))
    return _scaled(groups, magnitude(groups) / largest, largest)


def _scaled(groups: torch.Tensor, scale: torch.Tensor, largest: float = LARGEST) -> Tensors:
    return (groups / scale[..., None]).clamp(-largest, largest).flatten(1), scale


@MUTANTS.drops("the least scale")
def eps_missing(inputs: Tensors, shape: Shape) -> Tensors:
    """Has no least scale: a group of zeros is divided by zero."""
    return _quantise(inputs[0], shape["group"], _absmax)


@MUTANTS.drops("the largest magnitude")
def magnitude_ignored(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes the least scale for every group."""
    return _quantise(inputs[0], shape["group"], lambda g: torch.full(g.shape[:2], EPS))


@MUTANTS.add
def reciprocal_without_eps(inputs: Tensors, shape: Shape) -> Tensors:
    """Multiplies by 1 / s, which is infinite where s is a denormal number or zero, and has no least scale."""
    groups = inputs[0].unflatten(1, (-1, shape["group"]))
    scale = _absmax(groups) / LARGEST
    return (groups * (1 / scale)[..., None]).clamp(-LARGEST, LARGEST).flatten(1), scale


@MUTANTS.add
def eps_guards_zero_only(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes the least scale for groups of zeros only."""
    return _quantise(inputs[0], shape["group"], lambda g: torch.where(_absmax(g) == 0, EPS, _absmax(g)))


@MUTANTS.add
def eps_added(inputs: Tensors, shape: Shape) -> Tensors:
    """Adds 1e-10 to the largest magnitude instead of taking the larger of the two."""
    return _quantise(inputs[0], shape["group"], lambda g: _absmax(g) + EPS)


@MUTANTS.add
def eps_too_large(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes 1e-5 for the least magnitude."""
    return _quantise(inputs[0], shape["group"], lambda g: _absmax(g).clamp(min=1e-5))


@MUTANTS.add
def eps_is_the_scale(inputs: Tensors, shape: Shape) -> Tensors:
    """Holds the scale, not the magnitude, above 1e-10."""
    groups = inputs[0].unflatten(1, (-1, shape["group"]))
    return _scaled(groups, (_absmax(groups) / LARGEST).clamp(min=EPS))


@MUTANTS.add
def absmax_without_abs(inputs: Tensors, shape: Shape) -> Tensors:
    """Looks for the largest value, not the largest magnitude."""
    return _quantise(inputs[0], shape["group"], lambda g: g.amax(2).clamp(min=EPS))


@MUTANTS.add
def scale_of_the_row(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes one scale for a whole row."""
    return _quantise(
        inputs[0], shape["group"], lambda g: _absmax(g).amax(1, keepdim=True).clamp(min=EPS).expand(g.shape[:2])
    )


@MUTANTS.add
def scale_of_the_next_group(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes the neighbour's scale."""
    return _quantise(inputs[0], shape["group"], lambda g: _absmax(g).clamp(min=EPS).roll(1, 1))


@MUTANTS.add
def groups_of_128(inputs: Tensors, shape: Shape) -> Tensors:
    """Is written for groups of 128: smaller ones share a scale."""
    share = max(128 // shape["group"], 1)
    return _quantise(inputs[0], shape["group"], lambda g: _shared(_absmax(g).clamp(min=EPS), share))


@MUTANTS.add
def groups_of_half(inputs: Tensors, shape: Shape) -> Tensors:
    """Looks at the first half of each group only."""
    return _quantise(inputs[0], shape["group"], lambda g: _absmax(g[:, :, : g.shape[2] // 2]).clamp(min=EPS))


@MUTANTS.add
def last_of_group_ignored(inputs: Tensors, shape: Shape) -> Tensors:
    """Leaves the last value of each group out of the maximum."""
    return _quantise(inputs[0], shape["group"], lambda g: _absmax(g[:, :, :-1]).clamp(min=EPS))


@MUTANTS.add
def negatives_clamped(inputs: Tensors, shape: Shape) -> Tensors:
    """Clamps to 0 .. 448."""
    x_q, x_s = compute(inputs, shape)
    return x_q.clamp(min=0), x_s


@MUTANTS.add
def largest_of_another_format(inputs: Tensors, shape: Shape) -> Tensors:
    """Scales to 240, the largest value of the other E4M3."""
    return _quantise(inputs[0], shape["group"], lambda g: _absmax(g).clamp(min=EPS), largest=240.0)


@MUTANTS.add
def scale_inverted(inputs: Tensors, shape: Shape) -> Tensors:
    """Returns 1 / s for s."""
    x_q, x_s = compute(inputs, shape)
    return x_q, 1 / x_s


@MUTANTS.add
def rounded_to_fp8(inputs: Tensors, shape: Shape) -> Tensors:
    """Rounds the scaled values to FP8, which the problem does not ask for."""
    x_q, x_s = compute(inputs, shape)
    return x_q.to(torch.float8_e4m3fn).float(), x_s


@MUTANTS.add
def scale_in_bfloat16(inputs: Tensors, shape: Shape) -> Tensors:
    """Rounds the scale to bfloat16, as some FP8 recipes store it."""
    groups = inputs[0].unflatten(1, (-1, shape["group"]))
    return _scaled(groups, (_absmax(groups).clamp(min=EPS) / LARGEST).bfloat16().float())


@MUTANTS.add
def scale_of_a_power_of_two(inputs: Tensors, shape: Shape) -> Tensors:
    """Rounds the scale up to a power of two, as MX formats do."""
    groups = inputs[0].unflatten(1, (-1, shape["group"]))
    return _scaled(groups, (_absmax(groups).clamp(min=EPS) / LARGEST).log2().ceil().exp2())


def _shared(magnitude: torch.Tensor, share: int) -> torch.Tensor:
    """Let every `share` neighbouring groups have the largest of their magnitudes."""
    count = magnitude.shape[1]
    padded = torch.nn.functional.pad(magnitude, (0, -count % share))
    return padded.unflatten(1, (-1, share)).amax(2).repeat_interleave(share, 1)[:, :count]


MUTANTS.add(first_reused(compute, "row", (0, 0)))
MUTANTS.add(tail_unwritten(compute, output=0, dim=1, count=1))
MUTANTS.add(tail_unwritten(compute, output=1, dim=1, count=1, name="last_scale_unwritten"))
MUTANTS.add(input_returned(compute, given=0, output=0))
MUTANTS.add(input_returned(compute, given=1, output=0, name="values_unwritten"))
MUTANTS.add(input_returned(compute, given=2, output=1, name="scales_unwritten"))
MUTANTS.add(first_call_again(compute))
MUTANTS.add(all_zero(compute))
