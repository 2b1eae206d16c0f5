"""A submission: a folder or a file with `custom_kernel(data)`, read as text and never imported here.

Owns where submissions lie, what is refused before anything runs, and their identity: the hash of the folder, and
the hash of the program, which is the folder with its Python without comments and layout.
"""

from __future__ import annotations

import ast
import hashlib
import io
import re
import stat
import tokenize
import unicodedata
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from harness.errors import SubmissionError, UsageError
from harness.spec.team import describe_letters

MAIN = "submission.py"
MAX_FILE_BYTES = 1 << 20
MAX_MAIN_BYTES = 256 << 10  # it is parsed here, by a parser that can take a thousand times that
MAX_FOLDER_BYTES = 8 << 20
MAX_FILES = 64

_TEAM = re.compile(r"[a-z0-9][a-z0-9_-]{0,38}")
_HEADER = re.compile(r"^#!POPCORN[ \t]+(leaderboard|gpus?)[ \t]+(\S+)", re.MULTILINE)
_IGNORED = {"__pycache__", ".DS_Store"}


@dataclass(frozen=True)
class SourceFault:
    """Why the source cannot be a submission: a COMPILE_ERROR that needs no build.

    Attributes:
        reason: reason code of the verdict.
        message: what is wrong and what to do.
        line: line in submission.py, 0 if none.
        text: that line's text.
    """

    reason: str
    message: str
    line: int = 0
    text: str = ""


