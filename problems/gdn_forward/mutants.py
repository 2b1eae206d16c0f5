"""Kernels that compute something else than gdn_forward, each by one mistake, and the honest one they are made from.

Mistakes of each pass are tried as they show through the chain, then those that only a chain can make. `harness qualify
gdn_forward` runs them all; every one must be refused. Within the event's gates those that leave out or mistake the
state are right: `harness qualify gdn_forward --suite hackathon-2026` names them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

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
PRODUCTS = ("w", "u", "correction", "update", "state_product", "scores", "values_product")  # of a chunk, in order
LAST = torch.arange(C) == C - 1
SAME_TILE = (torch.arange(C)[:, None] // TILE) == (torch.arange(C) // TILE)

Step = Callable[..., torch.Tensor]


def _weight(g: torch.Tensor) -> torch.Tensor:
    """g: (..., C) -> how much of each value is left at the chunk's end, (..., C)."""
    return (g[..., -1:] - g).exp()


def _decay(g: torch.Tensor) -> torch.Tensor:
    """g: (..., C) -> what is left of step j at step i, (..., C, C); no more than 1, also where it is masked."""
    return (g[..., :, None] - g[..., None, :]).clamp(max=0).exp()


class Steps(NamedTuple):
    """The honest kernel's steps, each of which can be replaced by a wrong one.

    Attributes:
        transform: the chunk's matrix.
        key_factor, value_factor: of the rows that it is multiplied with.
        correct: v_new, of u and what the state predicts.
        gate: what the chunk leaves of the state.
        weight: how much of each value is left at the chunk's end.
        carry: the next state, of the old one decayed and what is written.
        asked: the state that the queries ask, of those before and after the chunk.
        state_decay: what is left of that at each step.
        mask: which pairs of steps count, by row and column.
        decay: what is left of step j at step i.
        attended: the values that the chunk attends to.
        from_state, from_chunk: factors of the output's two parts.
    """

    transform: Step = lambda A: A
    key_factor: Step = lambda beta, g: beta * g.exp()
    value_factor: Step = lambda beta, g: beta
    correct: Step = lambda u, predicted: u - predicted
    gate: Step = lambda g: g[..., -1:].exp()
    weight: Step = _weight
    carry: Step = lambda decayed, written: decayed + written
    asked: Step = lambda before, after: before
    state_decay: Step = torch.exp
    mask: Step = lambda i, j: i >= j
    decay: Step = _decay
    attended: Step = lambda v_new, u, v: v_new
    from_state: float = 1.0
    from_chunk: float = 1.0


HONEST = Steps()


