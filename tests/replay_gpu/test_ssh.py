"""A node over ssh, for real: the system's own ssh, and an sshd of ours on localhost."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.engine.dry_run import find_node_target, name_node
from harness.engine.gpu_node import NodeLacksError, UnreachableError, describe_gpu, run_node
from harness.engine.ssh_node import check_node_name, far_command, ssh_node
from harness.errors import UsageError, WorkerError
from harness.spec import load_season
from harness.target import load_target
from tests.replay_gpu.far import FarSide, why_no_sshd

HERE = Path(__file__).parent
WORKSPACE = HERE.parent / "workspace"
PATIENCE_S = 120.0

pytestmark = pytest.mark.skipif(bool(why_no_sshd()), reason=why_no_sshd())


@pytest.fixture(scope="module")
def temporary(tmp_path_factory):
    """The far side's folder for temporary files: what is left in it was not tidied up."""
    return tmp_path_factory.mktemp("far-tmp")


@pytest.fixture(scope="module")
def far(tmp_path_factory, temporary):
    side = FarSide(tmp_path_factory.mktemp("far"), {"TMPDIR": str(temporary)})
    yield side
    side.close()


def node(far, name="far", **more):
    return ssh_node(name, config=far.config, **{"python": sys.executable, **more})


def script(folder, name, text):
    """A program in the place of the far side's Python."""
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


# Ways that lead nowhere


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("wrong-key", "wrong-key cannot be reached: it accepts none of your keys"),
        ("unknown-host", "unknown-host cannot be reached: its host key is not known here"),
        ("changed-host", "changed-host cannot be reached: its host key has changed"),
        ("nobody", "nobody cannot be reached: nothing answers ssh there"),
        ("no-such-machine.invalid", "cannot be reached: there is no machine of that name"),
    ],
)
def test_a_node_that_cannot_be_reached(far, name, told):
    with pytest.raises(UnreachableError) as caught:
        describe_gpu(node(far, name))
    assert told in str(caught.value)


def test_no_python_there(far):
    told = r"far has no /no/such/python: name its Python that has torch with --python \(make: NODE_PYTHON\)"
    with pytest.raises(UnreachableError, match=told):
        describe_gpu(node(far, python="/no/such/python"))


def test_no_torch_there(far, tmp_path):
    with pytest.raises(NodeLacksError, match="torch is not installed here: the node needs torch with CUDA"):
        describe_gpu(node(far, python=str(_bare_python(tmp_path))))


def test_what_a_node_lacks_is_told_as_its_own(far, checkout, tmp_path):
    """And how to name another Python there. Nothing is built before; with --json nothing but the error is told."""
    python = str(_bare_python(tmp_path))
    reach = ["--node", "far", "--ssh-config", str(far.config), "--python", python]
    result = harness(checkout, "dry-run", "scale", *reach)
    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr.splitlines() == [
        "asking far what GPU it has (up to 30 s to reach it)",
        "harness error: far says: torch is not installed here: the node needs torch with CUDA",
        f"That was its {python}: name another of its Pythons with NODE_PYTHON=... (make) or --python",
    ]
    quiet = harness(checkout, "dry-run", "scale", *reach, "--json")
    assert quiet.stderr.startswith("harness error: far says: ")
    assert json.loads(quiet.stdout)["error"].startswith("far says: torch is not installed here")


def test_another_python_helps_against_no_full_disk():
    with pytest.raises(NodeLacksError) as caught, name_node("far", "python3"):
        raise NodeLacksError("its disk does not take the artifact: No space left on device (0 MB free at /tmp)")
    assert str(caught.value) == (
        "far says: its disk does not take the artifact: No space left on device (0 MB free at /tmp)"
    )


