"""The season as shapes.yaml states it: which problems are open, until when, on which targets, under which budgets."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from harness.errors import SpecError
from harness.spec.constraints import EACH_ONCE, matching
from harness.spec.document import Strict, load_document
from harness.spec.problem import Name, problem_names
from harness.spec.suites import SharedSuite
from harness.spec.wording import hint_of_names
from harness.target import target_names

Division = Literal["closed", "open"]
Phase = Literal["before", "open", "closed"]

FIRST_YEAR, LAST_YEAR = 1971, 9998


def in_utc(moment: datetime.datetime) -> datetime.datetime:
    """Return a moment in UTC; one that was written without a zone is in UTC already.

    Raises:
        ValueError: it is at the edge of the calendar, where other zones have no such day.
    """
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise ValueError(f"a season is between {FIRST_YEAR} and {LAST_YEAR}")
    utc = datetime.timezone.utc
    return moment.astimezone(utc) if moment.tzinfo else moment.replace(tzinfo=utc)


Moment = Annotated[datetime.datetime, AfterValidator(in_utc)]


class Budgets(Strict):
    """What a submission may take, in seconds."""

    compile_cpu_s: float = Field(720, gt=0)
    kernel_wall_s: float = Field(300, gt=0)
    cpu_replay_s: float = Field(240, gt=0)
    case_replay_s: float = Field(60, gt=0)
    gpu_call_s: float = Field(10, gt=0)

    @property
    def compile_wall_s(self) -> float:
        """The backstop in wall time: twice the CPU budget."""
        return 2 * self.compile_cpu_s


class Entry(Strict):
    """One problem of the season."""

    points: int = Field(100, ge=0)
    suites: Annotated[tuple[Name, ...], EACH_ONCE] = ("default",)


class AdvancedControls(Strict):
    """A file of assembler controls that the season provides.

    Attributes:
        id: its name in plans.
        path: where submissions expect it; it is there in the sandboxes.
        file: where it lies, relative to shapes.yaml (absolute once loaded).
        sha256: what it must hold.
    """

    id: Name
    path: Annotated[str, matching(r"/[A-Za-z0-9_./-]+", "a path from the root: / and letters, digits, _ . / and -")]
    file: Path
    sha256: Annotated[str, matching(r"[0-9a-f]{64}", "64 hex digits in lower case, as sha256sum prints them")]


class SeasonSpec(Strict):
    """Which problems are open, and for whom."""

    name: Name
    title: str
    opens: Moment | None = None
    closes: Moment | None = None
    targets: Annotated[tuple[str, ...], EACH_ONCE] = Field(min_length=1)
    divisions: Annotated[tuple[Division, ...], EACH_ONCE] = ("closed",)
    code_visible: Literal["never", "after_close", "at_once"] = "after_close"
    sandbox: Literal["strict", "restricted", "none"] = "strict"
    budgets: Budgets = Budgets()
    problems: dict[Name, Entry] = Field(min_length=1)
    advanced_controls: tuple[AdvancedControls, ...] = ()

    @model_validator(mode="after")
    def _has_a_time(self) -> SeasonSpec:
        if fault := self.find_fault_of_times():
            raise ValueError(fault)
        return self

    def find_fault_of_times(self) -> str | None:
        """Say what is wrong with the season's times, None if nothing is."""
        if self.opens is not None and self.closes is not None and in_utc(self.closes) <= in_utc(self.opens):
            return "the season would close before it opens"
        return None

    def phase(self, now: datetime.datetime) -> Phase:
        """Say whether the season is to come, open or over at a moment."""
        if self.opens is not None and in_utc(now) < in_utc(self.opens):
            return "before"
        return "closed" if self.closes is not None and in_utc(now) >= in_utc(self.closes) else "open"

    def why_not_open(self, now: datetime.datetime) -> str | None:
        """Say why nothing counts at a moment, None if the season is open."""
        phase = self.phase(now)
        if phase == "before" and self.opens is not None:
            return f"the season opens on {in_utc(self.opens):%Y-%m-%d %H:%M} UTC"
        if phase == "closed" and self.closes is not None:
            return f"the season closed on {in_utc(self.closes):%Y-%m-%d %H:%M} UTC"
        return None

    def shows_code(self, now: datetime.datetime) -> bool:
        """Tell whether everyone may see submissions' code at a moment: sources, lines of tracebacks."""
        closed = self.phase(now) == "closed"
        return self.code_visible == "at_once" or (self.code_visible == "after_close" and closed)


class Shapes(Strict):
    """The document: one season, and the suites that problems share."""

    season: SeasonSpec
    suites: dict[Name, SharedSuite] = {}


Season = SeasonSpec


def load_season(root: Path) -> Season:
    """Load and check `root`/shapes.yaml.

    Raises:
        SpecError: it is not of the documented form, or names a target or a problem that is not described.
    """
    path = root / "shapes.yaml"
    document = load_document(path, Shapes)
    season = document.season
    faults = [*_suite_faults(root, document), *_target_faults(season), *_controls_faults(root, season)]
    if faults:
        raise SpecError("\n".join(f"{path}: {fault}" for fault in faults))
    found = [item.model_copy(update={"file": (root / item.file).resolve()}) for item in season.advanced_controls]
    return season.model_copy(update={"advanced_controls": tuple(found)})


def _suite_faults(root: Path, document: Shapes) -> Iterator[str]:
    known = problem_names(root)
    for name, suite in document.suites.items():
        for problem in suite.problems:
            if problem not in known:
                hint = hint_of_names(problem, known)
                yield f"suites.{name}.problems: no problem {problem!r}; problems: {', '.join(known)}{hint}"


def _target_faults(season: Season) -> Iterator[str]:
    known = target_names()
    for index, name in enumerate(season.targets):
        if name not in known:
            hint = hint_of_names(name, known)
            yield f"season.targets.{index}: unknown target {name!r}; one of {', '.join(known)}{hint}"


def _controls_faults(root: Path, season: Season) -> Iterator[str]:
    for index, item in enumerate(season.advanced_controls):
        place = f"season.advanced_controls.{index}"
        try:
            digest = hashlib.sha256((root / item.file).resolve().read_bytes()).hexdigest()
        except OSError as error:
            yield f"{place}.file: {item.file} cannot be read: {error.strerror}; it lies relative to shapes.yaml"
            continue
        if digest != item.sha256:
            yield f"{place}.sha256: {item.file} hashes to {digest}; write that, if it is the file that is meant"
