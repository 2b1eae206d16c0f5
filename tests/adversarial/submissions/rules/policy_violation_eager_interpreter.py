"""Helion's interpreter runs the kernel as torch operators.

How: `ref_mode` makes of a kernel what torch computes eagerly, on vendors' libraries. Seen: follows from Helion's debug
modes. Defence: the interpreter is refused.
"""
# expected: POLICY_VIOLATION helion_interpreter

import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), ref_mode=helion.RefMode.EAGER)
def scale(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, device=x.device)
    for rows, columns in hl.tile(x.shape):
        y[rows, columns] = x[rows, columns] * s[rows][:, None]
    return y


def custom_kernel(data):
    return scale(*data)
