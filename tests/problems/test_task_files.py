"""The task.yml files: they load; those of the event carry its names and shapes; costs and READMEs."""

import re

import pytest

from harness.spec import find_problem
from tests.problems.specification import EVENT, GATED, NAMES, ROOT, cases_tested, cases_timed, problem

EVENT_SHAPES = {
    "causal_conv1d": (
        [(1, 64, 64, 4), (2, 128, 128, 4), (1, 256, 256, 3), (1, 128, 64, 8), (4, 64, 128, 4)],
        [(1, 1536, 2048, 4), (1, 2560, 2048, 4), (1, 2560, 4096, 4)],
    ),
    "fp8_quant": (
        [(1, 256, 64), (4, 512, 128), (16, 1024, 64), (1, 4096, 128), (8, 4096, 128)],
        [(256, 4096, 128), (256, 8192, 128), (4096, 7168, 128)],
    ),
} | dict.fromkeys(
    GATED,
    (
        [(1, 64, 2, 64, 64), (2, 128, 4, 64, 64), (1, 256, 4, 64, 128)],
        [(1, 64, 1, 64, 64), (2, 512, 3, 64, 64), (2, 1024, 3, 64, 64)],
    ),
)


@pytest.mark.parametrize("name", EVENT)
def test_the_events_shapes_come_first_under_the_default_distribution(name):
    tests, benchmarks = EVENT_SHAPES[name]
    first = list(cases_tested(name))[: len(tests)]
    assert [tuple(case.shape.values()) for case in first] == tests
    assert {case.distribution for case in first} == {problem(name).default_distribution}
    assert [tuple(case.shape.values()) for case in cases_timed(name)] == benchmarks


@pytest.mark.parametrize("name", EVENT)
def test_the_events_names_are_aliases(name):
    event = f"gated_deltanet_{name}" if name in GATED else name
    for alias in (event, f"{event}_py", f"{name}_py"):
        assert find_problem(ROOT, alias).name == name


def test_cost_counts_each_byte_once():
    flops, read, written = problem("causal_conv1d").cost_of({"B": 1, "D": 2560, "S": 4096, "W": 4})
    assert (flops, read, written) == (83_886_080, 4 * (2560 * 4096 + 2560 * 5), 4 * 2560 * 4096)


def test_cost_of_one_chunk_asks_for_no_recurrence():
    shape = {"B": 1, "T": 64, "H": 1, "K": 64, "V": 64}
    assert problem("chunk_fwd_h").cost_of(shape) == (0, 4 * 64 * 64, 2 * 4 * 64 * 64)


def test_a_chain_costs_less_than_its_passes():
    shape = {"B": 2, "T": 1024, "H": 3, "K": 64, "V": 64}
    chain = problem("gdn_forward").cost_of(shape)
    passes = [problem(name).cost_of(shape) for name in GATED]
    assert all(whole < sum(parts) for whole, parts in zip(chain, zip(*passes, strict=True), strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_the_readme_names_every_distribution_and_tolerance(name):
    text = (ROOT / "problems" / name / "README.md").read_text(encoding="utf-8")
    missing = [d for d in problem(name).distribution_names if f"`{d}`" not in text]
    assert not missing
    for output in problem(name).outputs:
        row = re.search(rf"^\| `{output.name}` \|.*\|$", text, re.MULTILINE)
        assert row, f"no row for {output.name}"
    for output in problem(name).outputs:
        tolerance = problem(name).tolerance_of(output.name)
        assert re.search(
            rf"^\| `{output.name}` \| {tolerance.rtol:g} \| {tolerance.atol:g} \| {tolerance.relative_l2:g} \|",
            text,
            re.MULTILINE,
        ), output.name
