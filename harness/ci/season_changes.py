"""What a change of problems or of shapes.yaml means for what has been scored. Pure, on two checkouts.

Whether a problem is fit is for `check-problem` and `qualify`; this says whose scores would be of another version.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.ci.change import Change
from harness.ci.merged import EVERY, named_entries
from harness.errors import HarnessError, UsageError
from harness.spec import find_problem, load_season, problem_names
from harness.spec.document import load_document
from harness.spec.season import Shapes

SEASON_FILE = "shapes.yaml"
PROBLEMS = "problems"
DECIDING = ("targets", "divisions", "sandbox", "budgets", "advanced_controls")
"""Settings of the season that a verdict or a score depends on."""


@dataclass(frozen=True)
class ProblemChange:
    """A problem whose folder changes.

    Attributes:
        before: its version in the base, None if it is new (or was faulty).
        after: its version now, None if it goes away (or is faulty).
        entries: submissions that are scored for it, as TEAM/PROBLEM.
    """

    name: str
    before: str | None
    after: str | None
    entries: tuple[str, ...]

    @property
    def rescored(self) -> bool:
        """Whether scores that there are would be of another version than the board's."""
        return self.before != self.after and self.before is not None and bool(self.entries)


@dataclass(frozen=True)
class Setting:
    """A setting of shapes.yaml that changes: its place in the document, and what it was and is."""

    place: str
    before: str
    after: str

    @property
    def decides(self) -> bool:
        """Whether verdicts or scores depend on it."""
        parts = self.place.split(".")
        return parts[0] == "suites" or (parts[0] == "season" and (parts[1] in DECIDING or parts[-1] == "suites"))


def changed_problems(changes: Iterable[Change], before: Path, after: Path) -> tuple[ProblemChange, ...]:
    """Return the problems that changes touch, or that a change of shapes.yaml gives another version.

    Args:
        changes: of the pull request.
        before: a checkout of the base.
        after: a checkout of the pull request's outcome.
    """
    paths = [change.path for change in changes]
    touched = {path.split("/")[1] for path in paths if path.startswith(f"{PROBLEMS}/") and path.count("/") >= 2}
    names = set(problem_names(before)) | set(problem_names(after))
    candidates = names if SEASON_FILE in paths else names & touched
    found = (_compare(name, before, after) for name in sorted(candidates))
    return tuple(change for change in found if change.name in touched or change.before != change.after)


def changed_settings(before: Path, after: Path) -> tuple[Setting, ...]:
    """Return the settings of the season that differ.

    Raises:
        SpecError: shapes.yaml is not of its form now.
    """
    load_season(after)  # everything about it that can be wrong
    now = _settings(after)
    try:
        then = _settings(before)
    except HarnessError:
        then = {}
    places = [place for place in {**then, **now} if then.get(place) != now.get(place)]
    return tuple(Setting(place, then.get(place, "not set"), now.get(place, "not set")) for place in places)


def _compare(name: str, before: Path, after: Path) -> ProblemChange:
    try:
        entries = tuple(f"{e.team}/{e.problem}" for e in named_entries([f"{EVERY}/{name}"], before))
    except UsageError:
        entries = ()
    return ProblemChange(name, _version(name, before), _version(name, after), entries)


def _version(name: str, root: Path) -> str | None:
    try:
        return find_problem(root, name).version if name in problem_names(root) else None
    except HarnessError:
        return None


def _settings(root: Path) -> dict[str, str]:
    return dict(_flatten("", load_document(root / SEASON_FILE, Shapes).model_dump(mode="json")))


def _flatten(place: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _flatten(f"{place}.{name}" if place else str(name), item)
    else:
        yield place, ", ".join(map(str, value)) if isinstance(value, list) else str(value)
