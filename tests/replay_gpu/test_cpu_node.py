"""The judge's side of a check on a node's CPUs, against interpreters that are only scripts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.case import load_cases
from harness.replay.node.cpu_node import check
from harness.replay.node.node_report import CaseReport, CaseRequest, NodeRequest
from harness.replay.node.problem_document import load_problem_document, write_problem_document
from harness.spec import load_problem

SCALE = Path(__file__).parent / "workspace" / "problems" / "scale"
TELLS_ITS_LIMIT = """import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"id": asked["id"], "status": "unsupported", "reason": str(float(asked["time_limit_s"]))}
    print(json.dumps(answer), flush=True)
"""
DIES = "import sys\nsys.exit('no memory')\n"
LISTS = """import json, os, sys
for line in sys.stdin:
    files = sorted(name for name in os.listdir(sys.argv[2]) if name.endswith(".safetensors"))
    print(json.dumps({"id": json.loads(line)["id"], "status": "unsupported", "reason": " ".join(files)}), flush=True)
"""
ANSWERS = """import json, sys
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"], "status": "timeout"}), flush=True)
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    def check_with(interpreter: str, timeout_s: float = 3) -> list[CaseReport]:
        script = tmp_path / "interpreter.py"
        script.write_text(interpreter)
        monkeypatch.setattr(sys, "argv", [str(script)])
        problem = load_problem(SCALE)
        cases = [case for case in load_cases(problem) if case.role == "test"]
        write_problem_document(problem, [case.sizes for case in cases], tmp_path / "problem")
        asked = tuple(CaseRequest(c.id, c.shape_id, c.sizes, c.distribution, False, timeout_s) for c in cases)
        (tmp_path / "artifact").mkdir()
        reports, _ = check(
            NodeRequest(asked), tmp_path / "artifact", load_problem_document(tmp_path / "problem"), lambda _: None
        )
        return reports

    return check_with


def test_an_interpreter_that_died_leaves_every_case_a_report(run: Any) -> None:
    reports = run(DIES)
    assert len(reports) == 2
    for report in reports:
        assert (report.status, report.reason) == ("not_run", "not_interpretable")
        assert report.message.startswith("the interpreter's process ended early (exit code 1): no memory")


def test_the_files_of_a_case_are_gone_before_the_next(run: Any) -> None:
    assert [report.message for report in run(LISTS)] == ["in-0.safetensors", "in-1.safetensors"]


def test_a_case_has_the_time_that_the_season_gives_it(run: Any) -> None:
    assert [report.message for report in run(TELLS_ITS_LIMIT)] == ["3.0", "3.0"]


@pytest.mark.parametrize("arguments", [[], ["replay"], ["replay", "a", "b", "c", "d"], ["describe"]])
def test_other_arguments_are_answered_with_the_usage(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "harness.replay.node.cpu_node", *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert answer.returncode == 2
    assert json.loads(answer.stdout)["message"].startswith("usage: node.pyz replay ARTIFACT_DIR")


def test_an_interpreter_that_refuses_at_once_costs_nothing_so_that_every_case_is_tried(run: Any) -> None:
    assert [report.reason for report in run(ANSWERS)] == ["too_slow_on_cpu"] * 2


def test_what_is_no_smaller_than_an_unfinished_case_is_left_out(run: Any) -> None:
    slow = ANSWERS.replace("sys\n", "sys, time\n").replace("    print", "    time.sleep(0.6)\n    print")
    late, left_out = run(slow, timeout_s=0.5)
    assert (late.status, late.reason) == ("not_run", "too_slow_on_cpu")
    assert (left_out.status, left_out.reason) == ("not_run", "left_out_as_too_slow")
    assert left_out.message == "not tried: M16_N64, which is no larger, was not finished within 0.5 s"
