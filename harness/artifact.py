"""The artifact: what a build leaves behind and a replay needs. Content-addressed, validated on load.

A folder: `manifest.json`, `plans/<shape>.json`, `kernels/<key>.{ttir,cubin,json}`, `sources/<sha256>.py`. It may come
from another machine, so every file in it is hostile: names come from the manifest's checked lists, never from the file
system; links are not followed; sizes are capped before reading; hashes are recomputed. Only the parent process writes
artifacts.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from harness.errors import ArtifactError
from harness.kernel import (
    MAX_CUBIN_BYTES,
    KernelFacts,
    KernelSource,
    encode_facts,
    parse_facts,
    parse_kernel_source,
)
from harness.plan import Plan, encode_plan, parse_plan

FORMAT = 1
MAX_MANIFEST_BYTES = 4 << 20
MAX_PLAN_BYTES = 16 << 20
MAX_SOURCE_BYTES = 4 << 20
MAX_ENTRIES = 2048

_NAME = re.compile(r"[A-Za-z0-9_=.-]{1,200}")
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


@dataclass(frozen=True)
class Kernel:
    """A compiled kernel."""

    source: KernelSource
    cubin: bytes
    facts: KernelFacts


@dataclass(frozen=True)
class Artifact:
    """A validated artifact, in memory."""

    manifest: Manifest
    plans: Mapping[str, Plan]
    kernels: Mapping[str, Kernel]
    sources: Mapping[str, str]
    folder: Path | None = field(default=None, compare=False)


def artifact_key(parts: Mapping[str, Any]) -> str:
    """Return the content address of a build with these inputs."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def save_artifact(artifact: Artifact, folder: Path) -> None:
    """Write an artifact to `folder`, whole or not at all; an existing one of that name is left as it is."""
    if folder.exists():
        return
    unfinished = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(unfinished, ignore_errors=True)
    for name in ("plans", "kernels", "sources"):
        (unfinished / name).mkdir(parents=True)
    for shape, plan in artifact.plans.items():
        _write(unfinished / "plans" / f"{shape}.json", json.dumps(encode_plan(plan)))
    for key, kernel in artifact.kernels.items():
        document = {"options": dict(kernel.source.options), "facts": encode_facts(kernel.facts)}
        _write(unfinished / "kernels" / f"{key}.ttir", kernel.source.ttir)
        _write(unfinished / "kernels" / f"{key}.json", json.dumps(document))
        (unfinished / "kernels" / f"{key}.cubin").write_bytes(kernel.cubin)
    for digest, text in artifact.sources.items():
        _write(unfinished / "sources" / f"{digest}.py", text)
    manifest = asdict(artifact.manifest) | {"format": FORMAT, "digest": _digest(unfinished, artifact.manifest)}
    _write(unfinished / "manifest.json", json.dumps(manifest, indent=1))
    try:
        unfinished.rename(folder)
    except OSError:  # another process was faster
        shutil.rmtree(unfinished, ignore_errors=True)
        if not folder.exists():
            raise


def load_artifact(folder: Path) -> Artifact:
    """Read and validate an artifact.

    Raises:
        ArtifactError: anything is missing, malformed, too large, or does not hash to what the manifest says.
    """
    document = _read_json(folder / "manifest.json", MAX_MANIFEST_BYTES)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ArtifactError(f"{folder.name}: not an artifact of format {FORMAT}; build it again")
    manifest = _parse_manifest({k: v for k, v in document.items() if k not in ("format", "digest")})
    if document.get("digest") != _digest(folder, manifest):
        raise ArtifactError(f"{folder.name}: its content differs from what the manifest states; build it again")
    plans = {s: parse_plan(_read_json(folder / "plans" / f"{s}.json", MAX_PLAN_BYTES)) for s in manifest.shapes}
    kernels = {key: _load_kernel(folder / "kernels", key) for key in manifest.kernels}
    sources = {digest: _load_source(folder / "sources" / f"{digest}.py", digest) for digest in manifest.sources}
    artifact = Artifact(manifest, plans, kernels, sources, folder)
    _check_references(artifact)
    return artifact


