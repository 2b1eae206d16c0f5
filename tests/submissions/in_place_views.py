"""Outputs preallocated by the caller, written through views; the kernel returns None."""
from typing import Any

import torch
import helion
import helion.language as hl


@helion.kernel(config=helion.Config(block_sizes=[16]), static_shapes=True)
def quantise(x: torch.Tensor, q: torch.Tensor, s: torch.Tensor) -> None:
    for tile in hl.tile(x.size(0)):
        row = x[tile, :]
        scale = torch.clamp(torch.amax(torch.abs(row), dim=-1), min=1e-10) / 448.0
        q[tile, :] = torch.clamp(row / scale[:, None], -448.0, 448.0)
        s[tile] = scale


def custom_kernel(data: Any) -> Any:
    x, x_q, x_s = data
    group = x.shape[1] // x_s.shape[1]
    assert quantise(x.reshape(-1, group), x_q.view(-1, group), x_s.view(-1)) is None
    return x_q, x_s
