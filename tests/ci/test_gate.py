"""What a pull request may change: real git, every rule with its message, every fault at once."""

import json
import os
import shutil

import pytest

from harness.ci.annotations import list_marks
from harness.ci.change import EXECUTABLE, LINK, REGULAR, SUBMODULE
from harness.ci.examine import Entry
from harness.ci.extract import extract
from harness.ci.gate import inspect
from harness.ci.git import open_commits
from harness.ci.people import find_author
from harness.cli.verbs import cli
from harness.errors import HarnessError, UsageError
from harness.submission import MAX_FILES, MAX_MAIN_BYTES
from tests.ci.repository import STARTER, git, run_harness

SUBMISSION = "submissions/acme/scale/submission.py"


@pytest.fixture
def look(competition):
    """Inspect the fork's files, or a commit, as somebody's pull request."""

    def inspected(author="alan", head=None):
        root = competition.origin  # a checkout of the base that has the head's commits
        head = head or competition.commit()
        commits = open_commits(root, competition.base, head)
        return inspect(commits, root, find_author(root, author, "ada"), head)

    return inspected


@pytest.fixture
def faults(look):
    def told(author="alan", head=None):
        return {(fault.reason, fault.path): fault.message for fault in look(author, head)[1].faults}

    return told


def test_a_change_of_ones_own_is_checked_for_every_target(competition, look):
    competition.write(SUBMISSION, STARTER + "# faster\n")
    proposal, report = look()
    assert report.faults == ()
    assert proposal.entries == (Entry("acme", "scale", "scale"),)
    assert [(c.team, c.problem, c.target) for c in report.checks] == [("acme", "scale", "b200"),
                                                                      ("acme", "scale", "h200")]  # fmt: skip


def test_a_pull_request_without_a_submission_is_none_of_the_gates_business(competition, look):
    competition.write("README.md", "hello")
    proposal, report = look("eve")
    assert (proposal.entries, report.checks, report.faults) == ((), (), ())


def test_a_folder_may_be_called_by_an_alias(competition, look):
    competition.write("submissions/newton/team.yml", "logins: [isaac]\n")
    competition.write("submissions/newton/scale_py/submission.py")
    proposal, report = look("isaac")
    assert report.faults == ()
    assert proposal.entries == (Entry("newton", "scale", "scale_py"),)


@pytest.mark.parametrize(
    ("login", "path", "told"),
    [
        ("alan", "submissions/zeta", "alan is not of team 'zeta': its people are those that submissions/zeta/team.yml"),
        ("eve", "submissions/zeta", "eve is not of team 'zeta'"),
        ("ZOE", None, None),
        ("grace", None, None),  # a maintainer
        ("ada", None, None),  # the repository's owner
    ],
)
def test_whose_folder_it_is(competition, faults, login, path, told):
    competition.write("submissions/zeta/scale/submission.py", STARTER + "# mine\n")
    found = faults(login)
    if told is None:
        assert found == {}
    else:
        assert told in found["other_team", path]


def test_a_team_cannot_be_joined_by_the_pull_request_that_says_so(competition, faults):
    competition.write("submissions/zeta/team.yml", "logins: [eve]\n")
    competition.write("submissions/zeta/scale/submission.py", STARTER + "# mine\n")
    assert set(faults("eve")) == {("other_team", "submissions/zeta")}


def test_nobodys_team_is_for_maintainers(competition, faults):
    competition.write("submissions/starter/scale/submission.py", STARTER + "# mine\n")
    message = faults("eve")["no_team_file", "submissions/starter/team.yml"]
    assert "has no valid team.yml in the base that would name its people: ask a maintainer" in message
    assert faults("grace") == {}


