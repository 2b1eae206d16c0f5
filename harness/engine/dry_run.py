"""What a dry run needs beside the main job: which GPU a node has, whose words its errors are, and the floor."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from harness.case import Case
from harness.engine.gpu import floor_us
from harness.engine.gpu_node import NodeLacksError, describe_gpu
from harness.engine.local_gpus import LocalGpu
from harness.engine.request import BuildRequest
from harness.errors import UsageError
from harness.spec import Season
from harness.target import Target, load_target, target_names

NO_GPU = (
    "No {target} is here and no NODE was given, so this was compiled and not replayed: no value was checked. "
    "`make submit PROBLEM={problem}` checks them on the CPU; with a GPU machine that you may log in to: "
    "make dry-run PROBLEM={problem} NODE=user@host"
)
NO_CHECK = (
    "--full is for the check, and with no {target} here and no NODE a dry run checks nothing: "
    "`make submit PROBLEM={problem} ARGS=--full` checks all programs on the CPU"
)


@contextlib.contextmanager
def name_node(name: str, python: str) -> Iterator[None]:
    """Say whose words they are when a node says what it lacks, and how to name another Python there.

    Args:
        name: of the node.
        python: the node's Python that was used.
    """
    try:
        yield
    except NodeLacksError as error:
        # What is not installed may be so in another Python; a full disk is full for all of them.
        which = _OTHER_PYTHON.format(python=python) if "installed" in str(error) else ""
        raise NodeLacksError(f"{name} says: {error}{which}") from None


_OTHER_PYTHON = "\nThat was its {python}: name another of its Pythons with NODE_PYTHON=... (make) or --python"


def find_node_target(command: Sequence[str], name: str, wanted: Target | None, season: Season) -> Target:
    """Return the target that a node's GPU is; the season's own come first.

    Args:
        command: starts the node's program.
        name: of the node, for messages.
        wanted: what it must be, None for whatever it is.
        season: whose targets to prefer.

    Raises:
        UsageError: it is another GPU, or one that no target describes.
        WorkerError: the node did not say.
    """
    gpu = describe_gpu(command)
    if wanted is not None:
        if not gpu.is_of(wanted):
            told = f"{name} has {_describe(gpu)}, not {wanted.title}"
            raise UsageError(f"{told}: leave TARGET out to build for what it has")
        return wanted
    targets = [load_target(known) for known in dict.fromkeys((*season.targets, *target_names()))]
    for target in targets:
        if gpu.is_of(target):
            return target
    known = ", ".join(target.name for target in targets)
    raise UsageError(f"{name} has {_describe(gpu)}, which is none of the described GPUs: {known}")


def list_floors_us(request: BuildRequest) -> dict[Case, float]:
    """Return the least time that each benchmark can take on the target."""
    cases = [case for case in request.cases if case.role == "benchmark"]
    return {case: floor_us(request.problem, case, request.target) for case in cases}


def _describe(gpu: LocalGpu) -> str:
    return f"{gpu.name} (compute capability {gpu.capability[0]}.{gpu.capability[1]})"
