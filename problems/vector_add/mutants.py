"""Kernels that compute something else than vector_add, each by one mistake, and the honest one they are made from.

`harness qualify vector_add` runs them all; every one must be refused. They say nothing of speed.
"""

from __future__ import annotations

import torch

from harness.qualify.arithmetic import FLOAT32, Arithmetic
from harness.qualify.mistakes import (
    Mutants,
    Shape,
    Tensors,
    all_zero,
    bfloat16_sums,
    first_call_again,
    tail_unwritten,
)

MUTANTS = Mutants()
TILE = 64


def compute(inputs: Tensors, shape: Shape, arithmetic: Arithmetic = FLOAT32) -> Tensors:
    """The honest kernel."""
    x, y = (arithmetic.operand(t) for t in inputs)
    return (arithmetic.sum([x, y]),)


@MUTANTS.drops("x")
def x_ignored(inputs: Tensors, shape: Shape) -> Tensors:
    """Returns y."""
    return (inputs[1],)


@MUTANTS.drops("y")
def y_ignored(inputs: Tensors, shape: Shape) -> Tensors:
    """Returns x."""
    return (inputs[0],)


@MUTANTS.add
def x_added_twice(inputs: Tensors, shape: Shape) -> Tensors:
    """Loads both operands from x."""
    x, _ = inputs
    return compute((x, x), shape)


@MUTANTS.add
def subtracted(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes y from x."""
    x, y = inputs
    return compute((x, -y), shape)


@MUTANTS.add
def shifted_by_one(inputs: Tensors, shape: Shape) -> Tensors:
    """Loads y one element further on."""
    x, y = inputs
    return compute((x, y.roll(-1)), shape)


@MUTANTS.add
def first_tile_reused(inputs: Tensors, shape: Shape) -> Tensors:
    """Forgets the offset of its tile: every program loads the first 64 elements of y."""
    x, y = inputs
    return compute((x, y[torch.arange(shape["n"]) % TILE]), shape)


@MUTANTS.add
def whole_tiles_only(inputs: Tensors, shape: Shape) -> Tensors:
    """Launches n // 64 programs: zeros stay in the elements that do not fill a tile."""
    (out,) = compute(inputs, shape)
    return (torch.where(torch.arange(shape["n"]) < shape["n"] // TILE * TILE, out, 0.0),)


MUTANTS.add(tail_unwritten(compute, output=0, dim=0, count=1))
MUTANTS.add(first_call_again(compute))
MUTANTS.add(bfloat16_sums(compute))
MUTANTS.add(all_zero(compute))
