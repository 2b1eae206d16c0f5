"""Kernels are made at the first call and kept: looks like caching results."""
# expected: CHECKED checked
# cases: 2

import functools

import helion
import helion.language as hl
import torch


@functools.cache
def kernel_for(columns, dtype):
    @helion.kernel(config=helion.Config(block_sizes=[4, min(columns, 32)]), static_shapes=True)
    def scale(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        for rows, cols in hl.tile(x.shape):
            y[rows, cols] = x[rows, cols] * s[rows][:, None]
        return y

    return scale


def custom_kernel(data):
    x, s = data
    return kernel_for(x.shape[1], x.dtype)(x, s)
