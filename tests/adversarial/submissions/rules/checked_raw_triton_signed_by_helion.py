"""Triton by hand, passed off as Helion's.

How: the tracer decides by the file that a kernel comes from; the submission adds its own file to that list. Seen:
follows from this design: where a kernel's IR comes from can't be proven when the tracer is the attacker's. Defence:
none in a verdict; organisers read the sources of top entries. The time is the honest time of what the kernel does.
"""
# expected: CHECKED checked
# effect: own plan

import sys

import torch
import triton
import triton.language as tl
from forging import tracer  # noqa: F401


@triton.jit
def scale(x, s, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = row * columns + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    tl.store(y + at, tl.load(x + at, mask) * tl.load(s + row), mask)


frame = sys._getframe()
while "session" not in frame.f_locals:
    frame = frame.f_back
frame.f_locals["session"]._recorder.generated.add(__file__)


def custom_kernel(data):
    x, s = data
    y = torch.empty_like(x)
    scale[(x.shape[0],)](x, s, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y
