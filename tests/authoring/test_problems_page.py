"""docs/problems.md: its listings are a problem that loads, qualifies and runs, so the page cannot rot."""

import re
from pathlib import Path

import pytest

from harness.authoring.scaffold import begin_problem
from harness.qualify import mistakes
from harness.qualify.conditions import Qualification
from harness.spec.problem import Axis, Cost, Problem, Suite, TensorSpec, Tolerance, load_problem
from tests.qualify.conftest import qualify_here

from .conftest import ROOT, lint

PAGE = (ROOT / "docs" / "problems.md").read_text(encoding="utf-8")


def listings() -> dict[str, str]:
    """The page's files by path: the blocks that name one, put together in their order."""
    files: dict[str, str] = {}
    for _, path, body in re.findall(r"^(`{3,})\w+ (\S+/\S+)\n(.*?)^\1$", PAGE, re.MULTILINE | re.DOTALL):
        files[path] = files.get(path, "") + body
    return files


@pytest.fixture
def softmax(root: Path) -> Path:
    for path, text in listings().items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root / "problems" / "softmax"


def test_the_listings_are_the_files_that_a_new_problem_has(root):
    begun = {str(path.relative_to(root)) for path in begin_problem(root, "softmax")}
    assert set(listings()) == begun


def test_the_listings_qualify(softmax):
    result: Qualification = qualify_here(softmax, roles=("test",))
    assert result.qualified, [fault.message for fault in result.suites[0].faults]
    assert len([c for c in result.measured.candidates if c.mutant]) == 15


def test_the_page_shows_the_version_that_it_makes(softmax):
    assert f"QUALIFIED  softmax · version {load_problem(softmax).version} " in PAGE


def test_the_listings_are_in_the_repositorys_style():
    for path, text in listings().items():
        if path.endswith(".py"):
            assert lint(ROOT / path, text) == ""


@pytest.mark.parametrize("model", [Problem, Axis, TensorSpec, Tolerance, Suite, Cost])
def test_every_field_is_explained(model):
    table = PAGE.split("### Every field")[1].split("\n## ")[0]
    assert [name for name in model.model_fields if f"`{name}`" not in table and f"`{name}: true`" not in table] == []


def test_every_ready_made_mistake_is_explained():
    made = [name for name, found in vars(mistakes).items() if "compute" in getattr(found, "__annotations__", {})]
    assert len(made) >= 7
    assert [name for name in made if f"| `{name}(compute" not in PAGE] == []


def test_links_lead_somewhere():
    for link in re.findall(r"\]\(([^)#]+)\)", re.sub(r"^````.*?^````$", "", PAGE, flags=re.MULTILINE | re.DOTALL)):
        assert (ROOT / "docs" / link).exists(), link


@pytest.mark.slow
def test_the_listings_go_the_whole_way(softmax, harness):
    checked = harness("check-problem", "softmax")
    assert checked.returncode == 0, checked.stdout
    qualified = harness("qualify", "softmax")
    assert qualified.returncode == 0, qualified.stdout
    submitted = harness("submit", "softmax")
    assert submitted.stdout.startswith("CHECKED  softmax"), submitted.stdout + submitted.stderr
