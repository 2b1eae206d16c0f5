"""Names of a problem that another problem has: whoever submits by such a name means one of the two. Read, not run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.errors import SpecError
from harness.spec import Problem, load_problem, problem_names


def find_clashes(problem: Problem, root: Path) -> Iterator[str]:
    """Find names that stand for another problem too, each as "FILE: PLACE: MESSAGE".

    Args:
        problem: the problem; names of those that do not load are known, their aliases are not.
        root: the repository.
    """
    task = problem.folder / "task.yml"
    names = [name for name in problem_names(root) if name != problem.folder.name]
    for alias in problem.aliases:
        if alias in names:
            yield f"{task}: aliases: {alias} is another problem's name, and is taken for that: leave it out"
    for other in names:
        try:
            taken = load_problem(root / "problems" / other).aliases
        except SpecError:
            continue
        if problem.name in taken:
            yield f"{task}: name: {problem.name} is an alias of the problem {other}: choose another, or drop it there"
        for alias in (alias for alias in problem.aliases if alias in taken):
            yield f"{task}: aliases: {alias} is an alias of the problem {other} too: leave it out"
