"""The record: everything that is known about one submission's evaluation, as it is stored and shown.

This module owns the form: frozen dataclasses and the JSON document. It does not decide verdicts (`verdict`
does), compare records (`board` does) or touch a database. It imports the standard library only.

A record holds other people's text: team names, error messages, traceback lines, kernel names. It is kept as it came;
whoever shows it escapes it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.errors import StoreError
from harness.frame import Frame
from harness.store.codec import decode, encode
from harness.store.formats import FORMAT, update

RANKING_SUITE = "default"
"""The suite that boards rank; others are listed apart."""

ACCEPTED = ("PASSED", "CHECKED", "BUILT")
"""Verdict kinds that a board shows. Only a PASSED one can be ranked."""

COMPARED_TOOLS = ("helion", "torch", "triton")
"""The tools that shape the measured code: scores made with other versions of them are not comparable."""


@dataclass(frozen=True)
class VerdictRecord:
    """What was decided, and what the author can do about it.

    Attributes:
        kind: PASSED, CHECKED, BUILT, INCORRECT, COMPILE_ERROR, ...
        stage: the stage that decided ("trace", "assemble", "replay", ...).
        case: id of the failing case, None if the verdict is about no case.
        reason: a stable code for machines ("wrong_dtype", "budget_spent"), "" when there is nothing to explain.
        message: a sentence or two for the author.
        traceback: the relevant lines of the submission, outermost first.
        details: further facts, JSON values only.
    """

    kind: str
    stage: str
    case: str | None = None
    reason: str = ""
    message: str = ""
    traceback: tuple[Frame, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class WrongElement:
    """One element that differs beyond the tolerance."""

    index: tuple[int, ...]
    got: float
    expected: float


@dataclass(frozen=True)
class OutputError:
    """How far one output of one case is from the reference.

    Attributes:
        worst_over_tolerance: the largest |got - expected| / (atol + rtol |expected|): above 1 is wrong.
        relative_l2: norm of the difference over the norm of the reference.
        examples: some wrong elements, the worst first.
    """

    output: str
    max_abs: float
    max_rel: float
    relative_l2: float
    worst_over_tolerance: float
    wrong_elements: int
    total_elements: int
    examples: tuple[WrongElement, ...] = ()


@dataclass(frozen=True)
class TimingRecord:
    """The measured time of one benchmark case on one GPU.

    Attributes:
        time_us: the time that the samples stand for (`replay.timing`).
        low_us, high_us: its interval, the spread between processes included.
        floor_us: the speed of light for the case; percent_of_floor is 100 floor / time.
        speedups: how many times faster than each baseline ("starter", "eager", "compile").
        clocks: clock rates and throttle reasons as the GPU reported them.
        spans_us: the samples themselves, in the order of the calls.
    """

    time_us: float
    mean_us: float
    low_us: float
    high_us: float
    p10_us: float
    p90_us: float
    samples: int
    floor_us: float | None = None
    percent_of_floor: float | None = None
    speedups: dict[str, float] = field(default_factory=dict)
    clocks: dict[str, Any] = field(default_factory=dict)
    spans_us: tuple[float, ...] = ()


@dataclass(frozen=True)
class CaseRecord:
    """What happened in one case.

    Attributes:
        role: "test" or "benchmark".
        status: "passed", "failed", "not_run", "built" (compiled, not checked) or "partial" (checked by samples).
        seconds: wall time of the case's replay, None if it was not run.
        seeds: the seeds of its replays.
    """

    case_id: str
    role: str
    shape: dict[str, int]
    distribution: str
    status: str
    reason: str = ""
    message: str = ""
    errors: tuple[OutputError, ...] = ()
    seconds: float | None = None
    seeds: tuple[int, ...] = ()
    timing: TimingRecord | None = None


@dataclass(frozen=True)
class KernelRecord:
    """One row of the compile report.

    Attributes:
        stack_bytes: local memory of a thread; above zero, registers were spilled.
        occupancy: predicted share of the target's warps that can be resident, 0 to 1.
        cpu_s: compile time; of the original build where `cached`.
    """

    shape_id: str
    name: str
    registers: int | None = None
    stack_bytes: int | None = None
    shared_bytes: int | None = None
    warps: int | None = None
    stages: int | None = None
    occupancy: float | None = None
    cpu_s: float | None = None
    cached: bool = False


@dataclass(frozen=True)
class BuildRecord:
    """What the build cost: CPU seconds against the budget, and the share of each shape."""

    cpu_s: float
    wall_s: float
    budget_s: float
    shapes: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class StageRecord:
    """How long one stage took."""

    name: str
    wall_s: float
    cpu_s: float | None = None


@dataclass(frozen=True)
class Setting:
    """What two scores must share to be compared: season, suite, problem version, the evaluator and its tools."""

    season: str
    suite: str
    problem_version: str
    evaluator_version: str
    toolchain: tuple[tuple[str, str], ...]

    @property
    def key(self) -> str:
        """A short name for equal settings, for indexes."""
        return hashlib.sha256(json.dumps(encode(self)).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Record:
    """One submission's evaluation.

    Attributes:
        id: from `ids.new_record_id`; `ids.NO_ID` of what is stored nowhere.
        state: "submitted" (being evaluated), "finished", or "interrupted" (its process was stopped or died first).
        created, finished: UTC in ISO 8601, from `ids.utc_now`.
        division: "closed" (Helion only) or "open".
        normalised_source_sha256: of all files, Python without comments and layout: tells copies.
        artifact_key: the build's artifact, None if nothing was built.
        program_sha256: of what it has a GPU do (`artifact.program`), "" if nothing was built and in old records.
        ranked: whether it may be ranked; otherwise `unranked_reason` says why not.
        suite: which of the problem's suites was evaluated; all of its cases, or some that were chosen (`whole_suite`).
        score_us: geometric mean of the benchmark times, None if nothing was timed.
    """

    id: str
    state: str
    created: str
    team: str
    problem: str
    problem_version: str
    division: str
    season: str
    target: str
    source_sha256: str
    normalised_source_sha256: str
    evaluator_version: str
    toolchain: dict[str, str]
    machine: dict[str, str | int]
    sandbox_level: str
    finished: str | None = None
    artifact_key: str | None = None
    ranked: bool = False
    unranked_reason: str | None = None
    verdict: VerdictRecord | None = None
    cases: tuple[CaseRecord, ...] = ()
    kernels: tuple[KernelRecord, ...] = ()
    build: BuildRecord | None = None
    stages: tuple[StageRecord, ...] = ()
    score_us: float | None = None
    warnings: tuple[str, ...] = ()
    suite: str = RANKING_SUITE
    program_sha256: str = ""
    whole_suite: bool = True

    @property
    def program(self) -> str:
        """What names the record's program: of an older record, or where nothing was built, its source."""
        return self.program_sha256 or self.normalised_source_sha256

    @property
    def kind(self) -> str:
        """The verdict's kind, or the state in capitals where nothing was decided."""
        # Records of older versions were interrupted with a verdict, HARNESS_ERROR.
        return self.verdict.kind if self.verdict and self.state != "interrupted" else self.state.upper()

    @property
    def accepted(self) -> bool:
        """Whether a board shows it."""
        return self.state == "finished" and self.kind in ACCEPTED

    @property
    def scored(self) -> bool:
        """Whether it stands on a board's ranking."""
        timed = self.score_us is not None and math.isfinite(self.score_us) and self.score_us > 0
        return self.ranked and self.state == "finished" and self.kind == "PASSED" and timed

    @property
    def setting(self) -> Setting:
        """What another score must share to be compared with this one."""
        toolchain = compared_tools(self.toolchain)
        return Setting(self.season, self.suite, self.problem_version, self.evaluator_version, toolchain)


def compared_tools(toolchain: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the versions, by name, that scores must share to be comparable."""
    # "2.13.0+cpu" and "2.13.0+cu130" are one version, built for two kinds of machine.
    tools = {name: toolchain[name].partition("+")[0] for name in COMPARED_TOOLS if name in toolchain}
    return tuple(sorted(tools.items()))


def encode_record(record: Record) -> dict[str, Any]:
    """Return the JSON document of a record: what is stored, and what `--json` prints."""
    return {"format": FORMAT, **encode(record)}


def decode_record(document: Any) -> Record:
    """Return the record of a document that `encode_record` made.

    Raises:
        StoreError: the document is of a newer format, or damaged.
    """
    if not isinstance(document, dict) or not isinstance(document.get("format"), int):
        raise StoreError("a stored record is damaged: it is not a document of a known format")
    if document["format"] > FORMAT:
        raise StoreError(f"a stored record has format {document['format']}, this version reads up to {FORMAT}: update")
    return decode(Record, update(document))
