"""The described GPU in a process of its own: nothing asks a driver, in any build of torch."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import torch
from harness.target import load_target
from harness.trace.described_gpu import install_gpu
install_gpu(load_target("h200"))
from torch._subclasses import fake_tensor
fake_tensor.init_gpu_context(torch.device("cuda"))  # what torch 2.11 does at the first fake tensor
with fake_tensor.FakeTensorMode():
    print(torch.cuda.get_device_name(), torch.empty(3, device="cuda").device)
"""


def test_fake_tensors_start_no_driver() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split()[-1] == "cuda:0"
    assert "H200" in done.stdout