def _bare_python(folder):
    """A virtual environment of this Python with nothing in it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "bare")], check=True)
    return folder / "bare" / "bin" / "python"


def test_a_name_that_is_an_option_or_none_is_refused():
    for name in (
        "-oProxyCommand=touch x",
        "--help",
        "-",
        "",
        "a b",
        "a;b",
        "a\nb",
        "a'b",
        "$(a)",
        "user@-host",
        "@host",
    ):
        with pytest.raises(UsageError, match="is not a node"):
            check_node_name(name)
    for name in ("host", "user@host", "user@10.0.0.1", "me@[fe80::1%eth0]", "gpu_box", "a.b-c"):
        assert check_node_name(name) == name
    for name in ("localhost:22", "me@host:2222", "[::1]:22", "me@[fe80::1%eth0]:22", "ssh://me@host:22"):
        with pytest.raises(UsageError, match="has a port, which goes into your ssh configuration"):
            check_node_name(name)
    assert check_node_name("fe80::1") == "fe80::1"
    for python in ("-c", "python3; rm", "$(x)", "a b", "python'"):
        with pytest.raises(UsageError, match="is not the path of a Python"):
            ssh_node("host", python=python)


def test_the_far_command_means_the_same_to_every_shell():
    command = far_command("python3", ["replay", "@artifact"])
    assert not set(command) & set("$`!\\*?~#&;|<>{}[]%\n")


# What is on the node

FAKE_TORCH = "__version__ = '2.13.0'\nclass cuda:\n    is_available = staticmethod(lambda: True)\n"
FAKE_DRIVER = """
import enum
class CUresult(enum.IntEnum):
    CUDA_SUCCESS = 0
class CUdevice_attribute:
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = "major", "minor"
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS = "l2", "pageable"
OK = CUresult.CUDA_SUCCESS
SAYS = {"major": MAJOR, "minor": 0, "l2": 50 << 20, "pageable": 0}
def cuInit(flags): return (OK,)
def cuDeviceGet(number): return OK, 0
def cuDeviceGetPCIBusId(size, device): return OK, b"0000:1b:00.0\\0"
def cuDeviceGetName(size, device): return OK, NAME.encode() + b"\\0"
def cuDeviceTotalMem(device): return OK, 80 << 30
def cuDriverGetVersion(): return OK, 13000
def cuDeviceGetAttribute(name, device): return OK, SAYS[name]
"""


@pytest.fixture
def gpu_node(tmp_path):
    """A node whose torch and driver say that there is a GPU: enough to be asked what it is."""
    sides = []

    def make(name, major):
        packages = tmp_path / f"packages-{len(sides)}"
        (packages / "torch").mkdir(parents=True)
        (packages / "torch" / "__init__.py").write_text(FAKE_TORCH)
        (packages / "cuda" / "bindings").mkdir(parents=True)
        driver = f"NAME, MAJOR = {name!r}, {major}\n{FAKE_DRIVER}"
        (packages / "cuda" / "bindings" / "driver.py").write_text(driver)
        facts = packages / "cuda_bindings-13.0.dist-info"
        facts.mkdir()
        (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: cuda-bindings\nVersion: 13.0\n")
        folder = tmp_path / f"far-{len(sides)}"
        folder.mkdir()
        sides.append(FarSide(folder, {"PYTHONPATH": str(packages)}))
        return node(sides[-1])

    yield make
    for side in sides:
        side.close()


@pytest.mark.slow
def test_it_is_built_for_what_the_node_has(gpu_node):
    season = load_season(WORKSPACE)
    h200, other = gpu_node("NVIDIA H200", 9), gpu_node("NVIDIA A100-SXM4-80GB", 8)
    assert find_node_target(h200, "far", None, season).name == "h200"
    assert find_node_target(h200, "far", load_target("h200"), season).name == "h200"
    with pytest.raises(UsageError) as caught:
        find_node_target(h200, "far", load_target("b200"), season)
    assert str(caught.value) == (
        "far has NVIDIA H200 (compute capability 9.0), not NVIDIA B200: leave TARGET out to build for what it has"
    )
    with pytest.raises(UsageError, match=r"far has NVIDIA A100-SXM4-80GB .* none of the described GPUs: b200, h200"):
        find_node_target(other, "far", None, season)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ('{"event": "node", "machine": {"gpu": 5, "capability": "9.0"}}', "not of the form"),
        ('{"event": "node", "machine": [1]}', "not of the form"),
        ('{"event": "node", "machine": {"gpu": "NVIDIA H200", "capability": "9.0.0.0.0.0"}}', "not of the form"),
        ("\x1b[2J hello", "ended without a node"),
        ("[" * 100_000, "ended without a node"),
        ("", "ended without a node"),
    ],
)
def test_a_description_that_is_none(far, tmp_path, said, told):
    liar = script(tmp_path, "python", f"#!{sys.executable}\nprint({said!r})\n")
    with pytest.raises(WorkerError, match=told):
        describe_gpu(node(far, python=liar))


def test_what_it_calls_its_gpu_is_made_fit_to_show(far, tmp_path):
    event = {"event": "node", "machine": {"gpu": "NVIDIA\x1b[31m H200\u202e" + "x" * 5000, "capability": "9.0"}}
    liar = script(tmp_path, "python", f"#!{sys.executable}\nprint({json.dumps(event)!r})\n")
    name = describe_gpu(node(far, python=liar)).name
    assert len(name) <= 100
    assert not set(name) & {"\x1b", "\u202e"}


# Connections that end early

KILLER = """#!{python}
import os, signal, time
print('{{"event": "case", "id": "test/a"}}', flush=True)
while not os.path.exists({heard!r}):
    time.sleep(0.02)