@dataclass(frozen=True)
class Submission:
    """A team's entry for one problem.

    Attributes:
        team: the team's name.
        path: submission.py.
        files: every file of the folder, by relative name, with its content.
        headers: what `#!POPCORN` lines say ("leaderboard", "gpu").
    """

    team: str
    path: Path
    files: tuple[tuple[str, bytes], ...]
    headers: tuple[tuple[str, str], ...]

    @property
    def source(self) -> str:
        """The text of submission.py."""
        return dict(self.files)[MAIN].decode("utf-8-sig", errors="replace")

    @property
    def sha256(self) -> str:
        """Identity: the hash over every file's name and content."""
        digest = hashlib.sha256()
        for name, content in self.files:
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
        return digest.hexdigest()

    @property
    def normalised_sha256(self) -> str:
        """The source's identity: the hash over every file, of Python without comments, docstrings and layout.

        Beyond MAX_MAIN_BYTES of Python in all, the modules beside submission.py count byte by byte.
        """
        try:
            text = _dump(self.source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            text = self.source
        digest = hashlib.sha256(text.encode("utf-8", errors="replace"))
        python_bytes = sum(len(content) for name, content in self.files if name.endswith(".py"))
        for name, content in self.files:
            if name != MAIN:
                is_parsed = name.endswith(".py") and python_bytes <= MAX_MAIN_BYTES
                kept = _normalise_module(content) if is_parsed else content
                digest.update(f"\0{name}\0{len(kept)}\0".encode() + kept)
        return digest.hexdigest()


def check_team_name(team: str) -> str:
    """Return `team` if it is a valid name.

    Raises:
        UsageError: it is not: names become folder names, and look-alikes would confuse a board.
    """
    if not _TEAM.fullmatch(team):
        shown = unicodedata.normalize("NFKC", team).encode("ascii", "backslashreplace").decode()
        odd = describe_letters(team)
        raise UsageError(
            f"team name {shown!r} is not valid: use 1 to 39 of a-z, 0-9, - and _, beginning with a letter or digit"
            + (f"; it has {odd}" if odd else "")
        )
    return team


def find_submission(root: Path, team: str, problem: str, aliases: tuple[str, ...] = ()) -> Submission:
    """Load `submissions/<team>/<problem>/submission.py`; a folder named by an alias of the problem will do.

    Raises:
        UsageError: no such team or folder; near names and what to do are in the message.
        SubmissionError: it cannot be read as a submission.
    """
    check_team_name(team)
    teams = root / "submissions"
    if not (teams / team).is_dir():
        names = sorted(p.name for p in teams.iterdir() if p.is_dir()) if teams.is_dir() else []
        near = get_close_matches(team, names, n=2)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise UsageError(f"no team {team!r} under submissions/.{hint} To begin: make new PROBLEM={problem} TEAM={team}")
    for name in (problem, *aliases):
        if (teams / team / name / MAIN).exists() or (teams / team / name / MAIN).is_symlink():
            return load_submission(teams / team / name / MAIN, team)
    raise UsageError(
        f"no submissions/{team}/{problem}/{MAIN}. To begin from the starter: make new PROBLEM={problem} TEAM={team}"
    )


def load_submission(path: Path, team: str) -> Submission:
    """Load a submission from its submission.py (with the files beside it), or from any other single file.

    Raises:
        SubmissionError: missing, a link, too large, or not a regular file.
    """
    if path.is_dir():
        path = path / MAIN
    content = _read_regular(path)
    if len(content) > MAX_MAIN_BYTES:
        raise SubmissionError(f"{path} has {len(content):,} bytes; {MAX_MAIN_BYTES:,} are allowed")
    files = {MAIN: content}
    if path.name == MAIN:
        files |= _read_folder(path.parent)
    text = content.decode("utf-8", errors="replace")
    headers = tuple((kind.rstrip("s"), value) for kind, value in _HEADER.findall(text))
    return Submission(check_team_name(team), path, tuple(sorted(files.items())), headers)


def _read_folder(folder: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        if _IGNORED & set(path.relative_to(folder).parts):
            continue
        if path.is_symlink():
            raise SubmissionError(f"{path} is a link; a submission holds regular files only: copy the file instead")
        if path.is_dir():
            continue
        name = path.relative_to(folder).as_posix()
        if not name.isascii() or not name.isprintable():
            raise SubmissionError(f"{folder}: the file name {name!r} must be printable ASCII; rename it")
        files[name] = _read_regular(path)
        if len(files) > MAX_FILES or sum(map(len, files.values())) > MAX_FOLDER_BYTES:
            raise SubmissionError(f"{folder} holds more than {MAX_FILES} files or {MAX_FOLDER_BYTES >> 20} MiB")
    return files


def _read_regular(path: Path) -> bytes:
    try:
        status = path.lstat()
    except FileNotFoundError:
        raise SubmissionError(f"{path}: no such file") from None
    except OSError as error:
        raise SubmissionError(f"{path}: {error.strerror}") from None
    if stat.S_ISLNK(status.st_mode):
        raise SubmissionError(f"{path} is a link; a submission holds regular files only: copy the file instead")
    if not stat.S_ISREG(status.st_mode):
        raise SubmissionError(f"{path} is not a regular file")
    if status.st_size > MAX_FILE_BYTES:
        raise SubmissionError(f"{path} has {status.st_size:,} bytes; {MAX_FILE_BYTES:,} are allowed")
    try:
        return path.read_bytes()
    except OSError as error:
        raise SubmissionError(f"{path}: {error.strerror}") from None


def find_source_fault(submission: Submission) -> SourceFault | None:
    """Return what makes submission.py unusable before it is run, None if nothing does.

    It must be UTF-8 and parse, and define `custom_kernel` taking one argument where that can be seen in the text; a
    name bound in another way (imported, assigned) is left to the trace.
    """
    content = dict(submission.files)[MAIN]
    try:
        text = content.decode("utf-8-sig")  # as Python: a byte order mark is no part of the program
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        return SourceFault("not_utf8", f"submission.py is not UTF-8 text (byte {error.start}): save it as UTF-8", line)
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        return SourceFault("not_text", "submission.py holds a NUL byte: save it as plain text", line)
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        return SourceFault("syntax_error", f"{error.msg}", error.lineno or 0, (error.text or "").strip()[:200])
    except (RecursionError, MemoryError, ValueError):
        return SourceFault("syntax_error", "submission.py is nested too deeply for Python's parser: simplify it")
    return _find_signature_fault(tree, text)


def _find_signature_fault(tree: ast.Module, text: str) -> SourceFault | None:
    if "custom_kernel" not in text:
        return SourceFault("missing_custom_kernel", "submission.py must define custom_kernel(data)")
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == "custom_kernel":
            arguments = node.args
            positional = [*arguments.posonlyargs, *arguments.args]
            needed = len(positional) - len(arguments.defaults)
            keyword_only = any(default is None for default in arguments.kw_defaults)
            takes_one = needed <= 1 and (positional or arguments.vararg) and not keyword_only
            if not takes_one or isinstance(node, ast.AsyncFunctionDef):
                message = "custom_kernel must be a plain function of one argument, data: a tuple of tensors"
                line = text.splitlines()[node.lineno - 1].strip()[:200]
                return SourceFault("wrong_signature", message, node.lineno, line)
    return None


def _normalise_module(content: bytes) -> bytes:
    """Return a module without comments, docstrings and layout; as it is where only its bytes say what Python reads."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        # An import obeys a declared encoding: in UTF-7, say, a comment can hold lines of code.
        return _dump(content.decode(encoding)).encode() if encoding in ("utf-8", "utf-8-sig") else content
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return content


def _dump(source: str) -> str:
    return ast.dump(_without_docstrings(ast.parse(source)))


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)):
            first = body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(body) > 1:
                node.body = body[1:]
    return tree
