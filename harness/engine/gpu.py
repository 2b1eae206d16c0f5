"""The replay on a GPU, from an artifact to verdict and case records.

The node (`replay.node`) checks and times; this side decides. It believes the node's numbers as far as the machine they
come from is trusted, and recomputes every statistic from the samples.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.artifact import Artifact
from harness.case import Case
from harness.engine.gpu_node import run_node
from harness.engine.progress import Event, Listener
from harness.engine.report import explain_failure
from harness.engine.workspace import scratch_folder
from harness.errors import UsageError
from harness.replay.node.gpu_events import find_machine_fault
from harness.replay.node.node_report import (
    CaseReport,
    CaseRequest,
    NodeReport,
    NodeRequest,
    encode_request,
    parse_report,
)
from harness.replay.node.problem_document import write_problem_document
from harness.replay.timing import Timing, geometric_mean, is_implausible, summarise
from harness.sandbox import Level
from harness.spec import Problem
from harness.target import Target
from harness.verdict import Verdict, judge_gpu_fault, judge_measured, judge_passed, judge_replay

START_S = 180.0  # for starting processes, beside the calls themselves
CALLS_PER_CASE = 8  # that may run into their time limit before the node gives up


@dataclass(frozen=True)
class GpuReplay:
    """What a replay gave, case by case, in the order asked.

    Attributes:
        timings: of the benchmarks that were timed by the score clock, by case id.
        floors_us: of every case.
    """

    cases: tuple[Case, ...]
    report: NodeReport
    timings: dict[str, Timing]
    floors_us: dict[str, float]

    @property
    def score_us(self) -> float | None:
        """The geometric mean of the benchmarks' times; None unless each was timed."""
        wanted = [case.id for case in self.cases if case.role == "benchmark"]
        if not wanted or not all(name in self.timings for name in wanted):
            return None
        return geometric_mean(self.timings[name].time_us for name in wanted)

    @property
    def level(self) -> Level:
        """The sandbox level that the runner had; none where the node says nothing that we know."""
        told = str(self.report.machine.get("sandbox", ""))
        return Level(told) if told in {level.value for level in Level} else Level.NONE

    @property
    def why_unranked(self) -> str | None:
        """Return what keeps this replay from being ranked, None if nothing does."""
        if self.report.machine.get("score_clock") != "cupti":
            return f"no score clock on the GPU machine: {self.report.machine.get('why_no_clock', '')}"
        if self.report.machine.get("addresses_host_memory"):
            return "the GPU can address host memory (PAGEABLE_MEMORY_ACCESS), so a kernel could forge its own result"
        return None


def run_gpu_replay(
    command: Sequence[str],
    folder: Path,
    problem: Problem,
    cases: tuple[Case, ...],
    target: Target,
    call_s: float,
    listener: Listener,
) -> GpuReplay:
    """Replay an artifact on a node.

    Args:
        command: starts the node's program.
        folder: the artifact's.
        problem: the problem that it was built for.
        cases: what to replay.
        target: the GPU that it was built for, for the floor.
        call_s: the time limit of one call.
        listener: is told of each case.

    Raises:
        WorkerError: the node did not report.
    """
    if not cases:
        raise UsageError("no case to replay: the artifact holds none of the suite's shapes")
    asked = tuple(CaseRequest(c.id, c.shape_id, c.sizes, c.distribution, c.role == "benchmark", call_s) for c in cases)
    listener(Event("replay", "start", total=len(cases)))
    with scratch_folder() as scratch:
        write_problem_document(problem, [case.sizes for case in cases], scratch / "problem")
        (scratch / "request.json").write_text(json.dumps(encode_request(NodeRequest(asked))), encoding="utf-8")
        arguments = ["replay", str(folder), str(scratch / "problem"), str(scratch / "request.json")]
        timeout_s = START_S + CALLS_PER_CASE * call_s * len(cases)
        report = _follow([*command, *arguments], asked, timeout_s, listener)
    if problem.deterministic:
        report = _refuse_differing_bits(report)
    passed = sum(case.status == "passed" for case in report.cases)
    where = report.machine.get("gpu", "the node's CPUs")
    listener(Event("replay", "end", f"{passed} of {len(cases)} cases pass on {where}"))
    timings = {
        case.id: summarise(samples.spans_us, samples.witness_us, samples.nodes)
        for case in report.cases
        if (samples := case.samples) is not None and samples.spans_us
    }
    return GpuReplay(cases, report, timings, {case.id: floor_us(problem, case, target) for case in cases})


