"""Kernels that compute something else than softmax, each by one mistake, and the honest one they are made from.

`harness qualify softmax` runs them all; every one must be refused. They say nothing of speed.
"""

from __future__ import annotations

import torch
from torch.nn.functional import pad

from harness.qualify.arithmetic import FLOAT32, Arithmetic
from harness.qualify.mistakes import (
    Mutants,
    Shape,
    Tensors,
    all_zero,
    bfloat16_sums,
    first_call_again,
    first_reused,
    input_returned,
    tail_unwritten,
)

MUTANTS = Mutants()
TILE = 64  # columns that a kernel takes at a time


def compute(inputs: Tensors, shape: Shape, arithmetic: Arithmetic = FLOAT32) -> Tensors:
    """The honest kernel: the largest value taken off, exponentials, their sum."""
    x = arithmetic.operand(inputs[0].float())
    return (_normalised(x - _largest(x), arithmetic),)


def _largest(x: torch.Tensor) -> torch.Tensor:
    """x: (M, N) -> (M, 1)."""
    return x.amax(1, keepdim=True)


def _normalised(x: torch.Tensor, arithmetic: Arithmetic = FLOAT32) -> torch.Tensor:
    """x: (M, N) -> its exponentials over their sum, which grows tile by tile."""
    raised = torch.exp(x)
    return raised / arithmetic.sum([tile.sum(1, keepdim=True) for tile in raised.split(TILE, dim=1)])


@MUTANTS.drops("the largest value")
def largest_not_taken_off(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes the exponentials as they are: they overflow, or vanish."""
    return (_normalised(inputs[0].float()),)


@MUTANTS.drops("the sum")
def not_normalised(inputs: Tensors, shape: Shape) -> Tensors:
    """Divides by nothing."""
    x = inputs[0].float()
    return (torch.exp(x - _largest(x)),)


@MUTANTS.add
def largest_of_the_first_tile(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes off the largest value of the row's first 64."""
    x = inputs[0].float()
    return (_normalised(x - _largest(x[:, :TILE])),)


@MUTANTS.add
def largest_magnitude(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes off the largest magnitude: everything vanishes in a negative row."""
    x = inputs[0].float()
    return (_normalised(x - _largest(x.abs())),)


@MUTANTS.add
def largest_from_zero_on(inputs: Tensors, shape: Shape) -> Tensors:
    """Begins the maximum at 0 in the place of minus infinity: everything vanishes in a negative row."""
    x = inputs[0].float()
    return (_normalised(x - _largest(x).clamp(min=0)),)


@MUTANTS.add
def sum_not_rescaled(inputs: Tensors, shape: Shape) -> Tensors:
    """Keeps a running sum, and forgets to scale it when the maximum grows."""
    x = inputs[0].float()
    largest = torch.full_like(x[:, :1], -torch.inf)
    total = torch.zeros_like(largest)
    for tile in x.split(TILE, dim=1):
        largest = torch.maximum(largest, _largest(tile))
        total = total + torch.exp(tile - largest).sum(1, keepdim=True)
    return (torch.exp(x - largest) / total,)


@MUTANTS.add
def sum_of_whole_tiles(inputs: Tensors, shape: Shape) -> Tensors:
    """Runs over N // 64 tiles: the row's tail is missing in the sum."""
    x = inputs[0].float()
    raised = torch.exp(x - _largest(x))
    return (raised / raised[:, : max(x.shape[1] // TILE, 1) * TILE].sum(1, keepdim=True),)


@MUTANTS.add
def padding_counted(inputs: Tensors, shape: Shape) -> Tensors:
    """Counts the masked columns of the last tile, which read as zeros."""
    x = pad(inputs[0].float(), (0, -shape["N"] % TILE))
    return (_normalised(x - _largest(x))[:, : shape["N"]],)


@MUTANTS.add
def last_column_not_summed(inputs: Tensors, shape: Shape) -> Tensors:
    """Has its mask off by one: the last column is missing in the sum."""
    x = inputs[0].float()
    raised = torch.exp(x - _largest(x))
    return (raised / raised[:, :-1].sum(1, keepdim=True),)


@MUTANTS.add
def columns_normalised(inputs: Tensors, shape: Shape) -> Tensors:
    """Normalises columns."""
    return (_normalised(inputs[0].float().T - _largest(inputs[0].float().T)).T,)


@MUTANTS.add
def whole_normalised(inputs: Tensors, shape: Shape) -> Tensors:
    """Normalises all rows together."""
    x = inputs[0].float().flatten()[None]
    return (_normalised(x - _largest(x)).view_as(inputs[0]),)


@MUTANTS.add
def powers_of_two(inputs: Tensors, shape: Shape) -> Tensors:
    """Uses exp2 where exp is meant."""
    x = inputs[0].float() * 0.6931472
    return (_normalised(x - _largest(x)),)


@MUTANTS.add
def logarithm_returned(inputs: Tensors, shape: Shape) -> Tensors:
    """Returns the logarithm, as log_softmax does."""
    return (compute(inputs, shape)[0].log(),)


@MUTANTS.add
def subtracted_in_float16(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes the largest value off in float16: the farther below, the less is left of a value's digits."""
    x = inputs[0]
    return (_normalised((x - _largest(x)).float()),)


@MUTANTS.add
def operands_in_bfloat16(inputs: Tensors, shape: Shape) -> Tensors:
    """Loads x as bfloat16."""
    return compute((inputs[0].bfloat16(),), shape)


@MUTANTS.add
def result_in_bfloat16(inputs: Tensors, shape: Shape) -> Tensors:
    """Rounds the result to bfloat16 on its way."""
    return (compute(inputs, shape)[0].bfloat16(),)


MUTANTS.add(first_reused(compute, "row", (0,)))
MUTANTS.add(tail_unwritten(compute, output=0, dim=0, count=1, name="last_row_unwritten"))
MUTANTS.add(tail_unwritten(compute, output=0, dim=1, count=1, name="last_column_unwritten"))
MUTANTS.add(input_returned(compute, given=0, output=0))
MUTANTS.add(first_call_again(compute))
MUTANTS.add(bfloat16_sums(compute))
MUTANTS.add(all_zero(compute))
