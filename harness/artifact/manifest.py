"""The manifest: what an artifact is, of what, and which files belong to it. Hostile until parsed.

Every name in it is checked to be one that cannot lead out of the artifact's folder.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any

from harness.errors import ArtifactError

MAX_ENTRIES = 2048
MAX_TEXT_CHARACTERS = 4096

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_=.-]{0,199}")
_HEX = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class BuildCost:
    """What building one shape or kernel took when it was first built, in seconds."""

    cpu_s: float
    wall_s: float


@dataclass(frozen=True)
class Manifest:
    """What an artifact is, and of what.

    Attributes:
        key: the content address: a hash over everything that the build depended on.
        team, problem, problem_version, submission_sha256: whose and what.
        target, toolchain, fingerprint: for which GPU, built with which versions.
        division: under which rules the plans were accepted.
        portable: keys that the target lacks were dropped: unranked.
        shapes: shape ids, each with what its trace cost.
        kernels: kernel keys, each with what its assembly cost.
        sources: hashes of the Triton sources.
        import_cost: what importing the submission cost.
        warnings: what the trace had to say.
    """

    key: str
    team: str
    problem: str
    problem_version: str
    submission_sha256: str
    target: str
    toolchain: dict[str, str]
    fingerprint: str
    division: str
    portable: bool
    shapes: dict[str, BuildCost]
    kernels: dict[str, BuildCost]
    sources: tuple[str, ...]
    import_cost: BuildCost
    warnings: tuple[str, ...] = ()

    @property
    def cpu_s(self) -> float:
        """The compile budget that this build used, in CPU-seconds: cached parts at their original cost."""
        parts = [self.import_cost, *self.shapes.values(), *self.kernels.values()]
        return sum(part.cpu_s for part in parts)

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files that belong to the artifact, the manifest itself left out; sorted."""
        names = [f"plans/{shape}.json" for shape in self.shapes]
        names += [f"kernels/{key}.{kind}" for key in self.kernels for kind in ("ttir", "cubin", "json")]
        names += [f"sources/{digest}.py" for digest in self.sources]
        return tuple(sorted(names))


def parse_manifest(document: dict[str, Any]) -> Manifest:
    """Read a manifest's fields.

    Raises:
        ArtifactError: a field is missing, unknown or not of its form.
    """
    if set(document) != {f.name for f in fields(Manifest)}:
        raise ArtifactError("manifest: fields are missing or unknown")
    values = dict(document)
    for name in ("shapes", "kernels"):
        values[name] = _parse_costs(values[name], name, _HEX if name == "kernels" else _NAME)
    values["import_cost"] = _parse_cost(values["import_cost"], "import_cost")
    for name in ("sources", "warnings"):
        values[name] = _parse_texts(values[name], name)
    sources = values["sources"]
    if not all(_HEX.fullmatch(digest) for digest in sources) or len(set(sources)) < len(sources):
        raise ArtifactError("manifest: sources must be sha256 names, each once")
    if not isinstance(values["portable"], bool) or not _is_text_map(values["toolchain"]):
        raise ArtifactError("manifest: portable or toolchain is not of its form")
    texts = ("key", "team", "problem", "problem_version", "submission_sha256", "target", "fingerprint", "division")
    for name in texts:
        if not isinstance(values[name], str) or not _NAME.fullmatch(values[name]):
            raise ArtifactError(f"manifest: {name} is not a name")
    return Manifest(**values)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MAX_TEXT_CHARACTERS


def _is_text_map(value: Any) -> bool:
    pairs = value.items() if isinstance(value, dict) and len(value) <= MAX_ENTRIES else [(None, None)]
    return all(_is_text(k) and _is_text(v) for k, v in pairs)


def _parse_texts(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > MAX_ENTRIES or not all(_is_text(item) for item in value):
        raise ArtifactError(f"manifest: {where} must be a list of strings")
    return tuple(value)


def _parse_costs(value: Any, where: str, pattern: re.Pattern[str]) -> dict[str, BuildCost]:
    if not isinstance(value, dict) or len(value) > MAX_ENTRIES or not all(pattern.fullmatch(k) for k in value):
        raise ArtifactError(f"manifest: {where} must map names to costs")
    return {name: _parse_cost(cost, where) for name, cost in value.items()}


def _parse_cost(value: Any, where: str) -> BuildCost:
    if not isinstance(value, dict) or set(value) != {"cpu_s", "wall_s"}:
        raise ArtifactError(f"manifest: {where} has a cost that is not of the form {{cpu_s, wall_s}}")
    if not all(isinstance(v, (int, float)) and not isinstance(v, bool) and 0 <= v < 1e9 for v in value.values()):
        raise ArtifactError(f"manifest: {where} has a cost out of range")
    return BuildCost(float(value["cpu_s"]), float(value["wall_s"]))
