"""Every fault of a problem's folder at once, with file and line where they are known: `harness check-problem`.

task.yml and what lies round it are read, and so is the folder's Python; `qualify.examine` runs it, in a process of its
own. Whether the problem can tell right from wrong is for qualification.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.authoring.clashes import find_clashes
from harness.authoring.dropped import find_dropped
from harness.authoring.finding import TO_WRITE, Fault, Finding, find
from harness.authoring.omissions import find_omissions
from harness.authoring.readme import find_readme_faults
from harness.authoring.scaffold import STARTER, starter_folder
from harness.authoring.source import MODULES, find_source_faults, find_starter_faults, mutant_lines
from harness.authoring.unwritten import FILES, find_unwritten
from harness.errors import SpecError, WorkerError
from harness.qualify.kernels import FILE as KERNELS
from harness.qualify.kernels import load_kernels
from harness.qualify.measurements import REFUSE, Candidate
from harness.qualify.process import ChildEndedError, Progress, run_child
from harness.qualify.steps import ADVICE, STEP_LIMIT_S
from harness.spec import Problem, load_problem
from harness.spec.consistency import find_inconsistencies
from harness.spec.salvage import Salvage, salvage_problem
from harness.store.codec import decode

Examine = Callable[[Problem, Sequence[str]], dict[str, Any]]

# What must be sound in task.yml for its Python to be run.
RUNNABLE = frozenset({"axes", "constants", "inputs", "outputs", "distributions", "tests"})
ENOUGH_KERNELS = 3  # wrong ones
GRACE_S = 15  # after which a step that does not let itself be stopped is killed


@dataclass(frozen=True)
class _Task:
    """What task.yml gave: its faults, the problem as far as it could be read, and whether its Python can be run."""

    faults: tuple[str, ...]
    problem: Problem | None
    sound: bool
    runnable: bool


@dataclass
class _Findings:
    errors: list[Fault | str] = field(default_factory=list)
    warnings: list[Fault | str] = field(default_factory=list)


def examine_in_child(
    problem: Problem,
    files: Sequence[str],
    progress: Progress = lambda step, done, total: None,
    limit_s: int = STEP_LIMIT_S,
    grace_s: int = GRACE_S,
) -> dict[str, Any]:
    """Run a problem's Python in a process of its own, as `qualify.examine` does.

    Args:
        problem: the problem.
        files: what to run of it.
        progress: is told of each step before it runs: what it is, how many were before, of how many.
        limit_s: what a step may take.
        grace_s: how much later a step that does not let itself be stopped is killed.

    Raises:
        SpecError: the problem's Python is at fault.
        ChildEndedError: it ended that process, or had to be killed.
        WorkerError: the process failed.
    """
    arguments = [str(limit_s), *files]
    return run_child("harness.qualify.examine", problem, arguments, progress, silence_s=limit_s + grace_s)


def check_folder(root: Path, folder: Path, examine: Examine = examine_in_child) -> tuple[Finding, ...]:
    """Return everything that is wrong with a problem's folder, errors first, and what is still to be written.

    Args:
        root: the repository.
        folder: the problem's folder.
        examine: runs the folder's Python.
    """
    found = _Findings()
    task = _read_task(folder)
    found.errors += task.faults
    found.errors += find_clashes(task.problem, root) if task.problem is not None else ()
    found.warnings += find_dropped(folder / "task.yml")
    sources = find_source_faults(folder)
    found.errors += [fault for faults in sources.values() for fault in faults]
    starter = starter_folder(root, folder.name) / STARTER
    starter_faults = find_starter_faults(starter) if starter.is_file() else ()
    found.errors += starter_faults
    tried: Sequence[Candidate] = ()
    if task.runnable and task.problem is not None:
        tried = _run(task.problem, [name for name in MODULES if not sources[name]], examine, found)
    else:
        found.warnings.append(f"{folder / 'task.yml'}: reference.py and mutants.py were read, not run: mend this first")
    if task.sound and task.problem is not None:
        found.warnings += find_omissions(task.problem, root)
        found.warnings += find_readme_faults(task.problem, _mutants(tried))
    if tried and not starter_faults:
        _check_kernels(folder, starter, tried, found)
    unwritten = find_unwritten([*(folder / name for name in FILES), starter])
    return (
        *(find("error", fault, root, folder) for fault in found.errors),
        *(find("warning", fault, root, folder) for fault in found.warnings),
        *(find(TO_WRITE, fault, root, folder) for fault in unwritten),
    )


def _read_task(folder: Path) -> _Task:
    try:
        return _Task((), load_problem(folder), sound=True, runnable=True)
    except SpecError as error:
        faults = [line for line in str(error).splitlines() if not line.startswith(f"{folder / 'reference.py'}: ")]
    try:
        salvaged = salvage_problem(folder)
    except SpecError:
        return _Task(tuple(faults), None, sound=False, runnable=False)
    path = folder / "task.yml"
    inconsistencies = list(find_inconsistencies(salvaged.problem, salvaged.readable))
    faults += [line for line in (f"{path}: {fault}" for fault in inconsistencies) if line not in faults]
    return _Task(tuple(faults), salvaged.problem, sound=not faults, runnable=_is_runnable(salvaged, inconsistencies))


def _is_runnable(salvaged: Salvage, inconsistencies: Sequence[str]) -> bool:
    blamed = {fault.split(":")[0].split(".")[0] for fault in inconsistencies}
    return salvaged.readable >= RUNNABLE and not blamed & RUNNABLE


def _mutants(tried: Sequence[Candidate]) -> tuple[str, ...]:
    return tuple(candidate.name for candidate in tried if candidate.mutant)


def _check_kernels(folder: Path, starter: Path, tried: Sequence[Candidate], found: _Findings) -> None:
    """Hold kernels.yml against the starter and the mutants; without a starter there is nothing to hold it against."""
    path = folder / KERNELS
    if not path.is_file():
        found.warnings.append(f"{path}: no such file; without Helion kernels no mistake is tried on the whole path")
    elif starter.is_file():
        try:
            kernels = load_kernels(folder, starter.read_text(encoding="utf-8"), tried)
        except SpecError as error:
            found.errors += str(error).splitlines()
        else:
            wrong = sum(kernel.expected == REFUSE for kernel in kernels)
            if wrong < ENOUGH_KERNELS:
                found.warnings.append(f"{path}: kernels: {wrong} wrong ones; a problem has {ENOUGH_KERNELS} or more")


def _run(problem: Problem, files: Sequence[str], examine: Examine, found: _Findings) -> Sequence[Candidate]:
    """Run those of the folder's modules that are sound as text; return what is tried, if mutants.py loaded."""
    if not files:
        return ()
    try:
        told = examine(problem, files)
    except (SpecError, WorkerError) as error:
        if isinstance(error, ChildEndedError) and error.message:
            return _run_rest(problem, files, examine, found, error)
        found.errors.append(f"{problem.folder / 'reference.py'}: running the folder's Python failed: {error}")
        return ()
    return _take(told, problem, found)


