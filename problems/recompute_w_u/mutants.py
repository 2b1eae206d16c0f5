"""Kernels that compute something else than recompute_w_u, each by one mistake, and the honest one they are made from.

`harness qualify recompute_w_u` runs them all; every one must be refused. Within the event's gates A is nearly the
identity and w vanishes: `harness qualify recompute_w_u --suite hackathon-2026` tells what follows.
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
    bfloat16_product,
    bfloat16_sums,
    first_call_again,
    first_reused,
    input_returned,
    tail_unwritten,
)

MUTANTS = Mutants()
C = 64
TILE = 16

Step = Callable[..., torch.Tensor]


def _same(A: torch.Tensor) -> torch.Tensor:
    return A


def _key_factor(beta: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    return beta * g.exp()


def _value_factor(beta: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    return beta


def compute(
    inputs: Tensors,
    shape: Shape,
    arithmetic: Arithmetic = FLOAT32,
    *,
    transform: Step = _same,
    key_factor: Step = _key_factor,
    value_factor: Step = _value_factor,
) -> Tensors:
    """The honest kernel; the matrix and the factors of its operands can be replaced by wrong ones."""
    k, v, beta, A, g = (_chunked(t) for t in inputs)
    A = transform(A)
    w = arithmetic.dot(A, k * key_factor(beta, g)[..., None])
    u = arithmetic.dot(A, v * value_factor(beta, g)[..., None])
    return _unchunked(w), _unchunked(u)


@MUTANTS.drops("everything but A's diagonal")
def transform_skipped(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes A for the identity."""
    return compute(inputs, shape, transform=lambda A: torch.eye(C).expand_as(A))


@MUTANTS.drops("A's diagonal")
def diagonal_missing(inputs: Tensors, shape: Shape) -> Tensors:
    """Has its mask off by one: below the diagonal only."""
    return compute(inputs, shape, transform=lambda A: A.tril(-1))


@MUTANTS.drops("pairs further than a tile apart")
def off_diagonal_dropped(inputs: Tensors, shape: Shape) -> Tensors:
    """Works on the 16 x 16 blocks of the diagonal only."""
    block = torch.arange(C) // TILE
    return compute(inputs, shape, transform=lambda A: A * (block[:, None] == block))


@MUTANTS.add
def first_chunk_only(inputs: Tensors, shape: Shape) -> Tensors:
    """Computes the first chunk; after it w is zero and u is v beta, as the event's inputs allow."""
    (w, u), cheap = compute(inputs, shape), compute(inputs, shape, transform=lambda A: torch.eye(C).expand_as(A))
    return torch.cat([w[:, :C], torch.zeros_like(w[:, C:])], 1), torch.cat([u[:, :C], cheap[1][:, C:]], 1)


@MUTANTS.add
def transform_transposed(inputs: Tensors, shape: Shape) -> Tensors:
    """Multiplies by A transposed."""
    return compute(inputs, shape, transform=lambda A: A.mT)


