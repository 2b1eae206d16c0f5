"""A starter as Helion itself runs it, timed by the same clock as a replay: what the replay's time is compared with.

usage: python bench/gpu/in_process.py FOLDER PROBLEM      (prints JSON: case id -> "one copy", "own copies" -> times)

Needs Helion and the GPU machine's own Triton; build what it is compared with by that version of Triton. One call is one
CUDA graph, on fresh inputs and a cold L2, as in a replay, but in the process that compiled it. A replay has a copy of
the code for each slot, since where code lies moves a short kernel's time by a few percent; Triton loads it once for
all. Both are timed, each several times over: Triton is made to load it again for every time, or for every slot.

Several of these may be started at once: they compile side by side and then time in turn, as replays do.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import secrets
import sys
from functools import partial
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

TIMES = 4  # of each kind


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


def forget_code() -> None:
    """Have Triton load every kernel again when it is launched next: where there is room, which is somewhere else."""
    from triton.runtime.jit import JITFunction

    for found in gc.get_objects():
        if type(found) is JITFunction:
            found.device_caches.clear()


def main() -> None:
    folder, name = Path(sys.argv[1]), sys.argv[2]
    sys.path.insert(0, str(folder / "node.pyz"))
    from harness.replay.gpu.span_clock import start_span_clock

    clock, why_not = start_span_clock()
    if clock is None:
        sys.exit(why_not)
    import torch
    from triton import knobs

    from harness.replay.gpu.driver import end_context, find_uuid
    from harness.replay.inputs import Request, draw_inputs
    from harness.replay.node.baseline import time_call
    from harness.replay.node.problem_document import load_problem_document
    from harness.replay.node.turn import take_turn
    from harness.replay.reference import load_reference

    provide_task()
    torch.set_grad_enabled(False)
    reference = load_reference(load_problem_document(folder / name / "problem"))
    custom_kernel = load(folder / name / "submission.py").custom_kernel
    loaded: list[str] = []
    knobs.runtime.kernel_load_end_hook.add(lambda module, function, kernel, *_: loaded.append(kernel))
    cases = json.loads((folder / name / "benchmarks.json").read_text())["cases"]
    found: dict[str, dict[str, list[float]]] = {case["id"]: {"one copy": [], "own copies": []} for case in cases}

    def draw(case: dict[str, Any]) -> Any:
        request = Request(tuple(sorted(case["shape"].items())), case["distribution"], secrets.randbits(63))
        return draw_inputs(reference, request, "cuda")

    with take_turn(find_uuid(), lambda: None, shared=True) as turn:
        for case in cases:
            custom_kernel(draw(case))
        torch.cuda.synchronize()
        turn.have_alone()
        for case, kind in product(cases * TIMES, ("one copy", "own copies")):
            forget_code()
            loaded.clear()
            before_slot = forget_code if kind == "own copies" else lambda: None
            time_us = time_call(lambda *data: custom_kernel(data), partial(draw, case), clock, before_slot)
            assert len(loaded) > (len(set(loaded)) if kind == "own copies" else 0), loaded
            found[case["id"]][kind].append(round(time_us, 3))
        gc.collect()
        end_context()  # within the turn: while it is torn down, the next one's calls would take longer
    print(json.dumps(found))


if __name__ == "__main__":
    main()
