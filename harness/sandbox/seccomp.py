"""The seccomp filters: which system calls a sandboxed process may not make.

This module owns an assembler for the few classic-BPF instructions that are needed, and the rules. The rules
are a deny list on top of namespaces or Landlock: what those leave open (kernel interfaces with a history of
holes, ways round an accounting, sockets). `personality` stays allowed, because the assembler turns address
randomisation off. It installs nothing; the launcher does.
"""

from __future__ import annotations

import errno
import platform
import signal
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.errors import SandboxError
from harness.sandbox.contract import Level
from harness.sandbox.syscalls import LAST_KNOWN, machine_supported, number_of

# BPF_LD|BPF_W|BPF_ABS, BPF_ALU|BPF_AND|BPF_K, BPF_JMP|{JEQ,JGT,JGE}|BPF_K, BPF_RET|BPF_K
_LOAD, _AND, _EQUAL, _GREATER, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x25, 0x35, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16  # offsets in struct seccomp_data
_AUDIT_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000

_NAMESPACES = 0x7E020080  # CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET,TIME}
_AF_UNIX, _SOCK_STREAM, _SOCK_TYPE_MASK = 1, 1, 0xF
_O_ACCMODE, _O_TRUNC = 0o3, 0o1000
_SET_ID_BITS = 0o6000
_PR_SET_PDEATHSIG = 1
_ALL = 0xFFFFFFFF
_SILENT = 0  # an errno of 0: the call does nothing and reports success


@dataclass(frozen=True)
class Rule:
    """Refuse calls of `name` with `error`.

    With `argument`, only those where `(args[argument] & mask) == value`, or differs from it if `unless`. Only
    the low 32 bits are looked at: the kernel takes no more of the arguments named below. With `pointer`, only
    those where that argument is not NULL, too.
    """

    name: str
    error: int = errno.EPERM
    argument: int | None = None
    mask: int = _ALL
    value: int = 0
    unless: bool = False
    pointer: int | None = None


_FORBIDDEN = (
    "ptrace process_vm_readv process_vm_writev kcmp unshare setns mount umount2 pivot_root chroot open_tree "
    "move_mount fsopen fsconfig fsmount fspick mount_setattr statmount listmount open_tree_attr pidfd_getfd "
    "process_madvise process_mrelease migrate_pages move_pages bpf perf_event_open userfaultfd io_uring_setup "
    "io_uring_enter io_uring_register add_key request_key keyctl kexec_load kexec_file_load init_module "
    "finit_module delete_module open_by_handle_at name_to_handle_at fanotify_init acct swapon swapoff reboot "
    "sethostname setdomainname settimeofday clock_settime clock_adjtime adjtimex quotactl quotactl_fd syslog "
    "vhangup iopl ioperm modify_ldt uselib memfd_create memfd_secret shmget msgget semget mq_open"
)

_COMMON = (
    *(Rule(name) for name in _FORBIDDEN.split()),
    Rule("clone3", errno.ENOSYS),  # its flags are out of a filter's sight; libc falls back to clone
    Rule("clone", argument=0, mask=_NAMESPACES, unless=True),
    Rule("socketpair", errno.EACCES, argument=0, value=_AF_UNIX, unless=True),
    # A datagram pair could be pointed at any other socket by name.
    Rule("socketpair", errno.EACCES, argument=1, mask=_SOCK_TYPE_MASK, value=_SOCK_STREAM, unless=True),
    Rule("ioctl", argument=1, value=0x5412),  # TIOCSTI, types into a terminal
    Rule("ioctl", argument=1, value=0x541C),  # TIOCLINUX
    # Who ignores the end of its children, or asks for no zombies, keeps their CPU time out of every count. The
    # call does nothing then: zombies stay until they are waited for, and are counted.
    Rule("rt_sigaction", _SILENT, argument=0, value=signal.SIGCHLD, pointer=1),
    # Whoever lives on after its parent: the command is to die with its watchers, and at strict all with the command.
    Rule("prctl", _SILENT, argument=0, value=_PR_SET_PDEATHSIG),
    Rule("chmod", argument=1, mask=_SET_ID_BITS, unless=True),
    Rule("fchmod", argument=1, mask=_SET_ID_BITS, unless=True),
    Rule("fchmodat", argument=2, mask=_SET_ID_BITS, unless=True),
    Rule("fchmodat2", argument=2, mask=_SET_ID_BITS, unless=True),
)

_STRICT = (
    # Own network namespace: a local socket reaches only the process's own.
    Rule("socket", errno.EACCES, argument=0, value=_AF_UNIX, unless=True),
)

