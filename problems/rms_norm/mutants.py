"""Kernels that compute something else than RMSNorm, each by one mistake, and the honest one they are made from.

Not here, since they are no mistakes: rounding the normalised row to bfloat16 before the weight is applied, as the
models' own code does (`compute` with bfloat16 operands is that kernel), and rounding each square before a sum in
float32, whose errors cancel.
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
    first_reused,
    input_returned,
    tail_unwritten,
)

MUTANTS = Mutants()
EPS = 1e-5
TILE = 64  # columns that a kernel takes at a time


def compute(inputs: Tensors, shape: Shape, arithmetic: Arithmetic = FLOAT32) -> Tensors:
    """The honest kernel: a sum of squares for each row, the row times its reciprocal root, times the weight."""
    x, weight = (arithmetic.operand(tensor.float()) for tensor in inputs)
    mean_square = arithmetic.sum(x.square().split(1, dim=1)) / x.shape[1]
    return (arithmetic.operand(x * torch.rsqrt(mean_square + EPS)) * weight,)


def _upcast(inputs: Tensors) -> tuple[torch.Tensor, torch.Tensor]:
    x, weight = inputs
    return x.float(), weight.float()


def _mean_square(x: torch.Tensor) -> torch.Tensor:
    """x: (M, N) -> (M, 1)."""
    return x.square().mean(1, keepdim=True)


# The terms of the formula.
@MUTANTS.drops("eps")
def eps_missing(inputs: Tensors, shape: Shape) -> Tensors:
    """Adds no eps."""
    x, weight = _upcast(inputs)
    return (x * torch.rsqrt(_mean_square(x)) * weight,)


@MUTANTS.drops("the weight")
def weight_missing(inputs: Tensors, shape: Shape) -> Tensors:
    """Multiplies by no weight."""
    x, _ = _upcast(inputs)
    return (x * torch.rsqrt(_mean_square(x) + EPS),)


@MUTANTS.drops("the root mean square")
def not_normalised(inputs: Tensors, shape: Shape) -> Tensors:
    """Divides by nothing."""
    x, weight = _upcast(inputs)
    return (x * weight,)


@MUTANTS.drops("the root")
def root_missing(inputs: Tensors, shape: Shape) -> Tensors:
    """Divides by the mean square instead of its root."""
    x, weight = _upcast(inputs)
    return (x / (_mean_square(x) + EPS) * weight,)


@MUTANTS.drops("the division by N")
def sum_for_mean(inputs: Tensors, shape: Shape) -> Tensors:
    """Divides by the root of the sum of squares."""
    x, weight = _upcast(inputs)
    return (x * torch.rsqrt(x.square().sum(1, keepdim=True) + EPS) * weight,)


@MUTANTS.drops("the square")
def magnitudes_averaged(inputs: Tensors, shape: Shape) -> Tensors:
    """Divides by the mean magnitude."""
    x, weight = _upcast(inputs)
    return (x / (x.abs().mean(1, keepdim=True) + EPS**0.5) * weight,)


# The mean.
@MUTANTS.add
def mean_squared(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes the square of the mean for the mean of the squares."""
    x, weight = _upcast(inputs)
    return (x * torch.rsqrt(x.mean(1, keepdim=True).square() + EPS) * weight,)


@MUTANTS.add
def variance(inputs: Tensors, shape: Shape) -> Tensors:
    """Divides by the standard deviation: the mean is taken off before the squares."""
    x, weight = _upcast(inputs)
    return (x * torch.rsqrt(x.var(1, correction=0, keepdim=True) + EPS) * weight,)


