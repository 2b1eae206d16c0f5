"""From a node's words to a verdict. The node is a stand-in that repeats what one on an H200 said (`recorded/`)."""

import contextlib
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.artifact import Artifact, BuildCost, Manifest
from harness.case import load_cases
from harness.engine.gpu import judge_gpu_replay, run_gpu_replay
from harness.engine.gpu_node import run_node
from harness.engine.gpu_record import report_gpu_cases
from harness.engine.local_gpus import LocalGpu
from harness.engine.replaying import check_gpu, find_artifact
from harness.engine.workspace import Workspace
from harness.errors import UsageError, WorkerError
from harness.spec import load_problem
from harness.target import load_target
from harness.verdict import Kind, judge_gpu_fault

HERE = Path(__file__).parent
SCALE = HERE / "workspace" / "problems" / "scale"


def artifact():
    cost = BuildCost(1.0, 1.0)
    names = ("key", "team", "problem", "problem_version", "submission_sha256")
    manifest = Manifest(
        **dict.fromkeys(names, "x"),
        target="h200",
        toolchain={},
        fingerprint="x",
        division="open",
        portable=False,
        shapes={},
        kernels={},
        sources=(),
        import_cost=cost,
    )
    return Artifact(manifest, {}, {}, {})


def replay(tmp_path, lines, events=None, target="h200"):
    """Run a replay against a node that says `lines`."""
    (tmp_path / "node.py").write_text(f"import sys\nsys.stdout.write({lines!r})\n")
    problem = load_problem(SCALE)
    told = events if events is not None else []
    command = [sys.executable, str(tmp_path / "node.py")]
    return run_gpu_replay(command, tmp_path, problem, load_cases(problem), load_target(target), 3.0, told.append)


def recorded(name):
    return (HERE / "recorded" / f"{name}.jsonl").read_text()


def change(name, edit):
    lines = [json.loads(line) for line in recorded(name).splitlines()]
    edit(next(event["report"] for event in lines if event["event"] == "report"))
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_an_honest_kernel_passes_with_a_score(tmp_path):
    events = []
    result = replay(tmp_path, recorded("honest"), events)
    verdict = judge_gpu_replay(result, artifact())
    assert verdict.kind is Kind.PASSED
    assert verdict.message.startswith("all 4 cases pass on NVIDIA H200; score ")
    times_us = [timing.time_us for timing in result.timings.values()]
    assert result.score_us == pytest.approx((times_us[0] * times_us[1]) ** 0.5)
    assert result.why_unranked is None
    assert [e.state for e in events] == ["start", *["advance"] * 4, "end"]


def test_the_records_of_its_cases(tmp_path):
    cases = report_gpu_cases(replay(tmp_path, recorded("honest")))
    assert [case.status for case in cases] == ["passed"] * 4
    small, large = cases[2].timing, cases[3].timing
    assert (cases[0].timing, small.samples) == (None, 100)
    assert small.low_us < small.time_us < small.high_us
    assert large.floor_us == pytest.approx(2 * 4 * 2048 * 4096 / 4.8e6, rel=0.5)
    assert large.percent_of_floor == pytest.approx(100 * large.floor_us / large.time_us, rel=0.01)
    assert large.clocks["sm_mhz_median"] == 1980
    assert len(cases[2].seeds) > 100
    assert cases[0].errors[0].output == "y"


@pytest.mark.parametrize(
    ("name", "kind", "reason", "told"),
    [
        ("wrong", Kind.INCORRECT, "wrong_values", "all with row=5"),
        ("noisy", Kind.UNSTABLE, "mean_gap", "very different times"),
        ("two_kernels", Kind.RUNTIME_ERROR, "out_of_bounds", "scale_over wrote to memory that belongs to no tensor"),
        ("misaligned", Kind.RUNTIME_ERROR, "misaligned_address", "not aligned"),
        ("out_of_memory", Kind.RUNTIME_ERROR, "out_of_memory", "does not hold what the call allocates"),
    ],
)
def test_what_each_attack_gets(tmp_path, name, kind, reason, told):
    verdict = judge_gpu_replay(replay(tmp_path, recorded(name)), artifact())
    assert (verdict.kind, verdict.reason) == (kind, reason)
    assert told in verdict.message
    assert verdict.case


