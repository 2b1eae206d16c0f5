"""The process from which sandboxes are forked: what it holds, and what becomes of them, and of us, when it dies."""

from __future__ import annotations

import contextlib
import json
import marshal
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import SandboxError
from harness.sandbox import Level, Limits, Mount, python_mounts, remove_tree, run, spawn, start, starting
from harness.sandbox.meter import children_of, descendants
from tests.sandbox.attacks import REPOSITORY, ROOMY, mounts_left_behind

LIMITS = Limits(**ROOMY)  # type: ignore[arg-type]
HELLO = [sys.executable, "-I", "-S", "-c", "print('hello')"]
WAIT = [sys.executable, "-I", "-S", "-c", "import sys; print('up', flush=True); sys.stdin.read(); print('done')"]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A fork server that has served nothing yet, in the place of ours."""
    starter = starting._Starter()
    monkeypatch.setattr(starting, "_starter", starter)
    starter._server = starter._thread.submit(starting._ForkServer).result()
    yield starter._server._process.pid
    starter.end()
    starter._thread.shutdown()


def greet(level: str, scratch: Path, **more: object) -> None:
    given = {"level": Level(level), "mounts": python_mounts(), "scratch": scratch, "limits": LIMITS, **more}
    output, end = run(HELLO, **given)  # type: ignore[arg-type]
    assert (output, end.code) == ("hello\n", 0), end.stderr


def test_it_imports_next_to_nothing() -> None:
    """The first launch pays for it; `python -m bench.sandbox` measures the others."""
    folder = str(Path(spawn.__file__).parent)
    program = f"import sys; sys.path.append({folder!r}); import fork_server; print(*sys.modules)"
    command = [sys.executable, "-I", "-S", "-c", program]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert {"fork_server", "launcher", "kernel"} <= set(loaded)
    assert not {"harness", "enum", "json", "pathlib", "re", "socket", "subprocess", "threading", "typing"} & set(loaded)


def test_it_holds_nothing_but_its_socket(server: int, any_level: str, scratch: Path) -> None:
    before = links(Path("/proc/self/fd"))
    greet(any_level, scratch)
    with pytest.raises(SandboxError):
        run(HELLO, level=Level(any_level), scratch=scratch / "missing", limits=LIMITS)
    assert links(Path("/proc/self/fd")).items() <= before.items()
    held = links(Path(f"/proc/{server}/fd"))
    assert held.pop("0").startswith("socket:")
    assert held == {"1": "/dev/null", "2": "/memfd:fork-server (deleted)"}
    assert Path(f"/proc/{server}/environ").read_bytes() == b""
    assert Path(f"/proc/{server}/cwd").readlink() == Path("/")


def links(folder: Path) -> dict[str, str]:
    found = {}
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # the one by which we read the folder
            found[path.name] = str(path.readlink())
    return found


def test_what_is_forked_from_it_is_a_child_of_ours_and_outlives_it(server: int, any_level: str, scratch: Path) -> None:
    reading, writing = os.pipe()
    arguments = {"level": Level(any_level), "mounts": python_mounts(), "scratch": scratch, "limits": LIMITS}
    with start(WAIT, stdin=reading, **arguments) as job:  # type: ignore[arg-type]
        lines = job.lines()
        assert next(lines) == "up"
        assert children_of(server) == []
        os.kill(server, signal.SIGKILL)
        os.waitid(os.P_PID, server, os.WEXITED | os.WNOWAIT)
        with tempfile.TemporaryDirectory() as other:
            greet(any_level, Path(other))  # from another, which is started
        os.close(writing)
        assert list(lines) == ["done"]
        assert job.wait().code == 0
    os.close(reading)


def test_a_terminals_interrupt_is_not_for_what_we_started(server: int, any_level: str, scratch: Path) -> None:
    reading, writing = os.pipe()
    arguments = {"level": Level(any_level), "mounts": python_mounts(), "scratch": scratch, "limits": LIMITS}
    with start(WAIT, stdin=reading, **arguments) as job:  # type: ignore[arg-type]
        assert next(job.lines()) == "up"
        for pid in (server, job._spawned.pid, *descendants(job._spawned.pid)):
            assert os.getsid(pid) != os.getsid(0)
    os.close(reading)
    os.close(writing)


def test_many_threads_launch_at_once(any_level: str) -> None:
    failed: list[BaseException] = []

    def launch(name: str) -> None:
        try:
            for number in range(4):
                scratch = Path(name, str(number))
                scratch.mkdir()
                greet(any_level, scratch)
        except BaseException as error:
            failed.append(error)

    folders = [tempfile.mkdtemp(prefix="sandbox-test-") for _ in range(4)]
    threads = [threading.Thread(target=launch, args=(name,)) for name in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in folders:
        remove_tree(Path(name))
    assert failed == []


def test_a_launch_that_fails_leaves_the_next_one_well(
    server: int, level: str, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = mounts_left_behind()
    with tempfile.TemporaryDirectory() as closed:  # mode 0700: with root, reached by a mount namespace of the fork's
        (Path(closed) / "given").mkdir()
        given = Mount(Path(closed) / "given", f"{closed}/given")
        with monkeypatch.context() as patch:
            patch.setattr(spawn, "strict_command", lambda *_: ["/no/such/bubblewrap"])
            with pytest.raises(SandboxError, match="cannot start a sandboxed process: .*No such file"):
                start(["/no/such/program"], level=Level(level), mounts=[given], scratch=scratch, limits=LIMITS)
        greet(level, scratch, mounts=[*python_mounts(), given])
    assert mounts_left_behind() == mounts
    assert server in children_of(os.getpid())


def test_nothing_runs_whose_process_id_was_lost(server: int) -> None:
    ready, ready_end = os.pipe()
    lifeline_end, lifeline = os.pipe()
    folder = tempfile.mkdtemp(prefix="sandbox-test-")
    request = {"level": "none", "drop": False, "scratch": folder, "kept": [], "argv": ["/bin/sh", "-c", "touch ran"]}
    with tempfile.TemporaryFile() as told:
        told.write(marshal.dumps(request))
        told.seek(0)
        pid = starting.start_launcher([told.fileno(), ready_end, lifeline_end, *[told.fileno()] * 3])
    for descriptor in (ready_end, lifeline_end, lifeline):  # as when we die between its fork and our hearing of it
        os.close(descriptor)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 125
    assert os.read(ready, 100) == b""
    os.close(ready)
    Path(folder).rmdir()  # it is empty


def test_a_server_that_cannot_run_is_told(any_level: str, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    starter = starting._Starter()
    monkeypatch.setattr(starting, "_starter", starter)
    for program, why in (("pass", "."), ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_mo")):
        monkeypatch.setattr(starting, "_PROGRAM", program)
        with pytest.raises(SandboxError, match=f"cannot start a sandboxed process: .*python.*does not answer: {why}"):
            greet(any_level, scratch)
        assert starter._server is None
    starter._thread.shutdown()


def test_a_launch_that_takes_forever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spawn, "_LAUNCH_S", 0.01)
    reading, writing = os.pipe()
    assert spawn._read_complaint(reading) == "it has not begun after 0.01 s"
    os.close(writing)
    assert spawn._read_complaint(reading) == ""
    os.close(reading)


@pytest.mark.parametrize("kill", [False, True], ids=["at its end", "when killed"])
def test_it_ends_with_the_harness(kill: bool) -> None:
    program = (
        "import os, sys, json, tempfile; from pathlib import Path; from harness.sandbox import *\n"
        "from harness.sandbox.meter import children_of\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    run(['/bin/true'], level=Level.NONE, scratch=Path(folder), limits=Limits(**json.loads(sys.argv[1])))\n"
        "print(*children_of(os.getpid()), flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, json.dumps(ROOMY)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=REPOSITORY) as harness:
        assert harness.stdout is not None
        assert harness.stdin is not None
        (server,) = map(int, harness.stdout.readline().split())
        assert b"fork_server" in Path(f"/proc/{server}/cmdline").read_bytes()
        if kill:
            harness.kill()
        harness.stdin.close()
        harness.wait()
    deadline = time.monotonic() + 20
    while _runs(server):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("mount", "folder", "says"),
    [
        ("/no/such/mount", None, "/no/such/mount does not exist"),
        (None, "/no/such/scratch", "/no/such/scratch does not exist"),
    ],
)
def test_missing_paths(any_level: str, scratch: Path, mount: str | None, folder: str | None, says: str) -> None:
    mounts = [Mount(Path(mount), mount)] if mount else []
    arguments = {"level": Level(any_level), "mounts": [*python_mounts(), *mounts], "limits": LIMITS}
    with pytest.raises(SandboxError, match=says):
        run(HELLO, scratch=Path(folder) if folder else scratch, **arguments)  # type: ignore[arg-type]


def test_missing_program(any_level: str, scratch: Path) -> None:
    arguments = {"level": Level(any_level), "scratch": scratch, "limits": LIMITS}
    if any_level == "strict":  # inside, only the process itself can tell
        _, end = run(["/no/such/program"], **arguments)  # type: ignore[arg-type]
        assert end.code == 127
        assert "/no/such/program" in end.stderr
    else:
        with pytest.raises(SandboxError, match="cannot start a sandboxed process.*No such file"):
            run(["/no/such/program"], **arguments)  # type: ignore[arg-type]


def _runs(server: int) -> bool:
    """Tell whether it still runs: one that has ended may wait for somebody to hear of it."""
    try:
        return b"fork_server" in Path(f"/proc/{server}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_out_of_memory_the_command_goes_and_not_its_watchers(any_level: str, scratch: Path) -> None:
    reading, writing = os.pipe()
    arguments = {"level": Level(any_level), "mounts": python_mounts(), "scratch": scratch, "limits": LIMITS}
    with start(WAIT, stdin=reading, **arguments) as job:  # type: ignore[arg-type]
        assert next(job.lines()) == "up"
        first = job._spawned.pid
        (second,) = children_of(first)
        assert oom_score(first) == oom_score(second) == oom_score(os.getpid()) < 1000
        assert {oom_score(pid) for pid in descendants(second)} == {1000}
    os.close(reading)
    os.close(writing)


def oom_score(pid: int) -> int:
    return int(Path(f"/proc/{pid}/oom_score_adj").read_text())


def test_a_harness_without_standard_descriptors_starts_them_too(any_level: str) -> None:
    program = (
        "import os, sys, json, tempfile; from pathlib import Path; from harness.sandbox import *\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    output, _ = run(['/bin/cat'], level=Level(sys.argv[2]), scratch=Path(folder), stdin=b'whole',\n"
        "        limits=Limits(**json.loads(sys.argv[1])))\n"
        "os.write(2, output.encode())"
    )
    command = [sys.executable, "-c", program, json.dumps(ROOMY), any_level]
    closed = ["/bin/sh", "-c", 'exec "$@" <&- >&-', "sh", *command]
    ended = subprocess.run(closed, stderr=subprocess.PIPE, text=True, cwd=REPOSITORY, check=False)
    assert ended.stderr == "whole\n"