pid = os.getpid()
while True:
    pid = int(open(f"/proc/{{pid}}/stat").read().rpartition(")")[2].split()[1])
    if open(f"/proc/{{pid}}/comm").read().startswith("sshd"):
        os.kill(pid, signal.SIGKILL)
        break
"""


def test_a_connection_that_is_lost_midway(far, tmp_path):
    heard = tmp_path / "heard"
    killer = script(tmp_path, "python", KILLER.format(python=sys.executable, heard=str(heard)))
    events = run_node([*node(far, python=killer), "describe"], PATIENCE_S)
    assert next(events)["event"] == "case"
    heard.touch()
    with pytest.raises(UnreachableError, match="the connection to far was lost during the replay"):
        list(events)


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_when_this_side_goes_the_far_side_tidies_up(far, temporary, tmp_path):
    """The node's program is stood in for by one that never ends; sent and started as any is."""
    before = set(temporary.iterdir())
    started = tmp_path / "started"
    endless = script(
        tmp_path, "python",
        f"#!{sys.executable}\nimport os, sys, time\n"
        f"if sys.argv[1] == '-c':\n    sys.argv[0] = 'x'\n    program = sys.argv.pop(2); sys.argv.pop(1)\n"
        f"    sys.executable = {str(tmp_path / 'python')!r}\n    exec(program)\n"
        f"else:\n    open({str(started)!r}, 'w').write(str(os.getpid())); time.sleep(600)\n",
    )  # fmt: skip
    client = subprocess.Popen([*node(far, python=endless), "describe"], start_new_session=True)
    try:
        wait_for(lambda: started.exists() and started.read_text())
        assert set(temporary.iterdir()) - before
    finally:
        os.killpg(client.pid, signal.SIGKILL)
        client.wait()
    wait_for(lambda: set(temporary.iterdir()) == before)
    wait_for(lambda: not Path(f"/proc/{started.read_text()}").exists())


def full_disk(folder):
    """A command that gives what it runs a disk of 64 KiB at a folder; () if that cannot be had here."""
    if shutil.which("bwrap") is None:
        return ()
    kept = ("--cap-add", "ALL") if os.geteuid() == 0 else ()
    within = ("bwrap", "--dev-bind", "/", "/", *kept, "--size", str(64 << 10), "--tmpfs", str(folder), "--")
    tried = subprocess.run([*within, "true"], capture_output=True, check=False)
    return within if tried.returncode == 0 else ()


def test_the_nodes_disk_is_full(tmp_path):
    disk, folder = tmp_path / "disk", tmp_path / "far"
    disk.mkdir()
    folder.mkdir()
    within = full_disk(disk)
    if not within:
        pytest.skip("no small disk can be made here")
    side = FarSide(folder, {"TMPDIR": str(disk)}, within)
    try:
        with pytest.raises(
            NodeLacksError, match=r"its disk does not take the artifact: No space left on device \(0 MB"
        ):
            describe_gpu(node(side))
    finally:
        side.close()


# All of it


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    return shutil.copytree(WORKSPACE, tmp_path_factory.mktemp("checkout") / "w")


def harness(checkout, *arguments):
    command = [sys.executable, "-m", "harness", *arguments]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=600)


def test_a_submission_is_built_here_and_replayed_there(far, temporary, checkout):
    before = set(temporary.iterdir())
    reach = ["--node", "far", "--ssh-config", str(far.config), "--python", sys.executable]
    result = harness(checkout, "dry-run", "scale", "--on-cpu", *reach)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("CHECKED  scale · b200")
    assert "all 2 test cases pass on the CPU" in result.stdout
    assert "a dry run is not recorded" in result.stdout
    assert " · starter\n" in result.stdout  # no id after it: there is no record to show
    assert "check on CPU 0/3 reaching the node" in result.stderr
    assert "check on CPU 3/3" in result.stderr  # told as it went on
    assert "GPU" not in result.stderr
    assert set(temporary.iterdir()) == before
    board = json.loads(harness(checkout, "board", "scale", "--json").stdout)
    assert (board["ranked"], board["unranked"]) == ([], [])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="there is a GPU here")
