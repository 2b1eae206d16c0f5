"""An advanced-controls file at a fixed path."""
import torch
import helion
import helion.language as hl


@helion.kernel(config=helion.Config(block_sizes=[64], advanced_controls_file="/opt/acf/booster.bin"), static_shapes=True)
def copy(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile] = x[tile]
    return out


def custom_kernel(data):
    return copy(data[0])
