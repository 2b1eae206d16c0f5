"""No config: autotune_effort="none" lets Helion's compile-time heuristics choose."""
import torch
import helion
import helion.language as hl


@helion.kernel(autotune_effort="none", static_shapes=True)
def double(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile] = x[tile] + x[tile]
    return out


def custom_kernel(data):
    return double(data[0])
