"""The season that a server runs: shapes.yaml and the problems as they are on disk now, and what organisers changed.

Files are looked at again when they have changed, so that a server need not be started again for a new deadline.
Organisers may also move a season's times from afar; what they set last is in the log of acts, and wins over the file.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from harness.board.text import moment
from harness.errors import SpecError, UsageError
from harness.service.acts import log_act, newest_act, want_reason
from harness.service.logs import warn
from harness.spec import Problem, Season, find_problem, find_season_problems, load_season
from harness.spec.season import FIRST_YEAR, LAST_YEAR, Phase, in_utc
from harness.target import Target, load_target

CHANGEABLE = ("opens", "closes", "code_visible")
LOOK_AGAIN_S = 1.0

_FIRST = datetime(FIRST_YEAR, 1, 1, tzinfo=timezone.utc)
_LAST = datetime(LAST_YEAR, 12, 31, 23, 59, 59, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Rules:
    """A season and its problems, at one moment."""

    season: Season
    problems: Mapping[str, Problem]

    @property
    def targets(self) -> dict[str, Target]:
        """The GPUs that the season ranks, by name."""
        return {name: load_target(name) for name in self.season.targets}

    def phase(self, now_s: float) -> Phase:
        """Say whether the season is to come, open or over."""
        return self.season.phase(_moment(now_s))

    def why_not_open(self, now_s: float) -> str | None:
        """Say why nothing is taken now, None if the season is open."""
        return self.season.why_not_open(_moment(now_s))

    def shows_code(self, now_s: float) -> bool:
        """Say whether everybody may see submissions' code now."""
        return self.season.shows_code(_moment(now_s))


class RulesFile:
    """The rules of a repository, read again when a file of theirs has changed.

    Attributes:
        faults: what is wrong with the season's problems that are at fault since they were read last, by their names.
    """

    def __init__(self, root: Path) -> None:
        self.faults: Mapping[str, str] = {}
        self._root = root
        self._stamp: tuple[Any, ...] = ()
        self._looked_s = -LOOK_AGAIN_S
        self._rules: Rules | None = None

    def current(self, connection: Connection) -> Rules:
        """Return the rules of now, with what organisers have changed.

        While a file is at fault (somebody is editing it), the rules are what they were before.

        Raises:
            SpecError: a file is at fault, and was from the beginning.
        """
        rules = self._load()
        act = newest_act(connection, "season", rules.season.name)
        return Rules(_restored(rules.season, act.details), rules.problems) if act else rules

    def _load(self) -> Rules:
        if self._rules is None or time.monotonic() - self._looked_s >= LOOK_AGAIN_S:
            self._looked_s = time.monotonic()
            stamp = self._look()
            if self._rules is None or stamp != self._stamp:
                self._stamp, self._rules = stamp, self._read(self._rules)
        return self._rules

    def _read(self, before: Rules | None) -> Rules:
        faults: dict[str, str] = {}
        try:
            season = load_season(self._root)
            faults = self._find_faults(season)
            return Rules(season, find_season_problems(self._root, season))
        except SpecError as error:
            if before is None:
                raise
            warn("season is at fault, so it stays as it was", why=str(error))
            return before
        finally:
            self.faults = faults
            for name, why in faults.items():
                warn("problem at fault", problem=name, why=why)

    def _find_faults(self, season: Season) -> dict[str, str]:
        faults = {}
        for name in season.problems:
            try:
                find_problem(self._root, name)
            except UsageError as error:
                faults[name] = str(error)
        return faults

    def _look(self) -> tuple[Any, ...]:
        paths = [self._root / "shapes.yaml", *sorted((self._root / "problems").glob("*/*"))]
        return tuple((str(path), path.stat().st_mtime_ns) for path in paths if path.is_file())


def change_season(
    connection: Connection, season: Season, changes: Mapping[str, str | None], actor: str, reason: str, now_s: float
) -> None:
    """Change a season's times, or when its code becomes visible, from now on.

    Args:
        connection: a writing one.
        season: as it is now, with earlier changes.
        changes: of `CHANGEABLE`; times in ISO 8601 or "now"; None or "never" for a season without an end.
        actor: who.
        reason: why, for everybody to read.
        now_s: the time.

    Raises:
        UsageError: a value is not of the form, or no year of a season's, or the season would close before it opens,
            or there is no reason.
    """
    changed = _changed(season, changes, now_s)
    if fault := changed.find_fault_of_times():
        raise UsageError(fault)
    want_reason(reason)
    before, after = ({name: _told(getattr(item, name)) for name in CHANGEABLE} for item in (season, changed))
    details = {**after, "before": {name: before[name] for name in CHANGEABLE if before[name] != after[name]}}
    log_act(connection, actor, "season", season.name, reason, now_s=now_s, details=details)


def tell_changes(details: Mapping[str, Any]) -> str:
    """Write what a change of the season has changed, for people; what earlier versions logged is what it was set to."""
    before = details.get("before", {})
    told = {name: tell_setting(name, details[name]) for name in CHANGEABLE if name in details}
    told |= {name: f"{tell_setting(name, value)} → {told[name]}" for name, value in before.items() if name in told}
    return ", ".join(f"{name.replace('_', ' ')} {text}" for name, text in told.items() if name in before or not before)


def tell_setting(name: str, value: str | None) -> str:
    """Write what one of `CHANGEABLE` is set to, for people."""
    if value is None:
        return {"opens": "already open", "closes": "no end"}.get(name, "never")
    return value.replace("_", " ") if name == "code_visible" else f"{moment(value)} UTC"


def _moment(now_s: float) -> datetime:
    return datetime.fromtimestamp(now_s, timezone.utc)


def _told(value: datetime | str | None) -> str | None:
    return value.isoformat() if isinstance(value, datetime) else value


def _changed(season: Season, changes: Mapping[str, str | None], now_s: float) -> Season:
    update: dict[str, Any] = {}
    for name, value in changes.items():
        if name == "code_visible":
            if value not in ("never", "after_close", "at_once"):
                raise UsageError(f"code is visible never, after_close or at_once, not {value!r}")
            update[name] = value
        elif name in CHANGEABLE:
            update[name] = _parse_moment(name, value, now_s)
    return season.model_copy(update=update)


def _parse_moment(name: str, text: str | None, now_s: float) -> datetime | None:
    if text is None or text == "never":
        if name == "opens":
            told = "a season that never opens: name a later time, or freeze it (harness admin freeze)"
            raise UsageError(f"{told}; to open it now, write now")
        return None
    if text == "now":
        return _moment(int(now_s))
    try:
        moment = _read_moment(text)
    except ValueError:
        raise UsageError(f"{text[:40]!r} is not a time: write 2027-01-31T18:00Z") from None
    try:
        return in_utc(moment)
    except ValueError as error:
        advice = ": use never where it has no end" if name == "closes" else ""
        raise UsageError(f"{text[:40]!r}: {error}{advice}") from None


def _restored(season: Season, details: Mapping[str, Any]) -> Season:
    """Return a season with what the log says: what was accepted once is read, also if it would be refused today."""
    update = {name: details[name] for name in CHANGEABLE if name in details}
    for name in ("opens", "closes"):
        if update.get(name) is not None:
            update[name] = _within_calendar(_read_moment(update[name]))
    return season.model_copy(update=update)


def _within_calendar(moment: datetime) -> datetime:
    """Return a moment in UTC; one beyond the years of a season becomes the first or the last of them."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return min(max(moment, _FIRST), _LAST).astimezone(timezone.utc)


def _read_moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
