"""Kernels that compute something else than chunk_fwd_o, each by one mistake, and the honest one they are made from.

`harness qualify chunk_fwd_o` runs them all; every one must be refused. Within the event's gates those that leave out or
mistake the state are right: `harness qualify chunk_fwd_o --suite hackathon-2026` names them.
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


def _steps() -> tuple[torch.Tensor, torch.Tensor]:
    """The row number i and the column number j of each pair of steps in a chunk."""
    step = torch.arange(C)
    return step[:, None], step[None, :]


def _mask() -> torch.Tensor:
    """(C, C): which pairs count."""
    i, j = _steps()
    return i >= j


def _decay(g: torch.Tensor) -> torch.Tensor:
    """g: (..., C) -> what is left of step j at step i, (..., C, C); no more than 1, also where it is masked."""
    return (g[..., :, None] - g[..., None, :]).clamp(max=0).exp()


def compute(
    inputs: Tensors,
    shape: Shape,
    arithmetic: Arithmetic = FLOAT32,
    *,
    mask: Callable[[], torch.Tensor] = _mask,
    decay: Step = _decay,
    state_decay: Step = torch.exp,
    from_state: float = 1.0,
    from_chunk: float = 1.0,
) -> Tensors:
    """The honest kernel; each factor can be replaced by a wrong one."""
    q, k, v_new, g = (_chunked(inputs[number]) for number in (0, 1, 2, 4))
    old = state_decay(g)[..., None] * arithmetic.dot(q, inputs[3].movedim(2, 1))
    pairs = arithmetic.dot(q, k.mT) * decay(g) * mask()
    new = arithmetic.dot(pairs, v_new)
    return (_unchunked(from_state * old + from_chunk * new) * shape["K"] ** -0.5,)


@MUTANTS.drops("the state")
def state_ignored(inputs: Tensors, shape: Shape) -> Tensors:
    """Attends to the chunk alone, as the event's inputs allow."""
    return compute(inputs, shape, from_state=0.0)


@MUTANTS.drops("the chunk's own steps")
def chunk_ignored(inputs: Tensors, shape: Shape) -> Tensors:
    """Asks the state alone."""
    return compute(inputs, shape, from_chunk=0.0)


@MUTANTS.drops("the diagonal")
def diagonal_missing(inputs: Tensors, shape: Shape) -> Tensors:
    """Has its mask off by one: a step does not see itself."""
    return compute(inputs, shape, mask=lambda: _mask().tril(-1))


