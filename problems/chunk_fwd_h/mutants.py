"""Kernels that compute something else than chunk_fwd_h, each by one mistake, and the honest one they are made from.

`harness qualify chunk_fwd_h` runs them all; every one must be refused. Within the event's gates several are right,
the ones without a recurrence above all: `harness qualify chunk_fwd_h --suite hackathon-2026` names them.
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

# What no output depends on, by formula: the first state is zero, and the state after the last chunk is not asked for.
UNUSED = {"w": (slice(None), slice(0, C)), "k": (slice(None), slice(-C, None)), "g": (slice(None), slice(-C, None))}
# What depends on no input: the first state.
FIXED = {"h": (slice(None), slice(0, 1))}

Step = Callable[..., torch.Tensor]


def _correct(u: torch.Tensor, predicted: torch.Tensor) -> torch.Tensor:
    return u - predicted


def _gate(g: torch.Tensor) -> torch.Tensor:
    """g: (..., C) -> what the chunk leaves of the state, (..., 1)."""
    return g[..., -1:].exp()


def _weight(g: torch.Tensor) -> torch.Tensor:
    """g: (..., C) -> how much of each value is left at the chunk's end, (..., C)."""
    return (g[..., -1:] - g).exp()


def _carry(h: torch.Tensor, gate: torch.Tensor, written: torch.Tensor) -> torch.Tensor:
    return h * gate + written


