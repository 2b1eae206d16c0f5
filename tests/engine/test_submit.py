"""The main job, whole: real traces, real compiles, real replays, through the command that people type."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest


def test_the_starter_is_checked_and_the_second_time_reuses_the_build(workspace):
    record = workspace.submit(code=0)
    assert record["verdict"]["kind"] == "CHECKED"
    assert [case["status"] for case in record["cases"]] == ["passed", "passed", "partial"]
    assert all(len(case["seeds"]) == 1 for case in record["cases"])
    assert record["ranked"] is False
    assert "GPU" in record["unranked_reason"]
    assert record["sandbox_level"] in ("strict", "restricted")
    assert {k["shape_id"] for k in record["kernels"]} == {"M4_N32", "M8_N64", "M64_N128"}
    assert all(k["registers"] > 0 and 0 < k["occupancy"] <= 1 for k in record["kernels"])
    assert 0 < record["build"]["cpu_s"] < 120
    assert set(record["build"]["shapes"]) == {"M4_N32", "M8_N64", "M64_N128"}

    again = workspace.submit(code=0)
    assert again["artifact_key"] == record["artifact_key"]
    assert again["build"] == record["build"]  # a cached build carries its original cost
    assert all(k["cached"] for k in again["kernels"])
    assert again["cases"][0]["seeds"] != record["cases"][0]["seeds"]

    other = workspace.submit(None, "--target", "h200", code=0)
    assert other["artifact_key"] != record["artifact_key"]
    assert other["verdict"]["kind"] == "CHECKED"
    programs = [
        json.loads(workspace.run("show", r["id"], "--json").stdout)["program_sha256"] for r in (record, again, other)
    ]
    assert programs[0] == programs[1] == record["program_sha256"] != programs[2]

    part = workspace.submit(None, "--case", "test/M4_N32/normal", code=0)
    assert (record["whole_suite"], part["whole_suite"]) == (True, False)
    board = json.loads(workspace.run("board", "scale", "--json").stdout)
    assert board["ranked"] == []
    assert [(entry["verdict"], entry["record"]) for entry in board["unranked"]] == [("CHECKED", again["id"])]
    shown = workspace.run("show", record["id"][:12])
    assert shown.returncode == 0
    assert "CHECKED" in shown.stdout
    for part, code in (("--ttir", "tt.store"), ("--triton", "@triton.jit")):
        shown = workspace.run("show", record["id"], part).stdout
        assert code in shown
        heads = [line.rpartition(" ")[0] for line in shown.splitlines() if line.startswith("# ")]
        assert heads == [f"# _helion_scale for {shape}" for shape in ("M4_N32", "M8_N64", "M64_N128")]
    site = workspace.run("board", "--export", "site")
    assert site.returncode == 0, site.stderr
    assert "Test season" in (workspace.root / "site" / "index.html").read_text()


def test_a_wrong_kernel_is_incorrect_with_the_place_and_the_numbers(workspace, starter):
    record = workspace.submit(starter.replace("* s[rows][:, None]", "* (s[rows][:, None] + 0.01)"), code=1)
    verdict = record["verdict"]
    assert (verdict["kind"], verdict["reason"]) == ("INCORRECT", "wrong_values")
    assert verdict["case"] == "test/M4_N32/normal"
    assert "y[" in verdict["message"]
    assert "expected" in verdict["message"]
    error = record["cases"][0]["errors"][0]
    assert error["wrong_elements"] > 0
    assert error["total_elements"] == 4 * 32
    assert [case["status"] for case in record["cases"][1:]] == ["not_run", "not_run"]


def test_out_of_bounds_names_index_and_source_line(workspace, starter):
    past = "hl.load(x, [rows.index[:, None] + 1, columns.index[None, :]])"
    source = starter.replace("x[rows, columns] *", f"{past} *")
    (number,) = (n for n, line in enumerate(source.splitlines(), 1) if past in line)
    verdict = workspace.submit(source, code=1)["verdict"]
    assert (verdict["kind"], verdict["reason"]) == ("RUNTIME_ERROR", "out_of_bounds")
    first, origin, second = verdict["message"].splitlines()
    assert origin.startswith(f"From line {number} of the submission: y[rows, columns] = hl.load(x, ")
    assert "which has 128 elements (4x32 float32)" in first
    line = verdict["details"]["where"]["source_line"]
    assert second.startswith(f"In _helion_scale, line {line} of the generated Triton: ")
    assert "tl.load(x + " in second


def test_an_unwritten_tail_is_named(workspace, starter):
    source = starter.replace("torch.empty_like(x)", "torch.empty_like(x)\n    n = x.size(0) - 1").replace(
        "hl.tile(x.shape)", "hl.tile([n, x.size(1)])"
    )
    record = workspace.submit(source, code=1)
    assert (record["verdict"]["kind"], record["verdict"]["reason"]) == ("INCORRECT", "unwritten")
    assert "all with row=3\nLikely cause: row=3 is never written" in record["verdict"]["message"]


def test_torch_instead_of_a_kernel_is_a_violation_with_its_line(workspace, starter):
    source = starter.replace("return scale(x, s)", "return scale(x, s) * 1.0")
    record = workspace.submit(source, code=1)
    verdict = record["verdict"]
    assert (verdict["kind"], verdict["reason"]) == ("POLICY_VIOLATION", "host_operation")
    assert "mul" in verdict["message"]
    assert verdict["traceback"][0]["text"] == "return scale(x, s) * 1.0"


@pytest.mark.parametrize(
    ("change", "kind", "reason", "told"),
    [
        ("return scale(x, s).double()", "INCORRECT", "wrong_dtype", "float64; float32 is expected"),
        ("return scale(x, s)[:2]", "INCORRECT", "wrong_shape", "(4, 32) is expected, that is [M, N]"),
        ("return scale(x, s), s", "INCORRECT", "wrong_arity", "returned 2 tensors; scale asks for one tensor, y"),
        ("return None", "INCORRECT", "wrong_output", "custom_kernel returned None, not a tensor"),
        ("return scale(x, s) if x.sum() > 0 else x", "UNTRACEABLE", "data_dependent", "needs the content of a tensor"),
        ("import nonexistent_package", "COMPILE_ERROR", "missing_package", "nonexistent_package"),
    ],
    ids="dtype shape arity none data_dependent package".split(),
)
def test_what_a_call_may_not_return_or_do(workspace, starter, change, kind, reason, told):
    record = workspace.submit(starter.replace("return scale(x, s)", change), code=1)
    verdict = record["verdict"]
    assert (verdict["kind"], verdict["reason"]) == (kind, reason), verdict
    assert told in verdict["message"], verdict
    if kind == "UNTRACEABLE":
        assert verdict["traceback"][-1]["text"] == change


@pytest.mark.parametrize(
    ("header", "kind", "reason"),
    [
        ("while True: pass", "COMPILE_BUDGET_EXCEEDED", "budget_spent"),
        ("x = bytearray(10 << 30)", "COMPILE_ERROR", "out_of_memory"),
        ("import os; os._exit(0)", "COMPILE_ERROR", "process_died"),
        ("import os; os.abort()", "COMPILE_ERROR", "process_died"),
        ("raise SystemExit(0)", "COMPILE_ERROR", "import_error"),
    ],
    ids="endless memory exit killed system_exit".split(),
)
def test_what_an_import_may_not_do(workspace, starter, header, kind, reason):
    shapes = workspace.root / "shapes.yaml"
    shapes.write_text(shapes.read_text().replace("compile_cpu_s: 120", "compile_cpu_s: 15"))
    record = workspace.submit(f"{header}\n{starter}", code=1)
    assert (record["verdict"]["kind"], record["verdict"]["reason"]) == (kind, reason), record["verdict"]
    if kind == "COMPILE_BUDGET_EXCEEDED":
        # Which of the two runs out first depends on how busy the machine is.
        told = ("the compile budget of 15 CPU-seconds is spent", "the backstop of 30 s wall time is spent")
        assert record["verdict"]["message"].startswith(told)
        first, *rest = record["verdict"]["message"].splitlines()
        assert first.endswith(" 0 of 3 shapes done. Is there an endless loop?")
        assert rest == ["done: none", "running: the import of submission.py", "left: M4_N32, M8_N64, M64_N128"]
        assert record["verdict"]["details"]["left"] == ["M4_N32", "M8_N64", "M64_N128"]


@pytest.mark.parametrize(
    ("source", "reason", "told"),
    [
        (b"def custom_kernel(data):\n    x = '\xff'\n", "not_utf8", "save it as UTF-8"),
        (b"def custom_kernel(data)\n    pass\n", "syntax_error", "expected ':'"),
        (b"def kernel(data):\n    pass\n", "missing_custom_kernel", "must define custom_kernel(data)"),
    ],
    ids="utf8 syntax missing".split(),
)
def test_source_faults_need_no_build(workspace, source, reason, told):
    started = time.monotonic()
    record = workspace.submit(source, code=1)
    assert time.monotonic() - started < 15
    assert (record["verdict"]["kind"], record["verdict"]["reason"]) == ("COMPILE_ERROR", reason)
    assert told in record["verdict"]["message"]
    assert record["state"] == "finished"


def test_what_becomes_of_a_build_that_is_kept(workspace):
    part = ("--case", "M4_N32")
    record = workspace.submit(None, *part, code=0)
    manifest = workspace.root / ".harness" / "artifacts" / record["artifact_key"] / "manifest.json"
    manifest.write_text(manifest.read_text()[:100])
    again = workspace.submit(None, *part, code=0)
    assert again["artifact_key"] == record["artifact_key"]
    assert json.loads(manifest.read_text())["key"] == record["artifact_key"]  # made anew, not left as it was

    shapes = workspace.root / "shapes.yaml"
    shapes.write_text(shapes.read_text().replace("compile_cpu_s: 120", "compile_cpu_s: 0.5"))
    verdict = workspace.submit(None, *part, code=1)["verdict"]
    assert verdict["kind"] == "COMPILE_BUDGET_EXCEEDED"  # what it cost when it was built still counts
    assert verdict["details"]["spent_s"] == pytest.approx(again["build"]["cpu_s"], abs=0.01)

    assert record["verdict"]["kind"] == "BUILT"  # a part of the tests is no check of all
    assert "1 of 2 test cases checked on the CPU: the others were not chosen" in record["verdict"]["message"]


def test_inline_assembly_is_a_violation_with_its_line(workspace, starter):
    assembly = '"mov.b32 $0, $1;", "=r,r", [x[rows, columns]], torch.float32, True, 1'
    source = starter.replace("x[rows, columns] *", f"hl.inline_asm_elementwise({assembly}) *")
    verdict = workspace.submit(source, "--case", "M4_N32", code=1)["verdict"]
    assert (verdict["kind"], verdict["reason"]) == ("POLICY_VIOLATION", "inline_assembly")
    assert "'mov.b32 $0, $1;'" in verdict["message"]
    assert verdict["traceback"][0]["text"] == "return scale(x, s)"


def test_what_is_never_ranked_says_why(workspace):
    record = workspace.submit(None, "--case", "benchmark", "--portable", code=0)
    assert record["verdict"]["kind"] == "BUILT"
    assert "0 of 2 test cases" in record["verdict"]["message"]
    assert record["unranked_reason"].split("; ") == [
        "built with --portable: keys that the target lacks were dropped",
        "built, not checked in full: ranking needs a replay on a GPU of the season",
        "1 of the suite's 3 cases was chosen: all of them count",
    ]


def test_a_trace_that_leaves_nothing_is_the_submissions_fault(workspace, starter):
    """Submitted code can find the events' stream and claim that all is traced."""
    shapes = ("M4_N32", "M8_N64", "M64_N128")
    events = [{"event": "imported", "cpu_s": 1, "wall_s": 1}, *({"event": "traced", "shape": s} for s in shapes)]
    lines = "".join(json.dumps(event) + "\n" for event in events)
    header = f"""
import os
for number in range(3, 64):
    try:
        os.write(number, {lines!r}.encode())
    except OSError:
        pass
os._exit(0)
"""
    verdict = workspace.submit(header + starter, code=1)["verdict"]
    assert (verdict["kind"], verdict["reason"]) == ("COMPILE_ERROR", "process_died")
    assert "the trace left no valid result" in verdict["message"]


