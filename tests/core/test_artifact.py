"""The artifact on disk: whole or not at all, and hostile until validated."""

import contextlib
import dataclasses
import hashlib
import json
import os
import struct

import pytest

from harness.artifact import Artifact, BuildCost, Kernel, Manifest, load_artifact, save_artifact
from harness.artifact.cubin import read_architecture
from harness.artifact.manifest import parse_manifest
from harness.artifact.storing import _digest
from harness.errors import ArtifactError
from harness.kernel import KernelFacts, KernelSource, kernel_key, parse_facts, parse_kernel_source
from harness.plan import Argument, LaunchStep, OpStep, Plan, Tensor, TensorMeta

TTIR = "module {}"
KEY = kernel_key(TTIR, {"num_warps": 4})
TEXT = "import triton\n"
SOURCE = hashlib.sha256(TEXT.encode()).hexdigest()
FACTS = KernelFacts(
    "k", ("*f32",), 128, 4, 3, 1, 0, 0, 0, 1, 0, 1, 0, 32, 0, False, False, ({"swizzle": 1},), ("mov",), True, 0.5
)  # fmt: skip
CUBIN = struct.pack(
    "<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1\x41\x08", 2, 190, 1, 0, 0, 64, 100 << 8, 64, 56, 0, 64, 1, 0
) + bytes(64)
META = TensorMeta((4,), (1,), "float32")
PLAN = Plan(
    "N4",
    (META, META),
    (0,),
    (1,),
    "tensor",
    (
        OpStep("aten.empty_like.default", (Tensor(0),), (), (Tensor(1),)),
        LaunchStep(KEY, SOURCE, "k", (1, 1, 1), (Argument("x", "*fp32", Tensor(1)),), "helion"),
    ),
)
MANIFEST = Manifest(
    key="f" * 64,
    team="acme",
    problem="scale",
    problem_version="abc",
    submission_sha256="e" * 64,
    target="b200",
    toolchain={"torch": "2.13.0"},
    fingerprint="0123",
    division="closed",
    portable=False,
    shapes={"N4": BuildCost(1.5, 2.0)},
    kernels={KEY: BuildCost(0.5, 0.6)},
    sources=(SOURCE,),
    import_cost=BuildCost(4.0, 4.0),
)


@pytest.fixture
def folder(tmp_path):
    source = KernelSource(KEY, TTIR, (("num_warps", 4),))
    artifact = Artifact(MANIFEST, {"N4": PLAN}, {KEY: Kernel(source, CUBIN, FACTS)}, {SOURCE: TEXT})
    save_artifact(artifact, tmp_path / "a")
    return tmp_path / "a"


def test_round_trip(folder):
    artifact = load_artifact(folder)
    assert artifact.manifest == MANIFEST
    assert artifact.plans == {"N4": PLAN}
    assert artifact.kernels[KEY].facts == FACTS
    assert artifact.sources == {SOURCE: TEXT}
    assert artifact.manifest.cpu_s == 6.0


def test_nothing_half_written_is_left(folder):
    save_artifact(load_artifact(folder), folder)
    assert [p.name for p in folder.parent.iterdir()] == ["a"]


def refused(folder):
    with pytest.raises(ArtifactError) as error:
        load_artifact(folder)
    return str(error.value)


@pytest.mark.parametrize(
    "name", ["manifest.json", "plans/N4.json", f"kernels/{KEY}.ttir", f"kernels/{KEY}.cubin", f"sources/{SOURCE}.py"]
)
def test_missing_truncated_or_linked(folder, name):
    path = folder / name
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    assert refused(folder)
    path.unlink()
    assert "No such file" in refused(folder)
    outside = folder.parent / "outside"
    outside.write_bytes(content)
    path.symlink_to(outside)
    assert refused(folder)
    path.unlink()
    os.mkfifo(path)
    assert "not a regular file" in refused(folder)


def rewrite(folder, change):
    """A forger who also makes the digest fit."""
    document = json.loads((folder / "manifest.json").read_text())
    change(document)
    values = {k: v for k, v in document.items() if k not in ("format", "digest")}
    with contextlib.suppress(ArtifactError, OSError):
        manifest = parse_manifest(values)
        document["digest"] = _digest({name: (folder / name).read_bytes() for name in manifest.files}, manifest)
    (folder / "manifest.json").write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda d: d.update(format=9), "format 1"),
        (lambda d: d.update(extra=1), "fields are missing or unknown"),
        (lambda d: d.pop("team"), "fields are missing or unknown"),
        (lambda d: d.update(team="../x"), "team is not a name"),
        (lambda d: d.update(portable=1), "portable"),
        (lambda d: d.update(toolchain={"a": 1}), "toolchain"),
        (lambda d: d.update(sources=["../../etc/passwd"]), "sources"),
        (lambda d: d.update(sources=[]), "launches a kernel that the artifact lacks"),
        (lambda d: d.update(kernels={"../x": {"cpu_s": 1, "wall_s": 1}}), "kernels"),
        (lambda d: d.update(shapes={"N4": {"cpu_s": -1, "wall_s": 0}}), "out of range"),
        (lambda d: d.update(shapes={"N4": {"cpu_s": True, "wall_s": 0}}), "out of range"),
        (lambda d: d.update(shapes={}, import_cost={}), "import_cost"),
        (lambda d: d.update(shapes={"N5": {"cpu_s": 1, "wall_s": 1}}), "N5.json"),
    ],
)
def test_a_forged_manifest(folder, change, told):
    rewrite(folder, change)
    assert told in refused(folder)


