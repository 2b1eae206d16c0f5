"""The CUDA driver's functions are to jump elsewhere.

How: `ctypes` finds `libcuda` in the process, to overwrite `cuEventElapsedTime` and `cuLaunchKernel`. Seen: detours of
library functions are the usual way round patches of Python being noticed. Defence: there is no driver where Python
runs.
"""
# expected: COMPILE_ERROR import_error

import ctypes

from forging import custom_kernel  # noqa: F401

driver = ctypes.CDLL("libcuda.so.1")
ctypes.memset(driver.cuEventElapsedTime, 0xC3, 1)
