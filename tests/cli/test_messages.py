"""What a person is told when something is not as it should be: message and exit code, through the command itself."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

TEMPLATE = Path(__file__).parents[1] / "workspace"
RECORDS = Path(__file__).parents[2] / "records" / "h200"
BEGIN = os.path.commonprefix([path.stem for path in RECORDS.glob("*.json")])


@pytest.fixture
def root(tmp_path):
    shutil.copytree(TEMPLATE, tmp_path / "w")
    return tmp_path / "w"


def run(root, *arguments, **options):
    command = [sys.executable, "-m", "harness", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120, **options)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["sumbit", "scale"], "no verb 'sumbit'. Did you mean submit?"),
        (["submit"], "Missing argument 'PROBLEM'"),
        (["submit", "scale", "--tem", "x"], "No such option '--tem'"),
        (["submit", "scael"], "unknown problem 'scael'. Did you mean scale?"),
        (["submit", "scale", "--team", "startr"], "no team 'startr' under submissions/. Did you mean starter?"),
        (["submit", "scale", "--team", "../x"], "team name '../x' is not valid"),
        (["submit", "scale", "--target", "b20"], "unknown target 'b20'. Did you mean b200? Known targets: b200, h200"),
        (["submit", "scale", "--suite", "none"], "scale has no suite 'none'; suites: default"),
        (
            ["submit", "scale", "--case", "test/M4"],
            "no case matches 'test/M4'; for instance: test/M8_N64/large, test/M4_N32/normal",
        ),
        (["submit", "scale", "--file", "gone.py"], "gone.py: no such file"),
        (["build", "scael"], "unknown problem 'scael'"),
        (["new", "scale", "--team", "starter"], "submissions/starter/scale exists already"),
        (["new", "scale"], "say which team: harness new scale --team your-team (a-z, 0-9, - and _)"),
        (["new", "scale", "--team", ""], "say which team: harness new scale --team your-team"),
        (["new", "scale", "--team", "A B"], "team name 'A B' is not valid"),
        (["show", "zzz"], "zzz"),
        (["show", "zzz", "--from", str(RECORDS)], f"there is no record 'zzz' in {RECORDS}; there are {BEGIN}"),
        (["show", BEGIN.upper(), "--from", str(RECORDS)], f"'{BEGIN}' begins more than one record's id: {BEGIN}"),
        (["show", BEGIN, "--from", str(RECORDS)], " and others. Give more of it"),
        (["show", "", "--from", str(RECORDS)], f"'' begins more than one record's id: {BEGIN}"),
        (["show", "--from", "nowhere"], "no records at nowhere: a JSON file, or a folder of them"),
        (
            ["show", "--team", "acme", "--problem", "scale"],
            "there is no record of problem scale and team acme yet: make ",
        ),
        (["show", "--team", "acme", "--from", str(RECORDS)], f"there is no record of team acme in {RECORDS}"),
        (["show", "zzz", "--team", "acme"], "--problem and --team choose the newest record of theirs: leave them out"),
        (["board", "scael"], "unknown problem 'scael'"),
        (["replay", "zzz"], "no artifact 'zzz': give a folder, 6 characters or more of a key in "),
        (["replay", "zzz"], "or a record (there is no record 'zzz'"),
        (["replay", "problems"], "problems is no artifact's folder: it has no manifest.json"),
        (["baseline", "scael"], "unknown problem 'scael'. Did you mean scale?"),
        (["board", "--csv"], "--csv needs a problem"),
    ],
)
def test_bad_usage_says_what_to_do(root, arguments, told):
    result = run(root, *arguments)
    assert result.returncode == 2, result.stderr
    assert told in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["submit", "scael", "--json"], "unknown problem 'scael'. Did you mean scale?"),
        (["submit", "--json"], "Missing argument 'PROBLEM'."),
        (["sumbit", "--json"], "no verb 'sumbit'. Did you mean submit?"),
    ],
)
def test_with_json_an_error_is_a_document_too(root, arguments, told):
    result = run(root, *arguments)
    document = json.loads(result.stdout)
    assert document.keys() == {"error", "exit_code"}
    assert told in " ".join(document["error"].split())
    assert document["exit_code"] == 2
    assert told in " ".join(result.stderr.split())
    assert result.returncode == 2


def test_usage_errors_and_help_answer_at_once(root):
    run(root, "--help")
    for arguments, promised_s in ((["--help"], 0.3), (["submit", "scael"], 0.5)):
        # CPU time, and the best of several, because other tests share the cores: `make bench` measures the wall.
        assert any(_cpu_s(root, *arguments) < promised_s for _ in range(10))


def _cpu_s(root, *arguments):
    before = os.times()
    run(root, *arguments)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def test_help_imports_nothing_heavy(root):
    code = "import sys, harness.cli.verbs; print(sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = run_python(root, code).stdout
    assert not any(f"'{name}'" in loaded for name in ("torch", "triton", "helion", "rich", "sqlalchemy", "pydantic"))


def run_python(root, code):
    return subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=60)


def test_outside_of_a_repository(tmp_path):
    result = run(tmp_path, "problems")
    assert result.returncode == 2
    assert "is not inside a harness repository" in result.stderr


def test_a_faulty_problem_names_file_and_place(root):
    task = root / "problems" / "scale" / "task.yml"
    task.write_text(task.read_text().replace("precision: float32", "precision: exact"))
    result = run(root, "submit", "scale")
    assert result.returncode == 2
    assert "problems/scale/task.yml: precision: one of float32, tf32" in result.stderr


def test_every_fault_of_a_problem_has_a_line(root):
    task = root / "problems" / "scale" / "task.yml"
    task.write_text(task.read_text().replace("precision: float32", "precision: exact").replace("title:", "titel:"))
    lines = run(root, "submit", "scale").stderr.strip().splitlines()
    assert len(lines) == 3
    assert all("problems/scale/task.yml: " in line for line in lines)


def test_a_bug_of_ours_is_told_without_a_traceback(root):
    code = (
        "import harness.case, harness.cli, sys\nharness.case.select_cases, sys.argv[1:] = None, {}\nharness.cli.main()"
    )
    result = run_python(root, code.format(["submit", "scale"]))
    assert result.returncode == 3
    assert result.stderr.startswith("harness error: TypeError: 'NoneType' object is not callable")
    assert "please report it; the same command with --debug shows where" in result.stderr
    assert "Traceback" not in result.stderr
    assert "Traceback" in run_python(root, code.format(["submit", "scale", "--debug"])).stderr


def test_new_copies_the_starter(root):
    result = run(root, "new", "scale_py", "--team", "acme")
    assert result.returncode == 0
    assert "Next: make submit PROBLEM=scale TEAM=acme" in result.stdout
    copied = root / "submissions" / "acme" / "scale" / "submission.py"
    assert copied.read_bytes() == (root / "submissions" / "starter" / "scale" / "submission.py").read_bytes()


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ([], "say which problem: make new PROBLEM=chunk_fwd_h"),
        (["PROBLEM=softmax"], "say which team: make new PROBLEM=softmax TEAM=your-team"),
    ],
)
def test_make_new_asks_for_what_is_missing(tmp_path, variables, told):
    """In an empty folder: nothing is set up before the command is known to be whole."""
    command = ["make", "-f", str(TEMPLATE.parents[1] / "Makefile"), "new", *variables]
    alone = {"PATH": os.environ["PATH"]}  # what an outer make or the shell has set is not this one's
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, env=alone)
    assert result.returncode == 2
    assert result.stderr.splitlines()[0] == told
    assert list(tmp_path.iterdir()) == []


def test_a_link_as_submission(root):
    path = root / "submissions" / "acme" / "scale" / "submission.py"
    path.parent.mkdir(parents=True)
    path.symlink_to("/etc/passwd")
    result = run(root, "submit", "scale", "--team", "acme")
    assert result.returncode == 2
    assert "is a link; a submission holds regular files only" in result.stderr


def test_a_lower_sandbox_level_is_told(root, tmp_path):
    """Without bubblewrap on the path; a source that does not parse needs no sandbox, and is quick."""
    (root / "submissions" / "starter" / "scale" / "submission.py").write_text("def custom_kernel(data\n")
    result = run(root, "submit", "scale", env={**os.environ, "PATH": str(tmp_path)})
    assert result.returncode == 1
    assert "note: sandbox level " in result.stderr
    assert "How to raise it: make doctor" in result.stderr


def test_a_database_of_a_newer_version(root):
    run(root, "board")
    with sqlite3.connect(root / ".harness" / "records.sqlite") as connection:
        connection.execute("update alembic_version set version_num = '9999'")
    result = run(root, "board")
    assert result.returncode == 3
    assert "newer" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_full_disk_is_told(root):
    """A tiny file system in the place of .harness, where the machine lets us mount one."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a file system of its own to fill")
    state = root / ".harness"
    state.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", state], capture_output=True, text=True)
    if mount.returncode:
        pytest.skip(f"this machine does not let us mount: {mount.stderr.strip()}")
    try:
        (state / "filler").write_bytes(b"\0" * (60 << 10))
        result = run(root, "submit", "scale", "--case", "M4_N32")
        assert result.returncode == 3
        assert "is full" in result.stderr + result.stdout, result.stderr
        assert "ree some space" in result.stderr + result.stdout
        assert "Traceback" not in result.stderr
    finally:
        subprocess.run(["umount", state], check=True)


