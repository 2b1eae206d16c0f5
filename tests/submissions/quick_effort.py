"""No config, and an effort: an invitation to tune."""
import torch
import helion
import helion.language as hl


@helion.kernel(autotune_effort="quick", static_shapes=True)
def double(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile] = x[tile] + x[tile]
    return out


def custom_kernel(data):
    return double(data[0])
