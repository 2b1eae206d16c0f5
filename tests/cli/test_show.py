"""`harness show --from` of records whose code is not here: what to do, in words."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.store import save_records
from tests.store.samples import checked, incorrect

TEMPLATE = Path(__file__).parents[1] / "workspace"


def show(root, *arguments):
    command = [sys.executable, "-m", "harness", "show", *arguments]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)
    return result.returncode, " ".join(result.stderr.split())


@pytest.mark.parametrize("part", ["triton", "ttir", "plan"])
def test_generated_code_that_is_not_here(tmp_path, part):
    root = shutil.copytree(TEMPLATE, tmp_path / "w")
    built, short = checked("acme", 0), incorrect("acme", 1, artifact_key=None)
    assert built.artifact_key
    assert short.artifact_key is None
    save_records([built, short], root / "kept")
    code, told = show(root, built.id, "--from", "kept", f"--{part}")
    assert code == 2
    assert f"what was built for {built.id} is not in {root}/.harness/artifacts" in told
    again = f"harness build {built.problem} --team acme --target {built.target} --division {built.division}"
    assert f"`{again}` builds it again" in told
    save_records([checked("x; rm -rf ~", 0, id="0")], root / "theirs")
    assert "--team 'x; rm -rf ~' --target" in show(root, "--from", "theirs", f"--{part}")[1]
    code, told = show(root, short.id, "--from", "kept", f"--{part}")
    assert code == 2
    assert f"nothing was built for record {short.id} ({short.kind.replace('_', ' ')})" in told
    assert f"leave --{part} out to see what came of it" in told
