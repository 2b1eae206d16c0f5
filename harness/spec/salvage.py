"""What can still be read of a task.yml that is at fault, so that the rest of its folder can be checked all the same.

Field by field: those that do not validate hold a placeholder, and nothing may be concluded from them. For `harness
check-problem` only; nothing is judged by such a problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import RootModel, ValidationError

from harness.spec.document import load_document
from harness.spec.problem import Problem

_PLACEHOLDERS: dict[str, Any] = {
    "name": "unnamed",
    "title": "",
    "description": "",
    "axes": {"a": {"description": ""}},
    "inputs": [{"name": "x", "shape": ["a"], "dtype": "float32"}],
    "outputs": [{"name": "y", "shape": ["a"], "dtype": "float32"}],
    "tolerance": {"all": {"rtol": 0, "atol": 0}},
    "precision": "float32",
    "distributions": {"default": "normal", "normal": ""},
    "tests": [{"a": 1}],
    "benchmarks": [{"a": 1}],
    "cost": {"flops": 0, "read_bytes": 0, "write_bytes": 0},
}


class _Raw(RootModel[dict[str, Any]]):
    """A document as it stands."""


@dataclass(frozen=True)
class Salvage:
    """A problem of which some fields are placeholders.

    Attributes:
        problem: the problem.
        readable: the fields that are as task.yml has them, or by default where it has none.
    """

    problem: Problem
    readable: frozenset[str]


def salvage_problem(folder: Path) -> Salvage:
    """Read what can be read of a folder's task.yml.

    Raises:
        SpecError: nothing can: there is no such file, or it is no mapping.
    """
    content = load_document(folder / "task.yml", _Raw).root
    faulty = _faulty_fields(content)
    kept = {field: value for field, value in content.items() if field in Problem.model_fields and field not in faulty}
    missing = {field: value for field, value in _PLACEHOLDERS.items() if field not in kept}
    problem = Problem.model_validate(kept | missing)
    problem._folder = folder
    return Salvage(problem, frozenset(set(Problem.model_fields) - faulty - set(missing)))


def _faulty_fields(content: dict[str, Any]) -> set[str]:
    try:
        Problem.model_validate(content)
    except ValidationError as error:
        return {str(fault["loc"][0]) for fault in error.errors()}
    return set()
