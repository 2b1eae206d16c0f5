"""Triton's compiler is replaced by one that returns prepared machine code.

How: `triton.compile` and the backend's stages are patched in the tracer. Seen: follows from compiling in the
submission's process. Defence: the tracer's compiler makes no machine code; the assembler is another process, fed with
IR as text.
"""
# expected: CHECKED checked

import triton
from forging import custom_kernel  # noqa: F401
from triton.backends.nvidia.compiler import CUDABackend

triton.compile = lambda *args, **options: b"\x7fELF" + b"mine" * 100
CUDABackend.make_cubin = lambda *args, **options: b"\x7fELF" + b"mine" * 100
CUDABackend.make_ptx = lambda *args, **options: ".version 8.0\n"
