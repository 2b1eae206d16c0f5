"""The parent's side: what a job tells, how it ends, and what it costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from harness.sandbox import (
    HOST_DISK,
    Level,
    Limits,
    Mount,
    job,
    python_mounts,
    run,
    spawn,
    start,
    visible,
    visible_scratch,
    why_not,
)
from tests.sandbox.attacks import MIB, ROOMY, Attack, OrdinaryUser, carry_out, left_behind, ordinary_python

LIMITS = Limits(**ROOMY)  # type: ignore[arg-type]


def python(program: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-u", "-c", program]


def execute(program: str, level: str, scratch: Path, **more: object):  # type: ignore[no-untyped-def]
    arguments = {"level": Level(level), "mounts": python_mounts(), "scratch": scratch, "limits": LIMITS, **more}
    return run(python(program), **arguments)  # type: ignore[arg-type]


def test_environment_is_ours_alone(any_level: str, scratch: Path) -> None:
    program = "import os, json; print(json.dumps(dict(os.environ)))"
    output, _ = execute(program, any_level, scratch, environment={"OMP_NUM_THREADS": "1"})
    seen = json.loads(output)
    assert set(seen) - {"PWD", "LC_CTYPE"} == {
        *("HOME", "TMPDIR", "XDG_CACHE_HOME", "PATH", "LANG", "USER", "LOGNAME", "OMP_NUM_THREADS")
    }


def test_standard_input(any_level: str, scratch: Path) -> None:
    content = b"line\n" * 100_000
    output, _ = execute("import sys; print(len(sys.stdin.read()))", any_level, scratch, stdin=content)
    assert output == f"{len(content)}\n"


def test_standard_input_is_empty_by_default(any_level: str, scratch: Path) -> None:
    assert execute("import sys; print(repr(sys.stdin.read()))", any_level, scratch)[0] == "''\n"


def test_mounts_scratch_and_what_is_seen_where(any_level: str, scratch: Path) -> None:
    level = Level(any_level)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "given.txt").write_text("given")
        mount = Mount(folder, "/given")
        program = (
            f"text = open({visible(level, mount)!r} + '/given.txt').read()\n"
            f"open({visible_scratch(level, scratch)!r} + '/taken.txt', 'w').write(text)\n"
            "open('here.txt', 'w').write(text)"
        )
        _, end = execute(program, any_level, scratch, mounts=[*python_mounts(), mount])
    assert end.code == 0, end.stderr
    assert sorted(path.name for path in scratch.iterdir()) == ["here.txt", "taken.txt"]
    assert (scratch / "taken.txt").read_text() == "given"


def test_files_that_the_parent_put_into_scratch_are_the_process_own(level: str, scratch: Path) -> None:
    (scratch / "folder").mkdir(mode=0o700)
    (scratch / "folder/input").write_text("before")
    (scratch / "folder/input").chmod(0o600)
    _, end = execute("f = open('folder/input', 'r+'); f.read(); f.write(' and after')", level, scratch)
    assert end.code == 0, end.stderr
    assert (scratch / "folder/input").read_text() == "before and after"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root drops to another uid")
def test_folders_closed_to_others_are_reached_with_root(level: str, scratch: Path) -> None:
    with tempfile.TemporaryDirectory() as closed:  # mode 0700
        given = Path(closed, "deep/er/given")
        given.mkdir(parents=True)
        (given / "file").write_text("reached")
        Path(closed, "deep/secret").write_text("secret")
        inner = Path(closed, "scratch")
        inner.mkdir()
        program = (
            f"print(open({str(given / 'file')!r}).read())\n"
            "open('out', 'w').write('x')\n"
            f"try: print(open({str(given.parent.parent / 'secret')!r}).read())\n"
            "except OSError: print('refused')"
        )
        output, end = execute(program, level, inner, mounts=[*python_mounts(), Mount(given, str(given))])
        assert (output, end.code) == ("reached\nrefused\n", 0), end.stderr
        assert (inner / "out").read_text() == "x"


def test_runs_the_harness_package(level: str, scratch: Path) -> None:
    command = [sys.executable, "-I", "-c", "import harness.errors; print(harness.errors.HarnessError.exit_code)"]
    output, end = run(command, level=Level(level), mounts=python_mounts(), scratch=scratch, limits=LIMITS)
    assert output == "3\n", end.stderr


def test_compiler_tools_work(level: str, scratch: Path) -> None:
    """What Triton's assembler needs: address randomisation off, and a C compiler where there is one."""
    setarch = run(
        ["/usr/bin/setarch", "-R", "/usr/bin/env"], level=Level(level), mounts=(), scratch=scratch, limits=LIMITS
    )
    assert setarch[1].code == 0, setarch[1].stderr
    if not Path("/usr/bin/gcc").exists():
        return
    program = (
        "import subprocess, ctypes; open('a.c', 'w').write('int answer(void) { return 42; }')\n"
        "subprocess.run(['gcc', '-shared', '-fPIC', '-o', 'a.so', 'a.c'], check=True)\n"
        "import os; print(ctypes.CDLL(os.path.abspath('a.so')).answer())"
    )
    output, end = execute(program, level, scratch)
    assert output == "42\n", end.stderr


