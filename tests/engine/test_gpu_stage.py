"""A submission on a machine with a GPU: the node repeats what one on an H200 said, the rest is real."""

import dataclasses
import json
import shutil
import sys
from functools import partial
from pathlib import Path

import pytest

from harness import toolchain
from harness.artifact import identify_program
from harness.board import rank
from harness.case import load_cases
from harness.engine import rescoring
from harness.engine.build import run_build
from harness.engine.gpu_node import NodeLacksError
from harness.engine.gpu_stage import replay_on_gpu
from harness.engine.progress import ignore
from harness.engine.recording import open_record
from harness.engine.replaying import check_rules, describe_artifact, run_replay
from harness.engine.request import BuildRequest
from harness.engine.rescoring import choose_records, rescore
from harness.engine.stages import evaluate_build, evaluate_replay
from harness.engine.submit import run_submit
from harness.engine.workspace import Workspace
from harness.errors import WorkerError
from harness.sandbox import best_level
from harness.spec import load_problem, load_season
from harness.store import VerdictRecord, new_record_id, open_store
from harness.submission import load_submission
from harness.target import load_target
from harness.toolchain import check_toolchain
from harness.verdict import Kind

GPU_TESTS = Path(__file__).parents[1] / "replay_gpu"
WORKSPACE = GPU_TESTS / "workspace"
RECORDED = GPU_TESTS / "recorded"


@pytest.fixture(scope="module")
def request_of_honest():
    problem, season = load_problem(WORKSPACE / "problems" / "scale"), load_season(WORKSPACE)
    return BuildRequest(
        submission=load_submission(GPU_TESTS / "attacks" / "honest.py", "acme"),
        problem=problem,
        season=season.model_copy(update={"sandbox": best_level().level.value}),
        target=load_target("h200"),
        division="open",
        cases=load_cases(problem),
        portable=False,
        level=best_level().level,
        toolchain=check_toolchain(),
    )


@pytest.fixture(scope="module")
def workspace_of_honest(tmp_path_factory):
    return Workspace(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="module")
def artifact(request_of_honest, workspace_of_honest):
    """Freshly built; what is submitted afterwards finds it built before."""
    built = run_build(request_of_honest, workspace_of_honest, ignore)
    assert not built.reused
    return built.artifact


@pytest.fixture
def node(tmp_path):
    """A node that gives one answer each time it is started, in order; none at the end."""

    def make(*answers):
        for number, lines in enumerate(answers):
            (tmp_path / f"answer-{number}").write_text(lines)
        (tmp_path / "node.py").write_text(
            "import pathlib, sys\nhere = pathlib.Path(__file__).parent\n"
            "mine = min(here.glob('answer-*'), default=None)\n"
            "mine and (sys.stdout.write(mine.read_text()), mine.unlink())\n"
        )
        return [sys.executable, str(tmp_path / "node.py")]

    return make


def said(name, *, xids="", **machine):
    """What an H200 said of an attack, with other facts."""
    lines = [json.loads(line) for line in (RECORDED / f"{name}.jsonl").read_text().splitlines()]
    report = next(event["report"] for event in lines if event["event"] == "report")
    report["machine"].update({"sandbox": best_level().level.value, **machine})
    report["clocks"]["xids"] = xids
    return "".join(json.dumps(line) + "\n" for line in lines)


BROKEN = (("submission.py", b"def custom_kernel(data:"),)
LACKS = json.dumps({"event": "error", "kind": "lacks", "message": "cuda-bindings is not installed here"}) + "\n"


@pytest.fixture
def submit(request_of_honest, workspace_of_honest, artifact, node, tmp_path):
    def run(*answers):
        with open_store(tmp_path / "records.sqlite") as store:
            asked, place = request_of_honest, workspace_of_honest
            record = run_submit(asked, place, store, ignore, full=False, node=node(*answers)).record
            return record, rank(store.board("scale", "h200", "open"), "scale", "h200", "open")

    return run


def test_an_honest_kernel_is_passed_recorded_and_ranked(submit):
    record, board = submit(said("honest"))
    assert (record.kind, record.ranked, record.unranked_reason) == ("PASSED", True, None), record.verdict
    assert record.score_us == pytest.approx(4.73, rel=0.1)
    assert [case.status for case in record.cases] == ["passed"] * 4
    assert record.machine["gpu"] == "NVIDIA H200"
    assert record.machine["runner_sandbox"] == record.sandbox_level == best_level().level.value
    assert [stage.name for stage in record.stages] == ["build", "check", "replay"]
    assert [(entry.place, entry.record.id) for entry in board.entries] == [(1, record.id)]


