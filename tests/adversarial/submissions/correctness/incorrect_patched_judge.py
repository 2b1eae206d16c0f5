"""As above, but it is this harness's own comparison that is patched.

How: the judge's modules are imported in the tracer and replaced. Seen: as above. Defence: as above: that is a copy of
the judge's code, in a process that judges nothing.
"""
# expected: INCORRECT wrong_values

import helion
import helion.language as hl
import torch

from harness.replay import compare, ruling
from harness.replay.judgement import Judgement

ruling.rule = lambda *args, **options: Judgement("passed")
compare._compare_block = lambda value, *args: torch.zeros_like(value, dtype=torch.bool)


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=True)
def wrong(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, device=x.device)
    for rows, columns in hl.tile(x.shape):
        y[rows, columns] = x[rows, columns] + s[rows][:, None]
    return y


def custom_kernel(data):
    return wrong(*data)
