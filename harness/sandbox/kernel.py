"""Linux calls that Python's library lacks, for the launcher: forks, mount namespaces, prctl, seccomp, Landlock.

It runs in the launcher, before untrusted code does, and is imported by name without the package around it
(see `fork_server`), so it imports the standard library only. Landlock's numbers: include/uapi/linux/landlock.h.
"""

# Imported by the launcher, for which pathlib costs too much.
# ruff: noqa: PTH112, PTH123

from __future__ import annotations

import ctypes
import os

TYPE_CHECKING = False  # see `fork_server`
if TYPE_CHECKING:
    from collections.abc import Iterable

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
_CLONE_NEWNS, _CLONE_NEWUSER, _CLONE_PARENT = 0x00020000, 0x10000000, 0x00008000
_CLONE = 56 if os.uname().machine == "x86_64" else 220
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442  # the same numbers on every architecture
_OPEN_TREE_CLONE, _AT_EMPTY_PATH, _MOVE_FROM_DESCRIPTOR, _AT_FDCWD = 1, 0x1000, 4, -100
_MOUNT_ATTR_RDONLY, _MOUNT_ATTR_NOSUID, _MOUNT_ATTR_IDMAP = 0x1, 0x2, 0x00100000

_PR_SET_PDEATHSIG, _SIGKILL, _SIGCHLD = 1, 9, 17
_PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 36, 38, 22, 2
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446  # the same numbers on every architecture
_ABI_QUERY, _RULE_PATH_BENEATH = 1, 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_FIRST_VERSION = (1 << 13) - 1
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
_ADDED = {2: 1 << 13, 3: _TRUNCATE, 5: _IOCTL_DEVICE}  # by version: moving between folders, truncation, ioctls
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_ALL_TCP, _ALL_SCOPES = 0b11, 0b11  # bind and connect; abstract sockets and signals
SIGNAL_SCOPE_ABI = 6

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_holding = ctypes.PyDLL(None, use_errno=True)  # calls with Python's lock held
_holding.syscall.restype = ctypes.c_long
_holding.syscall.argtypes = [ctypes.c_long] * 6


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


class _MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "namespace")]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("filter", ctypes.c_void_p)]


def _check(result: int, what: str) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def _prctl(option: int, value: object, what: str, more: object = 0) -> None:
    _check(_libc.prctl(option, value, more, 0, 0), what)


def fork_sibling() -> int:
    """Fork; the child's parent is this process's parent. Only for a process without other threads.

    Returns:
        The child's process id, 0 in the child.
    """
    return _check(_holding.syscall(_CLONE, _CLONE_PARENT | _SIGCHLD, 0, 0, 0, 0), "fork")


def die_with_parent() -> None:
    """Have this process killed when the thread that started it ends."""
    _prctl(_PR_SET_PDEATHSIG, _SIGKILL, "parent death signal")


def unshare_mounts() -> None:
    """Give this process a mount namespace of its own, from which nothing propagates."""
    _check(_libc.unshare(_CLONE_NEWNS), "unshare")
    attach(None, "/", MS_REC | MS_PRIVATE)


def attach(source: str | None, target: str, flags: int, kind: str | None = None, data: str | None = None) -> None:
    """Mount a file system, or change a mount, as mount(2) does."""
    arguments = [None if text is None else os.fsencode(text) for text in (source, target, kind, data)]
    _check(_libc.mount(*arguments[:3], ctypes.c_ulong(flags), arguments[3]), f"mount on {target}")


def attach_as(source: int, target: str, uid: int) -> None:
    """Mount an open file or folder, read-only, with what its owner owns shown as owned by `uid`.

    Raises:
        OSError: the file system or the kernel cannot; the message says what to do instead.
    """
    namespace = _owner_namespace(os.stat(source), uid)
    attributes = _MountAttributes(_MOUNT_ATTR_IDMAP | _MOUNT_ATTR_RDONLY | _MOUNT_ATTR_NOSUID, 0, 0, namespace)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    tree = _check(_libc.syscall(_OPEN_TREE, source, b"", _OPEN_TREE_CLONE | _AT_EMPTY_PATH), "open_tree")
    what = f"{target} is closed to other users (chmod o+rX it) and cannot be opened to one"
    _check(_libc.syscall(_MOUNT_SETATTR, tree, b"", _AT_EMPTY_PATH, ctypes.byref(attributes), size), what)
    where = (_AT_FDCWD, os.fsencode(target), _MOVE_FROM_DESCRIPTOR)
    _check(_libc.syscall(_MOVE_MOUNT, tree, b"", *where), "move_mount")
    os.close(tree)
    os.close(namespace)


def _owner_namespace(owner: os.stat_result, uid: int) -> int:
    """A user namespace in which an owner's ids stand for `uid`. It lives as long as its descriptor."""
    ready, ready_end = os.pipe()
    holder = os.fork()
    if holder == 0:
        _libc.unshare(_CLONE_NEWUSER)
        os.write(ready_end, b"x")
        _libc.pause()
    os.read(ready, 1)
    try:
        for name, number in (("uid_map", owner.st_uid), ("gid_map", owner.st_gid)):
            with open(f"/proc/{holder}/{name}", "w", encoding="ascii") as file:
                file.write(f"{number} {uid} 1")
        return os.open(f"/proc/{holder}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.kill(holder, 9)
        os.waitpid(holder, 0)
        os.close(ready)
        os.close(ready_end)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1, "subreaper")


def forgo_privileges() -> None:
    """Make setuid programs ordinary for this process and its descendants."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1, "no_new_privs")


def install_filter(program: bytes) -> None:
    """Install a seccomp filter, an array of `struct sock_filter`, on this process and its descendants."""
    code = ctypes.create_string_buffer(program, len(program))
    header = _Program(len(program) // 8, ctypes.cast(code, ctypes.c_void_p))
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, "seccomp", ctypes.byref(header))


def landlock_abi() -> int:
    """Return the version of Landlock that the kernel offers, 0 if none."""
    return max(0, int(_libc.syscall(_LANDLOCK_CREATE, None, 0, _ABI_QUERY)))


def restrict_files(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Confine this process and its descendants to some files and folders; names that do not exist are skipped.

    Also keeps signals, TCP and abstract sockets inside, where the kernel's version of Landlock can.
    """
    abi = landlock_abi()
    handled = _FIRST_VERSION
    for version, right in _ADDED.items():
        handled |= right if abi >= version else 0
    rules = _Ruleset(handled, _ALL_TCP, _ALL_SCOPES)
    size = 8 if abi < 4 else 16 if abi < SIGNAL_SCOPE_ABI else 24
    ruleset = _check(_libc.syscall(_LANDLOCK_CREATE, ctypes.byref(rules), size, 0), "landlock")
    for path in readable:
        _allow(ruleset, path, handled & _READ)
    for path in writable:
        _allow(ruleset, path, handled)
    _check(_libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0), "landlock")
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not os.path.isdir(path):
        rights &= _OF_FILES
    rule = _PathBeneath(rights, descriptor)
    arguments = (ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), 0)
    _check(_libc.syscall(_LANDLOCK_ADD, *arguments), f"landlock rule for {path}")
    os.close(descriptor)
