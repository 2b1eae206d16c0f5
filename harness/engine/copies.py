"""The same work under two names: submissions of a season that share a source, or machine code.

For organisers: no verdict comes from here. Sources are compared without comments, docstrings and layout, machine code
without the names of functions, so that neither reformatting nor renaming hides a copy. Where an artifact is here no
more, its record's program still tells (`artifact.program`). First is who was recorded first. What equals a starter is
told as that: it is everybody's.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harness.artifact import load_artifact
from harness.artifact.cubin import read_code
from harness.engine.workspace import Workspace
from harness.errors import ArtifactError, HarnessError
from harness.store import Record
from harness.submission import load_submission

STARTER = "starter"
SOURCE, CODE = "source", "machine code"


@dataclass(frozen=True)
class Entry:
    """A team's first record of what it shares with others."""

    team: str
    record: str
    created: str
    verdict: str


@dataclass(frozen=True)
class Copies:
    """Entries of several teams that are the same, the first one first.

    Attributes:
        problem, target: of the first entry.
        shared: what is the same: the source, the machine code, or both.
        of_starter: whether it is the starter that they share.
        entries: one for each team.
    """

    problem: str
    target: str
    shared: tuple[str, ...]
    of_starter: bool
    entries: tuple[Entry, ...]


def find_copies(
    records: Iterable[Record], code_of: Callable[[Record], str | None], starters: frozenset[str]
) -> tuple[Copies, ...]:
    """Return what several teams share, in the order of the first entries.

    Args:
        records: the season's, in any order.
        code_of: returns a name for a record's machine code, None where nothing was built.
        starters: hashes of the starters' sources, as records have them.
    """
    ordered = sorted(records, key=lambda record: (record.created, record.id))
    groups: dict[tuple[str, ...], list[Record]] = defaultdict(list)
    for record in ordered:
        if record.normalised_source_sha256:
            groups[SOURCE, record.normalised_source_sha256].append(record)
        for code in filter(None, (code_of(record), record.program_sha256)):
            groups[CODE, record.problem, record.target, code].append(record)
    found: dict[tuple[str, ...], Copies] = {}
    for key, members in groups.items():
        if len({record.team for record in members}) > 1:
            copies = _describe(key[0], members, starters)
            place = (copies.problem, copies.target, *sorted(entry.team for entry in copies.entries))
            found[place] = _merge(found[place], copies) if place in found else copies
    return tuple(sorted(found.values(), key=lambda copies: (copies.entries[0].created, copies.entries[0].record)))


def _describe(what: str, members: Sequence[Record], starters: frozenset[str]) -> Copies:
    firsts: dict[str, Record] = {}
    for record in members:
        firsts.setdefault(record.team, record)
    entries = tuple(Entry(r.team, r.id, r.created, r.kind) for r in firsts.values())
    of_starter = STARTER in firsts or any(record.normalised_source_sha256 in starters for record in members)
    return Copies(members[0].problem, members[0].target, (what,), of_starter, entries)


def _merge(one: Copies, other: Copies) -> Copies:
    shared = tuple(dict.fromkeys((*one.shared, *other.shared)))
    return Copies(one.problem, one.target, shared, one.of_starter or other.of_starter, one.entries)


def starter_hashes(workspace: Workspace) -> frozenset[str]:
    """Return the hashes of the starters' sources that lie in the workspace."""
    found = set()
    for path in sorted((workspace.root / "submissions" / STARTER).glob("*/submission.py")):
        try:
            found.add(load_submission(path, STARTER).normalised_sha256)
        except HarnessError:
            continue
    return frozenset(found)


class CodeNames:
    """Names for records' machine code; each artifact is read once."""

    def __init__(self, workspace: Workspace) -> None:
        self._artifacts = workspace.artifacts
        self._names: dict[str, str | None] = {}

    def __call__(self, record: Record) -> str | None:
        """Return the hash over a record's machine code, None where nothing was built or it is here no more."""
        key = record.artifact_key
        if key is not None and key not in self._names:
            self._names[key] = self._read(key)
        return self._names[key] if key is not None else None

    def _read(self, key: str) -> str | None:
        try:
            kernels = load_artifact(self._artifacts / key).kernels.values()
            codes = {code for kernel in kernels for code in read_code(kernel.cubin)}
        except ArtifactError:
            return None
        digest = hashlib.sha256()
        for code in sorted(codes):
            digest.update(hashlib.sha256(code).digest())
        return digest.hexdigest() if codes else None