def test_what_was_built_under_other_rules_is_built_and_checked_anew(
    request_of_honest, workspace_of_honest, artifact, node
):
    """Times of today's rules are never ranked among those of the rules at the time of the build."""
    asked, place = request_of_honest, workspace_of_honest
    now = evaluate_build(asked, open_record(asked), place, ignore)
    then = dataclasses.replace(now, problem_version="0", evaluator_version="0", program_sha256="")
    same = evaluate_replay(asked, now, place, node(said("honest")), ignore)
    anew = evaluate_replay(asked, then, place, node(said("honest")), ignore)
    assert (same.kind, anew.kind, anew.ranked) == ("PASSED", "PASSED", True)
    assert anew.setting == same.setting == now.setting
    assert (anew.id, anew.created, anew.program_sha256) == (now.id, now.created, now.program_sha256)
    wrong = dataclasses.replace(asked, submission=dataclasses.replace(asked.submission, files=BROKEN))
    refused = evaluate_replay(wrong, then, place, node(), ignore)
    assert (refused.kind, refused.setting) == ("COMPILE_ERROR", now.setting)


@pytest.mark.slow
def test_a_gpu_that_cannot_be_used_leaves_the_check_on_the_cpu(submit):
    record, board = submit(LACKS)
    assert record.kind == "CHECKED"
    assert record.unranked_reason == "a GPU is here, and could not be used: cuda-bindings is not installed here"
    assert [apart.why for apart in board.unranked] == [record.unranked_reason]


@pytest.fixture
def judge(request_of_honest, artifact, node):
    def replay(*answers):
        asked = request_of_honest
        return replay_on_gpu(node(*answers), artifact, asked.problem, asked.cases, asked.target, 3.0, ignore)

    return replay


def test_what_fails_on_the_gpu_decides(judge):
    verdict = judge(said("wrong")).verdict
    assert (verdict.kind, verdict.reason) == (Kind.INCORRECT, "wrong_values")


def test_a_node_that_lacks_something_says_nothing_of_the_submission(judge):
    with pytest.raises(NodeLacksError, match="cuda-bindings is not installed here"):
        judge(LACKS)


@pytest.mark.parametrize("first", ["", said("misaligned", xids="79")], ids=["died", "lost the GPU"])
def test_our_own_fault_is_tried_once_more(judge, first):
    assert judge(first, said("honest")).verdict.kind is Kind.PASSED


def test_and_not_a_third_time(judge, tmp_path):
    with pytest.raises(WorkerError, match="ended without a report"):
        judge("", "", said("honest"))
    assert (tmp_path / "answer-2").exists()
    lost = said("misaligned", xids="79")
    verdict = judge(lost, lost, said("honest")).verdict
    assert (verdict.kind, verdict.reason) == (Kind.HARNESS_ERROR, "machine")
    assert "Xid 79" in verdict.message
    assert (tmp_path / "answer-2").exists()


def test_what_the_node_has_tried_twice_is_not_tried_again(judge, tmp_path):
    verdict = judge(said("misaligned", xids="95", runners=2), said("honest")).verdict
    assert verdict.kind is Kind.HARNESS_ERROR
    assert (tmp_path / "answer-1").exists()


@pytest.fixture
def replay_alone(request_of_honest, artifact, node, tmp_path):
    """`harness replay` and the gate's step on a GPU machine: no submission goes before."""
    root = shutil.copytree(WORKSPACE, tmp_path / "w")

    def run(*answers, cases=()):
        return run_replay(artifact, Workspace(root), request_of_honest.season, cases, ignore, node(*answers))

    return run


@pytest.mark.parametrize("first", ["", said("misaligned", xids="79")], ids=["died", "lost the GPU"])
def test_a_replay_by_itself_is_tried_once_more_too(replay_alone, first):
    record = replay_alone(first, said("honest"))
    assert (record.kind, record.unranked_reason) == ("PASSED", None)
    assert record.score_us == pytest.approx(4.73, rel=0.1)


def test_a_replay_of_chosen_cases_says_so(replay_alone):
    assert replay_alone(said("honest")).whole_suite
    end = json.loads(said("honest").splitlines()[-1])
    case = end["report"]["cases"][0]
    end["report"]["cases"] = [case]
    chosen = replay_alone(json.dumps(end) + "\n", cases=(case["id"],))
    assert (len(chosen.cases), chosen.whole_suite) == (1, False)


def test_a_replay_by_itself_says_what_a_node_lacks(replay_alone, tmp_path):
    with pytest.raises(NodeLacksError, match="cuda-bindings is not installed here"):
        replay_alone(LACKS, said("honest"))
    assert (tmp_path / "answer-1").exists()


# Artifacts from elsewhere


