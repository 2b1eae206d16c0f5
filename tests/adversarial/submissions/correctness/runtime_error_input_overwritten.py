"""The inputs are made to fit the answer.

How: the kernel zeroes its input and returns zeros; a harness that computes its reference afterwards agrees. Seen:
KernelBench's pull request 82 (2025-11). Defence: the reference is computed from inputs that the kernel never had, and
inputs must come back as they were.
"""
# expected: RUNTIME_ERROR input_modified

import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=True)
def zero_both(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, device=x.device)
    for rows, columns in hl.tile(x.shape):
        y[rows, columns] = x[rows, columns] * 0.0
        x[rows, columns] = x[rows, columns] * 0.0
    return y


def custom_kernel(data):
    return zero_both(*data)
