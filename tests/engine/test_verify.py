"""`harness verify`: machine code that is not what its IR gives is found, whatever hashes were made to fit."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness.artifact import load_artifact
from harness.engine.verifying import KernelComparison, Verification, run_verify
from harness.sandbox import best_level
from harness.spec import load_season
from harness.toolchain import installed_versions
from tests.engine.conftest import TEMPLATE
from tests.engine.forged import COPY, assembled, save, variant, with_source

OTHER = variant(1)
UNASSEMBLED = COPY.replace(
    "    tt.return", '    tt.print "x" {hex = false, isSigned = array<i32: 1>} : %n : i32\n    tt.return'
)


def quiet(event):
    pass


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Verification, dict[str, KernelComparison]]:
    """One artifact in which every kernel but the first is forged in its own way, verified once."""
    folder = tmp_path_factory.mktemp("forged")
    for name in ("good", "hopper"):
        (folder / name).mkdir()
    good = assembled(folder / "good", {"copy": COPY, "other": OTHER})
    hopper = assembled(folder / "hopper", {"copy": COPY}, architecture=90)["copy"]
    facts = replace(good["copy"].facts, registers=8, threads=64, stores=False)
    kernels = {
        "good": good["copy"],
        "another's code": with_source(good["copy"], OTHER),
        "another GPU's": with_source(hopper, COPY + "\n"),
        "facts": replace(with_source(good["copy"], COPY + "\n\n"), facts=facts),
        "option": with_source(good["copy"], COPY, ir_override="/tmp/evil.ttir"),
        "refused": with_source(good["copy"], UNASSEMBLED),
        "patched": replace(with_source(good["copy"], COPY + "\n\n\n"), cubin=patched(good["copy"].cubin)),
    }
    save(folder / "a", kernels, toolchain={**installed_versions(), "triton": "3.7.0"})
    result = run_verify(
        load_artifact(folder / "a"), load_season(TEMPLATE), best_level().level, installed_versions(), quiet
    )
    by_key = {kernel.key: kernel for kernel in result.kernels}
    return result, {name: by_key[kernel.source.key] for name, kernel in kernels.items()}


def patched(cubin: bytes) -> bytes:
    """Change one byte in the middle of the code."""
    from io import BytesIO

    from elftools.elf.elffile import ELFFile

    section = ELFFile(BytesIO(cubin)).get_section_by_name(".text.copy")
    place = section["sh_offset"] + section["sh_size"] // 2
    return cubin[:place] + bytes([cubin[place] ^ 1]) + cubin[place + 1 :]


def test_what_its_ir_gives_is_the_same(compared):
    assert compared[1]["good"].differences == ()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("another's code", "machine code differs in .text.copy"),
        ("another GPU's", "machine code for architecture 90; b200 has 100"),
        ("facts", "fact registers: 8 stated, "),
        ("option", "launch option ir_override is not allowed"),
        ("refused", "its IR does not assemble: "),
        ("patched", "machine code differs in .text.copy"),
    ],
)
def test_what_is_forged_is_found(compared, name, told):
    differences = compared[1][name].differences
    assert told in " | ".join(differences), differences
    if name == "facts":
        assert "fact threads: 64 stated, 128 found" in differences
        assert "fact stores: False stated, True found" in differences


def test_another_compiler_is_told(compared):
    assert compared[0].other_tools == {"triton": ("3.7.0", installed_versions()["triton"])}
    assert not compared[0].same


def test_the_command(workspace, tmp_path):
    folder = tmp_path / "made"
    folder.mkdir()
    good = assembled(folder, {"copy": COPY})["copy"]
    save(tmp_path / "good", {"copy": good})
    save(tmp_path / "bad", {"copy": with_source(good, OTHER)})

    result = workspace.run("verify", str(tmp_path / "good"))
    assert (result.returncode, result.stdout.splitlines()[0]) == (
        0,
        "SAME  scale · b200 · acme: 1 of 1 kernels are what their IR gives",
    ), result.stderr
    result = workspace.run("verify", str(tmp_path / "bad"))
    assert result.returncode == 1
    assert "DIFFERENT  scale · b200 · acme: 1 of 1 kernels" in result.stdout
    assert "machine code differs in .text.copy" in " ".join(result.stdout.split())
    result = workspace.run("verify", str(tmp_path / "bad"), "--json")
    document = json.loads(result.stdout)
    assert (result.returncode, document["same"], len(document["kernels"])) == (1, False, 1)

    (tmp_path / "bad" / "manifest.json").write_text("{")
    result = workspace.run("verify", str(tmp_path / "bad"))
    assert result.returncode == 2
    assert "cannot be read as an artifact: artifact: manifest.json is not JSON" in " ".join(result.stderr.split())
    result = workspace.run("verify", str(tmp_path / "none"))
    assert result.returncode == 2
