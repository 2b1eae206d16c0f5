"""What the judge says about one call: frozen dataclasses and their JSON form.

Reasons and numbers only; how they come about is `compare`'s matter, what they mean for a team is `verdict`'s.
Standard library only, because the parent reads judgements without importing torch. JSON has no NaN and no infinity:
they travel as the strings "nan", "inf" and "-inf". A document may come from somebody else's machine, so it is taken for
hostile: every field is of its kind and within bounds, or it is no judgement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

# In the order in which they are reported where several hold: an earlier one is the likelier cause of a later one.
Reason = Literal[
    "malformed_output",
    "wrong_arity",
    "wrong_dtype",
    "wrong_shape",
    "wrong_strides",
    "input_modified",
    "unwritten",
    "not_finite",
    "wrong_values",
    "relative_error",
]


_MOST_OUTPUTS, _MOST_EXAMPLES, _MOST_AXES = 64, 100, 16
_MOST_ELEMENTS = 1 << 48
_MOST_TEXT = 4000  # characters of a sentence; what is longer is cut
_NOT_FINITE = frozenset({"nan", "inf", "-inf"})


@dataclass(frozen=True)
class MadeInputs:
    """A file of inputs that the judge wrote: tensors "0", "1", ... in the order of task.yml."""

    file: Path
    tensors: int
    size_bytes: int


@dataclass(frozen=True)
class Element:
    """One element of an output: where (`place` names the axes), what came, what was expected."""

    index: tuple[int, ...]
    place: str
    got: float
    expected: float
    over_tolerance: float


@dataclass(frozen=True)
class OutputReport:
    """How one output compares with the reference.

    Attributes:
        name: as task.yml has it.
        max_abs: largest |got - expected| over the finite elements.
        max_rel: largest |got - expected| / |expected| where expected is not 0.
        relative_l2: ||got - expected|| / ||expected||; None where expected is all zero or something is not finite.
        worst_over_tolerance: largest |got - expected| / (atol + rtol |expected|); above 1 is wrong.
        wrong_elements: how many elements are outside the tolerance, or not finite.
        not_finite_elements: how many of them are NaN or infinite where the reference is not.
        total_elements: how many were compared.
        worst: the element furthest outside the tolerance, None if all are inside.
        first_wrong: the first one in memory order.
        examples: a few wrong elements, spread over the output.
    """

    name: str
    max_abs: float
    max_rel: float
    relative_l2: float | None
    worst_over_tolerance: float
    wrong_elements: int
    not_finite_elements: int
    total_elements: int
    worst: Element | None = None
    first_wrong: Element | None = None
    examples: tuple[Element, ...] = ()


@dataclass(frozen=True)
class Judgement:
    """The judge's answer about one call.

    Attributes:
        status: "passed" or "failed".
        outputs: one report per output; empty where the outputs were refused before any comparison.
        reason: a `Reason`, None if passed.
        message: what differed, in a sentence or two for the submission's author; empty if passed.
        likely_cause: what probably went wrong, where that can be told.
    """

    status: Literal["passed", "failed"]
    outputs: tuple[OutputReport, ...] = ()
    reason: Reason | None = None
    message: str = ""
    likely_cause: str | None = None

    @property
    def passed(self) -> bool:
        """Whether every output is within its tolerance."""
        return self.status == "passed"


def failed(
    reason: Reason, message: str, outputs: tuple[OutputReport, ...] = (), likely_cause: str | None = None
) -> Judgement:
    """Return the judgement of a failed call."""
    return Judgement("failed", outputs, reason, message, likely_cause)


def encode_judgement(judgement: Judgement) -> dict[str, Any]:
    """Return the JSON form of a judgement."""
    return {
        "status": judgement.status,
        "outputs": [_encode_report(report) for report in judgement.outputs],
        "reason": judgement.reason,
        "message": judgement.message,
        "likely_cause": judgement.likely_cause,
    }


def parse_judgement(document: dict[str, Any]) -> Judgement:
    """Return the judgement that `encode_judgement` wrote.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    if document["status"] not in ("passed", "failed") or document["reason"] not in (None, *get_args(Reason)):
        raise ValueError("a judgement has an unknown status or reason")
    cause = document["likely_cause"]
    return Judgement(
        status=document["status"],
        outputs=tuple(_parse_report(report) for report in _some(document["outputs"], _MOST_OUTPUTS)),
        reason=document["reason"],
        message=_parse_text(document["message"]),
        likely_cause=None if cause is None else _parse_text(cause),
    )


_NUMBERS = ("max_abs", "max_rel", "relative_l2", "worst_over_tolerance")
_COUNTS = ("wrong_elements", "not_finite_elements", "total_elements")


def _encode_report(report: OutputReport) -> dict[str, Any]:
    return {
        "name": report.name,
        **{key: _encode_number(getattr(report, key)) for key in _NUMBERS},
        **{key: getattr(report, key) for key in _COUNTS},
        "worst": _encode_element(report.worst),
        "first_wrong": _encode_element(report.first_wrong),
        "examples": [_encode_element(element) for element in report.examples],
    }


def _parse_report(fields: dict[str, Any]) -> OutputReport:
    relative_l2 = fields["relative_l2"]
    return OutputReport(
        name=_parse_text(fields["name"]),
        max_abs=_parse_number(fields["max_abs"]),
        max_rel=_parse_number(fields["max_rel"]),
        relative_l2=None if relative_l2 is None else _parse_number(relative_l2),
        worst_over_tolerance=_parse_number(fields["worst_over_tolerance"]),
        **{key: _parse_count(fields[key]) for key in _COUNTS},
        worst=_parse_element(fields["worst"]) if fields["worst"] else None,
        first_wrong=_parse_element(fields["first_wrong"]) if fields["first_wrong"] else None,
        examples=tuple(_parse_element(element) for element in _some(fields["examples"], _MOST_EXAMPLES)),
    )


def _encode_element(element: Element | None) -> dict[str, Any] | None:
    if element is None:
        return None
    return {
        "index": list(element.index),
        "place": element.place,
        "got": _encode_number(element.got),
        "expected": _encode_number(element.expected),
        "over_tolerance": _encode_number(element.over_tolerance),
    }


def _parse_element(fields: dict[str, Any]) -> Element:
    return Element(
        index=tuple(_parse_count(position) for position in _some(fields["index"], _MOST_AXES)),
        place=_parse_text(fields["place"]),
        got=_parse_number(fields["got"]),
        expected=_parse_number(fields["expected"]),
        over_tolerance=_parse_number(fields["over_tolerance"]),
    )


def _encode_number(value: float | None) -> float | str | None:
    return value if value is None or math.isfinite(value) else str(float(value))


def _parse_number(value: Any) -> float:
    named = isinstance(value, str) and value in _NOT_FINITE
    if not named and (isinstance(value, bool) or not isinstance(value, (int, float))):
        raise ValueError("a number is missing")
    try:
        return float(value)
    except OverflowError:
        raise ValueError("a number is too large") from None


def _parse_count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_ELEMENTS:
        raise ValueError("a count is missing or out of range")
    return value


def _parse_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is missing")
    return value[:_MOST_TEXT]


def _some(value: Any, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise ValueError("a list is missing or too long")
    return value
