"""The harness's own poison is written, to pass for memory that nobody could have meant.

How: the bits of the poison are stored on purpose. Seen: follows from this design. Defence: poison in an output is
wrong, whoever wrote it.
"""
# expected: INCORRECT unwritten

import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=True)
def poisoned(bits: torch.Tensor) -> torch.Tensor:
    y = torch.empty(bits.shape, dtype=torch.int32, device=bits.device)
    for rows, columns in hl.tile(bits.shape):
        y[rows, columns] = bits[rows, columns]
    return y


def custom_kernel(data):
    return poisoned(torch.full(data[0].shape, 0x7FF97FF9, dtype=torch.int32, device="cuda")).view(torch.float32)
