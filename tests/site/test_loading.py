"""What the pages say of a season: from shapes.yaml, at a moment."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from harness.site.loading import load_problem_texts, load_season_facts
from harness.target import load_target
from tests.season import SEASON_ROOT

WORKSPACE = Path(__file__).parents[1] / "workspace"
CLOSES = datetime(2027, 3, 1, 12, tzinfo=timezone.utc)


def facts(folder, when, now, closes="closes: 2027-03-01T12:00:00Z"):
    """The facts of a season that shows code `when`."""
    text = (WORKSPACE / "shapes.yaml").read_text().replace("title:", f"code_visible: {when}\n  {closes}\n  title:")
    (folder / "shapes.yaml").write_text(text)
    if not (folder / "problems").exists():
        shutil.copytree(WORKSPACE / "problems", folder / "problems")
    return load_season_facts(folder, now)


@pytest.mark.parametrize(
    ("when", "before", "after"), [("never", False, False), ("after_close", False, True), ("at_once", True, True)]
)
def test_code_is_visible_when_the_season_says(tmp_path, when, before, after):
    second = timedelta(seconds=1)
    assert facts(tmp_path, when, CLOSES - second).code_visible is before
    assert facts(tmp_path, when, CLOSES).code_visible is after
    naive = "closes: 2027-03-01T12:00:00"
    assert facts(tmp_path, when, CLOSES, naive).code_visible is after, "a time without a zone is UTC"


def test_until_when_code_is_hidden_is_told(tmp_path):
    assert facts(tmp_path, "after_close", CLOSES).code_until == "the season closes on 2027-03-01 12:00 UTC"
    assert facts(tmp_path, "after_close", CLOSES, "").code_until == "the season closes"
    assert not facts(tmp_path, "after_close", CLOSES, "").code_visible, "a season without an end does not end"
    assert facts(tmp_path, "never", CLOSES).code_until == ""


def test_a_season_of_the_repositorys_problems():
    found = load_season_facts(SEASON_ROOT, CLOSES)
    assert set(found.points) == set(found.titles) == set(found.versions)
    assert found.points["gdn_forward"] == 200


def test_shapes_come_with_their_limits():
    (text,) = (text for text in load_problem_texts(SEASON_ROOT) if text.problem.name == "vector_add")
    b200 = [target.name for target in text.targets].index("b200")
    row = text.shapes[-1]
    moved = 12 * row.sizes["n"]
    assert row.role == "benchmark"
    assert row.bound[b200] == "memory"
    assert row.mib == pytest.approx(moved / 2**20)
    least_us = load_target("b200").floor_us(8 * row.sizes["n"], 4 * row.sizes["n"], 0, "float32")
    assert row.floors_us[b200] == pytest.approx(least_us)
    assert "custom_kernel" in text.starter
    assert "def reference" in text.reference


def test_when_it_opens_and_closes_is_told(tmp_path):
    second, both = timedelta(seconds=1), "closes: 2027-03-01T12:00:00Z\n  opens: 2027-02-01T08:00:00+02:00"
    assert facts(tmp_path, "never", CLOSES - second).times == "Closes 2027-03-01 12:00 UTC"
    assert facts(tmp_path, "never", CLOSES).times == "Closed 2027-03-01 12:00 UTC"
    assert facts(tmp_path, "never", CLOSES, "").times == ""
    early = CLOSES - timedelta(days=60)
    assert facts(tmp_path, "never", early, both).times == "Opens 2027-02-01 06:00 UTC, closes 2027-03-01 12:00 UTC"
    assert facts(tmp_path, "never", early, "opens: 2027-02-01").times == "Opens 2027-02-01 00:00 UTC"
