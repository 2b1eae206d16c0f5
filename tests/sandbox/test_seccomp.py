"""The filters as programs: an interpreter of classic BPF runs them for both machines, without a kernel."""

from __future__ import annotations

import errno
import struct

import pytest

from harness.errors import SandboxError
from harness.sandbox import Level
from harness.sandbox.seccomp import build_filter
from harness.sandbox.syscalls import number_of

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, KILL = 0x7FFF0000, 0x80000000


def judge(program: bytes, machine: str, number: int, *arguments: int) -> int | str:
    """Run a filter; return "allow", "kill" or the error number."""
    padded = (*arguments, *[0] * (6 - len(arguments)))
    call = struct.pack("=IIQ6Q", number, ARCHITECTURES[machine], 0, *padded)
    steps = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    accumulator, at = 0, 0
    while True:
        code, if_true, if_false, operand = steps[at]
        at += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("=I", call, operand)
        elif code == 0x54:
            accumulator &= operand
        elif code == 0x06:
            return {ALLOW: "allow", KILL: "kill"}.get(operand, operand & 0xFFFF)
        else:
            holds = {0x15: accumulator == operand, 0x25: accumulator > operand, 0x35: accumulator >= operand}[code]
            at += if_true if holds else if_false


@pytest.fixture(params=sorted(ARCHITECTURES))
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("level", [Level.STRICT, Level.RESTRICTED])
@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("ptrace", (0,), errno.EPERM),
        ("bpf", (), errno.EPERM),
        ("clone3", (), errno.ENOSYS),
        ("clone", (0x11,), "allow"),
        ("clone", (0x003D0F00,), "allow"),  # a thread
        ("clone", (0x10000011,), errno.EPERM),
        ("clone", (0x40000011,), errno.EPERM),
        ("socket", (2, 1), errno.EACCES),
        ("socket", (16, 3), errno.EACCES),
        ("socketpair", (1, 0x80001), "allow"),
        ("socketpair", (1, 2), errno.EACCES),
        ("socketpair", (30, 1), errno.EACCES),
        ("ioctl", (0, 0x5412), errno.EPERM),
        ("ioctl", (0, 0x5401), "allow"),
        ("fchmod", (3, 0o4755), errno.EPERM),
        ("io_uring_setup", (), errno.EPERM),
        ("rt_sigaction", (17, 0x7FFF_0000_1000), 0),
        ("rt_sigaction", (17, 0x1_0000_0000), 0),  # a pointer whose low half is 0
        ("rt_sigaction", (17, 0, 0x7FFF_0000_1000), "allow"),  # only asks
        ("rt_sigaction", (2, 0x7FFF_0000_1000), "allow"),
        ("prctl", (1, 0), 0),
        ("prctl", (1, 9), 0),
        ("prctl", (0xFFFF_FFFF_0000_0001, 0), 0),  # the kernel takes the low half
        ("prctl", (2, 0x7FFF_0000_1000), "allow"),  # only asks
        ("prctl", (15, 0x7FFF_0000_1000), "allow"),
    ],
)
def test_common_rules(machine: str, level: Level, name: str, arguments: tuple[int, ...], result: int | str) -> None:
    number = number_of(name, machine)
    assert number is not None
    assert judge(build_filter(level, machine=machine), machine, number, *arguments) == result


@pytest.mark.parametrize(
    ("name", "arguments", "strict", "restricted"),
    [
        ("socket", (1, 1), "allow", errno.EACCES),
        ("connect", (), "allow", errno.EACCES),
        ("fchmod", (3, 0o755), "allow", 0),
        ("utimensat", (), "allow", 0),
        ("openat", (0, 0, 0o1000), "allow", errno.EPERM),
        ("openat", (0, 0, 0o1101), "allow", "allow"),
        ("truncate", (), "allow", errno.EPERM),
        ("prlimit64", (0,), "allow", "allow"),
        ("prlimit64", (77,), "allow", errno.EPERM),
        ("setpriority", (0, 77), "allow", errno.EPERM),
        ("fcntl", (3, 8), "allow", errno.EPERM),
        ("fcntl", (3, 2), "allow", "allow"),
        ("kill", (77, 9), "allow", "allow"),
    ],
)
def test_rules_by_level(
    machine: str, name: str, arguments: tuple[int, ...], strict: int | str, restricted: int | str
) -> None:
    number = number_of(name, machine)
    assert number is not None
    for level, result in ((Level.STRICT, strict), (Level.RESTRICTED, restricted)):
        assert judge(build_filter(level, machine=machine), machine, number, *arguments) == result


def test_no_signals(machine: str) -> None:
    program = build_filter(Level.RESTRICTED, signals=False, machine=machine)
    kill, thread_kill = number_of("kill", machine), number_of("tgkill", machine)
    assert kill is not None
    assert thread_kill is not None
    assert judge(program, machine, kill, 77, 9) == errno.EPERM
    assert judge(program, machine, kill, 0, 9) == "allow"
    assert judge(program, machine, thread_kill, 77, 77, 9) == errno.EPERM


def test_other_architectures_and_unknown_calls(machine: str) -> None:
    program = build_filter(Level.STRICT, machine=machine)
    other = next(name for name in ARCHITECTURES if name != machine)
    assert judge(program, other, 0) == "kill"
    assert judge(program, machine, 0x40000000) == "kill"
    assert judge(program, machine, 468) == errno.ENOSYS
    personality = {"x86_64": 135, "aarch64": 92}[machine]
    assert judge(program, machine, personality, 0x0040000) == "allow"


def test_unknown_machine() -> None:
    with pytest.raises(SandboxError, match="no seccomp filter for riscv64 machines"):
        build_filter(Level.STRICT, machine="riscv64")
