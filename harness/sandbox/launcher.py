"""What every sandbox is at first, a fork of `fork_server`: prepares, forks what becomes the command, and watches.

It trusts the request, which the parent wrote, and runs before any untrusted code. It owns the order of things:
expose what another uid could not reach, then, in the fork, drop to that uid, limits, and bubblewrap (strict) or
Landlock and seccomp (restricted) or nothing more (none).

Two watchers stay, the second a child of the first and the parent of the command. Each is a subreaper, and kills all its
descendants when its child ends or the parent cuts the lifeline, by dying too: whichever is killed, the other ends all.
So it is at strict as well: bubblewrap's process namespace dies as one, but until its first process is ready to die with
bubblewrap, nothing else would end it.

READY is closed by the exec, empty; or else holds the reason why there was none. Imports are few, because the first
launch pays for them.
"""

# Pathlib would cost more than the rest of a launch.
# ruff: noqa: PTH103, PTH110, PTH112, PTH116, PTH118, PTH120, PTH123, PTH208

from __future__ import annotations

import os
import resource
import select

TYPE_CHECKING = False  # as type checkers know it, without the import that would double the cost
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

kernel: Any = __import__("kernel")  # the sibling by name, without the package and its imports

_KILLED = 9
_REAP_INTERVAL_MS = 200
_FAILED = 125
# (first uid, how many): far from any account; or, in a container with few uids, from most.
_UID_RANGES = ((0x6000_0000, 1 << 22), (40_000, 20_000))


def launch(request: dict[str, Any], ready: int, lifeline: int) -> None:
    """Carry out the request; return only by an exception."""
    os.umask(0o022)  # the user's own may close what is made here to the uid that is dropped to
    uid = None
    if request["drop"] and os.geteuid() == 0:
        uid = _free_uid()
        _hand_over(request["scratch"], uid)
        _expose(request["paths"], request["scratch"], uid)
    os.chdir(request["scratch"] if request["level"] != "strict" else "/")
    if not os.read(lifeline, 1):  # the parent knows of us, or is gone
        os._exit(_FAILED)
    _supervise(request, uid, ready, lifeline)


def _free_uid() -> int:
    """A uid that nothing else has: process limits count per uid, and equal uids may signal each other."""
    with open("/proc/self/uid_map") as file:
        ranges = [tuple(map(int, line.split())) for line in file]
    for first, count in _UID_RANGES:
        uid = first + os.getpid() % count
        if any(start <= uid < start + length for start, _, length in ranges):
            return uid
    raise OSError("root here has no spare uid to drop to; run the harness as an ordinary user")


def _hand_over(scratch: str, uid: int) -> None:
    os.chown(scratch, uid, uid)
    for folder, names, files in os.walk(scratch):
        for name in names + files:
            os.chown(os.path.join(folder, name), uid, uid, follow_symlinks=False)


def _drop_to(uid: int | None) -> None:
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)


def _limit(limits: list[tuple[int, int]]) -> None:
    for number, value in limits:
        hard = resource.getrlimit(number)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(number, (value, value))


def _expose(paths: list[str], scratch: str, uid: int) -> None:
    """Let `uid` read paths that are closed to it, or lie under folders that are, such as root's home.

    In a mount namespace of our own, an empty folder covers each closed folder, with only these paths put back;
    and a path that is itself closed is mounted over itself with its owner shown as `uid`.
    """
    reached = {*paths, *map(os.path.realpath, paths), scratch}
    hidden = {path: top for path in reached if (top := _closed_folder(path))}
    unreadable = {path for path in paths if _is_unreadable(path)}
    if not hidden and not unreadable:
        return
    try:
        kernel.unshare_mounts()
    except OSError:
        raise OSError(f"{min({*hidden, *unreadable})} is closed to other users: chmod o+rX it") from None
    descriptors = {path: os.open(path, os.O_PATH) for path in sorted({*hidden, *unreadable})}
    tops = set(map(os.path.realpath, hidden.values()))
    for top in tops:
        kernel.attach("tmpfs", top, kernel.MS_NOSUID | kernel.MS_NODEV, "tmpfs", "mode=755,size=1m")
    for path, descriptor in descriptors.items():
        if path in hidden and not os.path.lexists(path):
            _make_mount_point(path, os.path.isdir(f"/proc/self/fd/{descriptor}"))
            if path not in unreadable:
                kernel.attach(f"/proc/self/fd/{descriptor}", path, kernel.MS_BIND | kernel.MS_REC)
        if path in unreadable:
            kernel.attach_as(descriptor, path, uid)
        os.close(descriptor)
    for top in tops:
        kernel.attach(None, top, kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY)