def compute(inputs: Tensors, shape: Shape, arithmetic: Arithmetic = FLOAT32, steps: Steps = HONEST) -> Tensors:
    """The honest kernel, chunk by chunk, unless it is given other steps."""
    chunks = [_chunked(t) for t in inputs]
    pairs = steps.mask(torch.arange(C)[:, None], torch.arange(C))
    h = inputs[0].new_zeros(shape["B"], shape["H"], shape["K"], shape["V"])
    outputs = []
    for n in range(shape["T"] // C):
        q, k, v, beta, A, g = (t[:, :, n] for t in chunks)
        w = arithmetic.dot(steps.transform(A), k * steps.key_factor(beta, g)[..., None])
        u = arithmetic.dot(steps.transform(A), v * steps.value_factor(beta, g)[..., None])
        v_new = steps.correct(u, arithmetic.dot(w, h))
        written = arithmetic.dot(k.mT, v_new * steps.weight(g)[..., None])
        after = arithmetic.total(steps.carry(h * steps.gate(g)[..., None], written))
        old = steps.state_decay(g)[..., None] * arithmetic.dot(q, steps.asked(h, after))
        scores = arithmetic.dot(q, k.mT) * steps.decay(g) * pairs
        new = arithmetic.dot(scores, steps.attended(v_new, u, v))
        outputs.append((steps.from_state * old + steps.from_chunk * new) * shape["K"] ** -0.5)
        h = after
    return (_unchunked(torch.stack(outputs, 2)),)


def _add(name: str, mistake: str, *, drops: str | None = None, **steps: Step | float) -> None:
    """Add the kernel that has these steps in the place of the honest ones."""

    def mutant(inputs: Tensors, shape: Shape) -> Tensors:
        return compute(inputs, shape, steps=Steps(**steps))

    mutant.__name__, mutant.__doc__ = name, mistake
    (MUTANTS.drops(drops) if drops else MUTANTS.add)(mutant)


def _states(inputs: Tensors, shape: Shape) -> list[torch.Tensor]:
    """The state at the start of each chunk."""
    states = []

    def note(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
        states.append(before)
        return before

    compute(inputs, shape, steps=Steps(asked=note))
    return states


# --- mistakes of recompute_w_u ---

_add(
    "transform_skipped",
    "Takes A for the identity.",
    drops="everything but A's diagonal",
    transform=lambda A: torch.eye(C).expand_as(A),
)
_add("transform_transposed", "Multiplies by A transposed.", transform=lambda A: A.mT)
_add(
    "transform_negated",
    "Takes I - L's sign for the inverse's: the part below the diagonal has the wrong sign.",
    transform=lambda A: A.triu() - A.tril(-1),
)
_add(
    "transform_by_tiles",
    "Applies the 16 x 16 blocks on the diagonal of A only.",
    drops="pairs of A further than a tile apart",
    transform=lambda A: A * SAME_TILE,
)
_add("beta_missing_in_w", "Leaves beta out of w.", key_factor=lambda beta, g: g.exp())
_add("beta_missing_in_u", "Leaves beta out of u.", value_factor=lambda beta, g: torch.ones_like(beta))
_add("gate_missing_in_w", "Leaves exp(g) out of w.", key_factor=lambda beta, g: beta)


# --- mistakes of chunk_fwd_h ---

_add(
    "state_not_carried",
    "Each chunk's state is what the chunk before wrote; older ones are forgotten.",
    drops="the old state",
    carry=lambda decayed, written: written,
)
_add(
    "correction_skipped",
    "v_new is u: what the state predicts is never subtracted.",
    drops="the correction by the state",
    correct=lambda u, predicted: u,
)
_add("correction_added", "Adds what the state predicts.", correct=lambda u, predicted: u + predicted)
_add(
    "recurrence_skipped",
    "Neither the old state nor the correction: all chunks in parallel, as the event's inputs allow.",
    correct=lambda u, predicted: u,
    carry=lambda decayed, written: written,
)
_add("state_not_decayed", "The state is carried whole.", gate=lambda g: torch.ones_like(g[..., -1:]))
_add("state_decayed_twice", "The state decays by exp(2 g_last).", gate=lambda g: (2 * g[..., -1:]).exp())
_add("values_not_decayed", "Every value of a chunk is written whole.", weight=torch.ones_like)
_add(
    "last_step_not_written",
    "Has its mask off by one: the last step of each chunk writes nothing.",
    weight=lambda g: _weight(g) * ~LAST,
)


# --- mistakes of chunk_fwd_o ---

_add("state_ignored", "Attends to the chunk alone, as the event's inputs allow.", drops="the state", from_state=0.0)
_add("chunk_ignored", "Asks the state alone.", drops="the chunk's own steps", from_chunk=0.0)
_add(
    "diagonal_missing",
    "Has its mask off by one: a step does not see itself.",
    drops="the diagonal",
    mask=lambda i, j: i > j,
)
_add("next_step_seen", "Has its mask off by one the other way: a step sees the next.", mask=lambda i, j: i + 1 >= j)
_add(
    "mask_after_exp",
    "Masks by multiplying with zero what may have overflowed.",
    decay=lambda g: (g[..., :, None] - g[..., None, :]).exp(),
)
_add("pairs_not_decayed", "Attends to the chunk without gates.", decay=lambda g: torch.ones_like(_decay(g)))
_add("asked_without_decay", "Every step sees the state as it was at the chunk's start.", state_decay=torch.ones_like)


@MUTANTS.add
def scale_missing(inputs: Tensors, shape: Shape) -> Tensors:
    """Does not divide by the root of K."""
    return (compute(inputs, shape)[0] * shape["K"] ** 0.5,)


# --- mistakes of the chain ---

_add(
    "u_for_v_new",
    "Attends to the chunk's values as they are before the correction by the state.",
    attended=lambda v_new, u, v: u,
)
_add("v_for_v_new", "Attends to the chunk's values as they were given.", attended=lambda v_new, u, v: v)


@MUTANTS.add
def decayed_values_attended(inputs: Tensors, shape: Shape) -> Tensors:
    """Attends to the values as they are written, decayed to the chunk's end."""
    g = _chunked(inputs[5]).unbind(2)
    weights = iter([_weight(chunk)[..., None] for chunk in g])
    return compute(inputs, shape, steps=Steps(attended=lambda v_new, u, v: v_new * next(weights)))


_add("state_of_the_next_chunk", "Updates the state before the queries ask it.", asked=lambda before, after: after)


@MUTANTS.add
def state_of_the_chunk_before(inputs: Tensors, shape: Shape) -> Tensors:
    """Asks the state one chunk late."""
    states = _states(inputs, shape)
    late = iter([torch.zeros_like(states[0]), *states])
    return compute(inputs, shape, steps=Steps(asked=lambda before, after: next(late)))


@MUTANTS.add
def state_of_the_last_chunk(inputs: Tensors, shape: Shape) -> Tensors:
    """Keeps one state, and asks it when all chunks are through."""
    last = _states(inputs, shape)[-1]
    return compute(inputs, shape, steps=Steps(asked=lambda before, after: last))


@MUTANTS.add
def gates_summed_over_all_time(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes g for a sum over all time, and adds the chunks before to it."""
    *others, g = inputs
    before = _chunked(g)[..., -1:].cumsum(2).roll(1, 2)
    before[:, :, 0] = 0
    return compute((*others, _unchunked(_chunked(g) + before)), shape)


@MUTANTS.add
def gates_by_powers_of_two(inputs: Tensors, shape: Shape) -> Tensors:
    """Uses exp2 where exp is meant."""
    *others, g = inputs
    return compute((*others, g * 0.6931472), shape)


@MUTANTS.add
def queries_and_keys_swapped(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes q for k and k for q."""
    q, k, *others = inputs
    return compute((k, q, *others), shape)


@MUTANTS.add
def columns_from_64_on_unwritten(inputs: Tensors, shape: Shape) -> Tensors:
    """Is written for V = 64: further columns stay zero."""
    (o,) = compute(inputs, shape)
    o[..., 64:] = 0
    return (o,)


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
for product in PRODUCTS[3:]:  # the others' error drowns in what tf32 makes of the seven together
    MUTANTS.add(bfloat16_product(compute, PRODUCTS.index(product), len(PRODUCTS), f"{product}_in_bfloat16"))
MUTANTS.add(bfloat16_sums(compute))
MUTANTS.add(all_zero(compute))
