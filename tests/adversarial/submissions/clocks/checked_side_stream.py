"""The work is put on a stream that the clock does not watch.

How: the kernel is launched on a stream of the submission's own. Seen: KernelBench's pull request 82 (2025-11) tests for
it; CUDA-L1 (arXiv 2507.14111) reports it. Defence: a plan has one order of steps and no streams; the GPU's own records
are the clock, whatever stream they are on.
"""
# expected: CHECKED checked

import torch
from forging import scale

side = torch.cuda.Stream()


def custom_kernel(data):
    with torch.cuda.stream(side):
        return scale(*data)
