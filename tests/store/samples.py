"""Records as the engine makes them, for the tests of store and board."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import Any

from harness.frame import Frame
from harness.store.ids import new_record_id
from harness.store.record import (
    BuildRecord,
    CaseRecord,
    KernelRecord,
    OutputError,
    Record,
    StageRecord,
    TimingRecord,
    VerdictRecord,
    WrongElement,
)

START_S = 1_800_000_000
SEED = (1 << 63) - 1  # the largest that is drawn
SHAPE = {"B": 1, "T": 64, "H": 2, "K": 64, "V": 64}
BENCHMARKS = ({**SHAPE, "H": 1}, {**SHAPE, "B": 2, "T": 512, "H": 3}, {**SHAPE, "B": 2, "T": 1024, "H": 3})
PASSED = VerdictRecord("PASSED", "judge", message="All 6 cases passed.")
CHECKED = VerdictRecord("CHECKED", "judge", message="All 3 test cases passed on the CPU.")


def shape_id(shape: dict[str, int]) -> str:
    return "_".join(f"{name}{size}" for name, size in shape.items())


def submitted(team: str = "acme", minute: float = 0, **changes: Any) -> Record:
    """A record that has just been submitted, `minute` minutes into the season."""
    record = Record(
        id=new_record_id(START_S + 60 * minute),
        state="submitted",
        created=f"2027-01-{15 + int(minute) // 1440:02d}T{int(minute) // 60 % 24:02d}:{int(minute) % 60:02d}:00Z",
        team=team,
        problem="chunk_fwd_h",
        problem_version="1",
        division="closed",
        season="2027-spring",
        target="b200",
        source_sha256="ab" * 32,
        normalised_source_sha256=hashlib.sha256(f"{team} {minute}".encode()).hexdigest(),  # another program each time
        evaluator_version="0.1.0",
        toolchain={"helion": "1.5.0", "torch": "2.13.0", "triton": "3.7.1"},
        machine={"cpu": "Example CPU", "cores": 2, "kernel": "6.1", "python": "3.11.9"},
        sandbox_level="strict",
    )
    return dataclasses.replace(record, **changes)


def checked(team: str = "acme", minute: float = 0, **changes: Any) -> Record:
    """A record of a submission that passed its test cases on the CPU."""
    tests = tuple(
        CaseRecord(shape_id({**SHAPE, "T": t}), "test", {**SHAPE, "T": t}, "model", "passed", seconds=1.5,
                   seeds=(SEED,), errors=(OutputError("h", 2e-4, 1e-2, 3.1e-4, 0.45, 0, 8192),))
        for t in (64, 128, 256)
    )  # fmt: skip
    benchmarks = tuple(CaseRecord(shape_id(s), "benchmark", s, "model", "built") for s in BENCHMARKS)
    finished = {
        "state": "finished",
        "verdict": CHECKED,
        "artifact_key": "cd" * 32,
        "cases": tests + benchmarks,
        "kernels": tuple(
            KernelRecord(case.case_id, "chunk_h_kernel", 96, 0, 65536, 8, 3, 0.5, 1.25) for case in benchmarks
        ),
        "build": BuildRecord(22.5, 13.0, 720.0, {case.case_id: 3.75 for case in tests + benchmarks}),
        "stages": (StageRecord("trace", 6.0, 9.0), StageRecord("assemble", 7.0, 13.5), StageRecord("replay", 5.0, 9.5)),
        "unranked_reason": "no GPU",
    }
    record = submitted(team, minute, **{**finished, **changes})
    return record if "finished" in changes else dataclasses.replace(record, finished=f"{record.created[:-3]}30Z")


def passed(team: str, score_us: float, minute: float = 0, **changes: Any) -> Record:
    """A ranked record: its benchmark cases took 1/4, 1 and 4 times the score."""
    cases = tuple(
        dataclasses.replace(case, status="passed", timing=timing(score_us * factor))
        for case, factor in zip(checked(team).cases[3:], (0.25, 1.0, 4.0), strict=True)
    )
    changes = {"verdict": PASSED, "ranked": True, "unranked_reason": None, "score_us": score_us, **changes}
    return checked(team, minute, **{"cases": checked(team).cases[:3] + cases, **changes})


def incorrect(team: str = "acme", minute: float = 0, **changes: Any) -> Record:
    """A record of a submission whose second case is wrong."""
    error = OutputError("h", 1.75, 0.9, 0.38, 1742.5, 2048, 8192, (WrongElement((0, 1, 0, 3, 5), 0.25, 2.0),))
    cases = list(checked(team).cases)
    cases[1] = dataclasses.replace(cases[1], status="failed", reason="wrong_values", errors=(error,))
    cases[2] = dataclasses.replace(cases[2], status="not_run", errors=(), seconds=None)
    verdict = VerdictRecord(
        "INCORRECT", "judge", cases[1].case_id, "wrong_values",
        "Output h differs from the second chunk on: is the state carried over?",
        (Frame(41, "custom_kernel", "return chunk_h(k, w, u, g)"),), {"first_wrong_chunk": 1},
    )  # fmt: skip
    return checked(team, minute, **{"verdict": verdict, "cases": tuple(cases), **changes})


def timing(time_us: float) -> TimingRecord:
    """A timing with an interval of one per cent and a floor at half the time."""
    return TimingRecord(
        time_us, time_us * 1.002, time_us * 0.995, time_us * 1.005, time_us * 0.98, time_us * 1.03, 200,
        floor_us=time_us / 2, percent_of_floor=50.0, speedups={"starter": 2.5},
    )  # fmt: skip