def test_content_and_manifest_belong_together(folder):
    path = folder / "plans" / "N4.json"
    path.write_text(path.read_text().replace('"line":0', '"line":1'))
    assert "differs from what the manifest states" in refused(folder)


def test_a_plan_under_another_shapes_name(folder):
    (folder / "plans" / "N5.json").write_bytes((folder / "plans" / "N4.json").read_bytes())
    rewrite(folder, lambda d: d["shapes"].update(N5={"cpu_s": 1, "wall_s": 1}))
    assert "says that it is of shape N4" in refused(folder)


def test_ttir_that_does_not_hash_to_its_key(folder):
    (folder / "kernels" / f"{KEY}.ttir").write_text("module { }")
    rewrite(folder, lambda d: None)
    assert "key is not the hash of its content" in refused(folder)


@pytest.mark.parametrize(
    "document",
    [None, {}, {"ttir": 3, "options": {}}, {"ttir": TTIR, "options": []}, {"ttir": TTIR, "options": {"a": [1]}},
     {"ttir": TTIR, "options": {"num_warps": 8}}, {"ttir": "x" * (5 << 20), "options": {}}],
)  # fmt: skip
def test_hostile_kernels(document):
    with pytest.raises(ArtifactError, match="kernel"):
        parse_kernel_source(KEY, document)


@pytest.mark.parametrize(
    "changes",
    [{"threads": 2048}, {"threads": True}, {"registers": 256}, {"shared_bytes": -1}, {"name": "a b"}, {"params": "x"},
     {"params": [1]}, {"global_scratch_bytes": 1 << 40}, {"more": 1}, {"assembly": [1]}, {"descriptors": ["x"]}],
)  # fmt: skip
def test_facts_out_of_range(changes):
    document = {**dataclasses.asdict(FACTS), "params": ["*f32"], "assembly": [], "descriptors": [], **changes}
    with pytest.raises(ArtifactError, match="kernel facts"):
        parse_facts(document)


def test_a_folder_in_the_place_of_a_file(folder):
    (folder / "manifest.json").unlink()
    (folder / "manifest.json").mkdir()
    assert "manifest.json is not a regular file" in refused(folder)


@pytest.mark.parametrize("name", ["plans", "kernels", "sources"])
def test_a_folder_that_is_a_link_leads_nowhere(folder, name):
    outside = folder.parent / "outside"
    (folder / name).rename(outside)
    (folder / name).symlink_to(outside)
    assert "Not a directory" in refused(folder)


def test_no_folder_at_all(tmp_path):
    assert "No such file" in refused(tmp_path / "none")
    (tmp_path / "file").write_text("x")
    assert "Not a directory" in refused(tmp_path / "file")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"cpu_s": 1.5', '"cpu_s": NaN'),
        ('"cpu_s": 1.5', '"cpu_s": Infinity'),
        ('"cpu_s": 1.5', '"cpu_s": 1e999'),
        ('"cpu_s": 1.5', '"cpu_s": ' + "9" * 4000),
        ('"team": "acme"', '"team": "acme", "team": "other"'),
        ('"team": "acme"', '"team": ' + "[" * 5000),
    ],
)
def test_json_as_others_would_read_it_otherwise(folder, old, new):
    path = folder / "manifest.json"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert "manifest.json is not JSON" in refused(folder)


def test_ttir_is_ascii(folder):
    with pytest.raises(ArtifactError, match="not ASCII"):
        parse_kernel_source(kernel_key("é", {}), {"ttir": "é", "options": {}})


@pytest.mark.parametrize(
    ("cubin", "told"),
    [
        (b"", "not an ELF file"),
        (b"\x7fELF" + bytes(200), "not an ELF file"),
        (CUBIN[:100], "cut off"),
        (CUBIN[:18] + b"\x3e" + CUBIN[19:], "not for a GPU"),
        (CUBIN[:8] + b"\x09" + CUBIN[9:], "form (9) is not known"),
        (CUBIN[:60] + b"\xff\xff" + CUBIN[62:], "cut off"),
    ],
)
def test_what_is_no_cubin(folder, cubin, told):
    (folder / "kernels" / f"{KEY}.cubin").write_bytes(cubin)
    rewrite(folder, lambda d: None)
    assert told in refused(folder)


def test_the_architecture_of_a_cubin():
    assert read_architecture(CUBIN) == 100
    old = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1\x33\x07", 2, 190, 1, 0, 0, 64, 0x5A0D5A, 64, 56, 0, 64, 1, 0)
    assert read_architecture(old + bytes(64)) == 90


def test_documents_have_a_budget_of_values(folder):
    (folder / "plans" / "N4.json").write_text("[" + "0," * (1 << 19) + "0]")
    rewrite(folder, lambda d: None)
    assert "more than 524,288 values" in refused(folder)


def test_what_cannot_be_loaded_is_not_kept(tmp_path):
    """A build that is larger than an artifact may be is told when it is saved, and nothing of it stays."""
    texts = ["#" * (3 << 20) + str(i) for i in range(3)]
    sources = {hashlib.sha256(text.encode()).hexdigest(): text for text in (TEXT, *texts)}
    manifest = dataclasses.replace(MANIFEST, sources=tuple(sources))
    kernel = Kernel(KernelSource(KEY, TTIR, (("num_warps", 4),)), CUBIN, FACTS)
    with pytest.raises(ArtifactError, match="bytes that it or its kind may have"):
        save_artifact(Artifact(manifest, {"N4": PLAN}, {KEY: kernel}, sources), tmp_path / "a")
    assert list(tmp_path.iterdir()) == []
