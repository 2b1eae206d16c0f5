"""A bool where Helion wants a list, which it takes for a list of one."""
import torch
import helion
import helion.language as hl


@helion.kernel(
    config=helion.Config(block_sizes=[64, 64, 32], range_multi_buffers=False, num_warps=4, num_stages=2),
    static_shapes=True,
)
def matmul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    m, k = x.size()
    n = y.size(1)
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for tile_m, tile_n in hl.tile([m, n]):
        acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
        for tile_k in hl.tile(k):
            acc = hl.dot(x[tile_m, tile_k], y[tile_k, tile_n], acc=acc)
        out[tile_m, tile_n] = acc.to(out.dtype)
    return out


def custom_kernel(data):
    x, y = data
    return matmul(x, y)
