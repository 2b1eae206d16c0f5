"""What a dry run needs beside the main job: which GPU a node has, and the floor where there is no GPU at all."""

from __future__ import annotations

from collections.abc import Sequence

from harness.case import Case
from harness.engine.gpu import floor_us
from harness.engine.gpu_node import LocalGpu, describe_gpu
from harness.engine.request import BuildRequest
from harness.errors import UsageError
from harness.spec import Season
from harness.target import Target, load_target, target_names

NO_GPU = (
    "No {target} is here and no NODE was given, so this was compiled and not replayed. With a GPU machine that you "
    "may log in to: make dry-run PROBLEM={problem} NODE=user@host"
)


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
