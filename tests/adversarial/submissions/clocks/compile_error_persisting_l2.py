"""A window of the L2 cache is to keep inputs and results over the flush.

How: `cudaDeviceSetLimit` and an access-policy window on the stream, through torch's binding of the runtime. Seen:
follows from cold-cache timing; see the GPU's `keeper` for the kernel's own way. Defence: no device where Python runs,
and the runner is another process.
"""
# expected: COMPILE_ERROR import_error

import torch
from forging import custom_kernel  # noqa: F401

torch.cuda.cudart().cudaDeviceSetLimit(6, 1 << 25)
