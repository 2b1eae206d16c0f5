"""A barrier between two phases of one kernel: a cooperative launch."""
import torch
import helion
import helion.language as hl


@helion.kernel(config=helion.Config(block_sizes=[32, 32], pid_type="persistent_blocked"), static_shapes=True)
def two_phases(x: torch.Tensor) -> torch.Tensor:
    tmp = torch.empty_like(x)
    out = torch.empty_like(x)
    for t in hl.tile(x.size(0)):
        tmp[t] = x[t] + 1
    hl.barrier()
    for t in hl.tile(x.size(0)):
        out[t] = tmp[t] * 2
    return out


def custom_kernel(data):
    return two_phases(data[0])
