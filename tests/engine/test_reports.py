"""What a node's report comes to beyond its words: bits that differ, cases that nobody ran, facts that are none.

The report is what one on an H200 said (`tests/replay_gpu/recorded`), changed in one place.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.case import load_cases
from harness.engine.gpu import GpuReplay, judge_gpu_replay, report_gpu_cases, run_gpu_replay
from harness.engine.progress import ignore
from harness.spec import load_problem
from harness.target import load_target
from harness.verdict import Kind
from tests.replay_gpu.test_engine import artifact, change

SCALE = Path(__file__).parents[1] / "replay_gpu" / "workspace" / "problems" / "scale"

Edit = Callable[[dict[str, Any]], None]


@pytest.fixture
def replay(tmp_path: Path) -> Callable[..., GpuReplay]:
    def run(name: str, edit: Edit, *, deterministic: bool = False) -> GpuReplay:
        (tmp_path / "node.py").write_text(f"import sys\nsys.stdout.write({change(name, edit)!r})\n")
        problem = load_problem(SCALE)
        if deterministic:
            problem = problem.model_copy(update={"deterministic": True})
            problem._folder = SCALE
        command = [sys.executable, str(tmp_path / "node.py")]
        return run_gpu_replay(command, tmp_path, problem, load_cases(problem), load_target("h200"), 3.0, ignore)

    return run


def differ(report: dict[str, Any]) -> None:
    report["cases"][1]["differing_bits"] = 3


def test_bits_that_differ_are_told_and_the_tolerance_decides(replay: Callable[..., GpuReplay]) -> None:
    result = replay("honest", differ)
    assert judge_gpu_replay(result, artifact()).kind is Kind.PASSED
    told = [(case.status, case.message) for case in report_gpu_cases(result)]
    assert told[1] == ("passed", "3 elements differ between two calls on equal inputs")
    assert told[0] == ("passed", "")


def test_a_problem_may_ask_for_the_same_bits_each_time(replay: Callable[..., GpuReplay]) -> None:
    result = replay("honest", differ, deterministic=True)
    verdict = judge_gpu_replay(result, artifact())
    assert (verdict.kind, verdict.reason, verdict.case) == (
        Kind.INCORRECT,
        "not_deterministic",
        result.report.cases[1].id,
    )
    assert verdict.message.startswith(
        "3 elements differ between two calls on equal inputs, and this problem asks for the same bits each time"
    )
    assert [case.status for case in report_gpu_cases(result)] == ["passed", "failed", "passed", "passed"]
    assert judge_gpu_replay(replay("honest", lambda _: None, deterministic=True), artifact()).kind is Kind.PASSED


def test_what_is_wrong_besides_is_told_first(replay: Callable[..., GpuReplay]) -> None:
    """A problem that asks for the same bits has not less to say of wrong values."""
    result = replay("wrong", lambda _: None, deterministic=True)
    assert judge_gpu_replay(result, artifact()).reason == "wrong_values"