@MUTANTS.add
def transform_negated(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes I - L's sign for the inverse's: the part below the diagonal has the wrong sign."""
    return compute(inputs, shape, transform=lambda A: A.triu() - A.tril(-1))


@MUTANTS.add
def first_transform_reused(inputs: Tensors, shape: Shape) -> Tensors:
    """Uses the first chunk's A for all."""
    return compute(inputs, shape, transform=lambda A: A[:, :, :1].expand_as(A))


@MUTANTS.add
def beta_missing_in_w(inputs: Tensors, shape: Shape) -> Tensors:
    """Leaves beta out of w."""
    return compute(inputs, shape, key_factor=lambda beta, g: g.exp())


@MUTANTS.add
def beta_missing_in_u(inputs: Tensors, shape: Shape) -> Tensors:
    """Leaves beta out of u."""
    return compute(inputs, shape, value_factor=lambda beta, g: torch.ones_like(beta))


@MUTANTS.add
def beta_squared(inputs: Tensors, shape: Shape) -> Tensors:
    """Multiplies u by beta twice."""
    return compute(inputs, shape, value_factor=lambda beta, g: beta**2)


@MUTANTS.add
def beta_after_the_product(inputs: Tensors, shape: Shape) -> Tensors:
    """Scales rows of the result by beta instead of rows of the operand."""
    beta = inputs[2]
    w, u = compute(
        inputs, shape, key_factor=lambda beta, g: g.exp(), value_factor=lambda beta, g: torch.ones_like(beta)
    )
    return w * beta[..., None], u * beta[..., None]


@MUTANTS.add
def gate_missing(inputs: Tensors, shape: Shape) -> Tensors:
    """Leaves exp(g) out of w."""
    return compute(inputs, shape, key_factor=lambda beta, g: beta)


@MUTANTS.add
def gate_on_values(inputs: Tensors, shape: Shape) -> Tensors:
    """Gates u as well."""
    return compute(inputs, shape, value_factor=_key_factor)


@MUTANTS.add
def gate_of_the_step_before(inputs: Tensors, shape: Shape) -> Tensors:
    """The gate is taken at t - 1."""
    return compute(
        inputs,
        shape,
        key_factor=lambda beta, g: beta * torch.cat([torch.zeros_like(g[..., :1]), g[..., :-1]], -1).exp(),
    )


@MUTANTS.add
def gate_of_the_chunk(inputs: Tensors, shape: Shape) -> Tensors:
    """The gate is taken at the chunk's last step."""
    return compute(inputs, shape, key_factor=lambda beta, g: beta * g[..., -1:].exp())


@MUTANTS.add
def gate_to_the_end(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes exp(g_last - g), which the state pass needs, for exp(g)."""
    return compute(inputs, shape, key_factor=lambda beta, g: beta * (g[..., -1:] - g).exp())


@MUTANTS.add
def gate_of_one_step(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes each step's own decay for the sum of them."""
    return compute(inputs, shape, key_factor=lambda beta, g: beta * torch.cat([g[..., :1], g.diff(dim=-1)], -1).exp())


@MUTANTS.add
def gate_by_powers_of_two(inputs: Tensors, shape: Shape) -> Tensors:
    """Uses exp2 where exp is meant."""
    return compute(inputs, shape, key_factor=lambda beta, g: beta * g.exp2())


@MUTANTS.add
def gate_twice(inputs: Tensors, shape: Shape) -> Tensors:
    """Multiplies w by exp(2 g)."""
    return compute(inputs, shape, key_factor=lambda beta, g: beta * (2 * g).exp())


@MUTANTS.add
def keys_and_values_swapped(inputs: Tensors, shape: Shape) -> Tensors:
    """Makes w of v and u of k, where the two have one size."""
    k, v, beta, A, g = inputs
    return compute((v, k, beta, A, g) if shape["K"] == shape["V"] else inputs, shape)


def _chunked(x: torch.Tensor) -> torch.Tensor:
    """(B, T, H, ...) -> (B, H, N, C, ...)."""
    return x.unflatten(1, (-1, C)).movedim(3, 1)


def _unchunked(x: torch.Tensor) -> torch.Tensor:
    """(B, H, N, C, ...) -> (B, T, H, ...)."""
    return x.movedim(1, 3).flatten(1, 2)


MUTANTS.add(first_reused(compute, "batch", (0, 0)))
MUTANTS.add(first_reused(compute, "head", (2, 2)))
MUTANTS.add(tail_unwritten(compute, output=0, dim=1, count=C, name="last_w_unwritten"))
MUTANTS.add(tail_unwritten(compute, output=1, dim=1, count=1, name="last_u_unwritten"))
MUTANTS.add(input_returned(compute, given=0, output=0, name="keys_returned"))
MUTANTS.add(input_returned(compute, given=1, output=1, name="values_returned"))
MUTANTS.add(first_call_again(compute))
MUTANTS.add(bfloat16_product(compute, 0, 2, "w_in_bfloat16"))
MUTANTS.add(bfloat16_product(compute, 1, 2, "u_in_bfloat16"))
MUTANTS.add(bfloat16_sums(compute))
MUTANTS.add(all_zero(compute))
