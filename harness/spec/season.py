"""The season as shapes.yaml states it: which problems are open, until when, on which targets, under which budgets."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Literal

from pydantic import Field

from harness.errors import SpecError
from harness.spec.document import Strict, load_document
from harness.spec.problem import Name
from harness.target import target_names

Division = Literal["closed", "open"]


class Budgets(Strict):
    """What a submission may take, in seconds."""

    compile_cpu_s: float = Field(720, gt=0)
    kernel_wall_s: float = Field(300, gt=0)
    cpu_replay_s: float = Field(240, gt=0)
    case_replay_s: float = Field(60, gt=0)

    @property
    def compile_wall_s(self) -> float:
        """The backstop in wall time: twice the CPU budget."""
        return 2 * self.compile_cpu_s


class Entry(Strict):
    """One problem of the season."""

    points: int = Field(100, ge=0)
    suites: tuple[Name, ...] = ("default",)


class AdvancedControls(Strict):
    """A file of assembler controls that the season provides: submissions name it by path, plans by id."""

    id: Name
    path: str
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class SeasonSpec(Strict):
    """Which problems are open, and for whom."""

    name: Name
    title: str
    opens: datetime.datetime | None = None
    closes: datetime.datetime | None = None
    targets: tuple[str, ...] = Field(min_length=1)
    divisions: tuple[Division, ...] = ("closed",)
    code_visible: Literal["never", "after_close", "at_once"] = "after_close"
    sandbox: Literal["strict", "restricted", "none"] = "strict"
    budgets: Budgets = Budgets()
    problems: dict[Name, Entry] = Field(min_length=1)
    advanced_controls: tuple[AdvancedControls, ...] = ()


class Shapes(Strict):
    """The document: one season, and later the suites that problems share."""

    season: SeasonSpec


Season = SeasonSpec


def load_season(root: Path) -> Season:
    """Load and check `root`/shapes.yaml.

    Raises:
        SpecError: it is not of the documented form, or names a target that is not described.
    """
    path = root / "shapes.yaml"
    season = load_document(path, Shapes).season
    for index, name in enumerate(season.targets):
        if name not in target_names():
            known = ", ".join(target_names())
            raise SpecError(f"{path}: season.targets.{index}: unknown target {name!r}; one of {known}")
    return season
