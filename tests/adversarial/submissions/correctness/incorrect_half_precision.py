"""Half precision, where the tolerance is single's.

How: operands are rounded to float16 before the product. Seen: field guides (2026-03), as precision downgrade. Defence:
tolerances that the precision which must fail does fail, in at least one distribution of every ranking suite.
"""
# expected: INCORRECT wrong_values

import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=True)
def half(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, device=x.device)
    for rows, columns in hl.tile(x.shape):
        y[rows, columns] = (x[rows, columns].to(torch.float16) * s[rows][:, None].to(torch.float16)).to(torch.float32)
    return y


def custom_kernel(data):
    return half(*data)
