"""What is asked of the engine: a submission, built for a target under a season's rules. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from harness.artifact import artifact_key
from harness.case import DEFAULT_SUITE, Case
from harness.sandbox import Level
from harness.spec import Problem, Season
from harness.submission import Submission
from harness.target import Target
from harness.toolchain import fingerprint


@dataclass(frozen=True)
class BuildRequest:
    """What is to be built, for which GPU, under which rules."""

    submission: Submission
    problem: Problem
    season: Season
    target: Target
    division: str
    cases: tuple[Case, ...]
    portable: bool
    level: Level
    toolchain: Mapping[str, str]
    suite: str = DEFAULT_SUITE

    @property
    def shapes(self) -> dict[str, Case]:
        """The shapes of the cases, each once, with a case that has it."""
        shapes: dict[str, Case] = {}
        for case in self.cases:
            shapes.setdefault(case.shape_id, case)
        return shapes

    @property
    def controls(self) -> dict[str, list[str]]:
        """The season's advanced controls: by id, where they are expected and what they hold."""
        return {item.id: [item.path, item.sha256] for item in self.season.advanced_controls}

    @property
    def key(self) -> str:
        """The address of the artifact."""
        return artifact_key(
            {
                "submission": self.submission.sha256,
                "team": self.submission.team,
                "problem": self.problem.name,
                "problem_version": self.problem.version,
                "target": asdict(self.target),
                "toolchain": fingerprint(self.toolchain),
                "division": self.division,
                "portable": self.portable,
                "controls": self.controls,
                "sandbox": self.level.value,
                "shapes": sorted(self.shapes),
            }
        )