def test_an_artifact_of_anybodys_is_held_against_the_rules_before_it_runs(request_of_honest, artifact):
    asked = request_of_honest
    check = partial(check_rules, problem=asked.problem, season=asked.season, target=asked.target, cases=asked.cases)
    assert check(artifact) is None
    claims = dataclasses.replace(artifact, manifest=dataclasses.replace(artifact.manifest, division="closed"))
    verdict = check(claims)  # raw Triton
    assert (verdict.kind, verdict.reason) == (Kind.POLICY_VIOLATION, "raw_triton")
    key, kernel = next(iter(artifact.kernels.items()))
    lazy = dataclasses.replace(kernel, facts=dataclasses.replace(kernel.facts, stores=False))
    verdict = check(dataclasses.replace(artifact, kernels={**artifact.kernels, key: lazy}))
    assert (verdict.kind, verdict.reason) == (Kind.POLICY_VIOLATION, "stores_nothing")
    shared = {"assembly": ("mov.u32 $0, $1;",), "static_shared_bytes": asked.target.static_shared_bytes + 4}
    sharing = dataclasses.replace(kernel, facts=dataclasses.replace(kernel.facts, **shared))
    verdict = check(dataclasses.replace(artifact, kernels={**artifact.kernels, key: sharing}))
    assert (verdict.kind, verdict.reason) == (Kind.POLICY_VIOLATION, "inline_assembly")
    assert "has inline assembly that declares shared memory: use registers" in verdict.message


# Rescoring


def test_a_stored_artifact_is_replayed_by_todays_evaluator(
    request_of_honest, workspace_of_honest, artifact, node, tmp_path
):
    """The old record is of another evaluator; its artifact is real, and the node says what an H200 said."""
    asked = request_of_honest
    root = shutil.copytree(WORKSPACE, tmp_path / "w")
    shutil.copytree(workspace_of_honest.state, root / ".harness")
    with open_store(tmp_path / "records.sqlite") as store:
        old = dataclasses.replace(
            describe_artifact(artifact, asked.season, asked.target),
            evaluator_version="0",
            normalised_source_sha256="ab" * 32,
            program_sha256="",  # as records were then
            sandbox_level=best_level().level.value,
            verdict=VerdictRecord("CHECKED", "judge"),
        )
        gone = dataclasses.replace(old, id=new_record_id(), team="gone", artifact_key="ff" * 32)
        for record in (old, gone):
            store.submit(dataclasses.replace(record, state="submitted", verdict=None))
            store.finish(record)
        chosen = sorted(choose_records(store.records(), "h200", again=False), key=lambda record: record.team)
        assert [record.team for record in chosen] == ["acme", "gone"]
        assert choose_records(store.records(), "b200", again=False) == []
        command = node(said("honest"))
        one, two = [
            rescore(r, Workspace(root), store, asked.season, asked.target, command, ignore) for r in chosen
        ]  # fmt: skip
        board = rank(store.board("scale", "h200", "open"), "scale", "h200", "open")
        left = choose_records(store.records(), "h200", again=False)
        assert len(choose_records(store.records(), "h200", again=True)) == 2
    assert (one.new.kind, one.new.ranked, one.new.unranked_reason) == ("PASSED", True, None)
    assert one.new.normalised_source_sha256 == old.normalised_source_sha256
    assert one.new.program_sha256 == identify_program(artifact)
    assert [entry.record.id for entry in board.entries] == [one.new.id]
    assert two.new is None
    assert two.why_not.endswith("submit again")
    assert [record.team for record in left] == ["gone"]


@pytest.mark.parametrize(
    ("versions", "supported", "told"),
    [
        ({"triton": "3.6.0"}, {}, "it was built with triton {triton}, now 3.6.0: submit again"),
        ({"torch": "1.0"}, {}, "it was built with torch {torch}, now 1.0: submit again"),
        ({}, {"triton": "<3"}, "triton {triton} is outside the tested range <3"),
    ],
)
def test_an_artifact_of_other_tools_is_not_ranked(
    request_of_honest, workspace_of_honest, artifact, node, tmp_path, monkeypatch, versions, supported, told
):
    """Those of today are said to be others; an artifact's own belong to its key."""
    monkeypatch.setattr(rescoring, "installed_versions", lambda: {**artifact.manifest.toolchain, **versions})
    monkeypatch.setattr(toolchain, "SUPPORTED", {**toolchain.SUPPORTED, **supported})
    asked = request_of_honest
    root = shutil.copytree(WORKSPACE, tmp_path / "w")
    shutil.copytree(workspace_of_honest.state, root / ".harness")
    old = dataclasses.replace(
        describe_artifact(artifact, asked.season, asked.target), sandbox_level=best_level().level.value
    )
    with open_store(tmp_path / "records.sqlite") as store:
        made = rescore(old, Workspace(root), store, asked.season, asked.target, node(said("honest")), ignore)
    why = made.why_not if made.new is None else made.new.unranked_reason
    now = {name: version.partition("+")[0] for name, version in artifact.manifest.toolchain.items()}
    assert told.format(**now) in why
    assert made.new is None or (made.new.kind, made.new.ranked) == ("PASSED", False)
