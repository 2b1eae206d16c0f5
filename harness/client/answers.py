"""The answers that this client reads, as types: what is missing or of another kind refuses the answer as a whole.

Members that are not named here are left out, so that a newer service can say more. Texts are the service's: they are
made inert here once, and numbers are held in sane bounds, so that nobody further on has to think of it.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.client.errors import AnswerError
from harness.errors import StoreError
from harness.store.codec import decode
from harness.store.record import Record, decode_record
from harness.text import clean
from harness.verdict import Kind

QUEUED, DONE = "queued", "done"
MAX_TEXT = 300
MAX_ROWS = 2000

_ID = re.compile(r"[0-9a-z]{14}")

T = TypeVar("T")


@dataclass(frozen=True)
class Who:
    """Whose token it is; `team` is empty for an organiser's."""

    role: str
    team: str


@dataclass(frozen=True)
class Progress:
    """How far a running stage is."""

    stage: str
    text: str = ""
    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class State:
    """A submission on its way.

    Attributes:
        stage: "build" or "replay".
        state: "queued", "leased", "running" or "done".
        position: 1 for the next one of its stage; 0 once it is under way.
        estimate_s: until it is done, None where the service cannot say.
        poll_after_s: how soon to ask again.
    """

    id: str
    team: str
    problem: str
    target: str
    division: str
    submitted: str
    stage: str
    state: str
    position: int
    poll_after_s: float
    estimate_s: float | None = None
    progress: Progress | None = None
    verdict: str | None = None


@dataclass(frozen=True)
class Finished:
    """The record of a submission that is done.

    Attributes:
        ruling: why organisers have ruled it out, None if they have not; it has no place then.
    """

    record: Record
    ruling: str | None


@dataclass(frozen=True)
class Season:
    """The season that a service runs; `problems` by name, with title, version, points."""

    name: str
    title: str
    phase: str
    targets: tuple[str, ...]
    divisions: tuple[str, ...]
    problems: dict[str, dict[str, Any]]
    closes: str | None = None


@dataclass(frozen=True)
class Row:
    """A row of a board: an entry with its place, or one without and why."""

    record: str
    team: str
    verdict: str
    score_us: float | None = None
    place: int = 0
    tied: bool = False
    gap_to_leader: float | None = None
    gap_to_above: float | None = None
    percent_of_floor: float | None = None
    runs: int = 1
    same_program_as: str | None = None
    finished: str | None = None
    why_apart: str = ""


@dataclass(frozen=True)
class Posted:
    """A record that a team made on its own machine."""

    id: str
    team: str
    created: str
    verdict: str
    score_us: float | None = None


@dataclass(frozen=True)
class MadeWith:
    """What all ranked entries of a board share."""

    problem_version: str


@dataclass(frozen=True)
class BoardAnswer:
    """A board as the service ranks it."""

    problem: str
    target: str
    division: str
    ranked: tuple[Row, ...]
    unranked: tuple[Row, ...]
    other_settings: tuple[Row, ...]
    ruled_out: int = 0
    unverified: tuple[Posted, ...] = ()
    noise: float = 0.0
    setting: MadeWith | None = None
    problem_version_now: str | None = None


@dataclass(frozen=True)
class Standing:
    """A team's place over all problems."""

    place: int
    team: str
    points: float
    by_problem: dict[str, float]


@dataclass(frozen=True)
class Sketch:
    """A record in short."""

    id: str
    state: str
    verdict: str
    score_us: float | None = None


def read(kind: type[T], document: Any) -> T:
    """Return the answer that a document holds.

    Raises:
        AnswerError: it is not of the form.
    """
    try:
        tamed: T = _tame(decode(kind, document))
    except StoreError:
        raise _odd() from None
    return tamed


def read_list(kind: type[T], document: Any) -> tuple[T, ...]:
    """Return the answers in a list.

    Raises:
        AnswerError: it is no list of these, or too long.
    """
    if not isinstance(document, list) or len(document) > MAX_ROWS:
        raise _odd()
    return tuple(read(kind, item) for item in document)


def read_record(document: Any) -> Record:
    """Return a finished record; its texts are as they came, as those of every record.

    Raises:
        AnswerError: it is none.
    """
    try:
        record = decode_record(document)
    except StoreError:
        raise _odd() from None
    if record.verdict is None or record.kind not in [kind.value for kind in Kind]:
        raise _odd()
    return record


def read_ruling(document: Any) -> str | None:
    """Return why organisers have ruled out what an answer is about, None if it does not say that they have."""
    ruling = document.get("disqualified") if isinstance(document, dict) else None
    return clean(ruling)[:MAX_TEXT] if isinstance(ruling, str) else None


def read_id(text: str) -> str:
    """Return the id of a submission or record, which is safe in an address.

    Raises:
        AnswerError: it is none.
    """
    if not _ID.fullmatch(text):
        raise _odd()
    return text


def _tame(value: Any) -> Any:
    """Return a decoded answer whose texts are inert and short."""
    if isinstance(value, str):
        return clean(value)[:MAX_TEXT]
    if isinstance(value, dict):
        return {clean(name)[:MAX_TEXT]: _tame(item) for name, item in value.items()}
    if isinstance(value, (tuple, list)):
        if len(value) > MAX_ROWS:
            raise _odd()
        return type(value)(_tame(item) for item in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: _tame(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return dataclasses.replace(value, **fields)
    return value


def _odd() -> AnswerError:
    return AnswerError(
        "the service's answer is not of the form that this version reads: update this repository, and tell the "
        "organisers if that does not help"
    )
