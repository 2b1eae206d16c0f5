"""Replays on one GPU take turns; processes on other GPUs do not wait for them."""

import os
import subprocess
import sys
import threading

from harness.replay.node.turn import take_turn

HOLD = """
import sys
from pathlib import Path
from harness.replay.node.turn import take_turn
with take_turn(sys.argv[1], lambda: print("waiting", flush=True), Path(sys.argv[2])) as turn:
    print("held" if turn.held else "went on", flush=True)
    sys.stdin.read()
"""


def holder(gpu, folder):
    command = [sys.executable, "-c", HOLD, gpu, str(folder)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def end(process):
    process.stdin.close()
    process.wait(timeout=30)
    process.stdout.close()


def test_the_second_waits_for_the_first(tmp_path):
    first = holder("GPU-a", tmp_path)
    assert first.stdout.readline() == "held\n"
    second = holder("GPU-a", tmp_path)
    assert second.stdout.readline() == "waiting\n"
    other = holder("GPU-b", tmp_path)
    assert other.stdout.readline() == "held\n"
    end(first)
    assert second.stdout.readline() == "held\n"
    end(second)
    end(other)


def test_one_that_was_killed_holds_nobody_up(tmp_path):
    first = holder("GPU-a", tmp_path)
    assert first.stdout.readline() == "held\n"
    first.kill()
    end(first)
    with take_turn("GPU-a", lambda: None, tmp_path) as turn:
        assert turn.held


def test_those_that_time_nothing_share_and_keep_off_those_that_do(tmp_path):
    with (
        take_turn("GPU-a", lambda: None, tmp_path, shared=True),
        take_turn("GPU-a", lambda: 1 / 0, tmp_path, shared=True),
    ):
        timed = holder("GPU-a", tmp_path)
        assert timed.stdout.readline() == "waiting\n"
    assert timed.stdout.readline() == "held\n"
    end(timed)


def test_who_shares_can_have_it_alone_once_the_others_are_done(tmp_path):
    heard = []
    told = {"waiting": lambda: heard.append("waits"), "resumed": lambda: heard.append("resumed")}
    with take_turn("GPU-a", folder=tmp_path, shared=True, **told) as turn:
        turn.have_alone()
        assert (heard, turn.shared) == ([], False)
        other = holder("GPU-a", tmp_path)
        assert other.stdout.readline() == "waiting\n"
    assert other.stdout.readline() == "held\n"
    end(other)


def test_two_that_share_and_want_it_alone_do_not_wait_for_each_other(tmp_path):
    def want(number):
        with take_turn("GPU-a", lambda: None, tmp_path, shared=True) as turn:
            both.wait(30)
            turn.have_alone()
            order.append(number)

    both, order = threading.Barrier(2), []
    threads = [threading.Thread(target=want, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(order) == [0, 1]


def test_without_a_folder_it_goes_on(tmp_path):
    with take_turn("GPU-a", lambda: None, tmp_path / "missing") as turn:
        assert not turn.held


def test_a_link_in_the_locks_place_is_not_followed(tmp_path):
    (tmp_path / "harness-GPU-a.lock").symlink_to(tmp_path / "elsewhere")
    with take_turn("GPU-a", lambda: None, tmp_path) as turn:
        assert not turn.held
    assert not os.path.lexists(tmp_path / "elsewhere")
