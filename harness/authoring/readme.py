"""What a problem's README owes its participants: the sections, every tensor, tolerance and distribution.

Warnings only: nobody's verdict depends on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from harness.authoring.finding import Fault
from harness.spec import Problem

SECTIONS = ("Tolerance", "Inputs", "Qualification")


def find_readme_faults(problem: Problem, mutants: tuple[str, ...]) -> Iterator[Fault]:
    """Find what a problem's README lacks.

    Args:
        problem: the problem.
        mutants: the names of its mutants, as far as they are known.
    """
    path = problem.folder / "README.md"
    if not path.is_file():
        yield Fault(f"{path}: no such file; participants read it first")
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    sections = _sections(text)
    for name in (name for name in SECTIONS if name not in sections):
        yield Fault(f"{path}: has no section `## {name}`")
    yield from _tensors(problem, path, text)
    yield from _tolerance(problem, path, sections)
    for name in problem.distribution_names:
        if f"`{name}`" not in text:
            yield Fault(f"{path}: does not mention the distribution `{name}`", _line(sections, "Inputs"))
    if "Qualification" in sections:
        yield from _qualification(problem, path, sections, mutants)


def _sections(text: str) -> dict[str, tuple[int, str]]:
    """Title -> the line of its heading, and the text under it."""
    found: dict[str, tuple[int, str]] = {}
    for match in re.finditer(r"^## (.+?)[ \t]*$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL):
        found[match[1]] = (text.count("\n", 0, match.start()) + 1, match[2])
    return found


def _line(sections: dict[str, tuple[int, str]], title: str) -> int | None:
    return sections[title][0] if title in sections else None


def _tensors(problem: Problem, path: Path, text: str) -> Iterator[Fault]:
    """Hold the table that begins with "tensor" against task.yml: every tensor by its name and dtype, and no other."""
    table = re.search(r"^\| *tensor *\|.*\| *dtype *\|.*\n((?:\|.*\n?)*)", text, re.MULTILINE)
    if table is None:
        yield Fault(f"{path}: has no table of tensors; it begins with | tensor | shape | dtype | |")
        return
    line = text.count("\n", 0, table.start()) + 1
    column = [cell.strip() for cell in table[0].splitlines()[0].split("|")].index("dtype")
    rows = [[cell.strip() for cell in row.split("|")] for row in table[1].splitlines()[1:]]
    whole = [row for row in rows if len(row) > column]
    shown = {(name.strip(" `"), row[column].strip("`")) for row in whole for name in row[1].split(",")}
    declared = dict.fromkeys((tensor.name, tensor.dtype) for tensor in (*problem.inputs, *problem.outputs))
    for name, dtype in declared:
        if (name, dtype) not in shown:
            yield Fault(f"{path}: the table of tensors does not have {name} as {dtype}, as task.yml declares it", line)
    for name in sorted({name for name, _ in shown} - {name for name, _ in declared}):
        yield Fault(f"{path}: the table of tensors has {name}, which task.yml does not declare", line)


def _tolerance(problem: Problem, path: Path, sections: dict[str, tuple[int, str]]) -> Iterator[Fault]:
    if "Tolerance" not in sections:
        return
    line, text = sections["Tolerance"]
    for output in problem.outputs:
        tolerance = problem.tolerance_of(output.name)
        numbers = [tolerance.rtol, tolerance.atol, tolerance.relative_l2]
        row = re.search(rf"^\| *`{re.escape(output.name)}` *\|(.*)$", text, re.MULTILINE)
        shown = [cell.strip() for cell in row[1].split("|")] if row else []
        if list(map(_number, shown[: len(numbers)])) != numbers:
            wanted = " | ".join(f"{number:g}" if number is not None else "-" for number in numbers)
            told = "has another tolerance" if row else "does not state the tolerance"
            yield Fault(f"{path}: {told} for output `{output.name}`; the row is | `{output.name}` | {wanted} |", line)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _qualification(
    problem: Problem, path: Path, sections: dict[str, tuple[int, str]], mutants: tuple[str, ...]
) -> Iterator[Fault]:
    line, text = sections["Qualification"]
    missing = [name for name in mutants if f"`{name}`" not in text]
    advice = f"print it by harness qualify {problem.name} --markdown"
    if mutants and len(missing) == len(mutants):
        yield Fault(f"{path}: holds no table of qualification yet: {advice}", line)
    elif missing:
        yield Fault(f"{path}: the table of qualification lacks {', '.join(missing)}: {advice}", line)