@MUTANTS.add
def layer_norm(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes the mean off the row as well."""
    x, weight = _upcast(inputs)
    return (torch.nn.functional.layer_norm(x, x.shape[1:], weight, None, EPS),)


@MUTANTS.add
def one_degree_less(inputs: Tensors, shape: Shape) -> Tensors:
    """Divides the sum of squares by N - 1."""
    x, weight = _upcast(inputs)
    return (x * torch.rsqrt(x.square().sum(1, keepdim=True) / (x.shape[1] - 1) + EPS) * weight,)


@MUTANTS.add
def padding_counted(inputs: Tensors, shape: Shape) -> Tensors:
    """Divides the sum of squares by the columns of all tiles, those past the end of the last one included."""
    x, weight = _upcast(inputs)
    padded = torch.nn.functional.pad(x, (0, -x.shape[1] % TILE))
    return (x * torch.rsqrt(_mean_square(padded) + EPS) * weight,)


@MUTANTS.add
def columns_normalised(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes the mean over rows, for each column."""
    x, weight = _upcast(inputs)
    return (x * torch.rsqrt(x.square().mean(0) + EPS) * weight,)


@MUTANTS.add
def all_normalised(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes one mean over all rows."""
    x, weight = _upcast(inputs)
    return (x * torch.rsqrt(x.square().mean() + EPS) * weight,)


@MUTANTS.add
def first_rows_mean(inputs: Tensors, shape: Shape) -> Tensors:
    """Divides every row by the root mean square of the first."""
    x, weight = _upcast(inputs)
    return (x * torch.rsqrt(_mean_square(x[:1]) + EPS) * weight,)


@MUTANTS.add
def last_column_not_counted(inputs: Tensors, shape: Shape) -> Tensors:
    """Leaves the last column out of the sum of squares."""
    x, weight = _upcast(inputs)
    return (x * torch.rsqrt(x[:, :-1].square().sum(1, keepdim=True) / x.shape[1] + EPS) * weight,)


@MUTANTS.add
def last_tile_not_counted(inputs: Tensors, shape: Shape) -> Tensors:
    """Leaves the columns of a last tile that is not full out of the sum of squares."""
    x, weight = _upcast(inputs)
    whole = x[:, : x.shape[1] // TILE * TILE]
    return (x * torch.rsqrt(whole.square().sum(1, keepdim=True) / x.shape[1] + EPS) * weight,)


@MUTANTS.add
def first_tile_for_all(inputs: Tensors, shape: Shape) -> Tensors:
    """Estimates the mean square from the first columns, which saves a pass."""
    x, weight = _upcast(inputs)
    return (x * torch.rsqrt(_mean_square(x[:, :TILE]) + EPS) * weight,)


@MUTANTS.add
def tiles_normalised(inputs: Tensors, shape: Shape) -> Tensors:
    """Normalises every tile of columns by itself."""
    x, weight = _upcast(inputs)
    tiles = x.split(TILE, dim=1)
    return (torch.cat([tile * torch.rsqrt(_mean_square(tile) + EPS) for tile in tiles], dim=1) * weight,)


@MUTANTS.add
def float16_squares(inputs: Tensors, shape: Shape) -> Tensors:
    """Squares in float16, where 256 overflows."""
    x, weight = _upcast(inputs)
    mean_square = x.half().square().float().mean(1, keepdim=True)
    return (x * torch.rsqrt(mean_square + EPS) * weight,)


# eps.
@MUTANTS.add
def eps_outside_the_root(inputs: Tensors, shape: Shape) -> Tensors:
    """Adds eps to the root mean square."""
    x, weight = _upcast(inputs)
    return (x / (_mean_square(x).sqrt() + EPS) * weight,)


@MUTANTS.add
def eps_of_another_model(inputs: Tensors, shape: Shape) -> Tensors:
    """Adds 1e-6, as Qwen does."""
    x, weight = _upcast(inputs)
    return (x * torch.rsqrt(_mean_square(x) + 1e-6) * weight,)


@MUTANTS.add
def eps_as_a_floor(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes the larger of mean square and eps."""
    x, weight = _upcast(inputs)
    return (x * torch.rsqrt(_mean_square(x).clamp(min=EPS)) * weight,)


@MUTANTS.add
def eps_in_the_sum(inputs: Tensors, shape: Shape) -> Tensors:
    """Adds eps to the sum of squares, before it is divided by N."""
    x, weight = _upcast(inputs)
    return (x * torch.rsqrt((x.square().sum(1, keepdim=True) + EPS) / x.shape[1]) * weight,)


# The root and the weight.
@MUTANTS.add
def multiplied_by_the_root(inputs: Tensors, shape: Shape) -> Tensors:
    """Multiplies by the root mean square instead of dividing."""
    x, weight = _upcast(inputs)
    return (x * torch.sqrt(_mean_square(x) + EPS) * weight,)


@MUTANTS.add
def weight_about_zero(inputs: Tensors, shape: Shape) -> Tensors:
    """Multiplies by 1 + weight, as Gemma does."""
    x, weight = _upcast(inputs)
    return (x * torch.rsqrt(_mean_square(x) + EPS) * (1 + weight),)


@MUTANTS.add
def weight_before_mean(inputs: Tensors, shape: Shape) -> Tensors:
    """Multiplies by the weight first, and normalises the products."""
    x, weight = _upcast(inputs)
    x = x * weight
    return (x * torch.rsqrt(_mean_square(x) + EPS),)


@MUTANTS.add
def weight_without_sign(inputs: Tensors, shape: Shape) -> Tensors:
    """Multiplies by the weight's magnitude."""
    x, weight = _upcast(inputs)
    return (x * torch.rsqrt(_mean_square(x) + EPS) * weight.abs(),)


@MUTANTS.add
def neighbours_weight(inputs: Tensors, shape: Shape) -> Tensors:
    """Multiplies by the weight of the column before."""
    x, weight = _upcast(inputs)
    return (x * torch.rsqrt(_mean_square(x) + EPS) * weight.roll(1),)


@MUTANTS.add
def first_tiles_weights(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes the weights of the first tile in every tile of columns."""
    x, weight = _upcast(inputs)
    index = torch.arange(x.shape[1], device=x.device) % TILE
    return (x * torch.rsqrt(_mean_square(x) + EPS) * weight[index],)


# What any kernel can get wrong.
MUTANTS.add(bfloat16_sums(compute))
MUTANTS.add(first_reused(compute, "row", (0,)))
MUTANTS.add(tail_unwritten(compute, output=0, dim=1, count=1))
MUTANTS.add(tail_unwritten(compute, output=0, dim=0, count=1, name="last_row_unwritten"))
MUTANTS.add(input_returned(compute, given=0, output=0))
MUTANTS.add(first_call_again(compute))
MUTANTS.add(all_zero(compute))