@pytest.mark.parametrize(
    ("team", "document", "reason", "told"),
    [
        ("newton", None, "no_team_file", "add submissions/newton/team.yml with the line `logins: [isaac]`"),
        ("newton", "logins: [gottfried]\n", "team_file", "it does not name you: add isaac to its logins"),
        ("newton", "logins: []\n", "team_file", "logins: must have 1 entry or more"),
        ("newton", "logins: [isaac, ISAAC]\n", "team_file", "isaac stands twice"),
        ("newton", "login: isaac\n", "team_file", "logins: is missing; a list is expected; login: there is no"),
        ("newton", "logins: [isaac]\nlogins: [eve]\n", "team_file", "key 'logins' stands twice"),
        ("newton", "[" * 3000, "team_file", "not valid YAML"),
        ("acrne", "logins: [isaac]\n", "team_name", "the name 'acrne' looks like that of team 'acme': choose another"),
        ("ac-me", "logins: [isaac]\n", None, None),
        ("zet2", "logins: [isaac]\n", None, None),
        ("zet4", "logins: [isaac]\n", "team_name", "the name 'zet4' looks like that of team 'zeta': choose another"),
        ("acm3", "logins: [isaac]\n", "team_name", "the name 'acm3' looks like that of team 'acme': choose another"),
        ("l0cal", "logins: [isaac]\n", "team_name", "looks like 'local', which is kept for the harness's own use"),
        ("5tarter", "logins: [isaac]\n", "team_name", "looks like 'starter', which is kept"),
        ("admin", "logins: [isaac]\n", "team_name", "the name 'admin' is kept for the harness's own use"),
        ("Acme", "logins: [isaac]\n", "team_name", "team name 'Acme' is not valid: use 1 to 39 of a-z, 0-9, - and _"),
    ],
)
def test_a_new_team(competition, faults, team, document, reason, told):
    competition.write(f"submissions/{team}/scale/submission.py")
    if document is not None:
        competition.write(f"submissions/{team}/team.yml", document)
    found = faults("isaac")
    if reason is None:
        assert found == {}
    else:
        assert {name for name, _ in found} == {reason}
        assert any(told in message for message in found.values()), found


def test_a_team_keeps_naming_its_people(competition, faults):
    (competition.fork / "submissions/acme/team.yml").unlink()
    assert "a team keeps naming its people" in faults()["no_team_file", "submissions/acme/team.yml"]
    competition.write("submissions/acme/team.yml", "logins: [alan, kurt]\n")
    assert faults() == {}


def test_two_teams_at_once(competition, faults):
    competition.write(SUBMISSION, STARTER + "# a\n")
    competition.write("submissions/zeta/scale/submission.py", STARTER + "# b\n")
    found = faults()
    assert found["several_teams", "submissions"] == "a pull request is of one team; this one changes acme, zeta"
    assert ("other_team", "submissions/zeta") in found
    assert faults("grace") == {}


def test_many_teams_at_once_are_not_all_looked_at(competition, faults):
    for number in range(20):
        competition.write(f"submissions/team{number:02}/scale/submission.py")
    found = faults("eve")
    told = found["several_teams", "submissions"]
    assert told.endswith("this one changes team00, team01, team02, team03, team04, team05, team06, team07 and more")
    assert len(found) == 9


def test_what_lies_outside_comes_alone(competition, faults):
    competition.write(SUBMISSION, STARTER + "# a\n")
    outside = (".github/workflows/submission.yml", "Makefile", "problems/scale/reference.py", "submissions/README.md")
    for path in outside:
        competition.write(path, "changed")
    found = faults()
    assert {path for reason, path in found if reason == "outside"} == set(outside[:3])
    assert "with a submission nothing outside of submissions/TEAM/ may be changed" in found["outside", "Makefile"]
    assert "nothing lies here" in found["misplaced", "submissions/README.md"]
    assert faults("grace") == {}


def test_removing_ones_own_is_allowed_and_told(competition, look):
    shutil.rmtree(competition.fork / "submissions/acme/scale")
    proposal, report = look()
    assert (report.faults, report.checks, report.removed) == ((), (), ("submissions/acme/scale",))
    assert proposal.files == tuple(file for file in proposal.files if file.path.endswith("team.yml"))
    shutil.rmtree(competition.fork / "submissions/acme")
    assert look()[1].faults == ()


def test_removing_anothers_is_not(competition, faults):
    shutil.rmtree(competition.fork / "submissions/zeta")
    assert set(faults()) == {("other_team", "submissions/zeta")}


def test_renaming_anothers_into_ones_own_takes_it_away_from_them(competition, faults):
    other, own = (competition.fork / f"submissions/{team}/scale" for team in ("zeta", "acme"))
    shutil.rmtree(own)
    other.rename(own)
    assert ("other_team", "submissions/zeta") in faults()