@pytest.mark.parametrize("verb", ["problems", "problems scale", "board", "board scale", "records", "audit", "doctor"])
def test_json_is_one_document_and_no_error(root, verb):
    result = run(root, *verb.split(), "--json")
    document = json.loads(result.stdout)
    assert result.returncode == 0, result.stderr
    assert "error" not in document


def test_a_record_of_a_folder_is_shown(root):
    newest = max(path.stem for path in RECORDS.glob("*.json"))
    shown = run(root, "show", "--from", str(RECORDS))
    assert (shown.returncode, shown.stderr) == (0, "")
    assert not (root / ".harness").exists()  # this machine's own records have nothing to do with it
    assert shown.stdout.startswith("PASSED")
    assert newest in shown.stdout.splitlines()[0]
    chosen = run(root, "show", newest[:12], "--from", str(RECORDS), "--json")
    assert json.loads(chosen.stdout)["id"] == newest


def test_doctor_finds_what_is_here(root):
    findings = {finding["name"]: finding for finding in json.loads(run(root, "doctor", "--json").stdout)}
    assert findings["torch"]["state"] == "ok"
    assert findings["sandbox"]["found"] in ("level strict", "level restricted", "level none")
    if findings["sandbox"]["found"] != "level strict":
        assert findings["sandbox"]["advice"]
    assert "ptxas" in findings["assembler"]["found"]


