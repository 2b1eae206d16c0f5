"""What kernels of a given precision return: the problems in float32, the operands of each product rounded first.

A tensor core multiplies rounded operands and adds in float32. How it rounds is the whole difference between
precisions, so a precision here is a function of the operands. Each variant can also leave out what a dishonest
kernel would: see the keyword arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import torch

Rounding = Callable[[torch.Tensor], torch.Tensor]
Inputs = tuple[torch.Tensor, ...]
Shape = Mapping[str, int]

C = 64


def float32(x: torch.Tensor) -> torch.Tensor:
    return x


def tf32_cut(x: torch.Tensor) -> torch.Tensor:
    """Keep 10 bits of the mantissa, as tensor cores do with float32 operands (seen on an H200)."""
    return (x.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32)


def tf32_rounded(x: torch.Tensor) -> torch.Tensor:
    """Round to 10 bits of the mantissa, as cuBLAS does."""
    return ((x.contiguous().view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


def bfloat16(x: torch.Tensor) -> torch.Tensor:
    return x.bfloat16().float()


def causal_conv1d(inputs: Inputs, shape: Shape, rounding: Rounding) -> Inputs:
    x, weight, bias = inputs
    S, W = shape["S"], shape["W"]
    padded = torch.nn.functional.pad(rounding(x), (W - 1, 0))
    taps = rounding(weight)
    return (bias[:, None] + sum(taps[:, j, None] * padded[:, :, j : j + S] for j in range(W)),)


def fp8_quant(inputs: Inputs, shape: Shape, rounding: Rounding) -> Inputs:
    groups = rounding(inputs[0]).unflatten(1, (-1, shape["group"]))
    scale = groups.abs().amax(2).clamp(min=1e-10) / 448
    return (groups / scale[..., None]).clamp(-448, 448).flatten(1), scale


def recompute_w_u(inputs: Inputs, shape: Shape, rounding: Rounding, *, transform: bool = True) -> Inputs:
    """`transform=False` takes A for the identity."""
    k, v, beta, A, g = (_chunked(t) for t in inputs)
    gated, written = k * (beta * g.exp())[..., None], v * beta[..., None]
    if not transform:
        return _unchunked(gated), _unchunked(written)
    return _unchunked(_dot(A, gated, rounding)), _unchunked(_dot(A, written, rounding))


def chunk_fwd_h(
    inputs: Inputs, shape: Shape, rounding: Rounding, *, carry: bool = True, correct: bool = True
) -> Inputs:
    """`carry=False` forgets the old state at each chunk, `correct=False` takes u for v_new: no recurrence is left."""
    k, w, u, g = (_chunked(t) for t in inputs)
    h = torch.zeros(shape["B"], shape["H"], shape["K"], shape["V"])
    states, values = [], []
    for n in range(shape["T"] // C):
        v_new = u[:, :, n] - _dot(w[:, :, n], h, rounding) if correct else u[:, :, n]
        states.append(h)
        values.append(v_new)
        last = g[:, :, n, -1:]
        written = _dot(k[:, :, n].mT, v_new * (last - g[:, :, n]).exp()[..., None], rounding)
        h = h * last.exp()[..., None] + written if carry else written
    return torch.stack(states, 1), _unchunked(torch.stack(values, 2))


def chunk_fwd_o(inputs: Inputs, shape: Shape, rounding: Rounding, *, state: bool = True, inside: bool = True) -> Inputs:
    """`state=False` ignores h, `inside=False` ignores the chunk's own steps."""
    q, k, v_new, g = (_chunked(inputs[i]) for i in (0, 1, 2, 4))
    from_state = g.exp()[..., None] * _dot(q, inputs[3].movedim(2, 1), rounding)
    later = torch.ones(C, C, dtype=torch.bool).triu(1)
    decay = (g[..., :, None] - g[..., None, :]).masked_fill(later, -math.inf).exp()
    from_chunk = _dot(_dot(q, k.mT, rounding) * decay, v_new, rounding)
    return (_unchunked(from_state * state + from_chunk * inside) * shape["K"] ** -0.5,)


def _dot(left: torch.Tensor, right: torch.Tensor, rounding: Rounding) -> torch.Tensor:
    return rounding(left) @ rounding(right)


def _chunked(x: torch.Tensor) -> torch.Tensor:
    return x.unflatten(1, (-1, C)).movedim(3, 1)


def _unchunked(x: torch.Tensor) -> torch.Tensor:
    return x.movedim(1, 3).flatten(1, 2)


VARIANTS = {
    "causal_conv1d": causal_conv1d,
    "chunk_fwd_h": chunk_fwd_h,
    "chunk_fwd_o": chunk_fwd_o,
    "fp8_quant": fp8_quant,
    "recompute_w_u": recompute_w_u,
}
