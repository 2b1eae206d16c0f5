"""Baselines and rates: read as hostile, kept with their environment, used only while they hold."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.case import load_cases
from harness.engine.baselines import add_speedups, load_baselines, measure_baselines, save_baselines
from harness.engine.gpu_rates import Rates, measure_rates
from harness.engine.progress import ignore
from harness.errors import StoreError, WorkerError
from harness.spec import load_problem
from harness.target import load_target
from tests.store.samples import passed

WORKSPACE = Path(__file__).parents[1] / "replay_gpu" / "workspace"
SCALE = WORKSPACE / "problems" / "scale"
SMALL, LARGE = "benchmark/M16_N64/normal", "benchmark/M2048_N4096/normal"
NODE = {"event": "node", "machine": {"gpu": "NVIDIA H200", "driver": "580.159.04"}}
DONE = {"event": "done"}


def says(tmp_path, *events):
    """A node that says these events."""
    lines = "".join(json.dumps(event) + "\n" for event in events)
    (tmp_path / "node.py").write_text(f"print({lines!r}, end='')\n")
    return [sys.executable, str(tmp_path / "node.py")]


def baseline(case, eager, compiled, note=""):
    return {
        "event": "baseline",
        "id": case,
        "eager": {"time_us": eager, "note": ""},
        "compile": {"time_us": compiled, "note": note},
    }


def measure(node):
    problem = load_problem(SCALE)
    return measure_baselines(node, problem, load_cases(problem), load_target("h200"), None, ignore)


def test_baselines_are_measured_kept_and_used(tmp_path):
    failed = "RuntimeError: operation not permitted when stream is capturing"
    events = (NODE, baseline(SMALL, 4.5, 3.0), baseline(LARGE, 40.0, None, failed), DONE)
    measured = measure(says(tmp_path, *events))
    assert measured.cases == {SMALL: {"eager": 4.5, "compile": 3.0}, LARGE: {"eager": 40.0}}
    assert measured.notes == {f"{LARGE} compile": failed}
    assert measured.machine["driver"] == "580.159.04"
    save_baselines(measured, tmp_path)
    problem, target = load_problem(SCALE), load_target("h200")
    assert load_baselines(tmp_path, problem, target) == measured
    assert load_baselines(tmp_path, problem, load_target("b200")) is None
    assert measured.speedups(SMALL, 1.5) == {"eager": 3.0, "compile": 2.0}
    assert measured.speedups("benchmark/other", 1.5) == {}


def test_records_say_how_many_times_faster(tmp_path):
    record = passed("acme", 10.0)
    timed = next(case for case in record.cases if case.timing)
    assert add_speedups(record, None) is record
    measured = measure(says(tmp_path, NODE, baseline(SMALL, 4.5, 3.0), baseline(LARGE, 40.0, 20.0), DONE))
    measured.cases[timed.case_id] = {"starter": 4 * timed.timing.time_us}
    told = next(case for case in add_speedups(record, measured).cases if case.case_id == timed.case_id)
    assert told.timing.speedups == {"starter": 4.0}


@pytest.mark.parametrize("change", [{"problem_version": "other"}, {"evaluator_version": "0"}])
def test_baselines_of_another_version_are_not_used(tmp_path, change):
    path = save_baselines(measure(says(tmp_path, NODE, baseline(SMALL, 4.5, 3.0), DONE)), tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    assert load_baselines(tmp_path, load_problem(SCALE), load_target("h200")) is None


@pytest.mark.parametrize("content", ["{", "[]", '{"problem": 5}'])
def test_a_damaged_file_says_what_to_do(tmp_path, content):
    (tmp_path / "baselines").mkdir()
    (tmp_path / "baselines" / "scale-h200.json").write_text(content)
    with pytest.raises(StoreError, match="measure again with `harness baseline scale`"):
        load_baselines(tmp_path, load_problem(SCALE), load_target("h200"))


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ((NODE, {"event": "baseline", "id": SMALL, "eager": 5, "compile": {}}, DONE), "not of the form"),
        ((NODE, baseline(SMALL, 4.5, 3.0)), "ended without a done"),
        ((), "ended without a done"),
    ],
)
def test_a_node_that_does_not_measure(tmp_path, events, told):
    with pytest.raises(WorkerError, match=told):
        measure(says(tmp_path, *events))


def test_times_out_of_range_are_none(tmp_path):
    measured = measure(says(tmp_path, NODE, baseline(SMALL, -1, 1e12), baseline("benchmark/other", 1, 1), DONE))
    assert measured.cases[SMALL] == {}
    assert set(measured.cases) == {SMALL, LARGE}


def test_rates(tmp_path):
    rates = {"copy_tb_per_s": 4.26, "float32_tflops": 51.0}
    assert measure_rates(says(tmp_path, {"event": "rates", "rates": rates})) == Rates(rates, False)
    reaches = {"event": "node", "machine": {"addresses_host_memory": 1}}
    assert measure_rates(says(tmp_path, reaches, {"event": "rates", "rates": rates})) == Rates(rates, True)
    for wrong in ({}, [], {"copy_tb_per_s": "fast"}, {"copy_tb_per_s": -1}, {str(n): 1.0 for n in range(50)}):
        with pytest.raises(WorkerError, match="rates are not of the form"):
            measure_rates(says(tmp_path, {"event": "rates", "rates": wrong}))


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="there is a GPU here")
@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["baseline"], "baselines are measured on a GPU of the season (h200): no GPU here"),
        (["doctor", "--gpu"], "doctor --gpu measures a GPU: no GPU here"),
    ],
)
def test_without_a_gpu_they_say_so(command, told):
    result = subprocess.run(
        [sys.executable, "-m", "harness", *command], cwd=WORKSPACE, capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 2
    assert told in result.stderr
    assert result.stderr.rstrip().endswith("run this on a GPU machine; if this is one, install NVIDIA's driver")
