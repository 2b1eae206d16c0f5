"""Every fault of a problem's folder at once, with file and line where they are known: `harness check-problem`.

task.yml and what lies round it are read here; the folder's Python is run by `examine`, in a process of its own. Whether
the problem can tell right from wrong is for qualification.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from harness.errors import SpecError
from harness.qualify.process import run_child
from harness.spec import Problem, load_problem, load_season

_LINE = re.compile(r" at line (\d+)|, line (\d+), column")


@dataclass(frozen=True)
class Finding:
    """One thing to mend.

    Attributes:
        level: "error" (the problem cannot be used so) or "warning".
        file: relative to the repository.
        line: the line in it; None where none is to blame.
        message: what is wrong, and what is expected.
    """

    level: str
    file: str
    line: int | None
    message: str


def check_folder(root: Path, folder: Path) -> tuple[Finding, ...]:
    """Return everything that is wrong with a problem's folder: errors first.

    Args:
        root: the repository.
        folder: the problem's folder.
    """
    try:
        problem = load_problem(folder)
    except SpecError as error:
        return tuple(_finding("error", line, root, folder) for line in str(error).splitlines())
    try:
        found = run_child("harness.qualify.examine", problem, (), lambda step, done, total: None)
    except SpecError as error:
        found = {"faults": [str(error)], "warnings": []}
    warnings = [*found["warnings"], *_omissions(problem, root)]
    return (
        *(_finding("error", text, root, folder) for text in found["faults"]),
        *(_finding("warning", text, root, folder) for text in warnings),
    )


def _omissions(problem: Problem, root: Path) -> Iterator[str]:
    """What nobody is stopped by, and an organiser would rather know."""
    task, readme = problem.folder / "task.yml", problem.folder / "README.md"
    tested = {str(entry.get("distribution", problem.default_distribution)) for entry in problem.tests}
    tested |= {str(suite.distribution) for suite in problem.suites.values()}
    for name in problem.distribution_names:
        if name not in tested:
            yield f"{task}: distributions.{name}: no test and no suite uses it"
    for output in problem.outputs:
        if problem.tolerance_of(output.name).relative_l2 is None:
            yield f"{task}: tolerance: output {output.name} has no relative_l2, so small values pass as zeros"
    if not problem.source:
        yield f"{task}: no source: say where the mathematics is from"
    if not readme.is_file():
        yield f"{readme}: no such file; participants read it first"
    else:
        text = readme.read_text(encoding="utf-8")
        for name in (name for name in problem.distribution_names if f"`{name}`" not in text):
            yield f"{readme}: does not mention the distribution `{name}`"
    if not (root / "submissions" / "starter" / problem.name / "submission.py").is_file():
        yield f"{task}: no starter in submissions/starter/{problem.name}/submission.py"
    if problem.name not in load_season(root).problems:
        yield f"{root / 'shapes.yaml'}: does not list {problem.name}, so nobody can submit to it"


def _finding(level: str, text: str, root: Path, folder: Path) -> Finding:
    """Split "FILE: [PLACE: ]MESSAGE", and find the line that is meant."""
    file, separator, message = text.partition(": ")
    path = Path(file) if separator and Path(file).suffix else folder
    message = message if separator and Path(file).suffix else text
    told = _LINE.search(message)
    line = int(told[1] or told[2]) if told else _line_of(path, message)
    shown = path.resolve().relative_to(root.resolve()) if path.resolve().is_relative_to(root.resolve()) else path
    return Finding(level, str(shown), line, message)


def _line_of(path: Path, message: str) -> int | None:
    """Return the line of a YAML document where the place that begins a message stands."""
    place = message.split(":")[0]
    if path.suffix not in (".yml", ".yaml") or not re.fullmatch(r"[\w.-]+", place):
        return None
    try:
        node = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except (OSError, ValueError, yaml.YAMLError):
        return None
    line = None
    for part in place.split("."):
        found = _child(node, part)
        if found is None:
            break
        key, node = found
        line = key.start_mark.line + 1
    return line


def _child(node: yaml.Node | None, part: str) -> tuple[yaml.Node, yaml.Node] | None:
    """Return the key and the value of a mapping's entry, or an item of a sequence twice."""
    if isinstance(node, yaml.MappingNode):
        return next(((key, value) for key, value in node.value if key.value == part), None)
    if isinstance(node, yaml.SequenceNode):
        if part.isdigit() and int(part) < len(node.value):
            return node.value[int(part)], node.value[int(part)]
        named = (item for item in node.value if (name := _child(item, "name")) and name[1].value == part)
        return next(((item, item) for item in named), None)
    return None
