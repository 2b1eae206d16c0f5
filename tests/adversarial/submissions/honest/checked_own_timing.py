"""The author's own measurements were left in: looks like interest in the clock."""
# expected: CHECKED checked

import time

import torch
from forging import scale


def custom_kernel(data):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    began = time.perf_counter()
    start.record()
    y = scale(*data)
    end.record()
    torch.cuda.synchronize()
    print(f"{start.elapsed_time(end):.3f} ms on the GPU, {time.perf_counter() - began:.3f} s here")
    return y
