"""The child as the engine starts it: `python -m harness.trace REQUEST OUT_DIR`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from harness.plan import parse_plan
from tests.trace.conftest import SUBMISSIONS, Trace, Traced, request_document

NOISY = """
import os, sys
print("hello from the import")
os.write(1, b'{"event": "traced"}\\n')
import sklearn
assert "scipy" in sys.modules and sklearn.__version__
"""


def run_command(tmp_path: Path, document: dict[str, object]) -> tuple[Traced, str]:
    request, out = tmp_path / "request.json", tmp_path / "command"
    request.write_text(json.dumps(document))
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-m", "harness.trace", str(request), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    order = [None, *(shape["id"] for shape in document["shapes"])]
    return Traced([json.loads(line) for line in done.stdout.splitlines()], out, order), done.stderr


def test_command(trace: Trace, tmp_path: Path) -> None:
    """Its files are those of any other process; its standard output holds events and nothing else."""
    path = tmp_path / "noisy.py"
    path.write_text((SUBMISSIONS / "vector_add.py").read_text().replace("import torch\n", f"{NOISY}import torch\n", 1))
    shapes = {"N256": ([256],), "N1000": ([1000],)}
    traced, stderr = run_command(tmp_path, request_document(path, shapes))
    assert [event["event"] for event in traced.events][:4] == ["begun", "imported", "start", "start"]
    assert {e["shape"] for e in traced.events if e["event"] == "traced"} == set(shapes)
    costly = [event for event in traced.events if event["event"] not in ("begun", "start")]
    assert all(event["cpu_s"] > 0 and event["wall_s"] > 0 for event in costly)
    assert "hello from the import" in stderr
    other = trace("vector_add", shapes=shapes)
    for shape in shapes:
        assert parse_plan(json.loads((traced.out / "plans" / f"{shape}.json").read_text())).launches[0].kernel == (
            other.plan(shape).launches[0].kernel
        )


def test_failed_import_ends_well(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("x = (\n")
    traced, _ = run_command(tmp_path, request_document(path, {"S": ([8],)}))
    (begun, event) = traced.events
    assert begun == {"event": "begun"}
    assert event["reason"] == "syntax_error"
    assert event["traceback"] == [{"line": 1, "function": "<module>", "text": "x = ("}]


def test_harness_error_before_the_submission(tmp_path: Path) -> None:
    traced, stderr = run_command(tmp_path, request_document(SUBMISSIONS / "vector_add.py", {"S": ([8],)}, target="b2"))
    assert [event["event"] for event in traced.events] == ["failed"]  # and so it is believed
    assert traced.failure(None)["reason"] == "harness_error"
    assert "unknown target 'b2'" in traced.failure(None)["message"]
    assert "Traceback" in stderr