# Landlock does not see metadata, and before its third version not truncation; whoever runs under our own uid
# must not touch other files' modes or other processes. Metadata calls report success: linkers and shutil make
# them on files of their own, where nothing depends on the result.
_METADATA = (
    "chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat utimensat setxattr "
    "lsetxattr fsetxattr removexattr lremovexattr fremovexattr setxattrat removexattrat"
)
_RESTRICTED = (
    Rule("socket", errno.EACCES),
    Rule("connect", errno.EACCES),
    Rule("bind", errno.EACCES),
    *(Rule(name, _SILENT) for name in _METADATA.split()),
    Rule("truncate"),
    Rule("open", argument=1, mask=_O_ACCMODE | _O_TRUNC, value=_O_TRUNC),
    Rule("openat", argument=2, mask=_O_ACCMODE | _O_TRUNC, value=_O_TRUNC),
    Rule("openat2", errno.ENOSYS),
    *(Rule(name, argument=0, unless=True) for name in ("prlimit64", "sched_setaffinity", "sched_setparam")),
    *(Rule(name, argument=0, unless=True) for name in ("sched_setscheduler", "sched_setattr")),
    *(Rule(name, argument=1, unless=True) for name in ("setpriority", "ioprio_set")),
    # A descriptor can be told to send any signal to any process: F_SETOWN, F_SETSIG, F_SETOWN_EX, FIOSETOWN.
    *(Rule("fcntl", argument=1, value=command) for command in (8, 10, 15)),
    *(Rule("ioctl", argument=1, value=command) for command in (0x8901, 0x8902)),
)
_OF_DRIVERS = frozenset({"memfd_create"})
# Without Landlock's signal scope (Linux 6.12) and without a uid of its own: no signal to anybody but itself.
_NO_SIGNALS = (
    Rule("kill", argument=0, unless=True),  # 0: the own process group
    *(Rule(name) for name in ("tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal")),
)


def build_filter(level: Level, *, signals: bool = True, drivers: bool = False, machine: str | None = None) -> bytes:
    """Return a level's filter as an array of `struct sock_filter`.

    Args:
        level: strict or restricted.
        signals: whether something else keeps the process from signalling processes outside the sandbox.
        drivers: whether the process has devices, whose libraries share memory with the kernel in files of their own.
        machine: as `platform.machine()` names it, this one by default.

    Raises:
        SandboxError: the system call numbers of this machine are not known here.
    """
    machine = machine or platform.machine()
    if not machine_supported(machine):
        raise SandboxError(f"no seccomp filter for {machine} machines: run submissions on x86_64 or aarch64")
    rules = _COMMON + (_STRICT if level is Level.STRICT else _RESTRICTED)
    if drivers:
        rules = tuple(rule for rule in rules if rule.name not in _OF_DRIVERS)
    return _assemble(rules if signals else rules + _NO_SIGNALS, machine)


def _assemble(rules: Sequence[Rule], machine: str) -> bytes:
    program = [
        _step(_LOAD, _ARCHITECTURE_AT),
        _step(_EQUAL, _AUDIT_ARCHITECTURE[machine], if_true=1),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER_AT),
        _step(_AT_LEAST, _X32_BIT, if_false=1),
        _step(_RETURN, _KILL),
        # Calls newer than this list: a libc that knows them has a way without.
        _step(_GREATER, LAST_KNOWN, if_false=1),
        _step(_RETURN, _ERRNO | errno.ENOSYS),
    ]
    for rule in rules:
        number = number_of(rule.name, machine)
        if number is not None:
            program.extend(_refuse(rule, number))
    program.append(_step(_RETURN, _ALLOW))
    return b"".join(program)


def _refuse(rule: Rule, number: int) -> Iterator[bytes]:
    """The accumulator holds the call's number, before and after."""
    refusal = _step(_RETURN, _ERRNO | rule.error)
    if rule.argument is None:
        yield _step(_EQUAL, number, if_false=1)
        yield refusal
        return
    of_pointer = [] if rule.pointer is None else list(_unless_null(rule.pointer))
    yield _step(_EQUAL, number, if_false=5 + len(of_pointer))
    yield _step(_LOAD, _ARGUMENTS_AT + 8 * rule.argument)
    yield _step(_AND, rule.mask)
    skip = 1 + len(of_pointer)
    holds, fails = (skip, 0) if rule.unless else (0, skip)
    yield _step(_EQUAL, rule.value, if_true=holds, if_false=fails)
    yield from of_pointer
    yield refusal
    yield _step(_LOAD, _NUMBER_AT)


def _unless_null(argument: int) -> Iterator[bytes]:
    """Skip the refusal, the next step, if both halves of an argument are 0."""
    at = _ARGUMENTS_AT + 8 * argument
    yield _step(_LOAD, at)
    yield _step(_EQUAL, 0, if_false=2)
    yield _step(_LOAD, at + 4)
    yield _step(_EQUAL, 0, if_true=1)


def _step(code: int, operand: int, *, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)