def test_renaming_a_file_within_ones_own(competition, look):
    competition.write("submissions/acme/scale/tiles.py", "TILES = 1\n")
    base = competition.commit()
    git(competition.origin, "update-ref", "refs/heads/main", base)
    (competition.fork / "submissions/acme/scale/tiles.py").rename(competition.fork / "submissions/acme/scale/sizes.py")
    proposal, report = look()
    assert report.faults == ()
    assert [file.path for file in proposal.files if "scale" in file.path] == [
        "submissions/acme/scale/sizes.py", SUBMISSION,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "reason", "told"),
    [
        ("scale/kernel.cubin", b"\x7fELF\0\0", "binary", "a submission is text only"),
        ("scale/notes.txt", b"caf\xe9", "not_utf8", "not UTF-8 text (byte 3)"),
        ("scale/submission.py", b"#" * 5_000_000, "too_large", f"5,000,000 bytes; {MAX_MAIN_BYTES:,} are allowed"),
        ("scale/data.txt", b"#" * 1_200_000, "too_large", "1,200,000 bytes; 1,048,576 are allowed"),
        ("team.yml", b"logins: [alan]" + b"#" * 5000, "too_large", "4,096 are allowed"),
        ("scale/.gitattributes", b"* filter=x", "bad_name", "begin with a letter, a digit or _"),
        ("scale/.harness/records.sqlite", b"x", "made_file", "what a run leaves behind does not belong"),
        ("scale/artifacts/plan.json", b"{}", "made_file", "what a run leaves behind"),
        ("scale/__pycache__/a.pyc", b"x", "made_file", "what a run leaves behind"),
        ("scale/a b.py", b"", "bad_name", "rename it"),
        ("scale/a\nb.py", b"", "bad_name", "rename it"),
        ("scale/\x1b[31m.py", b"", "bad_name", "rename it"),
        ("scale/::error::.py", b"", "bad_name", "rename it"),
        ("scale/-rf", b"", "bad_name", "rename it"),
        ("scale/con.", b"", "bad_name", "rename it"),
        ("scale/" + "d/" * 8 + "a.py", b"", "path_too_long", "200 characters and 8 levels"),
        ("scale/" + "a" * 190 + ".py", b"", "path_too_long", "200 characters"),
        ("notes.md", b"", "misplaced", "beside its problems a team has team.yml and README.md only"),
        ("scael/submission.py", b"", "unknown_problem", "unknown problem 'scael'. Did you mean scale?"),
    ],
)  # fmt: skip
def test_what_a_file_may_be(competition, faults, name, content, reason, told):
    competition.write(f"submissions/acme/{name}", content)
    found = {kind: message for (kind, _), message in faults().items()}
    assert told in found[reason], found


@pytest.mark.parametrize(
    ("entry", "reason", "told"),
    [
        ((LINK, b"/etc/passwd", "submissions/acme/scale/link.py"), "link", "a symbolic link"),
        ((LINK, b"../zeta", "submissions/acme/scale"), "link", "a symbolic link"),
        ((SUBMODULE, "1" * 40, "submissions/acme/scale/lib"), "submodule", "a submodule"),
        ((SUBMODULE, "1" * 40, "submissions/acme/scale"), "submodule", "a submodule"),
        ((REGULAR, b"x", b"submissions/acme/scale/\xff\xfe.py"), "bad_name", "rename it"),
        ((REGULAR, b"x", "submissions/acme/scale/\u0430.py"), "bad_name", "rename it"),
        ((REGULAR, b"x", "submissions/acme/scale/SUBMISSION.py"), "case_collision", "by case only"),
        ((REGULAR, b"x", "submissions/ACME/scale/submission.py"), "team_name", "team name 'ACME' is not valid"),
        ((REGULAR, b"x", "submissions/\u0430cme/scale/submission.py"), "bad_name",
         "the team's name has U+0430 CYRILLIC SMALL LETTER A, which looks like 'a'; names are made of"),
        ((REGULAR, b"x", "submissions/acm\u00eb/scale/submission.py"), "bad_name",
         "the team's name has U+00EB LATIN SMALL LETTER E WITH DIAERESIS, which looks like 'e'; names are made of"),
        ((REGULAR, b"x", "submissions/acme/scale/\u6838.py"), "bad_name",
         "the file's name has U+6838 CJK UNIFIED IDEOGRAPH-6838; names are made of"),
        ((EXECUTABLE, b"x", "submissions/acme/scale/run.sh"), None, None),
    ],
)  # fmt: skip
def test_what_no_file_system_here_would_hold(competition, faults, entry, reason, told):
    if entry[2] == "submissions/acme/scale":
        entry = (entry, ("0", "0" * 40, SUBMISSION))[::-1]
        head = competition.commit_entries(*entry)
    else:
        head = competition.commit_entries(entry)
    found = {kind: message for (kind, _), message in faults(head=head).items()}
    if reason is None:
        assert found == {}
    else:
        assert told in found[reason], found