def _closed_folder(path: str) -> str | None:
    """The first folder on the way to a path that other users cannot pass."""
    folder = "/"
    for part in os.path.dirname(path).split("/")[1:]:
        if not os.stat(folder).st_mode & 0o001:
            return folder
        folder = os.path.join(folder, part)
    return None if os.stat(folder).st_mode & 0o001 else folder


def _is_unreadable(path: str) -> bool:
    needed = 0o005 if os.path.isdir(path) else 0o004
    return os.path.exists(path) and os.stat(path).st_mode & needed != needed


def _make_mount_point(path: str, is_folder: bool) -> None:
    os.makedirs(path if is_folder else os.path.dirname(path), exist_ok=True)
    if not is_folder:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))


def _supervise(request: dict[str, Any], uid: int | None, ready: int, lifeline: int) -> None:
    """Become the first watcher, above the second, which is above the command."""

    def begin(above: int) -> None:
        _watch(lambda second: _become(request, uid, second), request["kept"], above, ready, lifeline)

    _watch(begin, request["kept"], request["parent"], ready, lifeline)


def _watch(begin: Callable[[int], None], kept: list[int], parent: int, ready: int, lifeline: int) -> None:
    """Fork, and have the fork begin, told who we are; watch until it ends or we should, and leave nothing of it."""
    kernel.adopt_orphans()
    watcher = os.getpid()
    below = os.fork()
    if below == 0:
        try:
            begin(watcher)
        except BaseException as error:
            os.write(ready, f"{error}"[:2000].encode(errors="replace"))
        os._exit(_FAILED)
    null = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    for descriptor in (ready, *kept):
        os.close(descriptor)
    status = _wait(below, lifeline, parent)
    _kill_descendants()
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def _become(request: dict[str, Any], uid: int | None, watcher: int) -> None:
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # when the machine runs out of memory, this is what should go, and not its watchers
    os.setsid()
    _drop_to(uid)
    kernel.die_with_parent()  # the second watcher; a change of uid would forget this
    if os.getppid() != watcher:  # it was killed before we asked for that
        os._exit(_FAILED)
    if request["level"] == "strict":  # bubblewrap does the rest
        _limit(request["limits"])
    else:
        _confine(request, uid)
    os.execve(request["argv"][0], request["argv"], request["environment"])  # noqa: S606


def _confine(request: dict[str, Any], uid: int | None) -> None:
    """Limit and restrict this process where no bubblewrap will."""
    in_use = 0 if uid is not None else _tasks_of(os.geteuid())
    _limit([*request["limits"], (resource.RLIMIT_NPROC, in_use + request["processes"])])
    kernel.forgo_privileges()
    if request["level"] == "restricted":
        with open(request["filter"], "rb") as file:
            program = file.read()
        kernel.restrict_files(
            [*request["system"], *request["paths"], f"/proc/{os.getpid()}"],
            [request["scratch"], "/dev/null", *request["devices"]],
        )
        kernel.install_filter(program)


def _tasks_of(uid: int) -> int:
    """How many threads a user has: the process limit counts them all."""
    count = 0
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                count += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue  # it has ended
    return count


def _wait(child: int, lifeline: int, parent: int) -> int:
    """Wait for a child, reaping orphans; return its status, as of a kill if the lifeline is cut.

    A parent that has died cut it, but for a copy of its end in something that it forked: hence the look at who it is.
    """
    poll = select.poll()
    poll.register(lifeline, select.POLLIN)
    poll.register(os.pidfd_open(child), select.POLLIN)
    while True:
        ready = {descriptor for descriptor, _ in poll.poll(_REAP_INTERVAL_MS)}
        while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
            if ended[0] == child:
                return ended[1]
        if lifeline in ready or os.getppid() != parent:
            return _KILLED


def _kill_descendants() -> None:
    """Kill until none is left: one that forked meanwhile has left its child to us."""
    while pending := _descendants(os.getpid()):
        for pid in pending:
            try:
                os.kill(pid, _KILLED)
            except ProcessLookupError:
                continue
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            return
        select.poll().poll(1)


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                children = [int(child) for child in file.read().split()]
            found += children
            for child in children:
                found += _descendants(child)
    except OSError:
        pass  # it has ended
    return found
