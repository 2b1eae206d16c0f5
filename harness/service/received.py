"""A submission as it arrives: a JSON document of names and base64, refused before anything of it is kept or run.

Everything here is hostile: names become files in a sandbox's folder later, so each is a short relative path of plain
characters; sizes and counts are those of folders on disk (`submission`), so that what a laptop takes the server takes.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.case import DEFAULT_SUITE
from harness.service.errors import RefusedError
from harness.strict_json import parse_strict
from harness.submission import MAIN, MAX_FILE_BYTES, MAX_FILES, MAX_FOLDER_BYTES, MAX_MAIN_BYTES, Submission
from harness.text import clean

FORMAT = 1
MAX_DEPTH, MAX_NAME = 4, 120

_PART = re.compile(r"(?!\.\.?$)[A-Za-z0-9_. +=@-]{1,64}")
_IGNORED = ("__pycache__", ".DS_Store")
_WORD = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_FIELDS = ("problem", "target", "division", "suite", "problem_version")


@dataclass(frozen=True)
class Received:
    """What a team asks to be evaluated.

    Attributes:
        problem_version: the one that the team has, empty if it did not say.
        target, division: empty for the season's first.
    """

    problem: str
    target: str
    division: str
    suite: str
    problem_version: str
    files: tuple[tuple[str, bytes], ...]

    @property
    def digest(self) -> str:
        """What a request with the same idempotency key must have in common with this one."""
        named = [self.problem, self.target, self.division, self.suite, self.problem_version]
        return hashlib.sha256(json.dumps([*named, self.submission("").sha256]).encode()).hexdigest()

    def submission(self, team: str) -> Submission:
        """Return it as a team's submission."""
        return Submission(team, Path(MAIN), self.files, ())


def parse_received(body: bytes) -> Received:
    """Return the submission of a request's body.

    Raises:
        RefusedError: 400 if it is not of the form, 413 if it is too large, 422 if it cannot be a submission.
    """
    document = parse_body(body)
    if document.get("format") != FORMAT:
        raise RefusedError(400, "malformed", f"`format` should be {FORMAT}: the client and this server differ, update")
    unknown = set(document) - {"format", "files", *_FIELDS}
    if unknown:
        raise RefusedError(400, "malformed", f"unknown member {clean(min(unknown))[:40]!r}")
    words = {name: _word(document, name) for name in _FIELDS}
    if not words["problem"]:
        raise RefusedError(400, "malformed", "`problem` is missing: say what is submitted for")
    files = document.get("files")
    if not isinstance(files, dict):
        raise RefusedError(400, "malformed", "`files` should be an object of names and contents in base64")
    return Received(**{**words, "suite": words["suite"] or DEFAULT_SUITE}, files=_read_files(files))


def parse_body(body: bytes) -> dict[str, Any]:
    """Return the JSON object of a body.

    Raises:
        RefusedError: 400: it is none, or gives a name twice.
    """
    try:
        document = parse_strict(body.decode("utf-8"), parse_int=_parse_whole, parse_float=_parse_finite)
    except (UnicodeDecodeError, ValueError) as error:
        told = clean(str(error))[:200]
        raise RefusedError(400, "malformed", f"the body is not a JSON document: {told}") from None
    if not isinstance(document, dict):
        raise RefusedError(400, "malformed", "the body should be a JSON object")
    return document


def _parse_whole(text: str) -> int:
    """Read an integer of at most 64 bits: what is larger is no number of ours, and some arithmetic fails on it."""
    if len(text) > 20 or abs(number := int(text)) >= 1 << 64:
        raise ValueError("an integer is too large")
    return number


def _parse_finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError("a number is too large")
    return number


def pack_files(files: tuple[tuple[str, bytes], ...]) -> bytes:
    """Return a submission's files as they are stored."""
    named = {name: base64.b64encode(content).decode() for name, content in files}
    return zlib.compress(json.dumps(named).encode(), 6)


def unpack_files(stored: bytes) -> tuple[tuple[str, bytes], ...]:
    """Return the files that `pack_files` packed."""
    named = json.loads(zlib.decompress(stored))
    return tuple((name, base64.b64decode(content)) for name, content in named.items())


def _word(document: dict[str, Any], name: str) -> str:
    value = document.get(name, "")
    if value is None or value == "":
        return ""
    if not isinstance(value, str) or not _WORD.fullmatch(value):
        raise RefusedError(400, "malformed", f"`{name}` should be a name of letters, digits, dots, dashes and _")
    return value


def _read_files(files: dict[str, Any]) -> tuple[tuple[str, bytes], ...]:
    kept = {name: content for name, content in files.items() if not set(_IGNORED) & set(name.split("/"))}
    if len(kept) > MAX_FILES:
        raise RefusedError(413, "too-large", f"{len(kept)} files; {MAX_FILES} are allowed")
    contents = {_check_name(name): _decode(name, content) for name, content in kept.items()}
    if sum(map(len, contents.values())) > MAX_FOLDER_BYTES:
        raise RefusedError(413, "too-large", f"the files have more than {MAX_FOLDER_BYTES >> 20} MiB together")
    if MAIN not in contents:
        raise RefusedError(422, "no-submission", f"there is no {MAIN} among the files: it defines custom_kernel(data)")
    if len(contents[MAIN]) > MAX_MAIN_BYTES:
        told = f"{MAIN} has {len(contents[MAIN]):,} bytes; {MAX_MAIN_BYTES:,} are allowed"
        raise RefusedError(413, "too-large", told)
    for name in contents:
        parents = Path(name).parents
        if any(parent.as_posix() in contents for parent in parents):
            raise RefusedError(422, "bad-name", f"{name}: a file lies below another file: rename one")
    return tuple(sorted(contents.items()))


def _check_name(name: str) -> str:
    parts = name.split("/")
    if len(name) > MAX_NAME or len(parts) > MAX_DEPTH or not all(_PART.fullmatch(part) for part in parts):
        told = f"file name {clean(name)[:80]!a}: a relative path of at most {MAX_NAME} plain characters"
        raise RefusedError(422, "bad-name", f"{told} and {MAX_DEPTH} levels is allowed; rename it")
    return name


def _decode(name: str, content: Any) -> bytes:
    try:
        decoded = base64.b64decode(content.encode("ascii"), validate=True)
    except (AttributeError, UnicodeEncodeError, binascii.Error):
        raise RefusedError(400, "malformed", f"the content of {clean(name)[:80]!a} is not base64") from None
    if len(decoded) > MAX_FILE_BYTES:
        told = f"{clean(name)[:80]!a} has {len(decoded):,} bytes; {MAX_FILE_BYTES:,} are allowed"
        raise RefusedError(413, "too-large", told)
    return decoded
