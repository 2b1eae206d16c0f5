"""Suites that shapes.yaml gives to several problems: the dimensions of real models, each with its source.

A problem takes part by its shapes. Its own tests stay in front, so that whatever they refuse is refused in the suite
too; the benchmarks are the suite's alone. Such a suite ranks where the season says so.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from harness.errors import SpecError
from harness.spec.consistency import entry_faults
from harness.spec.document import Strict
from harness.spec.problem import Name, Problem, ShapeEntry, Suite


class SuiteShapes(Strict):
    """What one problem has in a suite: shapes, each perhaps with a distribution."""

    tests: tuple[ShapeEntry, ...] = ()
    benchmarks: tuple[ShapeEntry, ...] = Field(min_length=1)


class SharedSuite(Strict):
    """A named list of shapes for several problems.

    Attributes:
        title: which model, in a line.
        source: where its dimensions are published.
        problems: the shapes of each problem that takes part.
    """

    title: str = Field(min_length=1)
    source: str = Field(min_length=1)
    problems: dict[Name, SuiteShapes] = Field(min_length=1)


def attach_suites(problem: Problem, suites: Mapping[str, SharedSuite], path: object) -> Problem:
    """Return a problem with the shared suites that it takes part in, after its own.

    Args:
        problem: as its folder states it.
        suites: the shared suites, by name.
        path: the document that they are from, for messages.

    Raises:
        SpecError: a name is taken, or a shape is not one of the problem's.
    """
    added = {}
    faults: list[str] = []
    for name, shared in suites.items():
        shapes = shared.problems.get(problem.name)
        if shapes is None:
            continue
        place = f"suites.{name}.problems.{problem.name}"
        if name in problem.suites or name == "default":
            faults.append(f"{place}: the problem has a suite {name} of its own; choose another name")
        for role, entries in (("tests", shapes.tests), ("benchmarks", shapes.benchmarks)):
            for index, entry in enumerate(entries):
                faults += entry_faults(problem, entry, f"{place}.{role}.{index}")
        added[name] = Suite(
            tests=(*problem.tests, *shapes.tests),
            benchmarks=shapes.benchmarks,
            note=shared.title,
            source=shared.source,
        )
    if faults:
        raise SpecError("\n".join(f"{path}: {fault}" for fault in faults))
    return problem.with_suites(added) if added else problem
