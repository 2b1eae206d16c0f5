"""An event's problem folder: its files as text, its shapes, and what of its task.yml has no place in ours.

The folder is untrusted: nothing of it is run here, and only files inside it, or beside it as `../NAME`, are read. Its
task.yml, which messages quote, and its submission.py, which is copied as it stands, are read from the folder itself
alone: a link could lead to anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import RootModel

from harness.authoring.finding import Fault, Finding, find
from harness.authoring.scaffold import STARTER
from harness.errors import UsageError
from harness.spec.document import load_document
from harness.text import clean

LOST = "not carried over"
MAX_FILE_BYTES = 1 << 20

# What an event's task.yml may hold beside what is carried -> what became of it.
_ELSEWHERE = {
    "config": "the harness has an evaluator of its own",
    "templates": "teams begin with the starter in submissions/starter",
    "test_timeout": "shapes.yaml's budgets limit time",
    "benchmark_timeout": "shapes.yaml's budgets limit time",
    "ranked_timeout": "shapes.yaml's budgets limit time",
    "gpus": "shapes.yaml's targets are the season's GPUs",
    "multi_gpu": "a problem runs on one GPU",
    "milestones": "boards have no milestones",
    "profile": "nothing is profiled",
    "deadline": "shapes.yaml's `closes` is the season's deadline",
}
_CARRIED = ("files", "lang", "description", "tests", "benchmarks", "ranking_by", "name")


class _Raw(RootModel[dict[str, Any]]):
    """A document as it stands."""


@dataclass(frozen=True)
class EventFolder:
    """What an event's folder holds.

    Attributes:
        path: the folder.
        description: its text.
        tests, benchmarks: arguments of `generate_input`, without the seed.
        modules: text of its Python files by module name: "reference", "utils", ...
        sources: where each of them lies.
        starter: text of its own submission.py, empty if there is none.
        findings: what was not carried over so far.
    """

    path: Path
    description: str
    tests: tuple[Mapping[str, Any], ...]
    benchmarks: tuple[Mapping[str, Any], ...]
    modules: Mapping[str, str]
    sources: Mapping[str, Path]
    starter: str
    findings: tuple[Finding, ...]


def read_event_folder(path: Path) -> EventFolder:
    """Read an event's problem folder.

    Raises:
        UsageError: it is none, or not one of Python.
        SpecError: its task.yml cannot be read.
    """
    task = path / "task.yml"
    if task.is_symlink():
        raise UsageError(f"{task}: a symbolic link, which is not followed: put a copy of the file in its place")
    if not task.is_file():
        raise UsageError(f"{path}: holds no task.yml, so it is not a problem's folder")
    content = load_document(task, _Raw).root
    missing = [key for key in ("files", "tests") if not isinstance(content.get(key), list)]
    if missing:
        raise UsageError(f"{task}: has no list `{missing[0]}`, as the event's problems have; ours need no import")
    if str(content.get("lang", "py")) != "py":
        raise UsageError(f"{task}: lang: {content['lang']}: only problems in Python can be brought in")
    sources = _find_sources(path, content["files"])
    lost = list(_lost(task, content, sources))
    modules = {name: _read(source) for name, source in sources.items() if _is_ours_to_read(source, path)}
    if "reference" not in modules:
        raise UsageError(f"{path / 'reference.py'}: no such file; generate_input and ref_kernel are expected there")
    starter = _read_starter(task, lost)
    lists = {key: tuple(_entries(task, key, content.get(key) or [], lost)) for key in ("tests", "benchmarks")}
    findings = tuple(find(LOST, fault, path.parent, path) for fault in lost)
    description = clean(str(content.get("description", "")), lines=True).strip()
    return EventFolder(path, description, lists["tests"], lists["benchmarks"], modules, sources, starter, findings)


def _find_sources(path: Path, files: list[Any]) -> dict[str, Path]:
    """The Python files that the folder names, by module name, and reference.py whether it is named or not."""
    sources = {"reference": path / "reference.py"}
    for entry in files:
        if not isinstance(entry, dict):
            continue
        name, source = str(entry.get("name", "")), str(entry.get("source", ""))
        if name.endswith(".py") and not source.startswith("@"):
            sources[Path(name).stem] = path / source
    return sources


def _lost(task: Path, content: Mapping[str, Any], sources: Mapping[str, Path]) -> Iterator[str]:
    for key, value in content.items():
        if key in _ELSEWHERE:
            yield f"{task}: {key}: {_ELSEWHERE[key]}"
        elif key == "ranking_by" and value != "geom":
            yield f"{task}: ranking_by: {value}: boards rank by the geometric mean"
        elif key not in _CARRIED:
            yield f"{task}: {key}: has no meaning here"
    for name, source in sources.items():
        if not source.is_file() and name != "reference":
            yield f"{task}: files: {name}.py is named, and {source} is not there"
        elif source.is_file() and not _is_ours_to_read(source, task.parent):
            yield f"{task}: files: {name}.py lies outside of the folder and its parent, and was not read"


def _is_ours_to_read(source: Path, folder: Path) -> bool:
    """Whether a file is there, in the folder or beside it, where an event keeps what its problems share."""
    return source.is_file() and source.resolve().is_relative_to(folder.resolve().parent)


def _read(source: Path) -> str:
    if source.stat().st_size > MAX_FILE_BYTES:
        raise UsageError(f"{source}: is larger than {MAX_FILE_BYTES >> 20} MB, so it is no source")
    try:
        return source.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{source}: not UTF-8 text") from None


def _read_starter(task: Path, lost: list[str]) -> str:
    source = task.with_name(STARTER)
    if source.is_symlink():
        lost.append(f"{task}: {STARTER} beside it is a link, and was not read")
        return ""
    return _read(source) if source.is_file() else ""


def _entries(task: Path, key: str, entries: list[Any], lost: list[str]) -> Iterator[Mapping[str, Any]]:
    """The arguments of each test, without the seed: ours are drawn for each call."""
    for number, entry in enumerate(entries):
        if isinstance(entry, dict):
            yield {str(name): value for name, value in entry.items() if name != "seed"}
        else:
            lost.append(f"{task}: {key}.{number}: is not a mapping of arguments")


def place(folder: EventFolder, module: str, message: str, line: int | None, level: str = LOST) -> Finding:
    """Return a finding about one of the folder's Python files."""
    return find(level, Fault(f"{folder.sources[module]}: {message}", line), folder.path.parent, folder.path)


def place_in_task(folder: EventFolder, message: str, level: str = LOST) -> Finding:
    """Return a finding about the folder's task.yml; the message begins with the place."""
    return find(level, f"{folder.path / 'task.yml'}: {message}", folder.path.parent, folder.path)
