"""Beginning a problem: a folder and a starter that load, run and qualify as they are, and are there to be edited.

The templates lie beside this module; in them, @NAME@ is the problem's name. Nothing is ever overwritten.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from harness.errors import SpecError, UsageError
from harness.spec import load_problem, problem_names

TEMPLATES = Path(__file__).with_name("templates")
STARTER = "submission.py"

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


def begin_problem(root: Path, name: str) -> tuple[Path, ...]:
    """Write problems/NAME and its starter from the templates.

    Args:
        root: the repository.
        name: the new problem's.

    Returns:
        The files, in the order in which they are best read.

    Raises:
        UsageError: the name is not valid, or taken.
        OSError: the disk.
    """
    check_new_name(root, name)
    texts = {path.name.removesuffix(".in"): path.read_text(encoding="utf-8") for path in TEMPLATES.glob("*.in")}
    filled = {file: text.replace("@NAME@", name) for file, text in texts.items()}
    starter = {STARTER: filled.pop(STARTER)}
    return (*write_folder(problem_folder(root, name), filled), *write_folder(starter_folder(root, name), starter))


def problem_folder(root: Path, name: str) -> Path:
    """Return where a problem lies."""
    return root / "problems" / name


def starter_folder(root: Path, name: str) -> Path:
    """Return where a problem's starter lies."""
    return root / "submissions" / "starter" / name


def check_new_name(root: Path, name: str) -> None:
    """Refuse a name that a new problem cannot have.

    Raises:
        UsageError: it is not valid, or a problem, an alias or a starter has it.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be a problem's name: it becomes a folder's, so use a-z, 0-9 and _, 64 at most, and begin "
            "with a letter"
        )
    for folder in (problem_folder(root, name), starter_folder(root, name)):
        if folder.exists():
            raise UsageError(f"{folder.relative_to(root)} exists already: choose another name, or edit what is there")
    owner = _aliases(root).get(name)
    if owner is not None:
        raise UsageError(f"{name} is taken: it is an alias of the problem {owner}")


def _aliases(root: Path) -> dict[str, str]:
    """The aliases of all problems that load; one that does not takes no name."""
    owners: dict[str, str] = {}
    for owner in problem_names(root):
        try:
            owners |= dict.fromkeys(load_problem(problem_folder(root, owner)).aliases, owner)
        except SpecError:
            continue
    return owners


def write_folder(folder: Path, files: Mapping[str, str]) -> tuple[Path, ...]:
    """Write a new folder's files, all or none.

    Raises:
        OSError: it exists, or the disk.
    """
    folder.mkdir(parents=True)
    try:
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    order = ("task.yml", "reference.py", "mutants.py", "kernels.yml", "README.md")
    return tuple(folder / name for name in sorted(files, key=lambda n: order.index(n) if n in order else len(order)))
