"""Programs that take too much, or will not end: each is stopped, the exit says by what, and nothing is left."""

from __future__ import annotations

import os
import subprocess
import time

import pytest

from harness.sandbox.meter import Meter, descendants
from tests.sandbox.attacks import MIB
from tests.sandbox.conftest import Carry


def greedy(carry: Carry, what: str, **limits: object):  # type: ignore[no-untyped-def]
    return carry("greedy", told={"what": what}, limits=limits)


@pytest.mark.parametrize(
    ("what", "limit", "limits"),
    [
        ("sleep", "wall", {"wall_s": 0.5}),
        ("ignore_signals", "wall", {"wall_s": 0.5}),
        ("close_everything", "wall", {"wall_s": 0.5}),
        ("spin", "cpu", {"cpu_s": 0.2}),
        ("spin_children", "cpu", {"cpu_s": 0.25}),
        ("spin_short_children", "cpu", {"cpu_s": 0.3}),
        ("spin_orphans", "cpu", {"cpu_s": 0.4, "processes": 128}),
        ("fork_bomb", "cpu", {"cpu_s": 0.25}),
        ("hog", "memory", {"memory_bytes": 128 * MIB}),
        ("hog_shared", "memory", {"memory_bytes": 128 * MIB}),
        ("fill_disk", "disk", {"scratch_bytes": 32 * MIB}),
        ("fill_disk_empty", "disk", {"scratch_bytes": MIB}),
        ("fill_disk_deep", "disk", {}),
        ("flood", "output", {}),
        ("flood_errors", "output", {}),
        ("flood_lines", "output", {}),
    ],
)
def test_stopped(carry: Carry, what: str, limit: str, limits: dict[str, object]) -> None:
    outcome = greedy(carry, what, **limits)
    assert outcome.exit.limit == limit, outcome.exit
    assert outcome.exit.wall_s < 15
    if limit == "cpu":
        assert outcome.exit.cpu_s < 3 * float(str(limits["cpu_s"])) + 0.5  # stopped soon after


def test_nobody_can_ignore_the_end_of_children_and_their_cpu_time(carry: Carry) -> None:
    outcome = greedy(carry, "ignore_ended_children")
    assert outcome.output == "20"  # 0 if the call had been heard: they would be gone, and their time with them
    assert outcome.exit.cpu_s >= 0.6


def test_process_limit(carry: Carry) -> None:
    outcome = greedy(carry, "count_forks", processes=20)
    assert 10 <= int(outcome.output) <= 20


def test_one_allocation_too_large_is_refused_at_once(carry: Carry) -> None:
    outcome = greedy(carry, "allocate")
    assert outcome.output == "MemoryError"
    assert outcome.exit.limit is None
    assert outcome.exit.peak_memory_bytes < 100 * MIB


def test_shared_pages_count_once(carry: Carry) -> None:
    outcome = greedy(carry, "share_with_forks", memory_bytes=150 * MIB)
    assert (outcome.output, outcome.exit.limit) == ("done 120", None)


@pytest.mark.parametrize("what", ["huge_file", "sparse_file"])
def test_file_size(carry: Carry, what: str) -> None:
    outcome = greedy(carry, what, file_bytes=4 * MIB, scratch_bytes=16 * MIB)
    assert outcome.output == "File too large"


def test_temporary_folder_is_bounded(carry: Carry, level: str) -> None:
    outcome = greedy(carry, "fill_temporary", scratch_bytes=32 * MIB)
    if level == "strict":
        assert outcome.output == "No space left on device"
    else:
        assert outcome.exit.limit == "disk"


def test_shared_memory_folder_is_bounded(carry: Carry, level: str) -> None:
    outcome = greedy(carry, "fill_shared_memory", scratch_bytes=32 * MIB)
    assert outcome.output == ("No space left on device" if level == "strict" else "Permission denied")


@pytest.mark.parametrize("what", ["fill_temporary", "fill_shared_memory", "fill_temporary_empty"])
def test_folders_in_memory_are_memory(carry: Carry, level: str, what: str) -> None:
    if level != "strict":
        pytest.skip("only level strict has folders in memory")
    outcome = greedy(carry, what, scratch_bytes=512 * MIB, memory_bytes=64 * MIB)
    assert outcome.exit.limit == "memory"


def test_hidden_folder(carry: Carry, level: str) -> None:
    outcome = greedy(carry, "fill_disk_hidden", scratch_bytes=32 * MIB)
    assert outcome.exit.limit == "disk"


@pytest.mark.parametrize("what", ["daemon", "daemon_holding_output"])
def test_grandchild_does_not_outlive(carry: Carry, what: str) -> None:
    started = time.monotonic()
    outcome = greedy(carry, what)
    assert (outcome.output, outcome.exit.code, outcome.exit.limit) == ("started", 0, None)
    assert time.monotonic() - started < 10


def test_killing_everybody_kills_nobody_else(carry: Carry) -> None:
    outcome = greedy(carry, "kill_everybody")
    assert "alive" in outcome.output or outcome.exit.signal == 9


@pytest.mark.parametrize("what", ["abort", "crash", "overflow_stack"])
def test_crashes_are_told_as_signals(carry: Carry, what: str) -> None:
    outcome = greedy(carry, what)
    assert outcome.exit.code is None
    assert outcome.exit.signal in (6, 11), outcome.exit


@pytest.mark.parametrize(
    ("what", "told", "code"), [("exit_silently", {}, 0), ("system_exit", {}, 0), ("exit_with", {"code": 7}, 7)]
)
def test_exit_code(carry: Carry, what: str, told: dict[str, object], code: int) -> None:
    outcome = carry("greedy", told={"what": what, **told})
    assert (outcome.exit.code, outcome.exit.signal, outcome.exit.limit) == (code, None, None)


def test_output_is_cleaned(carry: Carry) -> None:
    outcome = greedy(carry, "escapes")
    assert outcome.output == "red ��tab\there� �esrever"
    assert outcome.exit.stderr == "cleared\nnext\n"


def test_long_line_is_cut(carry: Carry) -> None:
    first, second = greedy(carry, "flood_one_line").output.splitlines()
    assert first == "x" * 65535 + "…"
    assert second == "after"


def test_a_child_that_is_not_shut_in_yet_is_not_charged_with_the_hosts_files():
    """Of the tree of a launcher, a watcher, bubblewrap and its child: here one of shells, which see all files."""
    script = 'if [ $1 = 0 ]; then echo up; read line; else /bin/sh -c "$0" "$0" $(($1 - 1)); fi; :'
    command = ["/bin/sh", "-c", script, script, "3"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as launcher:
        assert launcher.stdin is not None
        assert launcher.stdout is not None
        assert launcher.stdout.readline() == b"up\n"
        used = os.statvfs("/usr")
        assert (used.f_blocks - used.f_bfree) * used.f_frsize > 64 << 20
        meter = Meter(launcher.pid, ("/usr",))
        assert meter._shut_in() == descendants(launcher.pid)[-1]
        assert meter._folder_bytes() == 0
        launcher.stdin.close()
