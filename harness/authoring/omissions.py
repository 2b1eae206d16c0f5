"""What nobody is stopped by in a problem, and an organiser would rather know before it opens: warnings.

Pure but for looking whether a starter is there and what the season lists.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from harness.authoring.scaffold import STARTER, starter_folder
from harness.case import Case, load_cases
from harness.dtypes import DTYPE_BYTES
from harness.errors import SpecError
from harness.spec import Problem, TensorSpec, load_season
from harness.spec.wording import NAMES_INPUTS


def find_omissions(problem: Problem, root: Path) -> Iterator[str]:
    """Find what a problem should have and does not, each as "FILE: [PLACE: ]MESSAGE"."""
    task = problem.folder / "task.yml"
    tested = {str(entry.get("distribution", problem.default_distribution)) for entry in problem.tests}
    tested |= {str(suite.distribution) for suite in problem.suites.values()}
    for name in problem.distribution_names:
        if name not in tested:
            yield f"{task}: distributions.{name}: no test and no suite uses it"
    for output in problem.outputs:
        if problem.tolerance_of(output.name).relative_l2 is None:
            yield f"{task}: tolerance: output {output.name} has no relative_l2, so small values pass as zeros"
        if problem.tolerance_of(output.name).accepted is None:
            yield f"{task}: tolerance: output {output.name} has no margins; harness qualify {problem.name} prints them"
    yield from _repeated(problem, task)
    yield from _cost_faults(problem, task)
    if not problem.source:
        yield f"{task}: no source: say where the mathematics is from"
    starter = starter_folder(root, problem.name) / STARTER
    if not starter.is_file():
        yield f"{starter}: no such file; teams begin with a copy of the starter"
    yield from _season_faults(problem, root)


def _repeated(problem: Problem, task: Path) -> Iterator[str]:
    """Cases that stand twice are tried once: another was meant, or none."""
    for role, entries in (("tests", problem.tests), ("benchmarks", problem.benchmarks)):
        seen: dict[frozenset[tuple[str, int | str]], int] = {}
        for index, entry in enumerate(entries):
            case = frozenset({NAMES_INPUTS: problem.default_distribution, **entry}.items())
            if (first := seen.setdefault(case, index)) != index:
                told = f"the same as {role}.{first}, so it is not tried again: change it, or leave it out"
                yield f"{task}: {role}.{index}: {told}"


def _cost_faults(problem: Problem, task: Path) -> Iterator[str]:
    """Costs that cannot be: more bytes than there are make a good kernel faster than light, and IMPLAUSIBLE."""
    benchmarks = [case for case in load_cases(problem) if case.role == "benchmark"]
    given = [tensor for tensor in problem.inputs if not tensor.buffer]
    for case in benchmarks:
        _, read_bytes, write_bytes = problem.cost_of(case.sizes)
        most, written = _bytes(problem, case, given), _bytes(problem, case, problem.outputs)
        if read_bytes > most:
            told = f"{read_bytes} at {case.shape_id} is more than the inputs hold, {most}: count each byte once"
            yield f"{task}: cost.read_bytes: {told}, or honest kernels will be IMPLAUSIBLE"
            return
        if write_bytes != written:
            told = f"{write_bytes} at {case.shape_id} is not what the outputs hold, {written}"
            yield f"{task}: cost.write_bytes: {told}: every element is written once"
            return


def _bytes(problem: Problem, case: Case, tensors: tuple[TensorSpec, ...] | list[TensorSpec]) -> int:
    values = problem.values(case.sizes)
    return sum(math.prod(tensor.sizes(values)) * DTYPE_BYTES[tensor.dtype] for tensor in tensors)


def _season_faults(problem: Problem, root: Path) -> Iterator[str]:
    try:
        if problem.name not in load_season(root).problems:
            yield f"{root / 'shapes.yaml'}: does not list {problem.name}, so its results are never ranked"
    except SpecError as error:
        yield from str(error).splitlines()