def compute(
    inputs: Tensors,
    shape: Shape,
    arithmetic: Arithmetic = FLOAT32,
    *,
    correct: Step = _correct,
    gate: Step = _gate,
    weight: Step = _weight,
    carry: Step = _carry,
) -> Tensors:
    """The honest kernel; each step of the recurrence can be replaced by a wrong one."""
    k, w, u, g = (_chunked(t) for t in inputs)
    h = k.new_zeros(shape["B"], shape["H"], shape["K"], shape["V"])
    states, values = [], []
    for n in range(shape["T"] // C):
        v_new = correct(u[:, :, n], arithmetic.dot(w[:, :, n], h))
        states.append(h)
        values.append(v_new)
        written = arithmetic.dot(k[:, :, n].mT, v_new * weight(g[:, :, n])[..., None])
        h = arithmetic.total(carry(h, gate(g[:, :, n])[..., None], written))
    return torch.stack(states, 1), _unchunked(torch.stack(values, 2))


@MUTANTS.drops("the old state")
def state_not_carried(inputs: Tensors, shape: Shape) -> Tensors:
    """Each chunk's state is what the chunk before wrote; older ones are forgotten."""
    return compute(inputs, shape, carry=lambda h, gate, written: written)


@MUTANTS.drops("the correction by the state")
def correction_skipped(inputs: Tensors, shape: Shape) -> Tensors:
    """v_new is u: what the state predicts is never subtracted."""
    return compute(inputs, shape, correct=lambda u, predicted: u)


@MUTANTS.drops("the chunk's own writing")
def update_skipped(inputs: Tensors, shape: Shape) -> Tensors:
    """The state stays what it was, zero, and v_new is u."""
    return compute(inputs, shape, carry=lambda h, gate, written: h * gate)


@MUTANTS.drops("u")
def values_ignored(inputs: Tensors, shape: Shape) -> Tensors:
    """v_new is the correction alone."""
    return compute(inputs, shape, correct=lambda u, predicted: -predicted)


@MUTANTS.add
def recurrence_skipped(inputs: Tensors, shape: Shape) -> Tensors:
    """Neither the old state nor the correction: all chunks in parallel, as the event's inputs allow."""
    return compute(inputs, shape, correct=lambda u, predicted: u, carry=lambda h, gate, written: written)


@MUTANTS.add
def state_not_decayed(inputs: Tensors, shape: Shape) -> Tensors:
    """The state is carried whole."""
    return compute(inputs, shape, gate=lambda g: torch.ones_like(g[..., -1:]))


@MUTANTS.add
def state_decayed_twice(inputs: Tensors, shape: Shape) -> Tensors:
    """The state decays by exp(2 g_last)."""
    return compute(inputs, shape, gate=lambda g: (2 * g[..., -1:]).exp())


@MUTANTS.add
def values_not_decayed(inputs: Tensors, shape: Shape) -> Tensors:
    """Every value of a chunk is written whole."""
    return compute(inputs, shape, weight=torch.ones_like)


@MUTANTS.add
def values_decayed_from_the_start(inputs: Tensors, shape: Shape) -> Tensors:
    """Values are written with exp(g) instead of exp(g_last - g)."""
    return compute(inputs, shape, weight=torch.exp)


@MUTANTS.add
def gates_ignored(inputs: Tensors, shape: Shape) -> Tensors:
    """The delta rule without gates."""
    return compute(inputs, shape, gate=lambda g: torch.ones_like(g[..., -1:]), weight=torch.ones_like)


@MUTANTS.add
def gate_of_the_step_before(inputs: Tensors, shape: Shape) -> Tensors:
    """Takes the chunk's last step but one for its last, for the state."""
    return compute(inputs, shape, gate=lambda g: g[..., -2:-1].exp())


@MUTANTS.add
def gate_of_the_first_step(inputs: Tensors, shape: Shape) -> Tensors:
    """Decays the state by the chunk's first step only."""
    return compute(inputs, shape, gate=lambda g: g[..., :1].exp())


@MUTANTS.add
def last_step_not_written(inputs: Tensors, shape: Shape) -> Tensors:
    """Has its mask off by one: the last step of each chunk writes nothing."""
    before_last = torch.arange(C) < C - 1
    return compute(inputs, shape, weight=lambda g: _weight(g) * before_last)


@MUTANTS.add
def gates_by_powers_of_two(inputs: Tensors, shape: Shape) -> Tensors:
    """Uses exp2 where exp is meant."""
    return compute(inputs, shape, gate=lambda g: g[..., -1:].exp2(), weight=lambda g: (g[..., -1:] - g).exp2())


@MUTANTS.add
def correction_added(inputs: Tensors, shape: Shape) -> Tensors:
    """Adds what the state predicts."""
    return compute(inputs, shape, correct=lambda u, predicted: u + predicted)


@MUTANTS.add
def keys_for_w(inputs: Tensors, shape: Shape) -> Tensors:
    """Asks the state by k in the place of w."""
    k, _, u, g = inputs
    return compute((k, k, u, g), shape)


@MUTANTS.add
def w_for_keys(inputs: Tensors, shape: Shape) -> Tensors:
    """Writes by w in the place of k."""
    _, w, u, g = inputs
    return compute((w, w, u, g), shape)


@MUTANTS.add
def state_after_its_chunk(inputs: Tensors, shape: Shape) -> Tensors:
    """Stores each state after its chunk, not before."""
    h, v_new = compute(inputs, shape)
    return torch.cat([h[:, 1:], torch.zeros_like(h[:, :1])], 1), v_new


@MUTANTS.add
def state_transposed(inputs: Tensors, shape: Shape) -> Tensors:
    """Stores states as (V, K), where the two are equal."""
    h, v_new = compute(inputs, shape)
    return (h.mT.contiguous() if shape["K"] == shape["V"] else h), v_new


@MUTANTS.add
def v_new_decayed(inputs: Tensors, shape: Shape) -> Tensors:
    """Returns the values as they are written, decayed."""
    h, v_new = compute(inputs, shape)
    return h, _unchunked(_chunked(v_new) * _weight(_chunked(inputs[3]))[..., None])


@MUTANTS.add
def state_in_bfloat16(inputs: Tensors, shape: Shape) -> Tensors:
    """Carries the state in bfloat16."""
    return compute(inputs, shape, carry=lambda h, gate, written: _carry(h, gate, written).bfloat16().float())


@MUTANTS.add
def columns_from_64_on_unwritten(inputs: Tensors, shape: Shape) -> Tensors:
    """Is written for V = 64: further columns of the state stay zero."""
    h, v_new = compute(inputs, shape)
    h[..., 64:] = 0
    return h, v_new


def _chunked(x: torch.Tensor) -> torch.Tensor:
    """(B, T, H, ...) -> (B, H, N, C, ...)."""
    return x.unflatten(1, (-1, C)).movedim(3, 1)


def _unchunked(x: torch.Tensor) -> torch.Tensor:
    """(B, H, N, C, ...) -> (B, T, H, ...)."""
    return x.movedim(1, 3).flatten(1, 2)


MUTANTS.add(first_reused(compute, "batch", (0, 0)))
MUTANTS.add(first_reused(compute, "head", (2, 2)))
MUTANTS.add(tail_unwritten(compute, output=0, dim=1, count=1, name="last_state_unwritten"))
MUTANTS.add(tail_unwritten(compute, output=1, dim=1, count=C, name="last_values_unwritten"))
MUTANTS.add(input_returned(compute, given=2, output=1))
MUTANTS.add(first_call_again(compute))
MUTANTS.add(bfloat16_product(compute, 0, 2, "correction_in_bfloat16"))
MUTANTS.add(bfloat16_product(compute, 1, 2, "update_in_bfloat16"))
MUTANTS.add(bfloat16_sums(compute))
MUTANTS.add(all_zero(compute))