def _follow(command: list[str], asked: tuple[CaseRequest, ...], timeout_s: float, listener: Listener) -> NodeReport:
    report, done = None, 0
    for event in run_node(command, timeout_s):
        if event.get("event") == "done":
            done += 1
            told = f"{event.get('id', '')} {event.get('status', '')}"[:200]
            listener(Event("replay", "advance", told, min(done, len(asked)), len(asked)))
        elif event.get("event") == "waiting":
            listener(Event("replay", "advance", "waiting for another replay to end", done, len(asked)))
        elif event.get("event") == "report":
            report = parse_report(event.get("report"), asked)
    assert report is not None
    return report


def _refuse_differing_bits(report: NodeReport) -> NodeReport:
    """Return the report as a problem has it whose outputs must be the same, bit by bit, for equal inputs."""
    return replace(report, cases=tuple(map(_refuse_if_bits_differ, report.cases)))


def _refuse_if_bits_differ(case: CaseReport) -> CaseReport:
    if case.status != "passed" or not case.differing_bits:
        return case
    message = (
        f"{tell_differing(case)}, and this problem asks for the same bits each time: is the order of additions left "
        "to chance, as with atomics, or is memory read that nobody wrote?"
    )
    return replace(case, status="failed", reason="not_deterministic", message=message)


def tell_differing(case: CaseReport) -> str:
    """Say how many elements two calls on equal inputs did not agree on."""
    count = case.differing_bits
    return f"{count} element{' differs' if count == 1 else 's differ'} between two calls on equal inputs"


def floor_us(problem: Problem, case: Case, target: Target) -> float:
    """Return the least time that a case can take on a target, from the problem's cost."""
    flops, read_bytes, write_bytes = problem.cost_of(case.sizes)
    return target.floor_us(read_bytes, write_bytes, flops, problem.precision)


def judge_gpu_replay(replay: GpuReplay, artifact: Artifact) -> Verdict:
    """Return the verdict on a replay: the first case that did not pass decides, unless the machine failed."""
    lost = find_machine_fault(str(replay.report.clocks.get("xids", "")))
    unlucky = next((case for case in replay.report.cases if case.status in ("failed", "fault")), None)
    if lost and unlucky is not None:
        return judge_gpu_fault("machine", f"the GPU reported an error of its own: {lost}", unlucky.id)
    for case in replay.report.cases:
        if case.status == "failed":
            return judge_replay(
                case.reason, explain_failure(case.message, case.judgement), case.id, {"seeds": list(case.seeds[-1:])}
            )
        if case.status == "fault":
            return judge_gpu_fault(case.reason, case.message, case.id, _lines_of(case.kernel, artifact))
    left_out = next((case for case in replay.report.cases if case.status != "passed"), None)
    if left_out is not None:
        return judge_gpu_fault(
            "internal", "the GPU node did not run this case, though none before it failed", left_out.id
        )
    for case_id, timing in replay.timings.items():
        if timing.fault:
            return judge_measured(timing.fault, case_id, timing.time_us, timing.mean_us, timing.witness_us)
        if is_implausible(timing, replay.floors_us[case_id]):
            return judge_measured("faster_than_floor", case_id, timing.time_us, replay.floors_us[case_id], 0.0)
    gpu = str(replay.report.machine.get("gpu", "the GPU"))
    return judge_passed(len(replay.cases), gpu, replay.score_us, replay.why_unranked)


def _lines_of(kernel: str, artifact: Artifact) -> list[int]:
    """Return the submission's lines that launch a kernel."""
    keys = {key for key, built in artifact.kernels.items() if built.facts.name == kernel}
    launches = [launch for plan in artifact.plans.values() for launch in plan.launches]
    return sorted({launch.line for launch in launches if launch.kernel in keys and launch.line})
