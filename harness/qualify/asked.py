"""What a qualification is asked to try: suites, each with its cases and its standing. Pure; it travels as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from harness.case import DEFAULT_SUITE, Case, load_cases
from harness.spec import Problem

RANKS, MAY_RANK, NEVER_RANKS = "ranks", "may rank", "never ranks"
ROLES = ("test", "benchmark")

Shape = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class SuiteRequest:
    """A suite to try.

    Attributes:
        name: its name.
        standing: "ranks" (in the season), "may rank" (in another) or "never ranks" (it is marked as gameable).
        cases: its cases.
    """

    name: str
    standing: str
    cases: tuple[Case, ...]


def ask_suite(
    problem: Problem, name: str, ranking: Collection[str] = (DEFAULT_SUITE,), roles: Sequence[str] = ROLES
) -> SuiteRequest:
    """Return the request for a suite of a problem.

    Args:
        problem: the problem.
        name: the suite's.
        ranking: the suites that rank in the season.
        roles: which cases to try: tests, benchmarks or both.

    Raises:
        UsageError: the problem has no such suite.
    """
    cases = tuple(case for case in load_cases(problem, name) if case.role in roles)
    suite = problem.suites.get(name)
    if suite is not None and suite.gameable:
        return SuiteRequest(name, NEVER_RANKS, cases)
    return SuiteRequest(name, RANKS if name in ranking else MAY_RANK, cases)


def main_shape(cases: Sequence[Case]) -> Shape:
    """Return the test shape that most distributions use; of several, the last in the list."""
    tests = [case for case in cases if case.role == "test"] or list(cases)
    counts = Counter(case.shape for case in tests)
    most = max(counts.values())
    return [shape for shape, count in counts.items() if count == most][-1]


def encode_suites(suites: Sequence[SuiteRequest]) -> str:
    """Return suites as JSON."""
    return json.dumps(
        [[s.name, s.standing, [[case.role, case.sizes, case.distribution] for case in s.cases]] for s in suites]
    )


def decode_suites(document: str) -> tuple[SuiteRequest, ...]:
    """Return what `encode_suites` made a document of."""
    return tuple(
        SuiteRequest(name, standing, tuple(Case(role, tuple(sizes.items()), d) for role, sizes, d in cases))
        for name, standing, cases in json.loads(document)
    )