def test_processes_and_locks_work(level: str, scratch: Path) -> None:
    program = (
        "import multiprocessing as m, concurrent.futures as c, shutil, tempfile\n"
        "context = m.get_context('fork'); one, other = context.Pipe()\n"
        "p = context.Process(target=lambda: other.send(7)); p.start(); print(one.recv()); p.join()\n"
        "p = context.Process(target=__import__('time').sleep, args=(60,)); p.start(); p.kill(); p.join()\n"
        "print(p.exitcode); open('a', 'w').write('x'); shutil.copy2('a', 'b'); print(open('b').read())"
    )
    output, end = execute(program, level, scratch)
    assert output == "7\n-9\nx\n", end.stderr


def test_lines_come_as_they_are_written(any_level: str, scratch: Path) -> None:
    program = "import time\nfor i in range(3): print(i); time.sleep(0.3)"
    arguments = {"level": Level(any_level), "mounts": python_mounts(), "scratch": scratch, "limits": LIMITS}
    with start(python(program), **arguments) as running:  # type: ignore[arg-type]
        times = [time.monotonic() for _ in running.lines()]
        assert list(running.lines()) == []
    assert len(times) == 3
    assert times[2] - times[0] > 0.4


def test_stop_says_why(any_level: str, scratch: Path) -> None:
    arguments = {"level": Level(any_level), "mounts": python_mounts(), "scratch": scratch, "limits": LIMITS}
    with start(python("import time; print('up'); time.sleep(60)"), **arguments) as running:  # type: ignore[arg-type]
        assert next(running.lines()) == "up"
        running.stop("the budget is spent")
        running.stop("again")
        end = running.wait()
    assert (end.limit, end.code, end.signal) == ("the budget is spent", None, 9)
    running.stop("too late")
    assert running.wait() is end
    assert end.wall_s < 10


def test_leaving_the_block_stops_the_process(any_level: str, scratch: Path) -> None:
    arguments = {"level": Level(any_level), "mounts": python_mounts(), "scratch": scratch, "limits": LIMITS}
    with start(python("import time; time.sleep(60)"), **arguments) as running:  # type: ignore[arg-type]
        pass
    assert running.wait().limit == "abandoned"


def test_cpu_time_is_seen_while_it_runs_and_whole_at_the_end(any_level: str, scratch: Path) -> None:
    program = (
        "import os, time\n"
        "def burn(s):\n    end = time.process_time() + s\n    while time.process_time() < end: pass\n"
        "if os.fork() == 0:\n"
        "    if os.fork() == 0: burn(0.2); os._exit(0)\n"
        "    burn(0.2); os.wait(); os._exit(0)\n"
        "burn(0.2); os.wait(); print('burnt'); time.sleep(60)"
    )
    arguments = {"level": Level(any_level), "mounts": python_mounts(), "scratch": scratch, "limits": LIMITS}
    with start(python(program), **arguments) as running:  # type: ignore[arg-type]
        assert next(running.lines()) == "burnt"
        assert 0.55 < running.cpu_s() < 1.5
        running.stop("enough")
        assert 0.55 < running.wait().cpu_s < 1.5
    assert running.cpu_s() == running.wait().cpu_s


