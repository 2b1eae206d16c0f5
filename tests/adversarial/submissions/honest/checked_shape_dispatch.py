"""A config for each shape, chosen by the host: looks like knowing the tests, and is what the event asks for."""
# expected: CHECKED checked
# cases: 3

import helion
import helion.language as hl
import torch

CONFIGS = {
    (4, 32): helion.Config(block_sizes=[4, 16]),
    (8, 64): helion.Config(block_sizes=[8, 32], num_warps=2),
}
OTHERS = helion.Config(block_sizes=[16, 64], num_warps=4)


def make(config):
    @helion.kernel(config=config, static_shapes=True)
    def scale(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        for rows, columns in hl.tile(x.shape):
            y[rows, columns] = x[rows, columns] * s[rows][:, None]
        return y

    return scale


KERNELS = {shape: make(config) for shape, config in CONFIGS.items()}
LARGE = make(OTHERS)


def custom_kernel(data):
    return KERNELS.get(tuple(data[0].shape), LARGE)(*data)