def test_no_gpu_there(far, checkout):
    reach = ["--node", "far", "--ssh-config", str(far.config), "--python", sys.executable]
    result = harness(checkout, "dry-run", "scale", *reach, "--json")
    assert (result.returncode, json.loads(result.stdout)["exit_code"]) == (3, 3)
    assert "far says: no GPU that torch can use" in result.stderr
    assert f"That was its {sys.executable}: name another" in result.stderr


def test_an_unreachable_node_is_nobodys_bad_usage(far, checkout):
    """Nor does the submission fall short by it: the exit code is a machine's fault's, before anything is built."""
    result = harness(checkout, "dry-run", "scale", "--node", "nobody", "--ssh-config", str(far.config), "--json")
    assert (result.returncode, json.loads(result.stdout)["exit_code"]) == (3, 3)
    assert result.stderr.startswith("harness error: nobody cannot be reached: nothing answers ssh there")
    assert "trace" not in result.stderr


def test_bad_usage_costs_nothing(checkout):
    refused = harness(checkout, "dry-run", "scale", "--node=-oProxyCommand=touch hacked")
    assert refused.returncode == 2
    assert "is not a node: give user@host" in refused.stderr
    assert not (Path(checkout) / "hacked").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--on-cpu"], "--on-cpu needs --node (make: NODE): `harness submit` checks on this machine's CPUs"),
        (["--python", "python3"], "--python (make: NODE_PYTHON) is of a node: give --node (make: NODE), too"),
        (["--ssh-config", "."], "--ssh-config leads to a node: give --node, too"),
        (["--node", "far", "--on-cpu", "--full"], "--full is for the check on this machine, which --on-cpu leaves out"),
    ],
)
def test_options_that_would_do_nothing_are_refused(checkout, options, told):
    result = harness(checkout, "dry-run", "scale", *options)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {told}")


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="there is a GPU here")
def test_without_a_gpu_and_a_node_nothing_is_checked_in_full_either(checkout):
    result = harness(checkout, "dry-run", "scale", "--full")
    assert (result.returncode, result.stdout) == (2, "")
    assert "error: --full is for the check, and with no NVIDIA B200 here and no NODE a dry run" in result.stderr
    assert "`make submit PROBLEM=scale ARGS=--full` checks all programs on the CPU" in result.stderr
    assert "trace" not in result.stderr


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="there is a GPU here")
def test_without_a_gpu_and_a_node_it_is_compiled_and_the_floor_is_told(checkout):
    result = harness(checkout, "dry-run", "scale")
    assert result.returncode == 0, result.stderr
    assert "compile budget" in result.stdout
    assert "The floor on NVIDIA B200: no kernel can be faster" in result.stdout
    assert "benchmark/M64_N128/normal  0.004" in result.stdout
    last = result.stdout.rstrip().splitlines()[-1]
    assert last.endswith("make dry-run PROBLEM=scale NODE=user@host")
    assert "so this was compiled and not replayed: no value was checked. `make submit PROBLEM=scale` checks" in last


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="there is a GPU here")
def test_a_build_that_fails_is_reported_as_by_submit(checkout, tmp_path):
    """All of it but the record's id: it is stored nowhere."""
    (tmp_path / "broken.py").write_text("def custom_kernel(data:\n")
    broken = ["scale", "--file", str(tmp_path / "broken.py")]
    submitted = report_lines(harness(checkout, "submit", *broken))
    headline = "COMPILE_ERROR  scale · b200 · closed · local"
    assert submitted[0].startswith(f"{headline} · ")
    for verb in ("build", "dry-run"):
        first, *rest = report_lines(harness(checkout, verb, *broken))
        assert (first, rest) == (headline, submitted[1 : 1 + len(rest)])
        assert rest[-1] == "COMPILE_ERROR  '(' was never closed"
        document = json.loads(harness(checkout, verb, *broken, "--json").stdout)
        assert (document["verdict"]["kind"], document["problem"], document["id"]) == ("COMPILE_ERROR", "scale", "")


def report_lines(result):
    """The lines of a report on what fell short, without those of how long it took."""
    assert result.returncode == 1, result.stderr
    lines = filter(None, result.stdout.splitlines())
    return [line for line in lines if not line.startswith("  waited") and line != "Cost"]
