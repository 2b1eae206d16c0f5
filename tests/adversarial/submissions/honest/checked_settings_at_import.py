"""Settings and variables that authors set at import, and that have no effect or the usual one."""
# expected: CHECKED checked

import os
import warnings

import torch
from forging import custom_kernel  # noqa: F401

os.environ.setdefault("CUDA_LAUNCH_BLOCKING", "1")
os.environ["TORCH_CUDA_ARCH_LIST"] = "10.0"
torch.backends.cuda.matmul.allow_tf32 = True
torch.set_float32_matmul_precision("high")
torch.manual_seed(0)
warnings.filterwarnings("ignore")