def _load_kernel(folder: Path, key: str) -> Kernel:
    document = _read_json(folder / f"{key}.json", MAX_PLAN_BYTES)
    if not isinstance(document, dict) or set(document) != {"options", "facts"}:
        raise ArtifactError(f"kernel {key[:12]}: its document is not of the form {{options, facts}}")
    ttir = _read_text(folder / f"{key}.ttir", MAX_PLAN_BYTES)
    source = parse_kernel_source(key, {"ttir": ttir, "options": document["options"]})
    cubin = _read(folder / f"{key}.cubin", MAX_CUBIN_BYTES)
    if not cubin.startswith(b"\x7fELF"):
        raise ArtifactError(f"kernel {key[:12]}: its cubin is not an ELF file")
    return Kernel(source, cubin, parse_facts(document["facts"]))


def _load_source(path: Path, digest: str) -> str:
    text = _read_text(path, MAX_SOURCE_BYTES)
    if hashlib.sha256(text.encode()).hexdigest() != digest:
        raise ArtifactError(f"source {digest[:12]}: its content does not hash to its name")
    return text


def _check_references(artifact: Artifact) -> None:
    for shape, plan in artifact.plans.items():
        if plan.shape_id != shape:
            raise ArtifactError(f"plan {shape}: says that it is of shape {plan.shape_id}")
        for launch in plan.launches:
            if launch.kernel not in artifact.kernels or launch.source not in artifact.sources:
                raise ArtifactError(f"plan {shape}: launches a kernel that the artifact lacks")


def _parse_manifest(values: dict[str, Any]) -> Manifest:
    if set(values) != {f.name for f in fields(Manifest)}:
        raise ArtifactError("manifest: fields are missing or unknown")
    for name in ("shapes", "kernels"):
        values[name] = _parse_costs(values[name], name, _HEX if name == "kernels" else _NAME)
    values["import_cost"] = _parse_cost(values["import_cost"], "import_cost")
    for name in ("sources", "warnings"):
        items = values[name]
        if not isinstance(items, list) or len(items) > MAX_ENTRIES or not all(isinstance(i, str) for i in items):
            raise ArtifactError(f"manifest: {name} must be a list of strings")
        values[name] = tuple(items)
    if not all(_HEX.fullmatch(digest) for digest in values["sources"]):
        raise ArtifactError("manifest: sources must be sha256 names")
    if not isinstance(values["portable"], bool) or not _is_text_map(values["toolchain"]):
        raise ArtifactError("manifest: portable or toolchain is not of its form")
    texts = ("key", "team", "problem", "problem_version", "submission_sha256", "target", "fingerprint", "division")
    for name in texts:
        if not isinstance(values[name], str) or not _NAME.fullmatch(values[name]):
            raise ArtifactError(f"manifest: {name} is not a name")
    return Manifest(**values)


def _is_text_map(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(k, str) and isinstance(v, str) for k, v in value.items())


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


def _digest(folder: Path, manifest: Manifest) -> str:
    """Return the hash over the content of every file that the manifest names, and over the manifest itself."""
    names = [f"plans/{shape}.json" for shape in manifest.shapes]
    names += [f"kernels/{key}.{kind}" for key in manifest.kernels for kind in ("ttir", "cubin", "json")]
    names += [f"sources/{digest}.py" for digest in manifest.sources]
    digest = hashlib.sha256(json.dumps(asdict(manifest), sort_keys=True).encode())
    for name in sorted(names):
        digest.update(f"{name} {hashlib.sha256(_read(folder / name, MAX_CUBIN_BYTES)).hexdigest()}\n".encode())
    return digest.hexdigest()


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="")


def _read(path: Path, most_bytes: int) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise ArtifactError(f"artifact: {path.name}: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > most_bytes:
            raise ArtifactError(f"artifact: {path.name} is not a regular file of at most {most_bytes} bytes")
        return file.read(most_bytes + 1)


def _read_text(path: Path, most_bytes: int) -> str:
    try:
        return _read(path, most_bytes).decode("utf-8")
    except UnicodeDecodeError:
        raise ArtifactError(f"artifact: {path.name} is not UTF-8 text") from None


def _read_json(path: Path, most_bytes: int) -> Any:
    try:
        return json.loads(_read_text(path, most_bytes))
    except (ValueError, RecursionError):
        raise ArtifactError(f"artifact: {path.name} is not JSON") from None
