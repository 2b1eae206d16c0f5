"""Works when checked, idles when a graph of it is timed.

How: `torch.cuda.is_current_stream_capturing()` decides. Seen: follows from timing by graphs. Defence: the plan is
traced where it is false, and the plan is what gets captured.
"""
# expected: CHECKED checked

import torch
from forging import scale

last = None


def custom_kernel(data):
    global last
    if not torch.cuda.is_current_stream_capturing():
        last = scale(*data)
    return last