@MUTANTS.drops("pairs further than a tile apart")
def off_diagonal_dropped(inputs: Tensors, shape: Shape) -> Tensors:
    """Works on the 16 x 16 blocks of the diagonal only."""
    i, j = _steps()
    return compute(inputs, shape, mask=lambda: _mask() & (i // TILE == j // TILE))


@MUTANTS.add
def next_step_seen(inputs: Tensors, shape: Shape) -> Tensors:
    """Has its mask off by one the other way: a step sees the next."""
    i, j = _steps()
    return compute(inputs, shape, mask=lambda: i + 1 >= j)


@MUTANTS.add
def mask_missing(inputs: Tensors, shape: Shape) -> Tensors:
    """A step sees all of its chunk."""
    return compute(inputs, shape, mask=lambda: torch.ones(C, C, dtype=torch.bool))


@MUTANTS.add
def mask_transposed(inputs: Tensors, shape: Shape) -> Tensors:
    """A step sees itself and what comes after."""
    return compute(inputs, shape, mask=lambda: _mask().mT)


@MUTANTS.add
def mask_after_exp(inputs: Tensors, shape: Shape) -> Tensors:
    """Masks by multiplying with zero what may have overflowed."""
    return compute(inputs, shape, decay=lambda g: (g[..., :, None] - g[..., None, :]).exp())


@MUTANTS.add
def pairs_not_decayed(inputs: Tensors, shape: Shape) -> Tensors:
    """Attends to the chunk without gates."""
    return compute(inputs, shape, decay=lambda g: torch.ones_like(_decay(g)))


@MUTANTS.add
def pairs_decayed_from_the_start(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes exp(g_i) for exp(g_i - g_j)."""
    return compute(inputs, shape, decay=lambda g: g.exp()[..., None])


@MUTANTS.add
def pairs_decayed_to_the_end(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes exp(g_last - g_j), which the state pass needs, for exp(g_i - g_j)."""
    return compute(inputs, shape, decay=lambda g: (g[..., -1:] - g).exp()[..., None, :])


@MUTANTS.add
def state_not_decayed(inputs: Tensors, shape: Shape) -> Tensors:
    """Every step sees the state as it was at the chunk's start."""
    return compute(inputs, shape, state_decay=torch.ones_like)


@MUTANTS.add
def state_decayed_twice(inputs: Tensors, shape: Shape) -> Tensors:
    """The state decays by exp(2 g)."""
    return compute(inputs, shape, state_decay=lambda g: (2 * g).exp())


@MUTANTS.add
def state_decayed_to_the_step_before(inputs: Tensors, shape: Shape) -> Tensors:
    """The gate is taken at t - 1."""
    return compute(inputs, shape, state_decay=lambda g: torch.nn.functional.pad(g, (1, 0))[..., :-1].exp())


@MUTANTS.add
def state_decayed_by_the_whole_chunk(inputs: Tensors, shape: Shape) -> Tensors:
    """The gate is taken at the chunk's last step."""
    return compute(inputs, shape, state_decay=lambda g: g[..., -1:].exp().expand_as(g))


@MUTANTS.add
def gates_by_powers_of_two(inputs: Tensors, shape: Shape) -> Tensors:
    """Uses exp2 where exp is meant."""
    q, k, v_new, h, g = inputs
    return compute((q, k, v_new, h, g * 0.6931472), shape)


@MUTANTS.add
def scale_missing(inputs: Tensors, shape: Shape) -> Tensors:
    """Does not divide by the root of K."""
    return (compute(inputs, shape)[0] * shape["K"] ** 0.5,)


@MUTANTS.add
def scale_by_k(inputs: Tensors, shape: Shape) -> Tensors:
    """Divides by K."""
    return (compute(inputs, shape)[0] * shape["K"] ** -0.5,)


@MUTANTS.add
def scale_on_the_chunk_only(inputs: Tensors, shape: Shape) -> Tensors:
    """Scales the attention and forgets the state's part."""
    return compute(inputs, shape, from_state=shape["K"] ** 0.5)


@MUTANTS.add
def queries_and_keys_swapped(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes q for k and k for q within the chunk."""
    q, k, v_new, h, g = inputs
    within, state = compute((k, q, v_new, h, g), shape, from_state=0.0), compute(inputs, shape, from_chunk=0.0)
    return (within[0] + state[0],)


@MUTANTS.add
def keys_ask_the_state(inputs: Tensors, shape: Shape) -> Tensors:
    """Asks the state by k."""
    _, k, v_new, h, g = inputs
    within, state = compute(inputs, shape, from_state=0.0), compute((k, k, v_new, h, g), shape, from_chunk=0.0)
    return (within[0] + state[0],)


@MUTANTS.add
def state_of_the_chunk_before(inputs: Tensors, shape: Shape) -> Tensors:
    """Is off by one chunk: the first has no state."""
    q, k, v_new, h, g = inputs
    return compute((q, k, v_new, torch.cat([torch.zeros_like(h[:, :1]), h[:, :-1]], 1), g), shape)


@MUTANTS.add
def first_state_reused(inputs: Tensors, shape: Shape) -> Tensors:
    """Uses the first chunk's state for all."""
    q, k, v_new, h, g = inputs
    return compute((q, k, v_new, h[:, :1].expand_as(h), g), shape)


@MUTANTS.add
def state_transposed(inputs: Tensors, shape: Shape) -> Tensors:
    """Reads states as (V, K), where the two are equal."""
    q, k, v_new, h, g = inputs
    return compute((q, k, v_new, h.mT if shape["K"] == shape["V"] else h, g), shape)


def _chunked(x: torch.Tensor) -> torch.Tensor:
    """(B, T, H, ...) -> (B, H, N, C, ...)."""
    return x.unflatten(1, (-1, C)).movedim(3, 1)


def _unchunked(x: torch.Tensor) -> torch.Tensor:
    """(B, H, N, C, ...) -> (B, T, H, ...)."""
    return x.movedim(1, 3).flatten(1, 2)


MUTANTS.add(first_reused(compute, "batch", (0,)))
MUTANTS.add(first_reused(compute, "head", (2,)))
MUTANTS.add(tail_unwritten(compute, output=0, dim=1, count=C, name="last_chunk_unwritten"))
MUTANTS.add(tail_unwritten(compute, output=0, dim=1, count=1, name="last_step_unwritten"))
MUTANTS.add(input_returned(compute, given=2, output=0))
MUTANTS.add(first_call_again(compute))
MUTANTS.add(bfloat16_product(compute, 0, 3, "state_product_in_bfloat16"))
MUTANTS.add(bfloat16_product(compute, 1, 3, "scores_in_bfloat16"))
MUTANTS.add(bfloat16_product(compute, 2, 3, "values_product_in_bfloat16"))
MUTANTS.add(bfloat16_sums(compute))
MUTANTS.add(all_zero(compute))
