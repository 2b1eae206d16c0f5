"""`harness baseline` where the starter is not fit to be compared with: it says why, and measures nothing."""

import shutil
import sys
from pathlib import Path

import pytest

from harness.cli.baseline import _measure
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
        with pytest.raises(HarnessError) as caught:
            _measure("scale", "h200", [sys.executable, str(tmp_path / "node.py")], lambda _: None, as_json=True)
        return str(caught.value)

    return run


def test_a_starter_that_does_not_pass(measure):
    assert measure("wrong", STARTER.read_text()).startswith("the starter of scale does not pass: y[row=5, column=")


def test_a_starter_that_does_not_build(measure):
    told = measure("honest", "def custom_kernel(data:\n")
    assert told == "the starter of scale does not build: '(' was never closed"