def test_starting_thread_may_end(any_level: str, scratch: Path) -> None:
    started = []
    arguments = {"level": Level(any_level), "mounts": python_mounts(), "scratch": scratch, "limits": LIMITS}
    program = python("import time; time.sleep(0.5); print('alive')")
    thread = threading.Thread(target=lambda: started.append(start(program, **arguments)))  # type: ignore[arg-type]
    thread.start()
    thread.join()
    assert list(started[0].lines()) == ["alive"]


def test_starts_from_a_forked_process_too(any_level: str, scratch: Path) -> None:
    execute("pass", any_level, scratch)
    child = os.fork()
    if child == 0:
        _, end = execute("pass", any_level, scratch)
        os._exit(0 if end.code == 0 else 1)
    wait_until(lambda: os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None)
    assert os.waitpid(child, 0)[1] == 0


def test_deleted_files_do_not_fill_the_disk(level: str, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "_LOW_DISK_BYTES", 1 << 60)  # as on a disk that is nearly full
    attack = Attack("greedy", level, told={"what": "fill_disk_deleted"}, limits={"scratch_bytes": 32 * MIB})
    outcome = carry_out(attack)
    assert outcome.exit.limit == "disk"


def test_a_disk_that_others_filled_is_nobodys_fault(
    any_level: str, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "_LOW_DISK_BYTES", 1 << 60)
    _, end = execute("print('honest')", any_level, scratch)
    assert (end.code, end.limit) == (0, None)  # nearly full is not full
    monkeypatch.setattr(job, "_NO_DISK_BYTES", 1 << 60)
    _, end = execute("import time; time.sleep(60)", any_level, scratch)
    assert (end.signal, end.limit) == (9, HOST_DISK)
    _, end = execute("open('file', 'w').write('x')", any_level, scratch)  # perhaps too fast to be stopped
    assert end.limit == HOST_DISK


def test_no_signal_leaves_where_landlock_cannot_keep_it(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if reason := why_not(Level.RESTRICTED):
        pytest.skip(reason)
    monkeypatch.setattr(spawn, "_signals_stay_inside", lambda level: False)
    program = (
        "import os\nfor pid in (os.getppid(), 1, -1):\n try: os.kill(pid, 0)\n except OSError as e: print(e.errno)"
    )
    output, end = execute(program, "restricted", scratch)
    assert output == "1\n1\n1\n", end.stderr


def test_what_cannot_be_watched_is_stopped(any_level: str, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(folder: Path, most: int) -> int:
        raise OSError("too many open files")

    monkeypatch.setattr(job, "folder_bytes", fail)
    _, end = execute("import time; time.sleep(60)", any_level, scratch)
    assert (end.signal, end.limit) == (9, "the harness could not watch it: too many open files")


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def open_folder() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="sandbox-test-") as name:
        Path(name).chmod(0o777)
        yield name


def test_killed_parent_takes_everything_along(level: str, open_folder: str) -> None:
    attack = Attack("greedy", level, told={"what": "ignore_signals"}, folder=open_folder)
    script = [sys.executable, str(Path(__file__).with_name("attacks.py"))]
    with subprocess.Popen(script, stdin=subprocess.PIPE, text=True) as parent:
        assert parent.stdin is not None
        parent.stdin.write(json.dumps(asdict(attack)) + "\n")
        parent.stdin.flush()
        wait_until(lambda: len(left_behind()) >= 2)
        parent.kill()
    wait_until(lambda: left_behind() == [])


def test_killed_parent_of_an_ordinary_user(level: str, open_folder: str) -> None:
    python = ordinary_python() if os.geteuid() == 0 else None
    if python is None:
        pytest.skip("needs root, and a Python that an ordinary user can run")
    user = OrdinaryUser(python)
    attack = Attack("greedy", level, told={"what": "ignore_signals"}, folder=open_folder)
    thread = threading.Thread(target=lambda: pytest.raises(RuntimeError, user.carry_out, attack))
    thread.start()
    wait_until(lambda: len(left_behind()) >= 2)
    user.kill()
    thread.join()
    wait_until(lambda: left_behind() == [])
