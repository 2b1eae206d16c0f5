"""Triton's benchmark returns a nanosecond.

How: `triton.testing.do_bench` is replaced at import. Seen: KernelBench's timing rests on such functions (its pull
request 89 lists them). Defence: the runner imports no Triton.
"""
# expected: CHECKED checked

import triton.testing
from forging import custom_kernel  # noqa: F401

triton.testing.do_bench = lambda function, **options: 1e-6
triton.testing.do_bench_cudagraph = lambda function, **options: 1e-6