def test_a_kill_at_any_moment_loses_nothing(workspace):
    command = [sys.executable, "-m", "harness", "submit", "scale"]
    process = subprocess.Popen(command, cwd=workspace.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    database = workspace.root / ".harness" / "records.sqlite"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not _rows(database):
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert _rows(database) == [("submitted",)]
    result = workspace.run("submit", "scale", "--json")
    assert result.returncode == 0
    assert "was interrupted: submit again" in result.stderr
    assert sorted(_rows(database)) == [("finished",), ("interrupted",)]


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_ctrl_c_leaves_a_record_that_says_so_and_no_verdict(workspace, options):
    command = [sys.executable, "-m", "harness", "submit", "scale", *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, cwd=workspace.root, start_new_session=True, preexec_fn=_hear_ctrl_c, **pipes)
    database = workspace.root / ".harness" / "records.sqlite"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not _rows(database):
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)  # a terminal interrupts all that it has started
    stdout, stderr = process.communicate(timeout=60)
    told = "stopped; nothing counts, submit again when you like"
    assert process.returncode == 130
    assert stderr.split("\n")[-3:] == ["", told, ""]  # begins on a line of its own, behind the terminal's ^C
    assert (json.loads(stdout) if options else stdout) == ({"error": told, "exit_code": 130} if options else "")
    record = json.loads(workspace.run("show", "--json").stdout)
    assert (record["state"], record["verdict"], record["ranked"]) == ("interrupted", None, False)
    shown = " ".join(workspace.run("show").stdout.split())
    assert shown.startswith(f"INTERRUPTED scale · b200 · closed · starter · {record['id']} Its process was stopped or ")
    assert "died before there was a verdict. Nothing counts; submit again." in shown
    assert "HARNESS" not in shown
    assert workspace.run("submit", "scale", "--case", "M4_N32").stderr.count("interrupted") == 0


