"""The starters' tables: one config for each shape of the problem, and for the wider ones that the event listed.

That they compile and compute the right thing is for the tests of trace, assembly and replay.
"""

import ast
import re

import pytest

from harness.spec import find_problem
from tests.problems.specification import GATED, NAMES, ROOT, cases_tested, cases_timed

WIDER = {(3, 1024, 4, 100, 100), (4, 1024, 4, 128, 128), (2, 1536, 4, 128, 128), (4, 2048, 8, 64, 64)}


def source(name):
    return (ROOT / "submissions" / "starter" / name / "submission.py").read_text(encoding="utf-8")


def table(name):
    """The keys of CONFIGS, read without importing Helion."""
    for node in ast.parse(source(name)).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "CONFIGS":
            return {ast.literal_eval(key) for key in node.value.keys}
    raise AssertionError(f"{name} has no CONFIGS")


@pytest.mark.parametrize("name", NAMES)
def test_every_shape_has_a_config(name):
    shapes = {tuple(case.shape.values()) for cases in (cases_tested, cases_timed) for case in cases(name)}
    assert shapes | (WIDER if name in GATED else set()) == table(name)


@pytest.mark.parametrize("name", NAMES)
def test_header_names_the_problem_and_a_gpu(name):
    board = re.search(r"^#!POPCORN leaderboard (\S+)$", source(name), re.MULTILINE)[1]
    assert find_problem(ROOT, board).name == name
    assert re.search(r"^#!POPCORN gpu B200$", source(name), re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_configs_hold_no_key_that_a_target_lacks(name):
    keys = set(re.findall(r"(\w+)=", " ".join(re.findall(r"helion\.Config\((.*?)\)", source(name)))))
    assert keys <= {"block_sizes", "num_warps", "num_stages"}
