#!POPCORN leaderboard scale
#!POPCORN gpu B200
"""A table of kernels by shape, made at import; dict.get falls back on one for all others."""
from task import input_t, output_t

import torch
import helion
import helion.language as hl


def _make(config):
    @helion.kernel(config=config, static_shapes=True)
    def scale(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        for tile in hl.tile(x.size(0)):
            out[tile] = x[tile] * 2.0
        return out

    return scale


_CONFIGS = {
    (256,): helion.Config(block_sizes=[64], num_warps=2),
    (512,): helion.Config(block_sizes=[128], num_warps=8),
}
_KERNELS = {shape: _make(config) for shape, config in _CONFIGS.items()}
_FALLBACK = _make(helion.Config(block_sizes=[32], num_warps=1))


def custom_kernel(data: input_t) -> output_t:
    (x,) = data
    return _KERNELS.get(tuple(x.shape), _FALLBACK)(x)
