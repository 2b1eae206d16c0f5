"""static_shapes=False: sizes become arguments of the kernel."""
import torch
import helion
import helion.language as hl


@helion.kernel(config=helion.Config(block_sizes=[32, 32]), static_shapes=False)
def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(x.size()):
        out[tile] = x[tile] + y[tile]
    return out


def custom_kernel(data):
    x, y = data
    return add(x, y)
