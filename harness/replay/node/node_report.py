"""The request that a node is given and the report that it returns, as JSON. Standard library only.

The request is ours. The report comes from another machine, perhaps somebody else's: `parse_report` takes it for hostile
and returns dataclasses whose every field is of its kind and within bounds, or raises `WorkerError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.errors import WorkerError
from harness.replay.judgement import Judgement, encode_judgement, parse_judgement
from harness.replay.timing import FIRST_SAMPLES, MAX_SAMPLES

FORMAT = 1
MAX_CALLS = 100_000
MAX_TEXT = 4000
MOST_NUMBER = 10**18
LEAST_US, MOST_US = 1e-3, 1e9  # clocks count nanoseconds
STATUSES = ("passed", "failed", "fault", "not_run")


@dataclass(frozen=True)
class CaseRequest:
    """One case to replay.

    Attributes:
        timed: whether it is a benchmark.
        timeout_s: for one call; some times that for all calls of the case.
        samples: how many timed calls; 0 for as many as the spread asks for.
    """

    id: str
    shape_id: str
    shape: dict[str, int]
    distribution: str
    timed: bool
    timeout_s: float
    samples: int = 0


@dataclass(frozen=True)
class NodeRequest:
    """What a node is asked."""

    cases: tuple[CaseRequest, ...]


@dataclass(frozen=True)
class Samples:
    """The readings of both clocks, in microseconds, call by call; no spans where there is no score clock."""

    spans_us: tuple[float, ...]
    witness_us: tuple[float, ...]
    nodes: int


@dataclass(frozen=True)
class CaseReport:
    """What came of one case.

    Attributes:
        status: "passed", "failed" (judged wrong), "fault" (ended early) or "not_run".
        kernel: the kernel at fault, where that can be told.
        differing_bits: output elements that differ between two calls on equal inputs.
        nodes: kernels, copies and fills of one call.
    """

    id: str
    status: str
    reason: str = ""
    message: str = ""
    kernel: str = ""
    judgement: Judgement | None = None
    seeds: tuple[int, ...] = ()
    calls: int = 0
    differing_bits: int = 0
    nodes: int = 0
    samples: Samples | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class NodeReport:
    """What a node says of a replay.

    Attributes:
        machine: GPU, driver, versions: short names to short texts or numbers.
        clocks: rates and throttle reasons seen.
    """

    cases: tuple[CaseReport, ...]
    machine: dict[str, str | int | float]
    clocks: dict[str, str | int | float]


def encode_request(request: NodeRequest) -> dict[str, Any]:
    """Return the JSON document of a request."""
    return {"format": FORMAT, "cases": [vars(case) for case in request.cases]}


def parse_request(document: dict[str, Any]) -> NodeRequest:
    """Return the request of a document that `encode_request` made."""
    return NodeRequest(tuple(CaseRequest(**fields) for fields in document["cases"]))


def encode_report(report: NodeReport) -> dict[str, Any]:
    """Return the JSON document of a report."""
    cases = [_encode_case(case) for case in report.cases]
    return {"format": FORMAT, "cases": cases, "machine": report.machine, "clocks": report.clocks}


def _encode_case(case: CaseReport) -> dict[str, Any]:
    return {
        **vars(case),
        "judgement": encode_judgement(case.judgement) if case.judgement else None,
        "samples": vars(case.samples) if case.samples else None,
    }


def parse_report(document: Any, cases: Sequence[CaseRequest]) -> NodeReport:
    """Read a node's report.

    Args:
        document: the JSON document, hostile.
        cases: what was asked; the report must speak of these, in this order.

    Raises:
        WorkerError: it is not of the form.
    """
    try:
        if document["format"] != FORMAT:
            raise WorkerError(f"the node's report has format {document['format']!r:.20}, not {FORMAT}: update the node")
        reports = [_parse_case(fields) for fields in document["cases"]]
        if [report.id for report in reports] != [case.id for case in cases]:
            raise WorkerError("the node's report is not about the cases that were asked for")
        for report, case in zip(reports, cases, strict=True):
            _check_samples(report.samples, case)
        return NodeReport(tuple(reports), _parse_facts(document["machine"]), _parse_facts(document["clocks"]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise WorkerError(f"the node's report is not of its form: {type(error).__name__} {error!s:.100}") from None


def _parse_case(fields: dict[str, Any]) -> CaseReport:
    status = _text(fields["status"], 20)
    if status not in STATUSES:
        raise ValueError(f"unknown status {status}")
    judgement, samples = fields["judgement"], fields["samples"]
    return CaseReport(
        id=_text(fields["id"], 300),
        status=status,
        reason=_text(fields["reason"], 60),
        message=_text(fields["message"], MAX_TEXT),
        kernel=_text(fields["kernel"], 256),
        judgement=None if judgement is None else parse_judgement(judgement),
        seeds=tuple(_count(seed, 1 << 63) for seed in fields["seeds"][:MAX_CALLS]),
        calls=_count(fields["calls"], MAX_CALLS),
        differing_bits=_count(fields["differing_bits"], 1 << 48),
        nodes=_count(fields["nodes"], 1 << 20),
        samples=None if samples is None else _parse_samples(samples),
        seconds=_number(fields["seconds"]),
    )


def _parse_samples(fields: dict[str, Any]) -> Samples:
    spans, witness = ([_number(v) for v in fields[name][:MAX_CALLS]] for name in ("spans_us", "witness_us"))
    if not all(LEAST_US <= value <= MOST_US for value in (*spans, *witness)):
        raise ValueError("a sample is no time that a clock shows")
    if spans and len(spans) != len(witness):
        raise ValueError("the two clocks have different numbers of samples")
    return Samples(tuple(spans), tuple(witness), _count(fields["nodes"], 1 << 20))


def _check_samples(samples: Samples | None, case: CaseRequest) -> None:
    if samples is None:
        return
    if not case.timed:
        raise ValueError("a case has samples that was not to be timed")
    least, most = (case.samples, case.samples) if case.samples else (FIRST_SAMPLES, MAX_SAMPLES)
    if not least <= len(samples.witness_us) <= most:
        told = case.samples or f"{least} to {most}"
        raise ValueError(f"a case has {len(samples.witness_us)} samples, not {told}")


def _parse_facts(fields: dict[str, Any]) -> dict[str, str | int | float]:
    if len(fields) > 64:
        raise ValueError("too many facts")
    facts: dict[str, str | int | float] = {}
    for name, value in fields.items():
        facts[_text(name, 60)] = _text(value, 200) if isinstance(value, str) else _number(value)
    return facts


def _text(value: Any, most: int) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is missing")
    return value[:most]


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= MOST_NUMBER:
        raise ValueError("a number is missing or out of range")
    return value


def _count(value: Any, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise ValueError("a count is missing or out of range")
    return value
