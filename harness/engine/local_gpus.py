"""This machine's GPUs as the driver's own tool lists them, and which of them a season ranks. Imports no torch."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass

from harness.spec import Season
from harness.target import Target, load_target


@dataclass(frozen=True)
class LocalGpu:
    """A GPU as its machine names it.

    Attributes:
        uuid: what CUDA_VISIBLE_DEVICES takes; "" where it is not known.
    """

    name: str
    capability: tuple[int, int]
    uuid: str = ""

    def is_of(self, target: Target) -> bool:
        """Tell whether it is a target's model. Machine code runs on its own architecture only; the name tells more."""
        return self.capability == target.capability and target.name.lower() in self.name.lower()


def find_local_gpus() -> tuple[LocalGpu, ...]:
    """Return the GPUs that the driver's own tool lists, as far as CUDA_VISIBLE_DEVICES shows them. Imports no torch."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ()
    query = [tool, "--query-gpu=index,uuid,compute_cap,name", "--format=csv,noheader"]
    try:
        result = subprocess.run(query, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    rows = [[part.strip() for part in line.split(",", 3)] for line in result.stdout.splitlines()]
    shown = os.environ.get("CUDA_VISIBLE_DEVICES")
    found = [(row[0], gpu) for row in rows if (gpu := _parse_gpu(row)) is not None]
    return tuple(gpu for index, gpu in found if _is_shown(index, gpu.uuid, shown))


def find_local_gpu() -> LocalGpu | None:
    """Return the first GPU of `find_local_gpus`, None where there is none."""
    return next(iter(find_local_gpus()), None)


def _is_shown(index: str, uuid: str, shown: str | None) -> bool:
    if shown is None:
        return True
    return any(name and (name == index or uuid.startswith(name)) for name in map(str.strip, shown.split(",")))


def _parse_gpu(row: list[str]) -> LocalGpu | None:
    if len(row) != 4:
        return None
    major, _, minor = row[2].partition(".")
    return LocalGpu(row[3], (int(major), int(minor)), row[1]) if major.isdigit() and minor.isdigit() else None


def find_season_gpu(season: Season) -> tuple[LocalGpu, Target] | None:
    """Return this machine's first GPU that the season ranks, with its target; None if there is none."""
    for name in season.targets:
        target = load_target(name)
        gpu = find_gpu_of(target)
        if gpu is not None:
            return gpu, target
    return None


def find_gpu_of(target: Target) -> LocalGpu | None:
    """Return this machine's first GPU of a target's model, None if there is none."""
    return next((gpu for gpu in find_local_gpus() if gpu.is_of(target)), None)
