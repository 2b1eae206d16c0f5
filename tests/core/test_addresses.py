"""Address randomisation of a process, turned off where it may be, whichever way it was before."""

import subprocess
import sys

import pytest

BEFORE = """
import ctypes, os, sys
personality = ctypes.CDLL(None).personality
if "HARNESS_ADDRESSES_FIXED" not in os.environ:
    personality(personality(0xFFFFFFFF) & ~0x40000 | RANDOM_OFF)
from harness.assemble.addresses import can_be_fixed, fix_addresses
"""


def run(code, *arguments, off):
    """Run code in a process of its own, with randomisation on or off; return what it prints."""
    prelude = BEFORE.replace("RANDOM_OFF", "0x40000" if off else "0")
    command = [sys.executable, "-c", prelude + code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def may_be_turned_off():
    return run("print(personality(personality(0xFFFFFFFF) | 0x40000) != -1)", off=False) == ["True"]


ways = pytest.mark.parametrize("off", [False, pytest.param(True, id="off before")])


@ways
def test_asking_changes_nothing(off):
    if off and not may_be_turned_off():
        pytest.skip("this machine forbids it")
    now, can, then = run("print(personality(0xFFFFFFFF), can_be_fixed(), personality(0xFFFFFFFF))", off=off)
    assert now == then
    assert can == str(may_be_turned_off())


@ways
def test_a_process_begins_anew_at_most_once(off):
    if off and not may_be_turned_off():
        pytest.skip("this machine forbids it")
    code = (
        "fix_addresses(); print(personality(0xFFFFFFFF) & 0x40000 != 0, len(os.environ.keys() & {NAME}), *sys.argv[1:])"
    )
    told = run(code.replace("NAME", "'HARNESS_ADDRESSES_FIXED'"), "a", "b c", off=off)
    can = may_be_turned_off()
    assert told == [str(can), str(int(can and not off)), "a", "b", "c"]
