"""What a season spends on one problem: building, checking on a CPU and replaying on a GPU, per submission and in all.

Pure. Measured where the starter has a record of this version; by a stated rule otherwise, with constants measured once
on two cores and an H200 (bench/, bench/gpu). An upper bound for planning: submissions that fall short cost less, and
builds and records that are kept cost nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.case import Case, load_cases
from harness.dtypes import DTYPE_BYTES
from harness.replay.timing import MAX_SAMPLES
from harness.spec import Problem
from harness.store import Record
from harness.target import Target

IMPORT_CPU_S = 8.0  # of Helion, once a submission
SHAPE_CPU_S = 1.5  # trace and assembly of a kernel or two
CHECK_START_S = 6.0  # interpreter and judge
CHECK_CASE_S = 0.15
CHECK_BYTES_PER_S = 100e6
CHECK_FLOPS_PER_S = 200e6
GPU_START_S = 5.0  # torch, CUDA and the judge; none of it where a warm runner waits
GPU_CALL_S = 5e-3  # fresh inputs, flush, the float64 reference, comparison
GPU_BYTES_PER_S = 50e9
GPU_CHECK_CALLS = 2  # a pair on equal inputs
KERNEL_FLOORS = 10  # how much slower than light a kernel is taken to be

RULES = {
    "build": f"{IMPORT_CPU_S:g} s to import, {SHAPE_CPU_S:g} s a shape",
    "check": f"{CHECK_START_S:g} s to start; a case {CHECK_CASE_S:g} s, its bytes at {CHECK_BYTES_PER_S / 1e6:g} MB/s, "
    f"its operations at {CHECK_FLOPS_PER_S / 1e6:g} MFLOP/s",
    "GPU": f"{GPU_START_S:g} s to start; a call {GPU_CALL_S * 1e3:g} ms, its bytes at {GPU_BYTES_PER_S / 1e9:g} GB/s, "
    f"{KERNEL_FLOORS} floors; {GPU_CHECK_CALLS} calls a case and {MAX_SAMPLES} more a benchmark",
}


@dataclass(frozen=True)
class CaseCost:
    """What one case moves and computes.

    Attributes:
        tensor_bytes: of all inputs and outputs.
        flops, read_bytes, write_bytes: as task.yml's cost has them.
        floor_us: the target's speed of light.
        bound: what sets it: "memory" or "arithmetic".
    """

    id: str
    role: str
    shape_id: str
    tensor_bytes: int
    flops: int
    read_bytes: int
    write_bytes: int
    floor_us: float
    bound: str


@dataclass(frozen=True)
class Stage:
    """What one stage takes for one submission, in seconds, and how that is known."""

    name: str
    seconds: float
    basis: str


@dataclass(frozen=True)
class Estimate:
    """A problem's cost on one target.

    Attributes:
        suites: the suites that count.
        stages: build (CPU-seconds), check (on a CPU, waited for), GPU.
        budget_s: what a build may take.
    """

    target: str
    suites: tuple[str, ...]
    cases: tuple[CaseCost, ...]
    shapes: int
    stages: tuple[Stage, ...]
    budget_s: float


def estimate_cost(
    problem: Problem, suites: Sequence[str], target: Target, records: Iterable[Record], budget_s: float
) -> Estimate:
    """Estimate what one submission to a problem costs.

    Args:
        problem: the problem.
        suites: those that the season ranks.
        target: the GPU.
        records: the starter's, the newest first; one that covers all cases is taken instead of a rule.
        budget_s: the season's compile budget.
    """
    cases = list(dict.fromkeys(case for suite in suites for case in load_cases(problem, suite)))
    costs = tuple(_case_cost(problem, case, target) for case in cases)
    wanted = {cost.id for cost in costs}
    same = (r for r in records if r.problem_version == problem.version and r.target == target.name and r.build)
    known = next((record for record in same if wanted <= {case.case_id for case in record.cases}), None)
    shapes = len({cost.shape_id for cost in costs})
    stages = (_build(shapes, known), _check(costs, known), _replay(costs))
    return Estimate(target.name, tuple(suites), costs, shapes, stages, budget_s)


def _case_cost(problem: Problem, case: Case, target: Target) -> CaseCost:
    flops, read_bytes, write_bytes = problem.cost_of(case.sizes)
    values = problem.values(case.sizes)
    tensor_bytes = sum(
        math.prod(tensor.sizes(values)) * DTYPE_BYTES[tensor.dtype] for tensor in (*problem.inputs, *problem.outputs)
    )
    floor_us = target.floor_us(read_bytes, write_bytes, flops, problem.precision)
    memory_us = target.floor_us(read_bytes, write_bytes, 0, problem.precision)
    bound = "memory" if memory_us >= floor_us else "arithmetic"
    return CaseCost(case.id, case.role, case.shape_id, tensor_bytes, flops, read_bytes, write_bytes, floor_us, bound)


def _build(shapes: int, known: Record | None) -> Stage:
    if known is not None and known.build is not None:
        return Stage("build", known.build.cpu_s, f"measured: the starter's record {known.id}")
    return Stage("build", IMPORT_CPU_S + SHAPE_CPU_S * shapes, f"rule: {RULES['build']}")


def _check(costs: Sequence[CaseCost], known: Record | None) -> Stage:
    measured = [stage.wall_s for stage in known.stages if stage.name == "check"] if known is not None else []
    if known is not None and measured:
        return Stage("check", measured[0], f"measured: the starter's record {known.id}")
    seconds = CHECK_START_S + sum(
        CHECK_CASE_S + cost.tensor_bytes / CHECK_BYTES_PER_S + cost.flops / CHECK_FLOPS_PER_S for cost in costs
    )
    return Stage("check", seconds, f"rule: {RULES['check']}")


def _replay(costs: Sequence[CaseCost]) -> Stage:
    seconds = GPU_START_S
    for cost in costs:
        calls = GPU_CHECK_CALLS + (MAX_SAMPLES if cost.role == "benchmark" else 0)
        seconds += calls * (GPU_CALL_S + cost.tensor_bytes / GPU_BYTES_PER_S + KERNEL_FLOORS * cost.floor_us * 1e-6)
    return Stage("GPU", seconds, f"rule: {RULES['GPU']}")
