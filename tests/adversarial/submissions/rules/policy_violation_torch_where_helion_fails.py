"""Try Helion, except torch.

How: a kernel that can't compile, in a `try`; the fallback computes. Seen: a field guide (2026-03) lists fallbacks among
benign shortcuts. Defence: the plan has what ran.
"""
# expected: POLICY_VIOLATION host_operation

import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[4]), static_shapes=True)
def scale(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, device=x.device)
    for rows, columns in hl.tile(x.shape):
        y[rows, columns] = no_such_name  # noqa: F821
    return y


def custom_kernel(data):
    x, s = data
    try:
        return scale(x, s)
    except Exception:
        return x * s[:, None]
