"""What the files of a submission may be called and be: rules on names, modes and sizes. Pure.

Everything here is the author's: a name may be no text at all, a mode may make a link of a file. What is not plainly
allowed is refused, and refused names are shown escaped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from harness.ci.change import EXECUTABLE, LINK, REGULAR, SUBMISSIONS, SUBMODULE, Change, Fault, File
from harness.errors import UsageError
from harness.spec.team import MAX_TEAM_FILE_BYTES, TEAM_FILE, describe_letters
from harness.submission import MAIN, MAX_FILE_BYTES, MAX_FILES, MAX_FOLDER_BYTES, MAX_MAIN_BYTES, check_team_name

MAX_PATH_CHARACTERS = 200
MAX_DEPTH = 8
TEAM_FILES = (TEAM_FILE, "README.md")
CONTENT_FAULTS = ("binary", "not_utf8")
"""What only the gate can tell, which alone reads what is in files."""

MADE = ("__pycache__", "artifacts", "node_modules")

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}(?<!\.)")
_PROBLEM = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def shown(path: str) -> str:
    """Return a path of anybody's as printable ASCII, cut to a length that fits a line."""
    plain = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    escaped = plain.encode("unicode_escape").decode("ascii")
    return escaped if len(escaped) <= MAX_PATH_CHARACTERS else f"{escaped[:MAX_PATH_CHARACTERS]}..."


def check_path(change: Change) -> Fault | None:
    """Return what is wrong with the name of a file below submissions/; of one that goes away the team alone counts."""
    parts = change.path.split("/")
    if change.removed:
        return _check_place([*parts[:2], TEAM_FILE], change.path) if len(parts) > 2 else None
    if len(change.path) > MAX_PATH_CHARACTERS or len(parts) > MAX_DEPTH:
        message = f"the path is too long: {MAX_PATH_CHARACTERS} characters and {MAX_DEPTH} levels are allowed"
        return Fault("path_too_long", change.path, message)
    if any(part in MADE or part.startswith(".harness") for part in parts):
        return Fault("made_file", change.path, "what a run leaves behind does not belong in a submission: remove it")
    if not all(_NAME.fullmatch(part) for part in parts):
        return Fault("bad_name", change.path, _explain_name(parts))
    return _check_place(parts, change.path)


def _explain_name(parts: Sequence[str]) -> str:
    """Say how names are made, and which letter of a path's is of another script: eyes cannot tell it."""
    rule = "names are made of a-z, A-Z, 0-9, _, -, + and dots within, and begin with a letter, a digit or _: rename it"
    whose = {1: "the team's name", len(parts) - 1: "the file's name"}
    for depth, part in enumerate(parts):
        if odd := describe_letters(part):
            return f"{whose.get(depth, 'a name')} has {odd}; {rule}"
    return rule


def _check_place(parts: Sequence[str], path: str) -> Fault | None:
    if len(parts) < 3:
        return Fault("misplaced", path, f"nothing lies here: a submission is {SUBMISSIONS}/TEAM/PROBLEM/{MAIN}")
    try:
        check_team_name(parts[1])
    except UsageError as error:
        return Fault("team_name", path, str(error))
    if len(parts) == 3 and parts[2] not in TEAM_FILES:
        return Fault("misplaced", path, f"beside its problems a team has {' and '.join(TEAM_FILES)} only: move it")
    if len(parts) > 3 and not _PROBLEM.fullmatch(parts[2]):
        return Fault("unknown_problem", path, f"{parts[2]!r} is not the name of a problem")
    return None


def is_team_name(name: str) -> bool:
    """Tell whether a name of anybody's has the form that teams' names have."""
    try:
        check_team_name(name)
    except UsageError:
        return False
    return True


def check_files(folder: str, files: Sequence[File], changed: Collection[str]) -> tuple[Fault, ...]:
    """Return what is wrong with the files of one folder, taken together.

    Args:
        folder: a team's, or that of its submission to one problem.
        files: all that lie in it at the head.
        changed: the paths that the pull request changes: of two names that collide, the new one is to blame.
    """
    faults = [fault for file in files for fault in _check_file(file)]
    faults += _check_collisions(sorted((file.path for file in files), key=lambda path: path in changed))
    if len(files) > MAX_FILES:
        faults.append(Fault("too_many_files", folder, f"{len(files)} files; {MAX_FILES} are allowed"))
    if (total := sum(file.size_bytes for file in files)) > MAX_FOLDER_BYTES:
        message = f"{total:,} bytes in all; {MAX_FOLDER_BYTES:,} are allowed"
        faults.append(Fault("too_large", folder, message))
    return tuple(faults)


def _check_file(file: File) -> Iterator[Fault]:
    if file.mode == LINK:
        yield Fault("link", file.path, "it is a symbolic link; a submission holds regular files only: copy the file")
    elif file.mode == SUBMODULE:
        yield Fault("submodule", file.path, "it is a submodule; a submission holds regular files only: copy its files")
    elif file.mode not in (REGULAR, EXECUTABLE):
        yield Fault("not_a_file", file.path, "it is not a regular file")
    elif fault := check_path(Change(file.path, removed=False)):
        yield fault
    limit = _limit_bytes(file.path)
    if file.size_bytes > limit:
        yield Fault("too_large", file.path, f"{file.size_bytes:,} bytes; {limit:,} are allowed")


def _limit_bytes(path: str) -> int:
    parts = path.split("/")
    if len(parts) == 3:
        return MAX_TEAM_FILE_BYTES if parts[2] == TEAM_FILE else MAX_FILE_BYTES
    return MAX_MAIN_BYTES if len(parts) == 4 and parts[3] == MAIN else MAX_FILE_BYTES


def _check_collisions(paths: Iterable[str]) -> Iterator[Fault]:
    """Names that are one and the same on a file system without case."""
    spelt: dict[str, str] = {}
    for path in paths:
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            name = "/".join(parts[:depth])
            other = spelt.setdefault(name.casefold(), name)
            if other != name:
                yield Fault("case_collision", path, f"it differs from {shown(other)} by case only: rename one of them")
                break


def is_readable(file: File) -> bool:
    """Tell whether a file has a content, and one that is small enough to be looked at."""
    return file.mode in (REGULAR, EXECUTABLE) and file.size_bytes <= MAX_FILE_BYTES


def check_text(file: File, content: bytes) -> Fault | None:
    """Return what is wrong with the content of a file: a submission is text, so that people can read it."""
    if b"\0" in content:
        return Fault("binary", file.path, "it is a binary file; a submission is text only: remove it")
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return Fault("not_utf8", file.path, f"it is not UTF-8 text (byte {error.start}): save it as UTF-8")
    return None
