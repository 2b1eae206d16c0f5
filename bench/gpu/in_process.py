"""A starter as Helion itself runs it, timed by the same clock as a replay: what the replay's time is compared with.

usage: python bench/gpu/in_process.py FOLDER PROBLEM      (prints JSON: case id -> kind -> times in microseconds)

Needs Helion and the GPU machine's own Triton; build what it is compared with by that version of Triton. One call is one
CUDA graph, on fresh inputs and a cold L2, as in a replay, but in the process that compiled it. A replay has a copy of
the code for each slot, since where code lies moves a short kernel's time by a few percent; Triton loads it once for
all. So there are four kinds, each timed several times over, with code that is loaded anew: Helion's own call and the
artifact's plan, captured here as a replay captures it, both with one copy of the code and with one for each slot.

Several of these may be started at once: they compile side by side and then time in turn, as replays do.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import secrets
import sys
from collections.abc import Callable
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


class Kinds:
    """The ways to time one case; each method returns microseconds."""

    def __init__(self, custom_kernel: Any, artifact: Any, clock: Any, draw: Callable[[dict[str, Any]], Any]) -> None:
        self._custom_kernel, self._artifact, self._clock, self._draw = custom_kernel, artifact, clock, draw

    def helion(self, case: dict[str, Any], *, own_copies: bool) -> float:
        """Time the submission's function."""
        from harness.replay.node.baseline import time_call

        forget_code()
        before_slot = forget_code if own_copies else lambda: None
        return time_call(lambda *data: self._custom_kernel(data), lambda: self._draw(case), self._clock, before_slot)

    def plan(self, case: dict[str, Any], *, own_copies: bool) -> float:
        """Time the artifact's plan."""
        import torch

        from harness.replay.gpu.cold_cache import ColdCache, new_tile
        from harness.replay.gpu.kernels import load_kernel
        from harness.replay.gpu.program import Program
        from harness.replay.node.baseline import time_slots
        from harness.replay.timing import slot_count

        plan = self._artifact.plans[case["shape_id"]]
        count = slot_count(sum(tensor.size_bytes for tensor in plan.tensors))
        keys = dict.fromkeys(launch.kernel for launch in plan.launches)
        loaded = [{key: load_kernel(self._artifact.kernels[key]) for key in keys} for _ in range(count)]
        programs = [Program(self._artifact, plan, loaded[own_copies * number]) for number in range(count)]
        slots = [program.capture() for program in programs]
        cold = ColdCache(new_tile().zero_(), torch.cuda.get_device_properties().L2_cache_size)

        def refresh(number: int) -> None:
            memory = slots[number].memory
            for tensor, drawn in zip(plan.inputs, self._draw(case), strict=True):
                memory.tensors[tensor].copy_(drawn)
            programs[number].fill_constants(memory)

        def run(number: int) -> None:
            cold.flush()
            slots[number].graph.replay()
            torch.cuda.synchronize()

        return time_slots(count, refresh, run, self._clock)


def main() -> None:
    folder, name = Path(sys.argv[1]), sys.argv[2]
    sys.path.insert(0, str(folder / "node.pyz"))
    from harness.replay.gpu.span_clock import start_span_clock

    clock, why_not = start_span_clock()
    if clock is None:
        sys.exit(why_not)
    import torch
    from triton import knobs

    from harness.artifact import load_artifact
    from harness.replay.gpu.driver import end_context, find_uuid
    from harness.replay.inputs import Request, draw_inputs
    from harness.replay.node.problem_document import load_problem_document
    from harness.replay.node.turn import take_turn
    from harness.replay.reference import load_reference

    provide_task()
    torch.set_grad_enabled(False)
    reference = load_reference(load_problem_document(folder / name / "problem"))
    custom_kernel = load(folder / name / "submission.py").custom_kernel
    loads: list[str] = []
    knobs.runtime.kernel_load_end_hook.add(lambda module, function, name, group, key: loads.append(key))
    cases = json.loads((folder / name / "benchmarks.json").read_text())["cases"]

    def draw(case: dict[str, Any]) -> Any:
        request = Request(tuple(sorted(case["shape"].items())), case["distribution"], secrets.randbits(63))
        return draw_inputs(reference, request, "cuda")

    timed = Kinds(custom_kernel, load_artifact(folder / name / "artifact"), clock, draw)
    kinds = {
        "one copy": partial(timed.helion, own_copies=False),
        "own copies": partial(timed.helion, own_copies=True),
        "plan, one copy": partial(timed.plan, own_copies=False),
        "plan, own copies": partial(timed.plan, own_copies=True),
    }
    found: dict[str, dict[str, list[float]]] = {case["id"]: {kind: [] for kind in kinds} for case in cases}
    with take_turn(find_uuid(), lambda: None, shared=True) as turn:
        for case in cases:
            custom_kernel(draw(case))
        torch.cuda.synchronize()
        turn.have_alone()
        for case, kind in product(cases * TIMES, kinds):
            loads.clear()
            found[case["id"]][kind].append(round(kinds[kind](case), 3))
            check_loads(kind, loads)
        gc.collect()
        end_context()  # within the turn: while it is torn down, the next one's calls would take longer
    print(json.dumps(found))


def check_loads(kind: str, loads: list[str]) -> None:
    """Exit if Triton did not load code as often as a kind says: each of a call's kernels once, or once a slot."""
    times = {loads.count(kernel) for kernel in loads}
    expected = {"one copy": times == {1}, "own copies": bool(times) and min(times) > 1}.get(kind, not times)
    if not expected:
        sys.exit(f"{kind}: Triton loaded {loads}")


if __name__ == "__main__":
    main()