FORBID = """
import ctypes, platform, runpy, struct, sys
number = {"x86_64": 135, "aarch64": 92}[platform.machine()]
# If it is personality(2), and the argument has ADDR_NO_RANDOMIZE and is no question, then EPERM, else allow.
steps = [(0x20, 0, 0, 0), (0x15, 0, 5, number), (0x20, 0, 0, 16), (0x15, 3, 0, 0xFFFFFFFF), (0x45, 0, 2, 0x40000),
         (0x06, 0, 0, 0x50001), (0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
libc.personality(libc.personality(0xFFFFFFFF) & ~0x40000)  # whoever started the tests may have turned it off
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
sys.argv = ["harness", "doctor", "--json"]
runpy.run_module("harness", run_name="__main__")
"""


def test_doctor_tells_where_addresses_stay_random(root):
    """As in a container whose filter refuses that call."""
    done = subprocess.run([sys.executable, "-c", FORBID], cwd=root, capture_output=True, text=True, timeout=120)
    found = next(one for one in json.loads(done.stdout) if one["name"] == "assembler")
    assert found["state"] == "lower"
    assert "code for b200 may differ from build to build" in found["advice"]
    assert done.returncode == 0, done.stderr  # submissions can be built all the same


def test_a_package_outside_the_range_stops_early(root):
    code = "from harness.toolchain import check_toolchain; check_toolchain({'torch': '2.9.0', 'triton': '3.7.1'})"
    told = run_python(root, code).stderr
    assert "torch 2.9.0 is outside the tested range >=2.11,<2.14: run `make environment`" in told
    assert "helion is not installed; this version needs helion>=1.5.0" in told


def test_floors_are_told_of_benchmarks_and_not_of_none():
    from harness.cli.report import render_floors

    heading, line = render_floors({"benchmark/a": 0.0984}, "NVIDIA B200")
    assert (heading.plain.strip(), line.plain) == (
        "The floor on NVIDIA B200: no kernel can be faster",
        "  benchmark/a  0.09840 µs",
    )
    assert render_floors({}, "NVIDIA B200") == []


INTERRUPTED = """
import os, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may have it ignored
os.kill(os.getpid(), signal.SIGINT)
time.sleep(60)
"""


@pytest.mark.parametrize("module", ["click", "difflib", "yaml"])
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_ctrl_c_is_told_in_a_line_however_early_it_comes(root, tmp_path, module, options):
    """It comes while a module is imported: click, one that the group of verbs takes, one that a verb takes."""
    (tmp_path / "early").mkdir()
    (tmp_path / "early" / f"{module}.py").write_text(INTERRUPTED)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path / 'early'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    result = run(root, "problems", *options, env=environment)
    told = "stopped; nothing counts, submit again when you like"
    assert result.stderr == f"\n{told}\n"
    assert result.returncode == 130
    assert (json.loads(result.stdout) if options else result.stdout) == (
        {"error": told, "exit_code": 130} if options else ""
    )
