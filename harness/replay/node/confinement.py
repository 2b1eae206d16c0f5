"""How a runner is confined on a node: the harness's own sandbox, with the device nodes of one GPU.

No submitted Python runs in a runner, so this is a second wall: behind it, a kernel that got hold of the process would
find a read-only system, no network, no other process, and another GPU's memory out of reach. The highest level at which
the GPU's driver starts is used (`RunnerProcess` tries them in order), and is stored with the record.
"""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.sandbox import Exit, Job, Level, Limits, Mount, python_mounts, remove_tree, start, visible

ARTIFACT = "/artifact"
MEMORY_BYTES = 64 << 30  # torch and the driver reserve many times what they use
GRACE_S = 2.0
WALL_S = 3600.0  # calls have limits of their own
_LIMITS = Limits(WALL_S, None, MEMORY_BYTES, 512, 1 << 30, 1 << 30, 8 << 20)

_KEPT = ("LD_LIBRARY_PATH", "PYTHONPATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME")
_FIXED = {"CUDA_MODULE_LOADING": "LAZY", "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
_FOLDERS_IN = ("LD_LIBRARY_PATH", "PYTHONPATH")
_SHARED_NODES = ("nvidiactl", "nvidia-uvm")  # every GPU's; modeset and uvm-tools are for displays and debuggers
_DRIVER_FILES = ("/proc/driver/nvidia", "/proc/devices", "/sys/devices/system/node", "/sys/bus/pci/devices")
_DEV, _GPUS = Path("/dev"), Path("/proc/driver/nvidia/gpus")


@dataclass
class Confined:
    """A runner in its sandbox.

    Attributes:
        requests: the end of its standard input that we write to.
        replies: the end of its reply pipe that we read from.
        channel: our end of a socket through which it can be handed descriptors.
        scratch: the folder that it writes to.
        closed: it was ended.
    """

    job: Job
    level: Level
    requests: int
    replies: int
    channel: socket.socket
    scratch: Path
    closed: bool = False

    def end(self) -> Exit:
        """Wait for its end, but not for long: what lives on is killed."""
        killer = threading.Timer(GRACE_S, self.job.stop, ("ended",))
        killer.start()
        try:
            return self.job.wait()
        finally:
            killer.cancel()

    def close(self) -> None:
        """Let it end by itself, which leaves the GPU tidy; kill it if it does not; remove what it left.

        Closing again does nothing: by then its descriptors' numbers may be another file's.
        """
        if self.closed:
            return
        self.closed = True
        os.close(self.requests)
        self.channel.close()
        self.end()
        os.close(self.replies)
        remove_tree(self.scratch)


def confine(program: Sequence[str], artifact: Path, shared: tuple[int, int], level: Level) -> Confined:
    """Start a runner at a level.

    Args:
        program: the command that starts a Python with this package.
        artifact: the artifact's folder.
        shared: descriptor and size of the memory shared with it.
        level: of the sandbox.

    Raises:
        SandboxError: the sandbox could not be made.
    """
    mount = Mount(artifact.absolute(), ARTIFACT)
    scratch = Path(tempfile.mkdtemp(prefix="harness-runner-"))
    requests_end, requests = os.pipe()
    replies, replies_end = os.pipe()
    channel, channel_end = socket.socketpair()
    descriptors = (shared[0], channel_end.fileno(), replies_end)
    numbers = [descriptors[0], shared[1], *descriptors[1:]]
    arguments = ["runner", visible(level, mount), *map(str, numbers)]
    try:
        job = start(
            [*program, *arguments],
            level=level,
            mounts=(*python_mounts(), mount, *_needed_files(program, level)),
            scratch=scratch,
            limits=_LIMITS,
            environment=_environment(),
            stdin=requests_end,
            devices=find_devices(),
            descriptors=descriptors,
        )
    except BaseException:
        os.close(requests)
        os.close(replies)
        channel.close()
        remove_tree(scratch)
        raise
    finally:
        os.close(requests_end)
        os.close(replies_end)
        channel_end.close()
    return Confined(job, level, requests, replies, channel, scratch)


def find_devices(dev: Path = _DEV, gpus: Path = _GPUS, visible_devices: str | None = None) -> tuple[Path, ...]:
    """Return the device nodes that the first visible GPU needs; those of all GPUs where its own can't be told.

    Args:
        dev: where device nodes are.
        gpus: where the driver describes its GPUs, a folder each.
        visible_devices: as CUDA_VISIBLE_DEVICES has it, from the environment by default.
    """
    shared = [dev / name for name in _SHARED_NODES if (dev / name).exists()]
    nodes = {path.name.removeprefix("nvidia"): path for path in sorted(dev.glob("nvidia[0-9]*"))}
    if visible_devices is None:
        visible_devices = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    minor = _find_minor(gpus, visible_devices)
    capabilities = [path for path in (dev / "nvidia-caps",) if path.exists()] if minor not in nodes else []
    chosen = [nodes[minor]] if minor in nodes else list(nodes.values())
    return (*shared, *chosen, *capabilities)


def _find_minor(gpus: Path, visible_devices: str) -> str:
    """Return the number of the visible GPU's node, "" where it can't be told (a slice of a GPU, a masked /proc)."""
    wanted = visible_devices.split(",")[0].strip()
    found = [facts for folder in sorted(gpus.glob("*")) if (facts := _read_facts(folder / "information"))]
    named = [facts for facts in found if wanted and facts.get("GPU UUID", "").startswith(wanted)]
    # Numbers count GPUs in CUDA's order, which need not be the driver's: only a UUID, or an only GPU, is certain.
    certain = named if wanted.startswith("GPU-") else found
    return certain[0].get("Device Minor", "") if len(certain) == 1 else ""


def _read_facts(file: Path) -> dict[str, str]:
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    pairs = [line.partition(":") for line in lines]
    return {name.strip(): value.strip() for name, _, value in pairs}


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**_FIXED, "CUDA_VISIBLE_DEVICES": "0", **kept}


def _needed_files(program: Sequence[str], level: Level) -> Iterator[Mount]:
    """Yield what a runner reads beside Python: its own program, and where the driver's libraries and facts are."""
    folders = [part for name in _FOLDERS_IN for part in os.environ.get(name, "").split(os.pathsep)]
    paths = [*program[1:], *folders]
    if level is Level.RESTRICTED:
        paths += _DRIVER_FILES
    for path in dict.fromkeys(paths):
        given = Path(path)
        if given.is_absolute() and given.exists() and not str(given).startswith(("/usr/", sys.prefix)):
            yield Mount(given, path)
