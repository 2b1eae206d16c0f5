"""What a replay on a GPU gave, in the record's form: its machine, its cases, its times."""

from __future__ import annotations

from dataclasses import replace

from harness.case import Case
from harness.engine.gpu import GpuReplay, tell_differing
from harness.engine.report import report_outputs
from harness.replay.node.node_report import CaseReport
from harness.store import CaseRecord, Record, TimingRecord
from harness.verdict import Kind


def add_replay(record: Record, replay: GpuReplay) -> Record:
    """Return a record with what a replay gave: its machine, its cases, and its score if its verdict is PASSED."""
    machine = {name: value if isinstance(value, (str, int)) else str(value) for name, value in _facts(replay).items()}
    return replace(
        record,
        machine={**record.machine, **machine},
        cases=report_gpu_cases(replay),
        score_us=replay.score_us if record.kind == Kind.PASSED else None,
    )


def report_gpu_cases(replay: GpuReplay) -> tuple[CaseRecord, ...]:
    """Return the cases in the record's form."""
    pairs = zip(replay.cases, replay.report.cases, strict=True)
    return tuple(_report_case(case, result, replay) for case, result in pairs)


def _facts(replay: GpuReplay) -> dict[str, str | int | float]:
    """Return the node's facts; its sandbox is the runner's, not the one that a submission was built in."""
    names = {"sandbox": "runner_sandbox", "why_lower": "why_lower_sandbox"}
    return {names.get(name, name): value for name, value in replay.report.machine.items()}


def _report_case(case: Case, result: CaseReport, replay: GpuReplay) -> CaseRecord:
    message = result.message
    if result.status == "passed" and result.differing_bits:
        message = tell_differing(result)
    return CaseRecord(
        case_id=case.id,
        role=case.role,
        shape=case.sizes,
        distribution=case.distribution,
        status="failed" if result.status == "fault" else result.status,
        reason=result.reason,
        message=message,
        errors=report_outputs(result.judgement) if result.judgement else (),
        seconds=result.seconds or None,
        seeds=result.seeds,
        timing=_report_timing(case.id, replay),
    )


def _report_timing(case_id: str, replay: GpuReplay) -> TimingRecord | None:
    timing = replay.timings.get(case_id)
    if timing is None:
        return None
    floor = replay.floors_us[case_id]
    samples = next(c.samples for c in replay.report.cases if c.id == case_id and c.samples)
    return TimingRecord(
        time_us=round(timing.time_us, 3),
        mean_us=round(timing.mean_us, 3),
        low_us=round(timing.low_us, 3),
        high_us=round(timing.high_us, 3),
        p10_us=round(timing.p10_us, 3),
        p90_us=round(timing.p90_us, 3),
        samples=timing.samples,
        floor_us=round(floor, 3),
        percent_of_floor=round(100 * floor / timing.time_us, 1),
        clocks={**replay.report.clocks, "witness_us": round(timing.witness_us, 3)},
        spans_us=samples.spans_us,
    )
