"""Words that scanners forbid, in comments, texts and names: stream, torch.matmul, os._exit, eval, tl.inline_asm.

A scan that banned the word "stream" refused comments, in the event itself.
"""
# expected: CHECKED checked

# Here a stream of data goes through; torch.cuda.CUDAGraph, __import__("os").system, subprocess, ctypes, /proc/self/mem.
from forging import scale

NOTE = "no eval, no exec, no cudaMalloc, no torch.mm, no triton.jit, no inline_asm_elementwise"


def stream_scale_eval(data):
    return scale(*data)


custom_kernel = stream_scale_eval
