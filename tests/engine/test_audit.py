"""`harness audit`: copies in a real store, and what is said of an artifact; real traces where one is promised."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness.engine.copies import CODE, SOURCE, CodeNames, find_copies, starter_hashes
from harness.engine.evidence import AGAINST, FOR, OPEN, gather_evidence
from harness.engine.workspace import Workspace as Folders
from harness.sandbox import Level
from harness.spec import load_season
from harness.store import open_store
from harness.submission import load_submission
from tests.core.test_artifact import MANIFEST
from tests.engine.conftest import STARTER, TEMPLATE
from tests.engine.forged import COPY, assembled, save, variant
from tests.store.samples import checked, submitted

SAME = {"season": "test-season", "problem": "scale"}
OWN = STARTER.replace("block_sizes=[4, 16]", "block_sizes=[2, 32]")
REFORMATTED = OWN.replace("        y[rows", "        # mine\n        y[rows").replace(
    "    x, s = data", '    "Mine."\n    x, s = data'
)


def normalised(tmp_path, source: str) -> str:
    path = tmp_path / "any.py"
    path.write_text(source)
    return load_submission(path, "any").normalised_sha256


@pytest.fixture
def season(workspace, tmp_path):
    """A store in which wolf copied acme's source, fox acme's kernels, and two teams submitted the starter."""
    folder = tmp_path / "made"
    folder.mkdir()
    renamed = COPY.replace("@copy", "@fox")
    kernels = assembled(folder, {"acme": COPY, "fox": renamed, "else": variant(0)})
    for number, name in enumerate(("acme", "fox", "else"), 1):
        key = f"{number}" * 64
        save(Folders(workspace.root).artifacts / key, {name: kernels[name]}, key=key)
    own, starter = normalised(tmp_path, OWN), normalised(tmp_path, STARTER)
    assert own == normalised(tmp_path, REFORMATTED) != starter
    with open_store(Folders(workspace.root).database) as store:
        for team, minute, source, key in (
            ("acme", 3, own, "1" * 64),
            ("wolf", 5, own, None),
            ("acme", 7, own, "1" * 64),
            ("fox", 9, "f" * 64, "2" * 64),
            ("lone", 11, "e" * 64, "3" * 64),
            ("cat", 13, starter, None),
            ("dog", 15, starter, "9" * 64),  # its artifact is not here any more
        ):
            given = {**SAME, "normalised_source_sha256": source, "artifact_key": key}
            record = checked(team, minute, **given)
            store.submit(replace(submitted(team, minute, **given), id=record.id))
            store.finish(record)
    return workspace


def test_copies_are_found_and_who_was_first(season):
    folders = Folders(season.root)
    with open_store(folders.database) as store:
        found = find_copies(store.records(), CodeNames(folders), starter_hashes(folders))
    told = [(c.shared, c.of_starter, [entry.team for entry in c.entries]) for c in found]
    assert told == [
        ((SOURCE,), False, ["acme", "wolf"]),
        ((CODE,), False, ["acme", "fox"]),
        ((SOURCE,), True, ["cat", "dog"]),
    ]
    assert [entry.created for entry in found[0].entries] == ["2027-01-15T00:03:00Z", "2027-01-15T00:05:00Z"]


def test_source_and_code_of_the_same_teams_are_told_once():
    first, second = (checked(team, minute, normalised_source_sha256="a" * 64) for team, minute in (("b", 9), ("a", 4)))
    (copies,) = find_copies([first, second], lambda record: "code", frozenset())
    assert copies.shared == (SOURCE, CODE)
    assert [entry.team for entry in copies.entries] == ["a", "b"]
    (copies,) = find_copies([first, second], lambda record: None, frozenset({"a" * 64}))
    assert copies.of_starter
    assert find_copies([first, replace(first, id="2")], lambda record: "code", frozenset()) == ()


def test_a_program_is_told_though_no_artifact_is_left():
    records = [checked(team, minute, program_sha256="a" * 64) for minute, team in enumerate(("acme", "bolt"))]
    (copies,) = find_copies(records, lambda record: None, frozenset())
    assert (copies.shared, [entry.team for entry in copies.entries]) == ((CODE,), ["acme", "bolt"])
    elsewhere = replace(records[1], target="h200")
    assert find_copies([records[0], elsewhere], lambda record: None, frozenset()) == ()


def test_the_command_over_a_season(season):
    result = season.run("audit")
    assert result.returncode == 1, result.stderr
    assert "scale · b200: the same source: acme was first" in result.stdout
    assert "scale · b200: the same machine code: acme was first" in result.stdout
    assert "scale · b200: the same source: the starter's, which is everybody's" in result.stdout
    document = json.loads(season.run("audit", "--json").stdout)
    assert [len(group["entries"]) for group in document["copies"]] == [2, 2, 2]


def test_an_empty_store_has_no_copies(workspace):
    result = workspace.run("audit")
    assert (result.returncode, result.stdout.strip()) == (0, "no two teams share a source or machine code")


def test_an_artifact_by_hand_is_doubted(workspace, tmp_path):
    """Without its submission, by the command: what was not looked at is told too."""
    folder = tmp_path / "made"
    folder.mkdir()
    save(tmp_path / "a", assembled(folder, {"copy": COPY}))
    result = workspace.run("audit", str(tmp_path / "a"), "--json")
    assert result.returncode == 1, result.stderr
    notes = json.loads(result.stdout)["notes"]
    assert notes[0]["text"] == "copy: not as Helion writes its kernels: the kernel is named copy, without _helion_"
    assert [(note["sign"], note["subject"]) for note in notes] == [
        (AGAINST, "form"),
        (AGAINST, "form"),
        (AGAINST, "form"),
        (OPEN, "lines"),
        (OPEN, "trace"),
    ]
    result = workspace.run("audit", str(tmp_path / "a"), "--file", str(workspace.write("x = 1\n")))
    assert result.returncode == 2
    assert "is not what this artifact was built from" in result.stderr


def test_lines_that_the_submission_lacks_are_told(workspace, tmp_path):
    from harness.engine.evidence import _look_at_lines
    from harness.policy.generated import SourceLine

    submission = load_submission(workspace.write(STARTER), "acme")
    there = SourceLine("submission.py", 12, "y[rows, columns] = x[rows, columns] * s[rows][:, None]")
    (note,) = _look_at_lines([there], submission)
    assert (note.sign, note.text) == (FOR, "1 of 1 lines that the kernels' comments name are the submission's")
    (note,) = _look_at_lines([there, SourceLine("submission.py", 99, "y = fast(x)")], submission)
    assert note.sign == AGAINST
    assert "1 of 2 lines" in note.text
    assert "submission.py:99 is not: 'y = fast(x)'" in note.text


@pytest.mark.slow
def test_a_real_build_and_another_trace(workspace):
    workspace.write(STARTER)
    key = json.loads(workspace.run("build", "scale", "--team", "acme", "--json").stdout)["artifact"]
    result = workspace.run("audit", key)
    assert result.returncode == 0, result.stdout + result.stderr
    text = " ".join(result.stdout.split())
    assert text.startswith("scale · b200 · acme: is it Helion's? (no proof: what there is to see)")
    assert "+ form 3 of 3 generated kernels have the form that Helion writes" in text
    assert "+ trace another trace in a fresh process gives the same 3 kernels and launches" in text
    assert "+ lines" in text


@pytest.mark.slow
def test_a_trace_that_differs_from_the_last_is_doubted(workspace):
    """The constant is a literal in the kernel or an argument of the launch, as Helion likes: both differ."""
    clock = "import time\n\nNOW = time.time_ns() % 2**31\n"
    workspace.write(clock + STARTER.replace("* s[rows]", "* NOW * s[rows]"))
    built = workspace.run("build", "scale", "--team", "acme", "--json")
    result = workspace.run("audit", json.loads(built.stdout)["artifact"])
    assert result.returncode == 1, result.stdout + result.stderr
    assert "- trace another trace gives " in " ".join(result.stdout.split())


def test_nothing_is_traced_for_another_problem(workspace, tmp_path):
    from harness.artifact import load_artifact

    folder = tmp_path / "made"
    folder.mkdir()
    save(tmp_path / "a", assembled(folder, {"copy": COPY}))
    artifact = load_artifact(tmp_path / "a")
    assert artifact.manifest.submission_sha256 == MANIFEST.submission_sha256
    submission = load_submission(workspace.write(STARTER), "acme")
    notes = gather_evidence(
        artifact, submission, Folders(workspace.root), load_season(TEMPLATE), Level.NONE, lambda event: None
    )
    assert (notes[-1].sign, notes[-1].subject) == (OPEN, "trace")
    assert "the problem has changed since" in notes[-1].text
