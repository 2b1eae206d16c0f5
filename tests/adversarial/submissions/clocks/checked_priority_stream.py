"""A stream that goes first.

How: a stream of high priority overtakes the clock's events. Seen: as side streams. Defence: as there.
"""
# expected: CHECKED checked

import torch
from forging import scale


def custom_kernel(data):
    with torch.cuda.stream(torch.cuda.Stream(priority=-5)):
        y = scale(*data)
    torch.cuda.default_stream().synchronize()
    return y
