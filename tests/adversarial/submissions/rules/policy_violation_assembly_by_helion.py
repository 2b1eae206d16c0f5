"""Inline assembly, through Helion's own door.

How: `hl.inline_asm_elementwise`. Seen: the event forbids it. Defence: assembly is read off the IR.
"""
# expected: POLICY_VIOLATION inline_assembly

import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=True)
def scale(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, device=x.device)
    for rows, columns in hl.tile(x.shape):
        moved = hl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x[rows, columns]], torch.float32, True, 1)
        y[rows, columns] = moved * s[rows][:, None]
    return y


def custom_kernel(data):
    return scale(*data)
