"""A kernel of our own, traced before the submission: what all kernels need is then loaded once, before the fork.

Owns that kernel and nothing else. Helion, Triton and sympy load a hundred modules and fill caches with the first
kernel that they see; a forked process per shape would do so again each time. The kernel's steps are recorded like
any other's, and dropped like any other's that no output depends on.
"""

from __future__ import annotations

import helion
import helion.language as hl
import torch

SIZE = 64


@helion.kernel(config=helion.Config(block_sizes=[16, 16], num_warps=4, num_stages=1), static_shapes=True)  # type: ignore[untyped-decorator]
def _everything(x: torch.Tensor, y: torch.Tensor, scale: float) -> torch.Tensor:
    """Use what most kernels use: loops in loops, masks, products, reductions, libdevice, constants."""
    out = torch.empty_like(x)
    steps = hl.specialize(x.size(1))
    for rows in hl.tile(x.size(0)):
        total = hl.zeros([rows, steps], dtype=torch.float32)
        for inner in hl.tile(steps):
            left = hl.load(x, [rows, inner], extra_mask=(inner.index >= 1)[None, :])
            total = hl.dot(left, y[inner, :], acc=total)
        decay = torch.exp(total - torch.amax(total, dim=-1, keepdim=True)) * scale
        causal = rows.index[:, None] >= hl.arange(steps)[None, :]
        out[rows, :] = torch.where(causal, decay / decay.sum(-1, keepdim=True), 0.0).to(x.dtype)
    return out


def warm_up() -> None:
    """Trace the kernel once; fake tensors must be in force."""
    x, y = torch.empty(SIZE - 1, SIZE, device="cuda"), torch.empty(SIZE, SIZE, device="cuda")
    _everything(x, y, 0.5)
