"""CUDA work at import: a table of constants, a mask, a warm-up launch, a synchronisation."""
import torch
import helion
import helion.language as hl


@helion.kernel(config=helion.Config(block_sizes=[16]), static_shapes=True)
def masked(x: torch.Tensor, mask: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile, :] = x[tile, :] * mask[tile, :] + weights[:][None, :]
    return out


DEVICE = torch.device("cuda")
assert torch.cuda.is_available() and torch.cuda.get_device_properties(0).multi_processor_count > 100
_MASK = torch.tril(torch.ones(64, 64, device=DEVICE))
_WEIGHTS = torch.tensor([float(i) for i in range(64)], device="cuda")
_UNUSED = torch.zeros(1024, device="cuda")

masked(torch.randn(64, 64, device=DEVICE), _MASK, _WEIGHTS)  # compile early
torch.cuda.synchronize()


def custom_kernel(data):
    (x,) = data
    return masked(x, _MASK, _WEIGHTS)
