"""Saving an artifact whole or not at all, and loading one with everything in it checked.

What is loaded is hostile: the manifest's checked names say which files there are, every content is hashed and parsed,
what refers to something must find it, and a cubin must be one. Who made them is not known from that: `harness verify`
assembles a kernel's IR again and compares.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness.artifact.cubin import read_architecture
from harness.artifact.files import ArtifactFiles, decode, open_files
from harness.artifact.manifest import Manifest, parse_manifest
from harness.errors import ArtifactError
from harness.kernel import (
    MAX_CUBIN_BYTES,
    MAX_TTIR_BYTES,
    KernelFacts,
    KernelSource,
    encode_facts,
    parse_facts,
    parse_kernel_source,
)
from harness.plan import Plan, encode_plan, parse_plan

FORMAT = 1
MAX_MANIFEST_BYTES = 1 << 20
MAX_PLAN_BYTES = 2 << 20
MAX_FACTS_BYTES = 1 << 20
MAX_SOURCE_BYTES = 4 << 20
MANIFEST = "manifest.json"

_LIMITS = {"plans": MAX_PLAN_BYTES, "sources": MAX_SOURCE_BYTES}
_KERNEL_LIMITS = {"ttir": MAX_TTIR_BYTES, "cubin": MAX_CUBIN_BYTES, "json": MAX_FACTS_BYTES}


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

    @property
    def stored_in(self) -> Path:
        """The absolute path of the folder that it is kept in; only for one that was stored or loaded."""
        assert self.folder is not None, "this artifact was never stored"
        return self.folder.resolve()


def artifact_key(parts: Mapping[str, Any]) -> str:
    """Return the content address of a build with these inputs."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def save_artifact(artifact: Artifact, folder: Path) -> None:
    """Write an artifact to `folder`, whole or not at all; an existing one of that name is left as it is.

    Raises:
        ArtifactError: it is one that could not be loaded, because it is too large.
    """
    if folder.exists():
        return
    unfinished = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        _write_files(artifact, unfinished)
        load_artifact(unfinished)
        unfinished.rename(folder)
    except OSError:
        if not folder.exists():  # otherwise another process was faster
            raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _write_files(artifact: Artifact, folder: Path) -> None:
    for name in ("plans", "kernels", "sources"):
        (folder / name).mkdir(parents=True)
    for shape, plan in artifact.plans.items():
        _write(folder / "plans" / f"{shape}.json", _compact(encode_plan(plan)))
    for key, kernel in artifact.kernels.items():
        document = {"options": dict(kernel.source.options), "facts": encode_facts(kernel.facts)}
        _write(folder / "kernels" / f"{key}.ttir", kernel.source.ttir)
        _write(folder / "kernels" / f"{key}.json", _compact(document))
        (folder / "kernels" / f"{key}.cubin").write_bytes(kernel.cubin)
    for digest, text in artifact.sources.items():
        _write(folder / "sources" / f"{digest}.py", text)
    contents = {name: (folder / name).read_bytes() for name in artifact.manifest.files}
    manifest = asdict(artifact.manifest) | {"format": FORMAT, "digest": _digest(contents, artifact.manifest)}
    _write(folder / MANIFEST, json.dumps(manifest, indent=1))


def load_artifact(folder: Path) -> Artifact:
    """Read and validate an artifact.

    Raises:
        ArtifactError: anything is missing, malformed, too large, or does not hash to what the manifest says.
    """
    with open_files(folder) as files:
        document = files.parse_json(MANIFEST, files.read(MANIFEST, MAX_MANIFEST_BYTES))
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ArtifactError(f"{folder.name}: not an artifact of format {FORMAT}; build it again")
        manifest = parse_manifest({k: v for k, v in document.items() if k not in ("format", "digest")})
        contents = {name: files.read(name, _limit(name)) for name in manifest.files}
        if document.get("digest") != _digest(contents, manifest):
            raise ArtifactError(f"{folder.name}: its content differs from what the manifest states; build it again")
        plans = {shape: parse_plan(_take_json(files, contents, f"plans/{shape}.json")) for shape in manifest.shapes}
        kernels = {key: _parse_kernel(files, contents, key) for key in manifest.kernels}
    sources = {digest: _parse_source(contents, digest) for digest in manifest.sources}
    artifact = Artifact(manifest, plans, kernels, sources, folder)
    _check_references(artifact)
    return artifact


def _limit(name: str) -> int:
    folder, _, base = name.partition("/")
    return _LIMITS[folder] if folder in _LIMITS else _KERNEL_LIMITS[base.rpartition(".")[2]]


def _take_json(files: ArtifactFiles, contents: dict[str, bytes], name: str) -> Any:
    return files.parse_json(name, contents.pop(name))  # what was parsed need not be kept as bytes too


def _parse_kernel(files: ArtifactFiles, contents: dict[str, bytes], key: str) -> Kernel:
    name = f"kernels/{key}"
    document = _take_json(files, contents, f"{name}.json")
    if not isinstance(document, dict) or set(document) != {"options", "facts"}:
        raise ArtifactError(f"kernel {key[:12]}: its document is not of the form {{options, facts}}")
    ttir = decode(f"{name}.ttir", contents.pop(f"{name}.ttir"))
    source = parse_kernel_source(key, {"ttir": ttir, "options": document["options"]})
    cubin = contents.pop(f"{name}.cubin")
    try:
        read_architecture(cubin)
    except ArtifactError as error:
        raise ArtifactError(f"kernel {key[:12]}: its cubin is not usable: {error}") from None
    return Kernel(source, cubin, parse_facts(document["facts"]))


def _parse_source(contents: dict[str, bytes], digest: str) -> str:
    content = contents.pop(f"sources/{digest}.py")
    if hashlib.sha256(content).hexdigest() != digest:
        raise ArtifactError(f"source {digest[:12]}: its content does not hash to its name")
    return decode(f"sources/{digest}.py", content)


def _check_references(artifact: Artifact) -> None:
    for shape, plan in artifact.plans.items():
        if plan.shape_id != shape:
            raise ArtifactError(f"plan {shape}: says that it is of shape {plan.shape_id}")
        for launch in plan.launches:
            if launch.kernel not in artifact.kernels or launch.source not in artifact.sources:
                raise ArtifactError(f"plan {shape}: launches a kernel that the artifact lacks")


def _digest(contents: Mapping[str, bytes], manifest: Manifest) -> str:
    """Return the hash over the content of every file that the manifest names, and over the manifest itself."""
    digest = hashlib.sha256(json.dumps(asdict(manifest), sort_keys=True).encode())
    for name in sorted(contents):
        digest.update(f"{name} {hashlib.sha256(contents[name]).hexdigest()}\n".encode())
    return digest.hexdigest()


def _compact(document: Any) -> str:
    return json.dumps(document, separators=(",", ":"))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="")