def test_faster_than_light_is_implausible(tmp_path):
    def hasten(report):
        samples = report["cases"][3]["samples"]
        samples["spans_us"] = [value / 10 for value in samples["spans_us"]]
        samples["witness_us"] = [value + 2.6 for value in samples["spans_us"]]

    verdict = judge_gpu_replay(replay(tmp_path, change("honest", hasten)), artifact())
    assert (verdict.kind, verdict.reason) == (Kind.IMPLAUSIBLE, "faster_than_floor")


def test_the_time_is_the_mean_without_the_slowest_in_the_record_too(tmp_path):
    def place(report):
        samples = report["cases"][3]["samples"]
        spans = [(20.0, 20.0, 20.0, 22.0)[number % 4] for number in range(len(samples["witness_us"]))]
        samples.update(spans_us=spans, witness_us=[span + 2.6 for span in spans])

    result = replay(tmp_path, change("honest", place))
    assert judge_gpu_replay(result, artifact()).kind is Kind.PASSED
    timing = report_gpu_cases(result)[3].timing
    assert (timing.time_us, timing.low_us, timing.high_us) == pytest.approx(
        (20.0, 20.0 * 0.995, 20.0 * 1.005), rel=2e-3
    )
    assert timing.mean_us == pytest.approx(20.5)


def test_clocks_that_disagree_are_unstable(tmp_path):
    def slow_down(report):
        samples = report["cases"][2]["samples"]
        samples["witness_us"] = [value + 100 for value in samples["witness_us"]]

    verdict = judge_gpu_replay(replay(tmp_path, change("honest", slow_down)), artifact())
    assert (verdict.kind, verdict.reason) == (Kind.UNSTABLE, "witness")


def test_without_a_score_clock_it_passes_unranked(tmp_path):
    def unclock(report):
        report["machine"].update(score_clock="none", why_no_clock="cupti-python is not installed")
        for case in report["cases"][2:]:
            case["samples"]["spans_us"] = []

    result = replay(tmp_path, change("honest", unclock))
    verdict = judge_gpu_replay(result, artifact())
    assert verdict.kind is Kind.PASSED
    assert result.score_us is None
    assert verdict.message.endswith("unranked: no score clock on the GPU machine: cupti-python is not installed")


def test_a_gpu_that_addresses_host_memory_is_not_ranked(tmp_path):
    lines = change("honest", lambda report: report["machine"].update(addresses_host_memory=1))
    assert "could forge its own result" in replay(tmp_path, lines).why_unranked


@pytest.mark.parametrize("reason", ["internal", "machine", "something_new"])
def test_what_is_not_the_submissions_counts_against_nobody(reason):
    verdict = judge_gpu_fault(reason, "lost", "benchmark/a", (3,))
    assert (verdict.kind, verdict.traceback) == (Kind.HARNESS_ERROR, ())
    assert "counts against nobody" in verdict.message


@pytest.mark.parametrize(
    ("xids", "kind", "told"),
    [
        ("31", Kind.RUNTIME_ERROR, "not aligned"),
        ("31,48", Kind.HARNESS_ERROR, "Xid 48, double-bit ECC error"),
        ("79", Kind.HARNESS_ERROR, "fallen off the bus"),
        ("13,95", Kind.HARNESS_ERROR, "uncontained ECC error"),
        ("", Kind.RUNTIME_ERROR, "not aligned"),
        ("x,999999999999,-1", Kind.RUNTIME_ERROR, "not aligned"),
    ],
)
def test_a_failing_gpu_is_not_the_submissions_fault(tmp_path, xids, kind, told):
    lines = change("misaligned", lambda report: report["clocks"].update(xids=xids))
    verdict = judge_gpu_replay(replay(tmp_path, lines), artifact())
    assert verdict.kind is kind
    assert told in verdict.message


def test_an_ecc_error_takes_no_pass_away(tmp_path):
    lines = change("honest", lambda report: report["clocks"].update(xids="94"))
    assert judge_gpu_replay(replay(tmp_path, lines), artifact()).kind is Kind.PASSED


