"""What the pages say of a season and its problems, from shapes.yaml and the problems' folders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path

from harness.board.text import moment
from harness.site.problem import ProblemText, load_problem_text
from harness.site.views import SeasonFacts
from harness.spec import Problem, find_season_problems, load_season
from harness.spec.season import SeasonSpec
from harness.target import load_target, target_names


def load_season_facts(root: Path, now: datetime) -> SeasonFacts:
    """Return what the pages say of the season of a repository.

    Args:
        root: where shapes.yaml is.
        now: decides whether submissions' code may be shown.
    """
    season = load_season(root)
    problems = find_season_problems(root, season)
    return describe_season(season, problems, now)


def describe_season(season: SeasonSpec, problems: Mapping[str, Problem], now: datetime) -> SeasonFacts:
    """Return what the pages say of a season that is loaded.

    Args:
        season: as shapes.yaml states it, or as organisers changed it since.
        problems: its problems by name.
        now: decides whether submissions' code may be shown, and what is said of the season's times.
    """
    titles = {name: problem.title for name, problem in problems.items()}
    targets = [load_target(name) for name in target_names()]
    return SeasonFacts(
        name=season.title,
        titles=titles,
        times=_times(season, now),
        noise={target.name: target.ranking_noise for target in targets},
        noise_assumed=frozenset(target.name for target in targets if target.noise is None),
        versions={name: problem.version for name, problem in problems.items()},
        points={name: entry.points for name, entry in season.problems.items()},
        code_visible=season.shows_code(now),
        code_until=_code_until(season),
    )


def load_problem_texts(root: Path, names: Iterable[str] | None = None) -> tuple[ProblemText, ...]:
    """Return what the pages of a season's problems show.

    Args:
        root: where shapes.yaml is.
        names: of the problems that have a page, by default all of the season's.
    """
    season = load_season(root)
    targets = [load_target(name) for name in season.targets]
    return tuple(load_problem_text(root, name, targets) for name in names or season.problems)


def _times(season: SeasonSpec, now: datetime) -> str:
    phase = season.phase(now)
    opens, closes = (f"{moment(t.isoformat())} UTC" if t else "" for t in (season.opens, season.closes))
    if phase == "closed":
        return f"Closed {closes}"
    told = [*([f"opens {opens}"] if phase == "before" else []), *([f"closes {closes}"] if closes else [])]
    return ", ".join(told).capitalize().replace("utc", "UTC")


def _code_until(season: SeasonSpec) -> str:
    if season.code_visible == "never":
        return ""
    closes = f" on {moment(season.closes.isoformat())} UTC" if season.closes else ""
    return f"the season closes{closes}"
