"""Artifacts made by a forger: from a good one, with every hash made to fit what was changed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from harness.artifact.manifest import parse_manifest
from harness.artifact.storing import _digest
from harness.errors import ArtifactError
from harness.kernel import encode_facts, kernel_key
from harness.plan import encode_plan
from tests.core.test_artifact import CUBIN, FACTS, KEY, MANIFEST, PLAN, SOURCE, TEXT, TTIR
from tests.core.test_plan_format import PLAN as RICH_PLAN

Files = dict[str, bytes]


def plain(value: Any) -> Any:
    """Return a document as JSON would give it back."""
    return json.loads(json.dumps(value))


def manifest_document() -> dict[str, Any]:
    from dataclasses import asdict

    return plain(asdict(MANIFEST) | {"format": 1, "digest": ""})  # type: ignore[no-any-return]


def plan_document() -> dict[str, Any]:
    """The plan with every kind of step and value, made to fit the artifact."""
    text = json.dumps(encode_plan(RICH_PLAN)).replace("a" * 64, KEY).replace("b" * 64, SOURCE)
    return json.loads(text) | {"shape_id": "N4"}


def kernel_document() -> dict[str, Any]:
    return plain({"options": {"num_warps": 4}, "facts": encode_facts(FACTS)})  # type: ignore[no-any-return]


def good_files() -> Files:
    """The files of a good artifact, all but the manifest."""
    return {
        "plans/N4.json": json.dumps(encode_plan(PLAN)).encode(),
        f"kernels/{KEY}.ttir": TTIR.encode(),
        f"kernels/{KEY}.json": json.dumps(kernel_document()).encode(),
        f"kernels/{KEY}.cubin": CUBIN,
        f"sources/{SOURCE}.py": TEXT.encode(),
    }


def write(folder: Path, files: Files, manifest: bytes) -> None:
    """Write an artifact afresh."""
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("plans", "kernels", "sources"):
        (folder / part).mkdir(parents=True)
    for name, content in files.items():
        with contextlib.suppress(OSError, ValueError):  # a name that no file can have
            (folder / name).write_bytes(content)
    (folder / "manifest.json").write_bytes(manifest)


def forged_manifest(files: Files, document: Any) -> bytes:
    """Return a manifest whose digest fits, where it can."""
    with contextlib.suppress(ArtifactError, KeyError, TypeError, AttributeError, UnicodeEncodeError):
        manifest = parse_manifest({k: v for k, v in document.items() if k not in ("format", "digest")})
        document["digest"] = _digest({name: files[name] for name in manifest.files}, manifest)
    return json.dumps(document).encode()


def with_ttir(ttir: str, options: dict[str, Any]) -> tuple[Files, dict[str, Any]]:
    """Return an artifact around another IR: its key, and whatever refers to it, fits."""
    key = kernel_key(ttir, options)
    document = kernel_document() | {"options": options}
    files = {
        name.replace(KEY, key): content.replace(KEY.encode(), key.encode()) for name, content in good_files().items()
    }
    files[f"kernels/{key}.ttir"] = ttir.encode("utf-8", errors="surrogatepass")
    files[f"kernels/{key}.json"] = json.dumps(document).encode()
    return files, json.loads(json.dumps(manifest_document()).replace(KEY, key))


def with_source(content: bytes) -> tuple[Files, dict[str, Any]]:
    """Return an artifact around another source."""
    digest = hashlib.sha256(content).hexdigest()
    files = {
        name.replace(SOURCE, digest): found.replace(SOURCE.encode(), digest.encode())
        for name, found in good_files().items()
    }
    files[f"sources/{digest}.py"] = content
    return files, json.loads(json.dumps(manifest_document()).replace(SOURCE, digest))