def _run_rest(
    problem: Problem, files: Sequence[str], examine: Examine, found: _Findings, ended: ChildEndedError
) -> Sequence[Candidate]:
    """Say which step ended the process, keep what was found before, and run the files after that one."""
    file, _, step = str(ended.message["step"]).partition(": ")
    how = f"did not end in time and could not be stopped: {ADVICE}"
    if ended.code is not None:
        how = f"ended the process with code {ended.code}; it printed: {ended.printed or 'nothing'}"
    tried = _take(ended.message["found"], problem, found)
    found.errors.append(f"{problem.folder / file}: {step} {how}")
    found.warnings.append(f"{problem.folder / file}: what comes after that was not run: mend this first")
    return [*tried, *_run(problem, files[files.index(file) + 1 :], examine, found)]


def _take(told: Mapping[str, Any], problem: Problem, found: _Findings) -> Sequence[Candidate]:
    """Take what an examination found; return its candidates."""
    found.errors += told["faults"]
    lines = mutant_lines(problem.folder)
    found.warnings += [Fault(text, _mutant_line(text, lines)) for text in told["warnings"]]
    return [decode(Candidate, candidate) for candidate in told["candidates"]]


def _mutant_line(text: str, lines: dict[str, int]) -> int | None:
    before, separator, rest = text.partition(": mutant ")
    return lines.get(rest.split(" ")[0]) if separator and before.endswith("mutants.py") else None
