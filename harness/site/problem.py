"""What a problem's page shows: its README, shapes with their limits on each target, reference and starter.

The files are the organisers' and public: no submission's code is among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.case import load_cases
from harness.site.views import BoardCard
from harness.spec import Problem, find_problem
from harness.target import Target


@dataclass(frozen=True)
class ShapeRow:
    """One case: what it asks for, and the least time it can take on each target (benchmarks only).

    Attributes:
        gflop, mib: what one call computes and moves.
        floors_us: in the order of the page's targets.
        bound: what decides the limit on each target: "memory" or "arithmetic".
    """

    role: str
    sizes: dict[str, int]
    distribution: str
    gflop: float
    mib: float
    floors_us: tuple[float, ...]
    bound: tuple[str, ...]


@dataclass(frozen=True)
class ProblemText:
    """A problem, with its files as texts."""

    problem: Problem
    readme: str
    reference: str
    starter: str
    targets: tuple[Target, ...]

    @property
    def shapes(self) -> tuple[ShapeRow, ...]:
        """Every case of the suite that ranks, tests first."""
        return tuple(self._shape(case.role, case.sizes, case.distribution) for case in load_cases(self.problem))

    def _shape(self, role: str, sizes: dict[str, int], distribution: str) -> ShapeRow:
        flops, read, written = self.problem.cost_of(sizes)
        precision = self.problem.precision
        floors = tuple(target.floor_us(read, written, flops, precision) for target in self.targets)
        moving = tuple(target.floor_us(read, written, 0, precision) for target in self.targets)
        bound = tuple("memory" if floor == least else "arithmetic" for floor, least in zip(floors, moving, strict=True))
        return ShapeRow(role, sizes, distribution, flops / 1e9, (read + written) / 2**20, floors, bound)


@dataclass(frozen=True)
class ProblemView:
    """A problem's page: the problem, its boards, and what organisers have to say before everything else."""

    text: ProblemText
    cards: tuple[BoardCard, ...] = ()
    notices: tuple[str, ...] = ()


def load_problem_text(root: Path, name: str, targets: Sequence[Target]) -> ProblemText:
    """Load what a problem's page shows. A README or a starter that is missing is left out.

    Raises:
        SpecError: the problem is not of the documented form.
    """
    return read_problem_text(root, find_problem(root, name), targets)


def read_problem_text(root: Path, problem: Problem, targets: Sequence[Target]) -> ProblemText:
    """Return what the page of a problem that is loaded shows, with its files as they are now."""
    starter = root / "submissions" / "starter" / problem.name / "submission.py"
    return ProblemText(
        problem,
        readme=_read(problem.folder / "README.md"),
        reference=_read(problem.folder / "reference.py"),
        starter=_read(starter),
        targets=tuple(targets),
    )


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
