"""Kernels that compute something else than causal_conv1d, each by one mistake, and the honest one they are made from.

`harness qualify causal_conv1d` runs them all; every one must be refused. They say nothing of speed.
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
TILE = 64


def compute(inputs: Tensors, shape: Shape, arithmetic: Arithmetic = FLOAT32) -> Tensors:
    """The honest kernel."""
    x, weight, bias = inputs
    return (_convolve(pad(x, (shape["W"] - 1, 0)), weight, bias, arithmetic),)


def _convolve(
    padded: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, arithmetic: Arithmetic = FLOAT32
) -> torch.Tensor:
    """padded: (B, D, W-1 + S), weight: (D, W), bias: (D,) -> (B, D, S)."""
    padded, weight = arithmetic.operand(padded), arithmetic.operand(weight)
    steps = padded.shape[2] - weight.shape[1] + 1
    taps = [weight[:, j, None] * padded[:, :, j : j + steps] for j in range(weight.shape[1])]
    return arithmetic.sum([bias[:, None], *taps])


@MUTANTS.drops("the bias")
def bias_missing(inputs: Tensors, shape: Shape) -> Tensors:
    """Adds no bias."""
    x, weight, bias = inputs
    return compute((x, weight, torch.zeros_like(bias)), shape)


@MUTANTS.drops("the oldest tap")
def oldest_tap_missing(inputs: Tensors, shape: Shape) -> Tensors:
    """Runs over the taps from 1 on."""
    return _without_tap(inputs, shape, 0)


@MUTANTS.drops("the tap after the oldest")
def second_tap_missing(inputs: Tensors, shape: Shape) -> Tensors:
    """Skips tap 1."""
    return _without_tap(inputs, shape, 1)


@MUTANTS.drops("the tap before the present")
def last_tap_but_one_missing(inputs: Tensors, shape: Shape) -> Tensors:
    """Skips tap W - 2."""
    return _without_tap(inputs, shape, -2)


@MUTANTS.drops("the present tap")
def present_tap_missing(inputs: Tensors, shape: Shape) -> Tensors:
    """Runs over the taps up to W - 2."""
    return _without_tap(inputs, shape, -1)


@MUTANTS.add
def taps_reversed(inputs: Tensors, shape: Shape) -> Tensors:
    """Tap 0 meets the present, as in a convolution's textbook form."""
    x, weight, bias = inputs
    return compute((x, weight.flip(1), bias), shape)


@MUTANTS.add
def one_step_late(inputs: Tensors, shape: Shape) -> Tensors:
    """Looks back from the sample before."""
    x, weight, bias = inputs
    return compute((pad(x, (1, 0))[:, :, :-1], weight, bias), shape)


@MUTANTS.add
def one_step_early(inputs: Tensors, shape: Shape) -> Tensors:
    """Looks at the next sample: not causal."""
    x, weight, bias = inputs
    return compute((pad(x, (0, 1))[:, :, 1:], weight, bias), shape)


@MUTANTS.add
def centred(inputs: Tensors, shape: Shape) -> Tensors:
    """Pads both sides equally."""
    x, weight, bias = inputs
    before = (shape["W"] - 1) // 2
    return (_convolve(pad(x, (before, shape["W"] - 1 - before)), weight, bias),)


@MUTANTS.add
def edge_repeated(inputs: Tensors, shape: Shape) -> Tensors:
    """Clamps the index at the start: the first sample stands for all before it."""
    x, weight, bias = inputs
    return (_convolve(torch.cat([x[:, :, :1].expand(-1, -1, shape["W"] - 1), x], 2), weight, bias),)


@MUTANTS.add
def wrapped_round(inputs: Tensors, shape: Shape) -> Tensors:
    """Reads the end of the signal in the place of what lies before its start."""
    x, weight, bias = inputs
    return (_convolve(torch.cat([x[:, :, shape["S"] - shape["W"] + 1 :], x], 2), weight, bias),)


@MUTANTS.add
def row_before_read(inputs: Tensors, shape: Shape) -> Tensors:
    """Has no mask at the start: reads the end of the channel before, as it lies in memory."""
    x, weight, bias = inputs
    ends = x[:, :, shape["S"] - shape["W"] + 1 :].flatten(0, 1).roll(1, 0).view(*x.shape[:2], shape["W"] - 1)
    return (_convolve(torch.cat([ends, x], 2), weight, bias),)


@MUTANTS.add
def tiles_start_from_zero(inputs: Tensors, shape: Shape) -> Tensors:
    """Every tile of 64 steps takes what lies before it for zero."""
    x, weight, bias = inputs
    return (torch.cat([_convolve(pad(t, (shape["W"] - 1, 0)), weight, bias) for t in x.split(TILE, 2)], 2),)


@MUTANTS.add
def four_taps(inputs: Tensors, shape: Shape) -> Tensors:
    """Is written for W = 4: further taps are left out."""
    x, weight, bias = inputs
    few = weight[:, -4:]
    return (_convolve(pad(x, (few.shape[1] - 1, 0)), few, bias),)


@MUTANTS.add
def one_filter(inputs: Tensors, shape: Shape) -> Tensors:
    """Uses the first channel's filter for all."""
    x, weight, bias = inputs
    return compute((x, weight[:1].expand_as(weight), bias), shape)


@MUTANTS.add
def one_bias(inputs: Tensors, shape: Shape) -> Tensors:
    """Adds the first channel's bias to all."""
    x, weight, bias = inputs
    return compute((x, weight, bias[:1].expand_as(bias)), shape)


@MUTANTS.add
def bias_per_tap(inputs: Tensors, shape: Shape) -> Tensors:
    """Adds the bias inside the loop over taps."""
    x, weight, bias = inputs
    return compute((x, weight, bias * shape["W"]), shape)


def _without_tap(inputs: Tensors, shape: Shape, tap: int) -> Tensors:
    x, weight, bias = inputs
    weight = weight.clone()
    weight[:, tap] = 0
    return compute((x, weight, bias), shape)


MUTANTS.add(first_reused(compute, "batch", (0,)))
MUTANTS.add(tail_unwritten(compute, output=0, dim=2, count=1))
MUTANTS.add(input_returned(compute, given=0, output=0))
MUTANTS.add(first_call_again(compute))
MUTANTS.add(bfloat16_sums(compute))
MUTANTS.add(all_zero(compute))
