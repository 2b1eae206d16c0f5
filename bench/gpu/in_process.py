"""A starter as Helion itself runs it, timed by the same clock as a replay: what the replay's time is compared with.

usage: python bench/gpu/in_process.py FOLDER PROBLEM      (prints JSON: case id -> time in microseconds)

Needs Helion and the GPU machine's own Triton; build what it is compared with by that version of Triton. One call is one
CUDA graph, on fresh inputs and a cold L2, as in a replay, but in the process that compiled it.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("submission", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # Helion looks its names up there
    spec.loader.exec_module(module)
    return module


def provide_task() -> None:
    """Let `from task import input_t, output_t` work, as it does where a submission is traced."""
    task = ModuleType("task")
    task.__dict__.update(input_t=Any, output_t=Any)
    sys.modules["task"] = task


def main() -> None:
    folder, name = Path(sys.argv[1]), sys.argv[2]
    sys.path.insert(0, str(folder / "node.pyz"))
    from harness.replay.gpu.span_clock import start_span_clock

    clock, why_not = start_span_clock()
    if clock is None:
        sys.exit(why_not)
    import torch

    from harness.replay.inputs import Request, draw_inputs
    from harness.replay.node.baseline import time_call
    from harness.replay.node.problem_document import load_problem_document
    from harness.replay.reference import load_reference

    provide_task()
    torch.set_grad_enabled(False)
    reference = load_reference(load_problem_document(folder / name / "problem"))
    custom_kernel = load(folder / name / "submission.py").custom_kernel
    found = {}
    for case in json.loads((folder / name / "benchmarks.json").read_text())["cases"]:
        seeds = iter(range(1, 10_000))

        def draw(case: dict[str, Any] = case, seeds: Any = seeds) -> Any:
            request = Request(tuple(sorted(case["shape"].items())), case["distribution"], next(seeds))
            return draw_inputs(reference, request, "cuda")

        found[case["id"]] = round(time_call(lambda *data: custom_kernel(data), draw, clock), 3)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
