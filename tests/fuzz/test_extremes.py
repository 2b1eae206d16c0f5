"""The largest artifacts that are read at all, each kind of file at its limit: memory and time stay within bounds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.artifact import Artifact
from harness.artifact.files import MAX_BYTES, MAX_VALUES
from harness.artifact.storing import MAX_PLAN_BYTES
from harness.errors import ArtifactError
from tests.core.test_artifact import CUBIN, KEY, SOURCE
from tests.fuzz import artifacts
from tests.fuzz.watched import load


def full_plan(values: int) -> bytes:
    """Return a plan of about so many values, of the kind that takes most memory for its length."""
    document = artifacts.plan_document()
    operation = next(step for step in document["steps"] if "op" in step)
    document["steps"] += [
        operation | {"args": [[[{"dtype": "a"}] * 8] * 256], "outs": []} for _ in range(values // (8 * 256 * 2))
    ]
    content = json.dumps(document, separators=(",", ":")).encode()
    assert len(content) <= MAX_PLAN_BYTES
    return content


@pytest.mark.slow
def test_everything_at_its_limit(tmp_path: Path) -> None:
    text = "\U0001f600" * ((4 << 20) // 4 - 1)  # four bytes a character in memory, as in the file
    files, manifest = artifacts.with_source(text.encode())
    ttir_bytes, cubin_bytes = 4 << 20, 32 << 20
    more, manifest_2 = artifacts.with_ttir("/" * ttir_bytes, {})
    files |= {name: content for name, content in more.items() if name.startswith("kernels/")}
    manifest["kernels"] |= manifest_2["kernels"]
    files[f"kernels/{KEY}.cubin"] = CUBIN + bytes(cubin_bytes - len(CUBIN))
    for shape in ("N4", "N5", "N6"):
        plan = json.loads(full_plan(MAX_VALUES // 5)) | {"shape_id": shape}
        plan["steps"] = [step for step in plan["steps"] if "launch" not in step]
        files[f"plans/{shape}.json"] = json.dumps(plan, separators=(",", ":")).encode()
        manifest["shapes"][shape] = {"cpu_s": 1, "wall_s": 1}
    artifacts.write(tmp_path / "a", files, artifacts.forged_manifest(files, manifest))
    found = load(tmp_path / "a")
    assert isinstance(found, Artifact), found
    assert len(found.plans) == 3


def test_more_than_the_limit_of_a_kind(tmp_path: Path) -> None:
    files, manifest = artifacts.good_files(), artifacts.manifest_document()
    digests = []
    for number in range(MAX_BYTES["py"] // (4 << 20) + 1):
        more, _ = artifacts.with_source(b"#" * ((4 << 20) - 10) + str(number).encode())
        files |= more
        digests += [name.removeprefix("sources/").removesuffix(".py") for name in more if name.startswith("sources/")]
    manifest["sources"] = [SOURCE, *digests]
    artifacts.write(tmp_path / "a", files, artifacts.forged_manifest(files, manifest))
    assert isinstance(load(tmp_path / "a"), ArtifactError)
