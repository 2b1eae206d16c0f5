"""An event's tests and benchmarks as shapes of ours: which arguments of `generate_input` are axes. Pure.

An axis is a whole number in every test. Of other arguments the first test's value is kept, and tests that have another
are left behind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.authoring.event.folder import EventFolder, place_in_task
from harness.authoring.finding import TO_WRITE, Finding
from harness.errors import UsageError

MAX_VOLUME = 1 << 26  # of a shape's axes multiplied: larger ones are not run


@dataclass(frozen=True)
class Shapes:
    """An event's tests and benchmarks.

    Attributes:
        tests, benchmarks: shapes, each once.
        constants: the arguments that are no axes.
        findings: what was left behind.
    """

    tests: tuple[Mapping[str, int], ...]
    benchmarks: tuple[Mapping[str, int], ...]
    constants: Mapping[str, Any]
    findings: tuple[Finding, ...]

    @property
    def probed(self) -> tuple[Mapping[str, int], ...]:
        """The tests that are small enough to be run; the first in any case."""
        small = tuple(shape for shape in self.tests if math.prod(max(n, 1) for n in shape.values()) <= MAX_VOLUME)
        return small or self.tests[:1]


def find_shapes(event: EventFolder, parameters: Sequence[str]) -> Shapes:
    """Tell axes from other arguments, and return the shapes.

    Args:
        event: the folder.
        parameters: those of generate_input, without the seed.

    Raises:
        UsageError: there is no test, or no axis.
    """
    entries = [*event.tests, *event.benchmarks]
    task = event.path / "task.yml"
    if not event.tests:
        raise UsageError(f"{task}: has no tests")
    axes = [name for name in parameters if all(type(entry.get(name)) is int for entry in entries)]
    if not axes:
        raise UsageError(f"{task}: no argument of generate_input is a whole number in every test, so there is no axis")
    others = [name for name in event.tests[0] if name not in axes]
    constants = {name: event.tests[0][name] for name in others}
    findings = [_tell_constant(event, name, entries) for name in others]
    lists = {role: _shapes(event, role, axes, constants, findings) for role in ("tests", "benchmarks")}
    if not lists["tests"]:
        raise UsageError(f"{task}: no test is left: an axis is a whole number of 1 or more in each")
    if not lists["benchmarks"]:
        told = "benchmarks: there are none: the tests stand in for them"
        findings.append(place_in_task(event, told, TO_WRITE))
    return Shapes(lists["tests"], lists["benchmarks"] or lists["tests"], constants, tuple(findings))


def _shapes(
    event: EventFolder, role: str, axes: Sequence[str], constants: Mapping[str, Any], findings: list[Finding]
) -> tuple[Mapping[str, int], ...]:
    kept: dict[tuple[int, ...], Mapping[str, int]] = {}
    for number, entry in enumerate(event.tests if role == "tests" else event.benchmarks):
        if any(entry.get(name) != value for name, value in constants.items()):
            findings.append(place_in_task(event, f"{role}.{number}: has other arguments than the first test"))
        elif any(entry[axis] < 1 for axis in axes):
            none = next(axis for axis in axes if entry[axis] < 1)
            findings.append(place_in_task(event, f"{role}.{number}: {none} is {entry[none]}, and an axis is 1 or more"))
        else:
            kept.setdefault(tuple(entry[axis] for axis in axes), {axis: entry[axis] for axis in axes})
    return tuple(kept.values())


def _tell_constant(event: EventFolder, name: str, entries: Sequence[Mapping[str, Any]]) -> Finding:
    values = list(dict.fromkeys(repr(entry.get(name)) for entry in entries))
    never = f", and never {', '.join(values[1:4])}" if len(values) > 1 else ""
    return place_in_task(event, f"tests.0.{name}: is no axis; it is always {values[0]} here{never}")
