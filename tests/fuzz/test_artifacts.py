"""Whatever an artifact's folder holds, loading it gives a validated artifact or ArtifactError, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.artifact import Artifact
from harness.errors import ArtifactError
from tests.core.test_artifact import CUBIN, KEY, SOURCE
from tests.fuzz import artifacts, documents
from tests.fuzz.cases import TRIED, fuzzed
from tests.fuzz.watched import load


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all cases: each writes it afresh."""
    return tmp_path_factory.mktemp("fuzz") / "artifact"


def check(name: str, folder: Path, files: artifacts.Files, manifest: bytes) -> Artifact | ArtifactError:
    artifacts.write(folder, files, manifest)
    found = load(folder)
    TRIED[f"{name}: {'refused' if isinstance(found, ArtifactError) else 'loaded'}"] += 1
    return found


def test_the_good_artifact_is_good(folder: Path) -> None:
    files = artifacts.good_files()
    for plan in (files["plans/N4.json"], json.dumps(artifacts.plan_document()).encode()):
        files["plans/N4.json"] = plan
        found = check("good", folder, files, artifacts.forged_manifest(files, artifacts.manifest_document()))
        assert isinstance(found, Artifact), found


@fuzzed(0.22)
@given(st.data())
def test_manifests(folder: Path, data: st.DataObject) -> None:
    document = data.draw(documents.changed(artifacts.manifest_document()))
    files = artifacts.good_files()
    found = check("manifests", folder, files, artifacts.forged_manifest(files, document))
    if isinstance(found, Artifact):
        assert set(found.plans) == set(document["shapes"])


@fuzzed(0.30)
@given(st.data())
def test_plans(folder: Path, data: st.DataObject) -> None:
    document = data.draw(documents.changed(artifacts.plan_document()))
    files = artifacts.good_files() | {"plans/N4.json": documents.encode(document)}
    found = check("plans", folder, files, artifacts.forged_manifest(files, artifacts.manifest_document()))
    if isinstance(found, Artifact):
        plan = found.plans["N4"]
        assert all(0 <= number < len(plan.tensors) for number in (*plan.inputs, *plan.outputs))


@fuzzed(0.12)
@given(st.data())
def test_kernels(folder: Path, data: st.DataObject) -> None:
    """Options and facts; the key is made to fit the options where that can be done."""
    document = data.draw(documents.changed(artifacts.kernel_document()))
    files, manifest = artifacts.good_files(), artifacts.manifest_document()
    options = document.get("options") if isinstance(document, dict) else None
    if isinstance(options, dict):
        files, manifest = artifacts.with_ttir("module {}", options)
    name = next(name for name in files if name.startswith("kernels/") and name.endswith(".json"))
    files[name] = documents.encode(document)
    check("kernels", folder, files, artifacts.forged_manifest(files, manifest))


@fuzzed(0.08)
@given(st.data())
def test_ttir_and_sources(folder: Path, data: st.DataObject) -> None:
    text = data.draw(st.one_of(st.text(max_size=200), st.sampled_from(["\0", "é" * 9, "\ud800", "module {}\n" * 99])))
    options: dict[str, Any] = {"num_warps": 4}
    files, manifest = artifacts.with_ttir(text, options)
    if data.draw(st.booleans()):
        files, manifest = artifacts.with_source(data.draw(documents.spoilt(text.encode(errors="replace"))))
    check("ttir and sources", folder, files, artifacts.forged_manifest(files, manifest))


@fuzzed(0.12)
@given(st.data())
def test_files_that_are_spoilt(folder: Path, data: st.DataObject) -> None:
    """Bytes of any file changed, with a digest that fits."""
    files, manifest = artifacts.good_files(), artifacts.manifest_document()
    name = data.draw(st.sampled_from([*sorted(files), "manifest.json"]))
    if name != "manifest.json":
        files[name] = data.draw(documents.spoilt(files[name]))
    content = artifacts.forged_manifest(files, manifest)
    if name == "manifest.json":
        content = data.draw(documents.spoilt(content))
    check("spoilt files", folder, files, content)


@fuzzed(0.06)
@given(st.binary(max_size=200), st.integers(0, len(CUBIN)))
def test_cubins(folder: Path, tail: bytes, kept: int) -> None:
    files = artifacts.good_files() | {f"kernels/{KEY}.cubin": CUBIN[:kept] + tail}
    check("cubins", folder, files, artifacts.forged_manifest(files, artifacts.manifest_document()))


TREE = ["manifest.json", "plans", "kernels", "sources", "plans/N4.json", f"kernels/{KEY}.ttir", f"kernels/{KEY}.cubin",
        f"kernels/{KEY}.json", f"sources/{SOURCE}.py"]  # fmt: skip
DEEDS = ["link", "link", "absolute link", "loop", "missing", "folder", "pipe", "socket", "huge", "unreadable", "extra"]


@fuzzed(0.08)
@given(st.lists(st.tuples(st.sampled_from(TREE), st.sampled_from(DEEDS)), min_size=1, max_size=2))
def test_containers(folder: Path, deeds: list[tuple[str, str]]) -> None:
    """The folder itself: links to what would be good, other kinds of files, too large ones."""
    files = artifacts.good_files()
    artifacts.write(folder, files, artifacts.forged_manifest(files, artifacts.manifest_document()))
    outside = folder.with_name("outside")
    shutil.rmtree(outside, ignore_errors=True)
    shutil.copytree(folder, outside)
    refused = [_spoil(folder, outside, name, deed) for name, deed in deeds]
    found = load(folder)
    TRIED[f"containers: {'refused' if isinstance(found, ArtifactError) else 'loaded'}"] += 1
    assert isinstance(found, ArtifactError) or not any(refused), deeds


def _spoil(folder: Path, outside: Path, name: str, deed: str) -> bool:
    """Do something to one file or folder; return whether the artifact must be refused for it."""
    path = folder / name
    if path.parent.is_symlink() or not path.parent.is_dir() or deed == "extra":
        (folder / "extra").write_text("x")
        return False
    if deed == "huge" and path.is_file() and not path.is_symlink():
        os.truncate(path, 1 << 40)
        return True
    if deed == "unreadable" and path.exists() and not path.is_symlink():
        path.chmod(0)
        return False  # root reads it all the same
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    if deed in ("link", "absolute link"):
        path.symlink_to(
            outside / name if deed == "absolute link" else Path(os.path.relpath(outside / name, path.parent))
        )
    elif deed == "loop":
        path.symlink_to(path.name)
    elif deed == "folder":
        path.mkdir()
    elif deed in ("pipe", "socket"):
        os.mkfifo(path)
    return True
