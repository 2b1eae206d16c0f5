"""What holds for every folder in problems/, whoever wrote it; docs/problems.md promises it, section 6.

Folders are found, not listed: `pytest tests/problems/test_every_problem.py -k NAME` tries one. Only test shapes are
tried, with a few seeds: `harness qualify` does it in full. What our own problems promise beyond this is in the other
modules here.
"""

from pathlib import Path

import pytest

from harness.authoring.check import check_folder
from harness.qualify.candidates import load_roster
from harness.qualify.examine import examine
from harness.spec import load_problem, problem_names
from tests.problems.specification import ROOT
from tests.qualify.conftest import qualify_here

each_problem = pytest.mark.parametrize("name", problem_names(ROOT))


def test_all_folders_are_found():
    assert {"rms_norm", "softmax", "vector_add"} <= set(problem_names(ROOT))


@each_problem
def test_check_problem_has_no_error_and_nothing_to_write(name):
    """Nor a warning of the README, which is for participants; other warnings are an organiser's to weigh."""
    found = check_folder(ROOT, ROOT / "problems" / name, examine)
    counted = [finding for finding in found if finding.level != "warning" or Path(finding.file).name == "README.md"]
    assert [f"{f.file}:{f.line}: {f.level}: {f.message}" for f in counted] == []


@each_problem
def test_it_tells_right_from_wrong(name):
    result = qualify_here(ROOT / "problems" / name, roles=("test",))
    assert result.qualified, [fault.message for fault in result.suites[0].faults]


@each_problem
def test_the_readme_has_the_table_of_qualification(name):
    """It is written by `harness qualify NAME --markdown`; numbers may age, mutants may not be missing."""
    text = (ROOT / "problems" / name / "README.md").read_text(encoding="utf-8")
    table = text.partition("## Qualification")[2]
    how = f"problems/{name}/README.md: put what `harness qualify {name} --markdown` prints under `## Qualification`"
    assert "- Suite `default` ranks; every mutant is refused and every condition met." in table, how
    mutants = [c.name for c in load_roster(load_problem(ROOT / "problems" / name)).candidates if c.mutant]
    assert [mutant for mutant in mutants if f"\n| `{mutant}` |" not in table] == [], how