def _hear_ctrl_c():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell has what it runs in the background ignore it


def test_two_at_once(workspace):
    command = [sys.executable, "-m", "harness", "submit", "scale", "--json"]
    both = [
        subprocess.Popen(command, cwd=workspace.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)
    ]
    records = [json.loads(process.communicate(timeout=240)[0]) for process in both]
    assert [record["verdict"]["kind"] for record in records] == ["CHECKED", "CHECKED"]
    assert records[0]["id"] != records[1]["id"]
    assert len(list((workspace.root / ".harness" / "artifacts").iterdir())) == 1


def _rows(database):
    if not database.exists():
        return []
    try:
        with sqlite3.connect(database) as connection:
            return connection.execute("select state from records").fetchall()
    except sqlite3.OperationalError:
        return []


def test_warnings_come_in_the_order_of_the_shapes_though_the_first_ends_last(workspace, starter):
    untuned = starter.replace("config=helion.Config(block_sizes=[4, 16])", 'autotune_effort="full"')
    slow_first = untuned.replace("x, s = data", "x, s = data\n    if len(s) == 4:\n        time.sleep(3)")
    record = workspace.submit("import time\n" + slow_first, code=0)
    told = [text.partition(";")[0] for text in record["warnings"]]
    assert told == [f"kernel scale has no config for [{m}, {n}], [{m}]" for m, n in [(4, 32), (8, 64), (64, 128)]]


def test_what_the_submission_prints_is_shown(workspace, starter):
    printing = starter.replace("x, s = data", 'x, s = data\n    print("rows:", len(s), "\\x1b[2J")')
    path = workspace.write(printing + 'print("imported")\n')
    told = workspace.run("build", "scale", "--file", str(path)).stderr
    assert "  submission | imported\n" in told
    assert all(f"  submission | rows: {rows}" in told for rows in (4, 8, 64))
    assert "\x1b" not in told