def test_the_line_that_launches_the_kernel_at_fault():
    verdict = judge_gpu_fault("illegal_address", "scale accessed", "benchmark/a", (31,))
    assert [frame.line for frame in verdict.traceback] == [31]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("", "ended without a report: exit code 0"),
        ('{"event": "error", "message": "torch is not installed here"}\n', "torch is not installed here"),
        ("nonsense\n[1]\n", "ended without a report"),
        ('{"event": "report", "report": 5}\n', "not of its form"),
    ],
)
def test_a_node_that_does_not_report(tmp_path, lines, told):
    with pytest.raises(WorkerError, match="node") as caught:
        replay(tmp_path, lines)
    assert told in str(caught.value)


def test_a_node_that_takes_too_long():
    with pytest.raises(WorkerError, match="longer than the replay's time limit"):
        list(run_node([sys.executable, "-c", "import time; time.sleep(60)"], timeout_s=0.5))


def test_a_node_that_never_stops_talking_takes_too_long():
    started = time.monotonic()
    with pytest.raises(WorkerError, match="longer than the replay's time limit"):
        list(run_node(["yes", '{"event": "case"}'], timeout_s=0.5))
    assert time.monotonic() - started < 10


def test_a_node_that_has_very_much_to_say(monkeypatch):
    monkeypatch.setattr("harness.engine.gpu_node.WORDS_BYTES", 1 << 20)
    with pytest.raises(WorkerError, match="more than 1 MiB of words"):
        list(run_node(["yes", '{"event": "case"}'], timeout_s=60))


@pytest.mark.parametrize("report", ['echo \'{"event": "report"}\'', "true"])
def test_what_a_node_started_ends_with_it(tmp_path, report):
    """Also where the node itself has ended before; it has its own stdout, or reading would not end."""
    script = f"sleep 600 >/dev/null 2>&1 & echo $! > {tmp_path}/pid; {report}"
    with contextlib.suppress(WorkerError):
        list(run_node(["sh", "-c", script], timeout_s=20))
    pid = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 10
    while _is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _is_running(pid)


def _is_running(pid):
    with contextlib.suppress(FileNotFoundError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_a_node_may_wait_for_its_gpu_and_once_more_to_have_it_alone():
    told = ['{"event": "waiting"}', '{"event": "turn"}', '{"event": "waiting"}']
    script = "; ".join([*(f"echo '{line}'" for line in told), "sleep 2.5", 'echo \'{"event": "report"}\''])
    events = list(run_node(["sh", "-c", script], timeout_s=2))
    assert [event["event"] for event in events] == ["waiting", "turn", "waiting", "report"]


def test_a_node_that_says_too_much(monkeypatch):
    monkeypatch.setattr("harness.engine.gpu_node.LINE_BYTES", 1000)
    with pytest.raises(WorkerError, match="too long"):
        list(run_node([sys.executable, "-c", "print('x' * 100_000)"], timeout_s=20))


def test_which_gpu():
    check_gpu(LocalGpu("NVIDIA H200", (9, 0)), load_target("h200"))
    with pytest.raises(UsageError, match=r"no GPU here that the driver knows of .*`make submit` checks on the CPU"):
        check_gpu(None, load_target("h200"))
    with pytest.raises(UsageError, match="built for NVIDIA H200, this machine has NVIDIA H100 80GB HBM3"):
        check_gpu(LocalGpu("NVIDIA H100 80GB HBM3", (9, 0)), load_target("h200"))


def test_which_artifact(tmp_path):
    workspace = Workspace(tmp_path)
    for key in ("aaaaaa1", "aaaaaa2"):
        (workspace.artifacts / key).mkdir(parents=True)
        (workspace.artifacts / key / "manifest.json").write_text("{}")
    with pytest.raises(UsageError, match="the beginning of 2 artifacts"):
        find_artifact(workspace, "aaaaaa")
    for name in ("bbbbbb", "../..", "*"):
        with pytest.raises(UsageError, match="no artifact"):
            find_artifact(workspace, name)


def test_the_verb_says_what_is_missing(tmp_path):
    command = [sys.executable, "-m", "harness", "replay", "nothing"]
    root = shutil.copytree(HERE / "workspace", tmp_path / "w")
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60)
    assert result.returncode == 2
    assert "nothing" in result.stderr
