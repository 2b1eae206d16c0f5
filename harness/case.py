"""A case: one shape with one input distribution. Pure.

A plan belongs to a shape (the distribution changes values, not the program), so cases share it; seeds belong to a
replay, not to a case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatch

from harness.errors import UsageError
from harness.spec import Problem

DEFAULT_SUITE = "default"


@dataclass(frozen=True)
class Case:
    """One shape with one input distribution, as a test or as a benchmark."""

    role: str
    shape: tuple[tuple[str, int], ...]
    distribution: str

    @property
    def sizes(self) -> dict[str, int]:
        """The shape as a mapping."""
        return dict(self.shape)

    @property
    def shape_id(self) -> str:
        """The shape's name in plans: B1_T64_H2_K64_V64."""
        return "_".join(f"{axis}{size}" for axis, size in self.shape)

    @property
    def id(self) -> str:
        """The case's name everywhere: test/B1_T64_H2_K64_V64/model."""
        return f"{self.role}/{self.shape_id}/{self.distribution}"


def suite_names(problem: Problem) -> tuple[str, ...]:
    """Return the names of a problem's suites."""
    return (DEFAULT_SUITE, *problem.suites)


def load_cases(problem: Problem, suite: str = DEFAULT_SUITE) -> tuple[Case, ...]:
    """Return the cases of a suite: tests first, each once.

    Raises:
        UsageError: the problem has no such suite.
    """
    if suite == DEFAULT_SUITE:
        tests, benchmarks, distribution = problem.tests, problem.benchmarks, None
    elif suite in problem.suites:
        own = problem.suites[suite]
        tests = problem.tests if own.tests is None else own.tests
        benchmarks = problem.benchmarks if own.benchmarks is None else own.benchmarks
        distribution = own.distribution
    else:
        raise UsageError(f"{problem.name} has no suite {suite!r}; suites: {', '.join(suite_names(problem))}")
    roles = [("test", entry) for entry in tests] + [("benchmark", entry) for entry in benchmarks]
    return tuple(dict.fromkeys(_case(problem, role, entry, distribution) for role, entry in roles))


def _case(problem: Problem, role: str, entry: Mapping[str, int | str], distribution: str | None) -> Case:
    shape = tuple((axis, int(entry[axis])) for axis in problem.axes)
    return Case(role, shape, distribution or str(entry.get("distribution", problem.default_distribution)))


def select_cases(cases: tuple[Case, ...], patterns: tuple[str, ...]) -> tuple[Case, ...]:
    """Return the cases that match any pattern: an id, a shape id, a distribution, a role, or a glob over ids.

    Raises:
        UsageError: a pattern matches no case; the message lists near ids.
    """
    if not patterns:
        return cases
    chosen = []
    for pattern in patterns:
        found = [c for c in cases if pattern in (c.id, c.shape_id, c.distribution, c.role) or fnmatch(c.id, pattern)]
        if not found:
            ids = [c.id for c in cases]
            near = get_close_matches(pattern, ids, n=3, cutoff=0.3) or ids[:3]
            raise UsageError(f"no case matches {pattern!r}; for instance: {', '.join(near)}")
        chosen += found
    return tuple(c for c in cases if c in chosen)
