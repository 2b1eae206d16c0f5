"""The starters: one config for each shape of the problem, and for the wider ones that the event listed.

Teams whose names begin with "starter" are ours. That all of theirs are CHECKED is tried for real, in `make test-all`.
"""

import ast
import json
import re
import shutil
import subprocess
import sys

import pytest

from harness.spec import find_problem
from tests.problems.specification import CHUNKED, NAMES, ROOT, cases_tested, cases_timed
from tests.season import SEASON_ROOT

WIDER = {(3, 1024, 4, 100, 100), (4, 1024, 4, 128, 128), (2, 1536, 4, 128, 128), (4, 2048, 8, 64, 64)}
FOLDERS = [path.parent for path in sorted((ROOT / "submissions").glob("starter*/*/submission.py"))]
STARTERS = [(folder.parent.name, folder.name) for folder in FOLDERS if folder.name in NAMES]  # (team, problem)

each_starter = pytest.mark.parametrize(("team", "name"), STARTERS, ids=map("/".join, STARTERS))


def source(team, name):
    return (ROOT / "submissions" / team / name / "submission.py").read_text(encoding="utf-8")


def table(team, name):
    """The keys of CONFIGS, read without importing Helion."""
    for node in ast.parse(source(team, name)).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "CONFIGS":
            return {ast.literal_eval(key) for key in node.value.keys}
    raise AssertionError(f"{name} has no CONFIGS")


def test_every_problem_has_a_starter():
    assert {("starter", name) for name in NAMES} <= set(STARTERS)


@each_starter
def test_every_shape_has_a_config(team, name):
    shapes = {tuple(case.shape.values()) for cases in (cases_tested, cases_timed) for case in cases(name)}
    assert shapes | (WIDER if name in CHUNKED else set()) == table(team, name)


@each_starter
def test_header_names_the_problem_and_a_gpu(team, name):
    board = re.search(r"^#!POPCORN leaderboard (\S+)$", source(team, name), re.MULTILINE)[1]
    assert find_problem(ROOT, board).name == name
    assert re.search(r"^#!POPCORN gpu B200$", source(team, name), re.MULTILINE)


@each_starter
def test_configs_hold_no_key_that_a_target_lacks(team, name):
    keys = set(re.findall(r"(\w+)=", " ".join(re.findall(r"helion\.Config\((.*?)\)", source(team, name)))))
    assert keys <= {"block_sizes", "num_warps", "num_stages"}


@pytest.mark.slow
@pytest.mark.parametrize("target", ["b200", "h200"])
@each_starter
def test_every_starter_is_checked(team, name, target, tmp_path):
    for folder in ("problems", f"submissions/{team}/{name}"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(SEASON_ROOT / "shapes.yaml", tmp_path)
    command = [sys.executable, "-m", "harness", "submit", name, "--team", team, "--target", target, "--json"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=900)
    assert result.returncode == 0, (result.stdout[-3000:], result.stderr[-3000:])
    assert json.loads(result.stdout)["verdict"]["kind"] == "CHECKED"
