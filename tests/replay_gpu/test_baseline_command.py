"""`harness baseline` where a starter is unfit to be compared with, or a problem is at fault: it says so and goes on."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli.baseline import _measure_all
from harness.cli.request import Options, resolve
from harness.engine.baselines import measure_with_starter
from harness.engine.progress import ignore
from harness.errors import HarnessError

HERE = Path(__file__).parent
STARTER = HERE.parent / "workspace" / "submissions" / "starter" / "scale" / "submission.py"


@pytest.fixture
def measure(tmp_path, monkeypatch):
    """Measure with a node that repeats what one on an H200 said, in a checkout with a starter."""

    def run(said, starter):
        root = tmp_path / "checkout"
        shutil.copytree(HERE / "workspace", root)
        path = root / "submissions" / "starter" / "scale" / "submission.py"
        path.parent.mkdir(parents=True)
        path.write_text(starter)
        (tmp_path / "node.py").write_text(f"print({(HERE / 'recorded' / f'{said}.jsonl').read_text()!r})")
        monkeypatch.chdir(root)
        workspace, request = resolve(Options("scale", "starter", target="h200"))
        with pytest.raises(HarnessError) as caught:
            measure_with_starter([sys.executable, str(tmp_path / "node.py")], request, workspace, ignore)
        return str(caught.value)

    return run


def test_a_starter_that_does_not_pass(measure):
    assert measure("wrong", STARTER.read_text()).startswith("the starter of scale does not pass: y[row=5, column=")


def test_a_starter_that_does_not_build(measure):
    told = measure("honest", "def custom_kernel(data:\n")
    assert told == "the starter of scale does not build: '(' was never closed"


NODE = """
import json, sys
if "baseline" in sys.argv:
    for case in json.load(open(sys.argv[-1]))["cases"]:
        print(json.dumps({"event": "baseline", "id": case["id"], "eager": {"time_us": 4.0}, "compile": {"note": "no"}}))
    print('{"event": "done"}')
else:
    print(%r)
"""


@pytest.fixture
def root(tmp_path):
    """A season of three problems: a fault in the first one's task.yml, no starter of the second, the third is sound."""
    root = shutil.copytree(HERE / "workspace", tmp_path / "season")
    for name in ("faulty", "bare"):
        folder = shutil.copytree(root / "problems" / "scale", root / "problems" / name)
        task = folder / "task.yml"
        task.write_text(task.read_text().replace("name: scale", f"name: {name}"))
    task = root / "problems" / "faulty" / "task.yml"
    task.write_text(task.read_text().replace("title:", "titel:"))
    season = (root / "shapes.yaml").read_text()
    others = "    faulty: {points: 10}\n    bare: {points: 10}\n"
    (root / "shapes.yaml").write_text(season.replace("    scale:", f"{others}    scale:"))
    path = root / "submissions" / "starter" / "scale" / "submission.py"
    path.parent.mkdir(parents=True)
    path.write_text(STARTER.read_text())
    return root


def test_the_others_are_measured_where_one_cannot_be(root, tmp_path, monkeypatch):
    node = tmp_path / "node.py"
    node.write_text(NODE % (HERE / "recorded" / "honest.jsonl").read_text())
    monkeypatch.chdir(root)
    measured, failed = _measure_all(["bare", "scale"], "h200", [sys.executable, str(node)], root, quiet=True)
    assert {name: str(error).split(". ")[0] for name, error in failed.items()} == {
        "bare": "no submissions/starter/bare/submission.py"
    }
    assert [(found.problem, found.cases["benchmark/M16_N64/normal"]["eager"]) for found in measured] == [("scale", 4.0)]
    assert [path.name for path in (root / "baselines").iterdir()] == ["scale-h200.json"]


def run(root, tmp_path, *arguments):
    """Run the command where the driver's tool lists an H200."""
    tool = tmp_path / "bin" / "nvidia-smi"
    tool.parent.mkdir(exist_ok=True)
    tool.write_text("#!/bin/sh\necho '0, GPU-a, 9.0, NVIDIA H200'\n")
    tool.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tool.parent}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("CUDA_VISIBLE_DEVICES", None)
    command = [sys.executable, "-m", "harness", "baseline", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120, env=environment)


LEFT_OUT = {
    "faulty": "problems/faulty/task.yml: titel: there is no such field",
    "bare": "no submissions/starter/bare/submission.py",
}


@pytest.mark.parametrize(
    ("starter", "code", "told"),
    [
        (None, 2, "no submissions/starter/scale/submission.py"),
        ("def custom_kernel(data:\n", 3, "the starter of scale does not build"),
    ],
)
def test_every_problem_that_is_left_out_is_named_with_its_fault(root, tmp_path, starter, code, told):
    path = root / "submissions" / "starter" / "scale" / "submission.py"
    if starter is None:
        path.unlink()
    else:
        path.write_text(starter)
    result = run(root, tmp_path)
    for name, why in (LEFT_OUT | {"scale": told}).items():
        assert f"error: {name} is left out: " in result.stderr
        assert why in result.stderr
    assert (result.returncode, result.stdout) == (code, "")
    documents = json.loads(run(root, tmp_path, "--json").stdout)
    assert [document["problem"] for document in documents] == ["faulty", "bare", "scale"]
    assert all(text in documents[at]["error"] for at, text in enumerate([*LEFT_OUT.values(), told]))


@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_problem_at_fault_that_is_asked_for_fails(root, tmp_path, name):
    result = run(root, tmp_path, name)
    assert (result.returncode, result.stdout) == (2, "")
    assert LEFT_OUT[name] in result.stderr
    assert "left out" not in result.stderr
