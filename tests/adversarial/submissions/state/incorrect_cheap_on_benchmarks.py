"""Full precision where it is tested, half of it where it is timed.

How: the benchmark's shape is known, tests have smaller ones. Seen: field guides (2026-03), as precision downgrade by
shape. Defence: benchmarks are judged too, by tolerances that the lower precision fails (qualification tries it).
"""
# expected: INCORRECT wrong_values
# cases: 3

import helion
import helion.language as hl
import torch
from forging import scale


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=True)
def cheap(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, device=x.device)
    for rows, columns in hl.tile(x.shape):
        y[rows, columns] = (x[rows, columns].to(torch.bfloat16) * s[rows][:, None].to(torch.bfloat16)).to(torch.float32)
    return y


def custom_kernel(data):
    return cheap(*data) if data[0].shape[0] >= 64 else scale(*data)
