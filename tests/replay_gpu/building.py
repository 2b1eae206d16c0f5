"""Builds the attacks into artifacts and puts each into a folder that a GPU machine can replay from.

usage: python -m tests.replay_gpu.building OUT [NAME ...]

Each is a submission in the open division, built as any other is; those of `EDITED` are an honest one that was edited by
hand, because no build would let it through.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from harness.artifact import Artifact, load_artifact, save_artifact
from harness.case import load_cases
from harness.engine.build import Built, run_build
from harness.engine.request import BuildRequest
from harness.engine.workspace import Workspace
from harness.plan import Named, OpStep, Tensor, TensorMeta
from harness.replay.node.node_report import CaseRequest, NodeRequest, encode_request
from harness.replay.node.pack import build_node
from harness.replay.node.problem_document import write_problem_document
from harness.sandbox import best_level
from harness.spec import load_problem, load_season
from harness.submission import load_submission
from harness.target import load_target
from harness.toolchain import check_toolchain

HERE = Path(__file__).parent
ATTACKS = HERE / "attacks"
TIMEOUT_S = 3.0
HUGE_BYTES = 1 << 38
MUCH_SHARED_BYTES = 1 << 19


def build_artifact(path: Path, state: Path, target: str = "h200", division: str = "open") -> Artifact:
    """Build one submission of the `scale` problem."""
    workspace = HERE / "workspace"
    problem, season = load_problem(workspace / "problems" / "scale"), load_season(workspace)
    request = BuildRequest(
        submission=load_submission(path, "acme"),
        problem=problem,
        season=season,
        target=load_target(target),
        division=division,
        cases=load_cases(problem),
        portable=False,
        level=best_level().level,
        toolchain=check_toolchain(),
    )
    built = run_build(request, Workspace(state), lambda _: None)
    assert isinstance(built, Built), f"{path.name}: {built}"
    return load_artifact(Workspace(state).artifacts / built.artifact.manifest.key)


def ask_for_much_memory(artifact: Artifact) -> Artifact:
    """Return the artifact with an allocation larger than any GPU at the start of every plan."""
    plans = {}
    for shape, plan in artifact.plans.items():
        number = len(plan.tensors)
        kwargs = (("dtype", Named("dtype", "uint8")), ("device", Named("device", "cuda")))
        step = OpStep("aten.empty.memory_format", ((HUGE_BYTES,),), kwargs, (Tensor(number),))
        tensors = (*plan.tensors, TensorMeta((HUGE_BYTES,), (1,), "uint8"))
        plans[shape] = dataclasses.replace(plan, tensors=tensors, steps=(step, *plan.steps))
    return dataclasses.replace(artifact, plans=plans)


def add_variables(artifact: Artifact) -> Artifact:
    """Return the artifact with machine code that says it has variables of its own, as if made by hand."""
    kernels = {k: dataclasses.replace(v, cubin=v.cubin + b"\0.nv.global\0") for k, v in artifact.kernels.items()}
    return dataclasses.replace(artifact, kernels=kernels)


def add_profile_scratch(artifact: Artifact) -> Artifact:
    """Return the artifact with kernels that ask for memory to write a profile to, as an instrumented one does."""
    kernels = {
        k: dataclasses.replace(v, facts=dataclasses.replace(v.facts, profile_scratch_bytes=64))
        for k, v in artifact.kernels.items()
    }
    return dataclasses.replace(artifact, kernels=kernels)


def ask_for_much_shared_memory(artifact: Artifact) -> Artifact:
    """Return the artifact with kernels that want more shared memory than a block of any GPU has."""
    kernels = {
        k: dataclasses.replace(v, facts=dataclasses.replace(v.facts, shared_bytes=MUCH_SHARED_BYTES))
        for k, v in artifact.kernels.items()
    }
    return dataclasses.replace(artifact, kernels=kernels)


def spoil_capture(artifact: Artifact) -> Artifact:
    """Return the artifact with an operator that waits for the GPU, which runs step by step and not in a graph."""
    plans = {}
    for shape, plan in artifact.plans.items():
        mask, found = Tensor(len(plan.tensors)), Tensor(len(plan.tensors) + 1)
        kwargs = (("dtype", Named("dtype", "bool")), ("device", Named("device", "cuda")))
        steps = (
            OpStep("aten.ones.default", ((2,),), kwargs, (mask,)),
            OpStep("aten.index.Tensor", (mask, (mask,)), (), (found,)),
        )
        tensors = (*plan.tensors, TensorMeta((2,), (1,), "bool"), TensorMeta((2,), (1,), "bool"))
        plans[shape] = dataclasses.replace(plan, tensors=tensors, steps=(*steps, *plan.steps))
    return dataclasses.replace(artifact, plans=plans)


EDITED: dict[str, Callable[[Artifact], Artifact]] = {
    "out_of_memory": ask_for_much_memory,
    "much_shared_memory": ask_for_much_shared_memory,
    "profile_scratch": add_profile_scratch,
    "spoilt_capture": spoil_capture,
    "variables": add_variables,
}
"""By name: what is made of `honest` by hand."""


def export(artifact: Artifact, out: Path) -> None:
    """Write artifact, problem document and request to a folder."""
    problem = load_problem(HERE / "workspace" / "problems" / "scale")
    cases = load_cases(problem)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    save_artifact(artifact, out / "artifact")
    write_problem_document(problem, [case.sizes for case in cases], out / "problem")
    asked = [CaseRequest(c.id, c.shape_id, c.sizes, c.distribution, c.role == "benchmark", TIMEOUT_S) for c in cases]
    (out / "request.json").write_text(json.dumps(encode_request(NodeRequest(tuple(asked)))))


def build_all(out: Path, state: Path, names: tuple[str, ...] = ()) -> None:
    """Build and export every attack, or those named."""
    for path in sorted(ATTACKS.glob("*.py")):
        if not names or path.stem in names:
            export(build_artifact(path, state), out / path.stem)
    for name, edit in EDITED.items():
        if not names or name in names:
            export(edit(build_artifact(ATTACKS / "honest.py", state)), out / name)
    build_node(out / "node.pyz")


if __name__ == "__main__":
    build_all(Path(sys.argv[1]), Path(sys.argv[1]) / "state", tuple(sys.argv[2:]))
