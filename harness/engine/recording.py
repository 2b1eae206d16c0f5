"""From an evaluation to its record: what is known before anything runs, what the stages gave, and where it stands."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

from harness.artifact import identify_program
from harness.case import load_cases
from harness.engine.baselines import Baselines, add_speedups
from harness.engine.build import Built
from harness.engine.checking import CaseResult
from harness.engine.gpu import GpuReplay
from harness.engine.gpu_record import add_replay
from harness.engine.machine import describe_machine
from harness.engine.report import report_build, report_case, report_kernels, report_unrun, report_verdict
from harness.engine.request import BuildRequest
from harness.engine.standing import describe_request, why_unranked
from harness.store import NO_ID, Record, StageRecord, new_record_id, utc_now
from harness.toolchain import EVALUATOR_VERSION
from harness.verdict import Kind, Verdict

STATE_SUBMITTED, STATE_FINISHED = "submitted", "finished"


@dataclass
class Evaluation:
    """What the stages have given so far."""

    stages: list[StageRecord] = field(default_factory=list)
    built: Built | None = None
    results: tuple[CaseResult, ...] = ()
    replay: GpuReplay | None = None
    baselines: Baselines | None = None
    no_replay: str = ""
    verdict: Verdict | None = None
    error: str = ""

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure a stage's wall time."""
        started = time.monotonic()
        try:
            yield
        finally:
            self.stages.append(StageRecord(name, round(time.monotonic() - started, 3)))


def open_record(request: BuildRequest) -> Record:
    """Return the record of a submission before anything of it has run."""
    return Record(
        id=new_record_id(),
        state=STATE_SUBMITTED,
        created=utc_now(),
        team=request.submission.team,
        problem=request.problem.name,
        problem_version=request.problem.version,
        division=request.division,
        season=request.season.name,
        target=request.target.name,
        source_sha256=request.submission.sha256,
        normalised_source_sha256=request.submission.normalised_sha256,
        evaluator_version=EVALUATOR_VERSION,
        toolchain=dict(request.toolchain),
        machine=describe_machine(),
        sandbox_level=request.level.value,
        suite=request.suite,
        whole_suite=set(request.cases) >= set(load_cases(request.problem, request.suite)),
    )


def close_record(record: Record, request: BuildRequest, evaluation: Evaluation) -> Record:
    """Return the record with all that the stages gave; they must have given a verdict."""
    verdict = evaluation.verdict
    assert verdict is not None
    reported = report_verdict(verdict)
    if evaluation.error:
        reported = replace(reported, details={**reported.details, "traceback": evaluation.error[-8000:]})
    record = replace(
        record,
        state=STATE_FINISHED,
        finished=utc_now(),
        verdict=reported,
        stages=tuple(evaluation.stages),
        cases=tuple(report_case(r) for r in evaluation.results) or tuple(map(report_unrun, request.cases)),
    )
    if evaluation.replay is not None:
        record = add_speedups(add_replay(record, evaluation.replay), evaluation.baselines)
    record = _add_standing(record, request, evaluation)
    if evaluation.built is None:
        return record
    artifact = evaluation.built.artifact
    return replace(
        record,
        artifact_key=artifact.manifest.key,
        program_sha256=identify_program(artifact),
        warnings=artifact.manifest.warnings,
        build=report_build(artifact, request.season.budgets.compile_cpu_s),
        kernels=report_kernels(artifact, request.target, evaluation.built.cached),
    )


def describe_failure(request: BuildRequest, verdict: Verdict) -> Record:
    """Return what a record of a build that failed would say; it has no id, because it is stored nowhere."""
    return replace(close_record(open_record(request), request, Evaluation(verdict=verdict)), id=NO_ID)


def close_replayed(checked: Record, request: BuildRequest, evaluation: Evaluation) -> Record:
    """Return the record of a build with what its replay on a GPU gave, which came later and perhaps elsewhere."""
    assert evaluation.verdict is not None
    assert evaluation.replay is not None
    verdict, stages = report_verdict(evaluation.verdict), (*checked.stages, *evaluation.stages)
    record = replace(checked, finished=utc_now(), verdict=verdict, stages=stages)
    record = add_speedups(add_replay(record, evaluation.replay), evaluation.baselines)
    return _add_standing(record, request, evaluation)


def _add_standing(record: Record, request: BuildRequest, evaluation: Evaluation) -> Record:
    verdict, replay = evaluation.verdict, evaluation.replay
    assert verdict is not None
    submitted = datetime.fromisoformat(record.created.replace("Z", "+00:00"))
    entry = describe_request(request)
    no_replay = f"a GPU is here, and could not be used: {evaluation.no_replay}" if evaluation.no_replay else ""
    why = why_unranked(entry, request.season, verdict, replay, submitted, no_replay)
    passed = verdict.kind is Kind.PASSED
    return replace(record, unranked_reason=why, ranked=passed and why is None)
