"""What a node's report comes to beyond its words: bits that differ, cases that nobody ran, facts that are none.

The report is what one on an H200 said (`tests/replay_gpu/recorded`), changed in one place.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import replace as change_fields
from pathlib import Path
from typing import Any

import pytest

from harness.case import load_cases
from harness.engine.gpu import GpuReplay, judge_gpu_replay, run_gpu_replay
from harness.engine.gpu_record import report_gpu_cases
from harness.engine.gpu_stage import Judged, replay_on_gpu
from harness.engine.progress import ignore
from harness.errors import WorkerError
from harness.replay.gpu.faults import SUBMISSION_REASONS
from harness.spec import load_problem
from harness.target import load_target
from harness.verdict import Kind, judge_gpu_fault
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


def test_a_case_that_nobody_ran_is_no_pass_and_nobodys_fault(replay: Callable[..., GpuReplay]) -> None:
    result = replay("honest", lambda report: report["cases"][0].update(status="not_run"))
    verdict = judge_gpu_replay(result, artifact())
    assert (verdict.kind, verdict.case) == (Kind.HARNESS_ERROR, result.report.cases[0].id)
    assert verdict.message.startswith("the GPU node did not run this case, though none before it failed")


@pytest.mark.parametrize("reason", sorted(SUBMISSION_REASONS))
def test_what_a_runner_blames_on_the_submission_counts_against_it(reason: str) -> None:
    kind = judge_gpu_fault(reason, "what happened", "benchmark/a").kind
    assert kind is (Kind.TIMEOUT if reason == "timeout" else Kind.RUNTIME_ERROR)


def test_a_node_that_does_not_count_its_runners_is_not_asked_twice(tmp_path: Path) -> None:
    lines = change("misaligned", lambda report: (report["machine"].update(runners="many"), lose(report)))
    said = tmp_path / "said"
    (tmp_path / "node.py").write_text(
        f"import pathlib, sys\nsaid = pathlib.Path({str(said)!r})\nassert not said.exists()\nsaid.touch()\n"
        f"sys.stdout.write({lines!r})\n"
    )
    node, problem = [sys.executable, str(tmp_path / "node.py")], load_problem(SCALE)
    held = change_fields(artifact(), folder=tmp_path)
    judged = replay_on_gpu(node, held, problem, load_cases(problem), load_target("h200"), 3.0, ignore)
    assert isinstance(judged, Judged)
    assert judged.verdict.kind is Kind.HARNESS_ERROR


def lose(report: dict[str, Any]) -> None:
    report["clocks"]["xids"] = "79"


# What a node says of a judgement is taken for hostile, as all that it says


def first_output(report: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = report["cases"][0]["judgement"]["outputs"][0]
    return found


@pytest.mark.parametrize(
    "edit",
    [
        lambda report: report["cases"][0]["judgement"].update(status=["failed"]),
        lambda report: report["cases"][0]["judgement"].update(reason="because"),
        lambda report: report["cases"][0]["judgement"].update(message=["x"]),
        lambda report: report["cases"][0]["judgement"].update(likely_cause={"a": 1}),
        lambda report: report["cases"][0]["judgement"].update(outputs=[first_output(report)] * 100),
        lambda report: first_output(report).update(name=[1]),
        lambda report: first_output(report).update(wrong_elements=-1),
        lambda report: first_output(report).update(wrong_elements=True),
        lambda report: first_output(report).update(total_elements=10**30),
        lambda report: first_output(report).update(max_abs=None),
        lambda report: first_output(report).update(max_rel="1.5"),
        lambda report: first_output(report).update(relative_l2=10**400),
        lambda report: first_output(report).update(examples=first_output(report)["examples"][:1] * 1000),
        lambda report: first_output(report)["worst"].update(index=[{}]),
        lambda report: first_output(report)["worst"].update(index=list(range(100))),
        lambda report: first_output(report)["worst"].update(place=7),
        lambda report: first_output(report)["worst"].update(got=False),
    ],
)
def test_a_judgement_that_is_none_is_refused(replay: Callable[..., GpuReplay], edit: Edit) -> None:
    with pytest.raises(WorkerError, match="the node's report is not of its form"):
        replay("wrong", edit)


def test_what_a_judgement_says_at_length_is_cut(replay: Callable[..., GpuReplay]) -> None:
    def lengthen(report: dict[str, Any]) -> None:
        report["cases"][0]["judgement"].update(likely_cause="x" * 1_000_000)
        first_output(report).update(name="y" * 1_000_000, max_abs="inf")

    result = replay("wrong", lengthen)
    assert len(judge_gpu_replay(result, artifact()).message) < 10_000
    (error,) = report_gpu_cases(result)[0].errors
    assert len(error.output) == 4000
    assert math.isinf(error.max_abs)
