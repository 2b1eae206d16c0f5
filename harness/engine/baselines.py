"""Baselines: what a problem's starter, its reference in eager torch and in compiled torch take on a target.

They are measured on purpose (`harness baseline`), kept as JSON files of the repository with the environment that they
were measured in, and only ever used to say how many times faster a submission is: no score depends on them. One of
another version of the problem or of the evaluator is not used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.case import Case
from harness.engine.build import run_build
from harness.engine.gpu import GpuReplay
from harness.engine.gpu_node import run_node
from harness.engine.gpu_stage import replay_on_gpu
from harness.engine.progress import Event, Listener
from harness.engine.request import BuildRequest
from harness.engine.workspace import Workspace, scratch_folder
from harness.errors import HarnessError, StoreError, WorkerError
from harness.replay.node.node_report import CaseRequest, NodeRequest, encode_request
from harness.replay.node.problem_document import write_problem_document
from harness.spec import Problem
from harness.store import Record, utc_now
from harness.store.codec import decode, encode
from harness.strict_json import parse_strict
from harness.target import Target
from harness.toolchain import EVALUATOR_VERSION
from harness.verdict import Kind, Verdict

FOLDER = "baselines"
TIMEOUT_S = 1800.0  # torch.compile takes minutes for what has many steps
_MOST_US = 1e9


@dataclass(frozen=True)
class Baselines:
    """The baselines of a problem on a target.

    Attributes:
        machine: where they were measured.
        cases: by case id, microseconds by kind (`board.times.BASELINES`); a kind that has no time is left out.
        notes: why one has none, by "case kind".
    """

    problem: str
    problem_version: str
    target: str
    evaluator_version: str
    measured: str
    machine: dict[str, str]
    cases: dict[str, dict[str, float]]
    notes: dict[str, str] = field(default_factory=dict)

    def speedups(self, case_id: str, time_us: float) -> dict[str, float]:
        """Return how many times faster than each baseline a time is."""
        return {kind: round(us / time_us, 3) for kind, us in self.cases.get(case_id, {}).items() if us > 0}


def measure_with_starter(
    node: Sequence[str], request: BuildRequest, workspace: Workspace, listener: Listener
) -> Baselines:
    """Build and replay a problem's starter, then measure torch's baselines on the same node.

    Args:
        node: starts the program of a node with a GPU of the request's target.
        request: of the starter.
        workspace: where artifacts are kept.
        listener: is told how it goes.

    Raises:
        HarnessError: the starter does not build or pass.
        WorkerError: the node did not measure them all.
    """
    problem, target = request.problem, request.target
    built = run_build(request, workspace, listener)
    if isinstance(built, Verdict):
        raise HarnessError(f"the starter of {problem.name} does not build: {built.message}")
    call_s = request.season.budgets.gpu_call_s
    judged = replay_on_gpu(node, built.artifact, problem, request.cases, target, call_s, listener)
    if judged.verdict.kind is not Kind.PASSED:
        raise HarnessError(f"the starter of {problem.name} does not pass: {judged.verdict.message}")
    return measure_baselines(node, problem, request.cases, target, judged.replay, listener)


def measure_baselines(
    node: Sequence[str],
    problem: Problem,
    cases: Sequence[Case],
    target: Target,
    starter: GpuReplay | None,
    listener: Listener,
) -> Baselines:
    """Measure torch's baselines on a node, and add the starter's times from its replay.

    Args:
        node: starts the node's program.
        problem: whose reference.
        cases: which; only benchmarks are measured.
        target: what the node's GPU is.
        starter: None if the starter has none.
        listener: is told of each case.

    Raises:
        WorkerError: the node did not measure them all.
    """
    timed = [case for case in cases if case.role == "benchmark"]
    found: dict[str, dict[str, float]] = {case.id: {} for case in timed}
    notes: dict[str, str] = {}
    machine: dict[str, str] = {}
    for case_id, timing in (starter.timings if starter else {}).items():
        found[case_id]["starter"] = round(timing.time_us, 3)
    for event in _ask(node, problem, timed):
        facts = event.get("machine")
        if event.get("event") == "node" and isinstance(facts, dict):
            machine = {str(name)[:60]: str(value)[:200] for name, value in list(facts.items())[:64]}
        elif event.get("event") == "baseline" and event.get("id") in found:
            case_id = str(event["id"])
            _take(event, case_id, found, notes)
            listener(Event("baseline", "advance", case_id, sum("eager" in c for c in found.values()), len(timed)))
    listener(Event("baseline", "end", f"{len(timed)} benchmarks of {problem.name}"))
    return Baselines(problem.name, problem.version, target.name, EVALUATOR_VERSION, utc_now(), machine, found, notes)


def _ask(node: Sequence[str], problem: Problem, cases: Sequence[Case]) -> list[dict[str, Any]]:
    with scratch_folder() as scratch:
        write_problem_document(problem, [case.sizes for case in cases], scratch / "problem")
        asked = tuple(CaseRequest(c.id, c.shape_id, c.sizes, c.distribution, True, 0.0) for c in cases)
        (scratch / "request.json").write_text(json.dumps(encode_request(NodeRequest(asked))), encoding="utf-8")
        command = [*node, "baseline", str(scratch / "problem"), str(scratch / "request.json")]
        return list(run_node(command, TIMEOUT_S, wanted="done"))


def _take(event: Mapping[str, Any], case_id: str, found: dict[str, dict[str, float]], notes: dict[str, str]) -> None:
    for kind in ("eager", "compile"):
        measured = event.get(kind)
        if not isinstance(measured, dict):
            raise WorkerError(f"the node's baseline of {case_id} is not of the form")
        time_us = measured.get("time_us")
        if isinstance(time_us, (int, float)) and not isinstance(time_us, bool) and 0 < time_us < _MOST_US:
            found[case_id][kind] = round(float(time_us), 3)
        else:
            notes[f"{case_id} {kind}"] = str(measured.get("note", ""))[:300]


def save_baselines(baselines: Baselines, root: Path) -> Path:
    """Write baselines to their file in a repository; return it."""
    path = _path(root, baselines.problem, baselines.target)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(encode(baselines), indent=1) + "\n", encoding="utf-8", newline="")
    return path


def load_baselines(root: Path, problem: Problem, target: Target) -> Baselines | None:
    """Return a problem's baselines on a target, None if there are none that still hold.

    Raises:
        StoreError: the file is damaged.
    """
    path = _path(root, problem.name, target.name)
    if not path.is_file():
        return None
    try:
        found = decode(Baselines, parse_strict(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, StoreError) as error:
        raise StoreError(f"{path}: {error}: measure again with `harness baseline {problem.name}`") from None
    current = (problem.version, EVALUATOR_VERSION)
    return found if (found.problem_version, found.evaluator_version) == current else None


def add_speedups(record: Record, baselines: Baselines | None) -> Record:
    """Return a record whose times say how many times faster than each baseline they are."""
    if baselines is None:
        return record
    cases = []
    for case in record.cases:
        if case.timing is not None:
            speedups = baselines.speedups(case.case_id, case.timing.time_us)
            case = replace(case, timing=replace(case.timing, speedups=speedups))
        cases.append(case)
    return replace(record, cases=tuple(cases))


def _path(root: Path, problem: str, target: str) -> Path:
    return root / FOLDER / f"{problem}-{target}.json"