@pytest.mark.parametrize("path", ["submissions/acme/../zeta/x.py", "submissions/acme/scale/.git/config"])
def test_paths_that_lead_elsewhere_are_refused_by_git_itself(competition, path):
    blob = git(competition.fork, "hash-object", "-w", "--stdin", stdin=b"x").decode().strip()
    tree = f"100644 blob {blob}\tx\n"
    for part in reversed(path.split("/")[:-1]):
        sha = git(competition.fork, "mktree", stdin=tree.encode()).decode().strip()
        tree = f"040000 tree {sha}\t{part}\n"
    sha = git(competition.fork, "mktree", stdin=tree.encode()).decode().strip()
    head = git(competition.fork, "commit-tree", sha, "-p", competition.base, "-m", "x").decode().strip()
    root = competition.checkout()
    with pytest.raises(HarnessError, match="contains '\\.(\\.|git)'"):
        open_commits(root, competition.base, head)


def test_every_fault_is_told_at_once_those_inside_of_files_too(competition, faults):
    competition.write("submissions/acme/notes.md", "misplaced")
    competition.write("submissions/acme/scale/kernel.cubin", b"\x7fELF\0\0")
    competition.write("submissions/acme/scale/notes.txt", b"caf\xe9")
    competition.write("submissions/acme/scale/__pycache__/a.pyc", b"\0")
    competition.write(SUBMISSION, b"#" * 300_000 + b"\0")
    assert set(faults()) == {
        ("misplaced", "submissions/acme/notes.md"),
        ("binary", "submissions/acme/scale/kernel.cubin"),
        ("not_utf8", "submissions/acme/scale/notes.txt"),
        ("made_file", "submissions/acme/scale/__pycache__/a.pyc"),
        ("too_large", SUBMISSION),
        ("binary", SUBMISSION),
    }


@pytest.fixture
def blemished(competition):
    """A base that maintainers have merged by hand: files of acme and zeta that the gate would not have let in."""
    competition.write("submissions/acme/notes.md", b"\0")
    competition.write("submissions/acme/README.md", b"\0")
    competition.write("submissions/acme/scale/a b.bin", b"\0")
    competition.write("submissions/zeta/scale/c d.bin", b"\0")
    competition.write("submissions/zeta/team.yml", "nobody: []\n")
    git(competition.origin, "update-ref", "refs/heads/main", competition.commit())
    git(competition.origin, "reset", "-q", "--hard")
    return competition


def test_what_was_wrong_before_keeps_nobody_from_submitting(blemished, look):
    blemished.write(SUBMISSION, STARTER + "# faster\n")
    proposal, report = look()
    assert report.faults == ()
    assert len(report.checks) == 2
    assert [(fault.reason, fault.path) for fault in report.standing] == [
        ("misplaced", "submissions/acme/notes.md"), ("bad_name", "submissions/acme/scale/a b.bin"),
    ]  # fmt: skip
    assert [file.path for file in proposal.files] == ["submissions/acme/scale/a b.bin", SUBMISSION]
    root = blemished.checkout()
    extract(open_commits(root, blemished.base, blemished.commit()), proposal, root)
    assert git(root, "status", "--porcelain").decode().split() == ["M", SUBMISSION]


