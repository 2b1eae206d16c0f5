"""The floor of a case: what a GPU's memory and arithmetic need at the least."""

from dataclasses import replace

import pytest

from harness.case import load_cases
from harness.engine.gpu import floor_us
from harness.spec import load_problem, load_season
from harness.target import load_target
from tests.season import SEASON_ROOT

GPU = replace(load_target("h200"), l2_bytes=60_000_000, memory_tb_per_s=4.0, tflops={"float32": 50, "bfloat16": 1000})


@pytest.mark.parametrize(
    ("read_bytes", "write_bytes", "flops", "precision", "least_us"),
    [
        (4_000_000, 0, 0, "float32", 1.0),  # 4 MB at 4 TB/s
        (4_000_000, 60_000_000, 0, "float32", 1.0),  # what is written may stay in L2 past the clock
        (4_000_000, 64_000_000, 0, "float32", 2.0),  # and what L2 does not hold may not
        (0, 0, 100_000_000, "float32", 2.0),  # 0.1 GFLOP at 50 TFLOP/s
        (0, 0, 100_000_000, "bfloat16", 0.1),  # at the rate of the precision that the tolerance lets pass
        (4_000_000, 0, 100_000_000, "float32", 2.0),  # memory and arithmetic at once: the larger counts
    ],
)
def test_the_floor_is_the_larger_of_memory_and_arithmetic(read_bytes, write_bytes, flops, precision, least_us):
    assert GPU.floor_us(read_bytes, write_bytes, flops, precision) == pytest.approx(least_us)


@pytest.mark.parametrize("name", load_season(SEASON_ROOT).problems)
def test_every_case_of_the_season_has_a_floor_on_every_target(name):
    problem = load_problem(SEASON_ROOT / "problems" / name)
    for target in map(load_target, load_season(SEASON_ROOT).targets):
        floors = {case.id: floor_us(problem, case, target) for case in load_cases(problem)}
        assert all(0 < floor < 1000 for floor in floors.values()), floors
