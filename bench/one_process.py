"""The yardstick of the build: one plain process that imports Helion and compiles a submission's cases.

For a described GPU; no sandbox, no plan, no second process: what a person's own script would cost.
`python -m bench.one_process PROBLEM TARGET` prints the CPU-seconds of the whole process tree.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import sys
import tempfile
import types
from pathlib import Path

from harness.case import load_cases
from harness.spec import find_problem
from harness.target import load_target

ROOT = Path(__file__).parents[1]


def main(problem_name: str, target_name: str) -> None:
    os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp()
    os.environ["HELION_DISALLOW_AUTOTUNING"] = "1"
    from harness.trace.described_gpu import install_gpu

    install_gpu(load_target(target_name))
    import helion  # noqa: F401
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from triton.runtime.jit import JITFunction

    compile_only = JITFunction.run

    def run(self, *args, grid, warmup, **kwargs):
        return compile_only(self, *map(_stand_in, args), grid=grid, warmup=True, **kwargs)

    JITFunction.run = run
    problem = find_problem(ROOT, problem_name)
    sys.modules["task"] = types.SimpleNamespace(input_t=tuple, output_t=tuple)
    submission = _load(ROOT / "submissions" / "starter" / problem.name / "submission.py")
    shapes = {case.shape_id: case.sizes for case in load_cases(problem)}
    for sizes in shapes.values():
        with FakeTensorMode(allow_non_fake_inputs=True):
            tensors = zip(problem.inputs, problem.input_sizes(sizes), strict=True)
            data = tuple(torch.empty(size, dtype=getattr(torch, t.dtype), device="cuda") for t, size in tensors)
            submission.custom_kernel(data)
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(round(sum(u.ru_utime + u.ru_stime for u in usage), 2))


class _Pointer:
    def __init__(self, tensor) -> None:
        self.dtype = tensor.dtype
        self._offset = tensor.storage_offset() * tensor.element_size()

    def data_ptr(self) -> int:
        return self._offset


def _stand_in(value):
    import torch

    return _Pointer(value) if isinstance(value, torch.Tensor) else value


def _load(path: Path):
    spec = importlib.util.spec_from_file_location("submission", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["submission"] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