def test_what_was_wrong_before_counts_when_it_is_touched(blemished, faults):
    blemished.write("submissions/acme/notes.md", b"\0\0")
    blemished.write("submissions/acme/scale/a b.bin", b"\0\0")
    assert set(faults()) == {
        ("misplaced", "submissions/acme/notes.md"), ("binary", "submissions/acme/notes.md"),
        ("bad_name", "submissions/acme/scale/a b.bin"), ("binary", "submissions/acme/scale/a b.bin"),
    }  # fmt: skip


def test_nobody_submits_as_a_team_that_has_left_since_the_fork(competition, faults):
    """Its team.yml is at the head, where the pull request leaves it as it is; it does not name whoever sends this."""
    competition.write("submissions/zeta/scale/more.py", "# by eve\n")
    head = competition.commit()
    git(competition.origin, "rm", "-rq", "submissions/zeta")
    git(competition.origin, "commit", "-qm", "zeta leaves")
    assert ("team_file", "submissions/zeta/team.yml") in faults("eve", head)


def test_a_broken_team_file_of_the_base_keeps_maintainers_from_nothing(blemished, faults):
    blemished.write("submissions/zeta/scale/submission.py", STARTER + "# mended\n")
    assert set(faults("zoe")) == {("no_team_file", "submissions/zeta/team.yml")}  # nobody knows that it is zoe's
    assert faults("grace") == {}
    blemished.write("submissions/zeta/team.yml", "nobody: [zoe]\n")
    assert set(faults("grace")) == {("team_file", "submissions/zeta/team.yml")}


def test_without_mending_a_link_of_the_base_its_submission_cannot_be_read(competition, faults):
    base = competition.commit_entries((LINK, b"/etc/passwd", "submissions/acme/scale/link.py"))
    git(competition.origin, "update-ref", "refs/heads/main", base)
    head = competition.commit_entries((REGULAR, b"# faster", SUBMISSION))
    assert set(faults(head=head)) == {("link", "submissions/acme/scale/link.py")}


def test_of_two_names_that_collide_the_new_one_is_to_blame(competition, faults):
    git(competition.origin, "update-ref", "refs/heads/main", competition.commit_entries(
        (REGULAR, b"x", "submissions/acme/scale/tiles.py")))  # fmt: skip
    head = competition.commit_entries((REGULAR, b"x", "submissions/acme/scale/TILES.py"))
    assert set(faults(head=head)) == {("case_collision", "submissions/acme/scale/TILES.py")}


def test_a_fault_is_shown_at_a_file(competition, look):
    for number in range(MAX_FILES + 1):
        competition.write(f"submissions/acme/scale/part{number}.py", "")
    (competition.fork / "submissions/acme/team.yml").unlink()
    competition.write("submissions/zeta/scale/submission.py", STARTER + "# mine\n")
    report = look()[1]
    assert {fault.reason: fault.file for fault in report.faults} == {
        "several_teams": "submissions/acme/scale/part0.py",
        "no_team_file": "submissions/acme/team.yml",
        "other_team": "submissions/zeta/scale/submission.py",
    }
    assert [(mark.path, mark.message.partition(":")[0]) for mark in list_marks(report)] == [
        ("submissions/acme/scale/part0.py", "submissions"),
        ("submissions/acme/team.yml", "a team keeps naming its people"),
        ("submissions/zeta/scale/submission.py", "submissions/zeta"),
    ]
    shutil.rmtree(competition.fork / "submissions/zeta")
    shutil.rmtree(competition.fork / "submissions/acme/scale")
    competition.write("submissions/acme/scale/other.py", "")
    competition.write("submissions/acme/team.yml", "logins: [alan]\n")
    assert {fault.reason: fault.file for fault in look()[1].faults} == {
        "several_teams": "submissions/acme/scale/other.py",
        "no_submission": "submissions/acme/scale/other.py",
        "other_team": "submissions/zeta/scale/submission.py",
    }


HELD = {"left": ("Isaac", "emmy"), "old": ()}


