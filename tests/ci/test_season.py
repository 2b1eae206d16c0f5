"""What a change of problems or shapes.yaml means: is it fit, and what would be scored anew?"""

import json
import shutil

import pytest

from harness.ci.change import Change
from harness.ci.markdown import render_season
from harness.ci.season_changes import ProblemChange, Setting, changed_problems, changed_settings
from harness.cli.verbs import cli
from harness.errors import SpecError, UsageError
from tests.ci.hostile import TEXTS
from tests.ci.rendering import assert_harmless
from tests.ci.repository import TEMPLATE, git, run_harness


@pytest.fixture
def roots(tmp_path):
    """Two checkouts: before and after."""
    places = tmp_path / "before", tmp_path / "after"
    for place in places:
        shutil.copytree(TEMPLATE, place, ignore=shutil.ignore_patterns(".harness", "__pycache__"))
        shutil.copytree(place / "submissions" / "starter", place / "submissions" / "acme")
    return places


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_problem_of_another_version_is_scored_anew(roots):
    before, after = roots
    edit(after / "problems/scale/task.yml", "tests:", "# a comment\ntests:")
    (change,) = changed_problems([Change("problems/scale/task.yml", removed=False)], before, after)
    assert change.before != change.after
    assert change.entries == ("acme/scale", "starter/scale")
    assert change.rescored


def test_a_readme_makes_no_other_version(roots):
    before, after = roots
    (after / "problems/scale/README.md").write_text("more words")
    (change,) = changed_problems([Change("problems/scale/README.md", removed=False)], before, after)
    assert change.before == change.after
    assert not change.rescored


def test_new_and_removed_problems(roots):
    before, after = roots
    shutil.copytree(after / "problems/scale", after / "problems/twice")
    edit(after / "problems/twice/task.yml", "name: scale", "name: twice")
    edit(after / "problems/twice/task.yml", "aliases:", "aliases: [] #")
    shutil.rmtree(after / "problems/scale")
    changes = [Change("problems/twice/task.yml", removed=False), Change("problems/scale/task.yml", removed=True)]
    scale, twice = changed_problems(changes, before, after)
    assert (scale.name, scale.after, scale.rescored) == ("scale", None, True)
    assert (twice.name, twice.before, twice.rescored) == ("twice", None, False)


def test_settings_say_whether_scores_depend_on_them(roots):
    before, after = roots
    edit(after / "shapes.yaml", "title: Test season", "title: Another season")
    edit(after / "shapes.yaml", "b200", "h100")
    settings = {setting.place: setting for setting in changed_settings(before, after)}
    assert not settings["season.title"].decides
    assert settings["season.targets"].decides
    assert settings["season.targets"].after.startswith("h100")
    edit(after / "shapes.yaml", "targets", "tragets")
    with pytest.raises(SpecError, match="season.targets: is missing; a list is expected"):
        changed_settings(before, after)


@pytest.mark.parametrize("text", TEXTS[:13])
def test_texts_stay_texts(text):
    problem = ProblemChange(text, text, None, (text,))
    assert_harmless(render_season((problem,), (Setting("season.title", text, text),), (text,)))


@pytest.fixture
def proposal(competition):
    """The checkout of a pull request's outcome, and the base that it is compared with."""

    def propose():
        head = competition.commit()
        git(competition.origin, "update-ref", "refs/heads/topic", head)
        place = competition.folder / "outcome"
        git(competition.folder, "clone", "-q", "--branch", "topic", f"file://{competition.origin}", str(place))
        return place

    return propose


def test_what_is_wrong_is_told_with_its_line(competition, proposal, tmp_path):
    task = (competition.fork / "problems/scale/task.yml").read_text()
    competition.write("problems/scale/task.yml", task.replace("precision: float32", "precision: exact"))
    competition.write("shapes.yaml", (competition.fork / "shapes.yaml").read_text().replace("title:", "titel:"))
    place = proposal()
    summary = tmp_path / "summary.md"
    result = run_harness(place, "ci", "season", "--base", competition.base, "--json", GITHUB_STEP_SUMMARY=str(summary))
    assert result.returncode == 1, result.stderr
    faults = json.loads(result.stdout)["faults"]
    assert any(fault.startswith("shapes.yaml: season.titel: there is no such field") for fault in faults), faults
    assert any("problems/scale/task.yml:" in fault and "precision: one of float32" in fault for fault in faults), faults
    assert_harmless(summary.read_text())
    assert git(place, "status", "--porcelain") == b""
    assert git(place, "worktree", "list").decode().count("\n") == 1


def test_nothing_of_the_season(competition, proposal, monkeypatch, capsys):
    competition.write("README.md", "hello")
    monkeypatch.chdir(proposal())
    assert cli.main(["ci", "season", "--base", competition.base], standalone_mode=False) == 0
    assert "no problem and no setting of the season changes" in capsys.readouterr().out
    monkeypatch.delenv("GITHUB_EVENT_PATH", raising=False)
    with pytest.raises(UsageError, match="compared with what\\? Give --base, or --event"):
        cli.main(["ci", "season"], standalone_mode=False)


@pytest.mark.slow
def test_a_problem_is_qualified(competition, proposal):
    from tests.ci.repository import ROOT

    shutil.copytree(ROOT / "problems" / "vector_add", competition.fork / "problems" / "vector_add")
    shutil.copytree(ROOT / "submissions/starter/vector_add", competition.fork / "submissions/starter/vector_add")
    shapes = (competition.fork / "shapes.yaml").read_text()
    competition.write("shapes.yaml", shapes.replace("  problems:\n", "  problems:\n    vector_add: {points: 1}\n"))
    place = proposal()
    result = run_harness(place, "ci", "season", "--base", competition.base)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "qualify vector_add" in result.stdout
    assert "**Fit**: every problem checks and qualifies." in result.stdout
    broken = (place / "problems/vector_add/mutants.py").read_text()
    competition.write("problems/vector_add/mutants.py", broken + "\n\nraise RuntimeError('hostile')\n")
    shutil.rmtree(place)
    result = run_harness(proposal(), "ci", "season", "--base", competition.base)
    assert result.returncode == 1
    assert "**Not fit**" in result.stdout
    assert "hostile" in result.stdout