@pytest.mark.parametrize(
    ("team", "login", "reason", "told"),
    [
        ("left", "emmy", None, None),
        ("left", "ISAAC", None, None),
        ("left", "grace", None, None),  # a maintainer
        ("left", "eve", "held_name", "a team 'left' was here and has records: its name stays with the people who held "
                                     "it (Isaac, emmy); choose another"),
        ("old", "eve", "held_name", "its name stays with the people who held it; choose another"),
        ("1eft", "emmy", "team_name", "the name '1eft' looks like that of team 'left': choose another"),
        ("other", "eve", None, None),
    ],
)  # fmt: skip
def test_a_name_with_records_stays_with_its_people(competition, team, login, reason, told):
    competition.write(f"submissions/{team}/team.yml", f"logins: [{login}]\n")
    competition.write(f"submissions/{team}/scale/submission.py")
    root, head = competition.origin, competition.commit()
    commits = open_commits(root, competition.base, head)
    faults = inspect(commits, root, find_author(root, login, "ada"), head, HELD)[1].faults
    assert [fault.reason for fault in faults] == [reason] * bool(reason)
    assert told is None or told in faults[0].message


def test_too_many_files(competition, faults):
    for number in range(MAX_FILES + 1):
        competition.write(f"submissions/acme/scale/part{number}.py", "")
    assert f"{MAX_FILES + 2} files; {MAX_FILES} are allowed" in faults()["too_many_files", "submissions/acme/scale"]


def test_two_folders_for_one_problem(competition, faults):
    competition.write("submissions/acme/scale_py/submission.py")
    assert faults() == {
        ("two_folders", "submissions/acme/scale_py"): "scale has a folder scale too: keep one of them",
    }
    shutil.rmtree(competition.fork / "submissions/acme/scale")
    assert faults() == {}  # a folder may get another name


def test_two_folders_by_two_aliases_or_beside_one_that_the_base_has(competition, faults):
    task = competition.origin / "problems/scale/task.yml"
    task.write_text(task.read_text().replace("[scale_py]", "[scale_py, scale_two]"))
    shutil.rmtree(competition.fork / "submissions/acme/scale")
    for name in ("scale_py", "scale_two"):
        competition.write(f"submissions/acme/{name}/submission.py")
    assert set(faults()) == {("two_folders", f"submissions/acme/{name}") for name in ("scale_py", "scale_two")}
    shutil.rmtree(competition.fork / "submissions/acme/scale_two")
    git(competition.origin, "update-ref", "refs/heads/main", competition.commit())
    competition.write(SUBMISSION)  # its own name, where an alias lies already
    assert faults()["two_folders", "submissions/acme/scale"] == "scale has a folder scale_py too: keep one of them"


def test_two_folders_where_the_base_has_got_one_since(competition, faults):
    competition.write("submissions/acme/scale/submission.py", STARTER + "# new\n")
    (competition.origin / "submissions/acme/scale_py").mkdir()
    (competition.origin / "submissions/acme/scale_py/submission.py").write_text(STARTER)
    assert faults()["two_folders", "submissions/acme/scale"] == "scale has a folder scale_py too: keep one of them"


def test_a_folder_without_its_submission(competition, faults):
    (competition.fork / SUBMISSION).unlink()
    competition.write("submissions/acme/scale/other.py", "")
    assert "there is no submission.py in it" in faults()["no_submission", "submissions/acme/scale"]


def test_extraction_takes_the_submission_and_nothing_else(competition, look):
    competition.write(SUBMISSION, STARTER + "# new\n")
    competition.write("submissions/acme/scale/tiles.py", "TILES = 2\n")
    competition.write("shapes.yaml", "hostile")
    competition.write("problems/scale/reference.py", "hostile")
    proposal, _ = look("grace")
    root = competition.checkout()
    (root / "submissions/acme/scale/old.py").write_text("of the base")
    extract(open_commits(root, competition.base, competition.commit()), proposal, root)
    assert git(root, "status", "--porcelain").decode().split() == [
        "M",
        SUBMISSION,
        "??",
        "submissions/acme/scale/tiles.py",
    ]
    assert (root / SUBMISSION).read_text().endswith("# new\n")
    assert not os.access(root / SUBMISSION, os.X_OK)


def test_nothing_is_written_through_a_link_of_the_base(competition, look):
    competition.write(SUBMISSION, STARTER + "# new\n")
    proposal, _ = look()
    root = competition.checkout()
    shutil.rmtree(root / "submissions")
    (root / "submissions").symlink_to(competition.folder / "elsewhere")
    (competition.folder / "elsewhere").mkdir()
    with pytest.raises(HarnessError, match="is a link in the base's checkout"):
        extract(open_commits(root, competition.base, competition.commit()), proposal, root)
    assert list((competition.folder / "elsewhere").iterdir()) == []


def test_the_command_tells_every_fault_and_leaves_a_report(competition, tmp_path):
    competition.write("Makefile", "all:\n\tcurl evil\n")
    competition.write("submissions/zeta/scale/x%0A::set-output name=a::b.py", "")
    head = competition.commit()
    event = tmp_path / "event.json"
    event.write_text(json.dumps(competition.event(head, author="eve")))
    root = competition.checkout()
    summary = tmp_path / "summary.md"
    result = run_harness(root, "ci", "changed", "--event", event, "--out", tmp_path / "report",
                         GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))  # fmt: skip
    assert result.returncode == 1, result.stderr
    commands = [line for line in result.stdout.splitlines() if line.lstrip().startswith("::")]
    assert len(commands) == 3
    assert all(line.startswith("::error ") for line in commands)
    assert "::error file=Makefile,line=1,title=not taken::with a submission nothing outside of" in result.stdout
    assert "%250A%3A%3Aset-output name=a%3A%3Ab.py" in result.stdout
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    assert {fault["reason"] for fault in report["faults"]} == {"outside", "other_team", "bad_name"}
    assert "**Not taken**: 3 things to mend. Nothing was run." in summary.read_text()
    assert git(root, "status", "--porcelain") == b""  # nothing was extracted


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "which pull request? Give --base, --head and --author, or --event"),
        (["--base", "x"], "--base, --head and --author go together"),
        (["--event", "gone.json"], "the event gone.json cannot be read: No such file or directory"),
        (["--event", "shapes.yaml"], "the event shapes.yaml is not JSON"),
        (["--event", "other.json"], "the event has no pull_request.user.login: it is of another kind"),
        (["--base", "x", "--head", "x", "--author", "x"], "'x' is not the full hash of a commit"),
    ],
)
def test_bad_usage(competition, monkeypatch, arguments, told):
    (competition.fork / "other.json").write_text("{}")
    monkeypatch.chdir(competition.fork)
    monkeypatch.delenv("GITHUB_EVENT_PATH", raising=False)
    with pytest.raises(UsageError) as error:
        cli.main(["ci", "changed", *arguments, "--out", "r"], standalone_mode=False)
    assert told in str(error.value)


def changed(competition, root, head):
    return run_harness(root, "ci", "changed", "--base", competition.base, "--head", head, "--author", "alan",
                       "--out", competition.folder / "report")  # fmt: skip


def test_a_checkout_of_something_else_is_refused(competition):
    competition.write(SUBMISSION, STARTER + "# a\n")
    head = competition.commit()
    root = competition.checkout()
    git(root, "checkout", "-q", "--detach")
    git(root, "commit", "-q", "--allow-empty", "-m", "Elsewhere")
    result = changed(competition, root, head)
    assert result.returncode == 2
    here = git(root, "rev-parse", "--short=12", "HEAD").decode().strip()
    assert f"this checkout is at {here} and not at the base, {competition.base[:12]}" in result.stderr
    assert f"`git checkout --detach {competition.base}` first" in result.stderr


def test_a_checkout_is_good_for_one_pull_request(competition):
    competition.write(SUBMISSION, STARTER + "# a\n")
    head = competition.commit()
    root = competition.checkout()
    assert changed(competition, root, head).returncode == 0
    result = changed(competition, root, head)
    assert result.returncode == 2
    assert f"this checkout is not as the base was committed ({SUBMISSION}): make a fresh one" in result.stderr
    assert "git worktree add --detach FOLDER BASE" in result.stderr


def test_a_shallow_checkout_is_told(competition):
    competition.write(SUBMISSION, STARTER + "# a\n")
    git(competition.origin, "update-ref", "refs/heads/main", competition.commit())
    head = competition.commit_entries((REGULAR, b"# b\n", SUBMISSION))
    git(competition.origin, "commit", "--allow-empty", "-q", "-m", "later")
    git(competition.folder, "clone", "-q", "--depth", "1", f"file://{competition.origin}", "shallow")
    with pytest.raises(UsageError, match="fetch-depth: 0"):
        open_commits(competition.folder / "shallow", competition.base, head)
