"""The answer to a pull request, as GitHub receives it: right for honest ones, and not to be had by lying."""

import json
import shutil

import pytest

from harness.ci.answer import CHECK, MARKER
from harness.ci.api_commits import ApiCommits, find_pull_request
from harness.ci.change import LINK, REGULAR, SUBMODULE, Fault
from harness.ci.event import finished_run
from harness.ci.examine import examine
from harness.ci.git import open_commits
from harness.ci.github import GitHub, GitHubError
from harness.ci.people import find_author
from harness.ci.report import Check, Report, encode_report
from harness.cli.verbs import cli
from harness.errors import HarnessError, UsageError
from harness.frame import Frame
from tests.ci.fake_github import TOKEN, FakeGitHub
from tests.ci.hostile import TEXTS, hostile_record
from tests.ci.rendering import assert_harmless
from tests.ci.repository import EVENTS, STARTER, git
from tests.ci.test_report import understated, zipped
from tests.store.samples import checked, incorrect, passed

SUBMISSION = "submissions/acme/scale/submission.py"
CHECKS = tuple(Check("acme", "scale", "scale", target) for target in ("b200", "h200"))
PAGE = "https://github.com/ada/competition/actions/runs/4711"


class Answering:
    """A pull request that waits for its answer, and what its run left behind."""

    def __init__(self, competition, monkeypatch, author):
        self.competition, self.monkeypatch = competition, monkeypatch
        self.head = None
        self.author = author
        self.github = None

    def propose(self, head=None, author=None):
        self.head = head or self.competition.commit()
        self.author = author or self.author
        self.github.head, self.github.author = self.head, self.author

    def leave(self, report):
        """Leave a report behind, or the bytes of an artifact."""
        if isinstance(report, Report):
            report = zipped(("report.json", json.dumps(encode_report(report))))
        self.github.artifacts[9] = ("report", report)

    def run(self, conclusion="success", **changes):
        event = json.loads((EVENTS / "workflow_run.json").read_text())
        event["workflow_run"] |= {"head_sha": self.head, "conclusion": conclusion, **changes}
        path = self.competition.folder / "event.json"
        path.write_text(json.dumps(event))
        return path

    def answer(self, conclusion="success", **changes):
        """Post the answer; return the check and the comment, None where there is none."""
        path = self.run(conclusion, **changes)
        self.monkeypatch.chdir(self.competition.origin)
        self.monkeypatch.setenv("GITHUB_API_URL", self.github.url)
        self.monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
        assert cli.main(["ci", "comment", "--event", str(path)], standalone_mode=False) == 0
        checks = self.github.checks
        ours = [c["body"] for c in self.github.comments if c["user"]["type"] == "Bot"]
        return (checks[-1], ours[-1] if ours else None) if checks else None


@pytest.fixture
def pull_request(competition, monkeypatch):
    with FakeGitHub(competition.origin, None, "Alan") as github:
        answering = Answering(competition, monkeypatch, "Alan")
        answering.github = github
        competition.write(SUBMISSION, STARTER + "# faster\n")
        answering.propose()
        yield answering


def records(make=checked, **changes):
    return tuple(make("acme", problem="scale", target=check.target, **changes) for check in CHECKS)


def test_a_good_report(pull_request):
    pull_request.leave(Report(pull_request.head, CHECKS, records()))
    check, comment = pull_request.answer()
    assert (check["name"], check["head_sha"], check["conclusion"]) == (CHECK, pull_request.head, "success")
    assert check["details_url"] == PAGE
    assert check["output"]["title"].startswith("Checked: right on a CPU and compiled in budget.")
    assert comment.startswith(f"{MARKER}\n**Checked**")
    page = assert_harmless(comment.removeprefix(MARKER), links=[PAGE])
    assert "acme/scale" in page.code
    assert pull_request.head[:12] in page.code


def test_one_comment_that_is_kept_up_to_date(pull_request):
    pull_request.github.add_comment(f"{MARKER} I say that all is well", login="eve", kind="User")
    pull_request.github.add_comment("welcome")
    for _ in range(120):
        pull_request.github.add_comment("talk", login="zoe", kind="User")
    pull_request.leave(Report(pull_request.head, CHECKS, records(incorrect)))
    pull_request.answer("failure")
    pull_request.leave(Report(pull_request.head, CHECKS, records()))
    pull_request.answer()
    bodies = [c["body"] for c in pull_request.github.comments]
    assert len(bodies) == 123
    assert bodies[0] == f"{MARKER} I say that all is well"  # another's comment is left alone
    assert bodies[-1].startswith(f"{MARKER}\n**Checked**")
    assert [c["conclusion"] for c in pull_request.github.checks] == ["failure", "success"]


def test_where_it_fell_short_is_marked(pull_request):
    pull_request.leave(Report(pull_request.head, CHECKS, records(incorrect)))
    check, _ = pull_request.answer("failure")
    assert check["conclusion"] == "failure"
    (mark,) = check["output"]["annotations"]
    assert (mark["path"], mark["start_line"], mark["title"]) == (SUBMISSION, 41, "INCORRECT (b200, h200)")


@pytest.mark.parametrize("text", TEXTS)
def test_texts_of_the_report_stay_texts(pull_request, text):
    changes = {"problem": "scale", "target": "b200"}
    pull_request.leave(Report(pull_request.head, CHECKS, (hostile_record(text, **changes),)))
    check, comment = pull_request.answer("failure")
    assert_harmless(comment.removeprefix(MARKER), links=[PAGE])
    assert_harmless(check["output"]["summary"], links=[PAGE])
    assert check["conclusion"] == "failure"
    assert comment.count("<!--") == 1


@pytest.mark.parametrize(
    ("report", "told"),
    [
        (lambda head: Report("2" * 40, CHECKS, records()), "it is about another commit"),
        (lambda head: Report(head, CHECKS[:1], records()[:1]), "it is about other submissions or targets"),
        (lambda head: Report(head), "it is about other submissions or targets"),
        (lambda head: Report(head, (*CHECKS, Check("zeta", "scale", "scale", "b200")), records()), "about other sub"),
        (lambda head: Report(head, CHECKS, records(passed, score_us=1.0)), "no verdict that a check on a CPU can give"),
        (lambda head: Report(head, CHECKS, records(ranked=True)), "claims a score or a time"),
        (lambda head: b"no zip file", "not a zip file"),
        (lambda head: zipped(("report.json", b"{}"), ("../../x", b"")), "must hold report.json and nothing else"),
        (lambda head: zipped(("report.json", b"[" * 100_000)), "not a JSON document"),
        (lambda head: zipped(("report.json", b" " * 50_000_000)), "not a plain file of at most 2048 KiB"),
        (lambda head: understated(b""), "not a zip file"),
        (lambda head: b"x" * 3_000_000, "an answer of more than 2048 KiB"),
    ],
)
def test_forged_reports(pull_request, report, told):
    pull_request.leave(report(pull_request.head))
    check, comment = pull_request.answer()
    assert check["conclusion"] == "failure"
    page = assert_harmless(comment.removeprefix(MARKER), links=[PAGE])
    assert told in " ".join(page.code)


@pytest.mark.parametrize(
    ("left", "conclusion", "title"),
    [
        (records()[:1], "success", "Not finished: 1 of 2 checks were not done."),
        (records(), "failure", "Not finished: the run itself did not succeed."),
        (records(incorrect), "success", "Fell short: 2 of 2 checks. What to do is below."),
    ],
)
def test_what_is_not_whole_is_not_good(pull_request, left, conclusion, title):
    pull_request.leave(Report(pull_request.head, CHECKS, left))
    check, _ = pull_request.answer(conclusion)
    assert (check["conclusion"], check["output"]["title"]) == ("failure", title)


def test_a_run_without_a_report(pull_request):
    check, comment = pull_request.answer("timed_out")
    assert check["conclusion"] == "failure"
    assert "the run left none; its log says why" in " ".join(assert_harmless(comment[len(MARKER) :], [PAGE]).code)


def test_the_last_of_several_reports_counts(pull_request):
    pull_request.leave(Report(pull_request.head, CHECKS, records(incorrect)))
    pull_request.github.artifacts[8] = pull_request.github.artifacts[9]
    pull_request.leave(Report(pull_request.head, CHECKS, records()))
    assert pull_request.answer()[0]["conclusion"] == "success"


def test_faults_of_content_are_the_gates_word(pull_request):
    fault = Fault("binary", "submissions/acme/scale/a.bin", "it is a binary file")
    pull_request.leave(Report(pull_request.head, faults=(fault,)))
    check, comment = pull_request.answer("failure")
    assert check["conclusion"] == "failure"
    assert "it is a binary file" in " ".join(assert_harmless(comment[len(MARKER) :], [PAGE]).code)


def test_a_gate_that_the_pull_request_has_changed_is_not_asked(pull_request):
    """The workflow that runs is the pull request's own: a report that says all is well changes nothing."""
    pull_request.competition.write(".github/workflows/submission.yml", "on: pull_request")
    pull_request.competition.write("submissions/zeta/scale/submission.py", "hostile")
    pull_request.propose()
    pull_request.leave(Report(pull_request.head, CHECKS, records()))
    check, comment = pull_request.answer()
    assert check["conclusion"] == "failure"
    told = " ".join(assert_harmless(comment[len(MARKER) :], [PAGE]).code)
    assert "nothing outside of submissions/TEAM/ may be changed" in told
    assert "Alan is not of team 'zeta'" in told
    assert not any("artifacts" in path for _, path, _ in pull_request.github.requests)
    assert {mark["path"] for mark in check["output"]["annotations"]} == {
        ".github/workflows/submission.yml", SUBMISSION, "submissions/zeta/scale/submission.py",
    }  # fmt: skip


def test_what_the_gate_finds_inside_of_files_is_told_with_the_rest(pull_request):
    pull_request.competition.write("submissions/acme/notes.md", "misplaced")
    pull_request.propose()
    binary = Fault("binary", "submissions/acme/scale/a.bin", "it is a binary file")
    forged = Fault("other_team", "submissions/zeta", "zeta is a cheat")
    pull_request.leave(Report(pull_request.head, faults=(binary, forged)))
    told = " ".join(assert_harmless(pull_request.answer("failure")[1][len(MARKER) :], [PAGE]).code)
    assert "beside its problems a team has" in told
    assert "it is a binary file" in told
    assert "cheat" not in told
    for left in (Report(pull_request.head, CHECKS, records()), Report("2" * 40, faults=(binary,)), b"no zip file"):
        pull_request.leave(left)
        check, comment = pull_request.answer()
        assert check["conclusion"] == "failure"
        assert check["output"]["title"] == "Not taken: 1 thing to mend. Nothing was run."
        assert "beside its problems a team has" in " ".join(assert_harmless(comment[len(MARKER) :], [PAGE]).code)


@pytest.mark.parametrize(
    "changes",
    [
        {"event": "push"},
        {"path": ".github/workflows/evil.yml"},
        {"head_branch": "other"},
        {"head_repository": {"owner": {"login": "eve"}}},
        {"head_sha": "3" * 40},
    ],
)
def test_other_runs_get_no_answer(pull_request, changes):
    pull_request.leave(Report(pull_request.head, CHECKS, records()))
    assert pull_request.answer(**changes) is None
    assert pull_request.github.written == []


def test_a_pull_request_that_has_moved_on_or_is_closed_gets_none(pull_request):
    pull_request.leave(Report(pull_request.head, CHECKS, records()))
    pull_request.github.moved_to = "4" * 40
    assert pull_request.answer() is None
    pull_request.github.moved_to, pull_request.github.open = None, False
    assert pull_request.answer() is None
    assert pull_request.github.written == []


def test_a_pull_request_without_a_submission_gets_its_check_and_no_comment(pull_request):
    git(pull_request.competition.fork, "checkout", "-q", "main", "--", "submissions")
    pull_request.competition.write("README.md", "hello")
    pull_request.propose(author="eve")
    check, comment = pull_request.answer()
    assert (check["conclusion"], comment) == ("success", None)
    assert check["output"]["title"] == "Nothing to check: no submission is changed."


def test_removing_ones_own(pull_request):
    shutil.rmtree(pull_request.competition.fork / "submissions/acme/scale")
    pull_request.propose()
    pull_request.leave(Report(pull_request.head, removed=("submissions/zeta/scale",)))
    check, comment = pull_request.answer()
    assert check["conclusion"] == "success"
    assert "submissions/acme/scale" in " ".join(assert_harmless(comment[len(MARKER) :], [PAGE]).code)
    assert "zeta" not in comment


def test_trouble_that_passes(pull_request, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)
    pull_request.leave(Report(pull_request.head, CHECKS, records()))
    pull_request.github.failures = 2
    assert pull_request.answer()[0]["conclusion"] == "success"
    pull_request.github.failures = 3
    with pytest.raises(GitHubError, match="GET pulls: 502"):
        pull_request.answer()


def test_a_download_that_breaks_off_is_tried_again_and_ends_as_a_check(pull_request, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)
    pull_request.leave(Report(pull_request.head, CHECKS, records()))
    pull_request.github.lost_files = 2
    assert pull_request.answer()[0]["conclusion"] == "success"
    pull_request.github.lost_files = 3
    check, comment = pull_request.answer()
    assert check["conclusion"] == "failure"
    assert "its report cannot be used: GET" in " ".join(assert_harmless(comment[len(MARKER) :], [PAGE]).code)


def test_a_trial_merge_that_is_not_made_yet_is_waited_for(pull_request, monkeypatch):
    pauses = []
    monkeypatch.setattr("time.sleep", pauses.append)
    pull_request.leave(Report(pull_request.head, CHECKS, records()))
    pull_request.github.merges_after = 4  # the listing is one of them
    assert pull_request.answer()[0]["conclusion"] == "success"
    assert [pause for pause in pauses if pause >= 1] == [2, 4, 6]  # waiting for git sleeps too, for milliseconds
    pull_request.github.merges_after = 99
    check, comment = pull_request.answer()
    assert check["conclusion"] == "failure"
    assert "has not tried yet" in " ".join(assert_harmless(comment[len(MARKER) :], [PAGE]).code)


def test_a_pull_request_of_the_same_head_for_another_branch_is_passed_over(pull_request):
    pull_request.github.elsewhere = True
    pull_request.leave(Report(pull_request.head, CHECKS, records()))
    assert pull_request.answer()[0]["conclusion"] == "success"
    assert any(path.endswith("/issues/7/comments") for _, path in pull_request.github.written)
    assert not any("/6/" in path for _, path in pull_request.github.written)


def test_what_cannot_be_looked_at_in_whole_is_not_taken(pull_request):
    pull_request.github.cut_trees = True
    pull_request.leave(Report(pull_request.head, CHECKS, records()))
    check, comment = pull_request.answer()
    assert check["conclusion"] == "failure"
    assert "has more files than can be listed" in " ".join(assert_harmless(comment[len(MARKER) :], [PAGE]).code)


@pytest.fixture
def undoing(competition):
    """A head that merges the base's history anew and quietly takes back what another team did in it."""
    start = competition.base
    competition.write("submissions/newton/team.yml", "logins: [isaac]\n")
    tree = git(competition.fork, "rev-parse", f"{competition.commit()}^{{tree}}").decode().strip()
    # A branch that is merged below; being the younger one, it is what a comparison starts from.
    side = git(competition.fork, "commit-tree", tree, "-p", start, "-m", "Side", date="2026-02-01T00:00:00Z")
    side = side.decode().strip()
    git(competition.fork, "rm", "-q", "-r", "--cached", "submissions/newton")
    shutil.rmtree(competition.fork / "submissions/newton")
    competition.write("submissions/zeta/scale/submission.py", STARTER + "# zeta's best\n")
    mainline = competition.commit()
    tree = git(competition.fork, "merge-tree", "--write-tree", mainline, side).decode().strip()
    merged = git(competition.fork, "commit-tree", tree, "-p", mainline, "-p", side, "-m", "Merge").decode().strip()
    git(competition.origin, "update-ref", "refs/heads/main", merged)
    git(competition.fork, "read-tree", side)
    blob = git(competition.fork, "hash-object", "-w", "--stdin", stdin=STARTER.encode() + b"# mine\n").decode().strip()
    git(competition.fork, "update-index", "--cacheinfo", f"100644,{blob},{SUBMISSION}")
    tree = git(competition.fork, "write-tree").decode().strip()
    head = git(competition.fork, "commit-tree", tree, "-p", side, "-p", mainline, "-m", "Evil").decode().strip()
    git(competition.origin, "update-ref", "refs/pull/7/head", head)
    return head


def test_a_merge_that_undoes_anothers_work_without_listing_it(pull_request, undoing):
    pull_request.propose(undoing)
    listed = {file["filename"] for file in pull_request.github._files()}
    assert "submissions/zeta/scale/submission.py" not in listed
    merge = pull_request.github._merge()
    undone = git(pull_request.competition.origin, "diff-tree", "-r", "--name-only", "main", merge).decode().split()
    assert "submissions/zeta/scale/submission.py" in undone
    pull_request.leave(Report(pull_request.head, CHECKS, records()))
    check, comment = pull_request.answer()
    assert check["conclusion"] == "failure"
    told = " ".join(assert_harmless(comment[len(MARKER) :], [PAGE]).code)
    assert "merging it changes submissions/zeta, which it does not list: rebase it on the base" in told
    with pytest.raises(UsageError, match="has left the base in 2 places: rebase it on the base"):
        open_commits(pull_request.competition.origin, pull_request.competition.base, undoing)


@pytest.mark.parametrize(
    ("mergeable", "merge", "told"),
    [
        (False, None, "GitHub cannot merge it, or has not tried yet: update the branch"),
        (True, "main", "GitHub's trial merge is of another commit: update the branch"),
    ],
)
def test_what_cannot_be_merged_is_not_taken(pull_request, mergeable, merge, told):
    pull_request.github.mergeable = mergeable
    pull_request.github.merge = merge and pull_request.competition.base
    pull_request.leave(Report(pull_request.head, CHECKS, records()))
    check, comment = pull_request.answer()
    assert check["conclusion"] == "failure"
    assert told in " ".join(assert_harmless(comment[len(MARKER) :], [PAGE]).code)


def test_a_token_is_needed(pull_request, monkeypatch):
    monkeypatch.chdir(pull_request.competition.origin)
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    with pytest.raises(UsageError, match="GITHUB_TOKEN is not set"):
        cli.main(["ci", "comment", "--event", str(pull_request.run())], standalone_mode=False)
    monkeypatch.setenv("GITHUB_TOKEN", "another")
    monkeypatch.setenv("GITHUB_API_URL", pull_request.github.url)
    with pytest.raises(HarnessError, match="GET pulls: 401"):
        cli.main(["ci", "comment", "--event", str(pull_request.run())], standalone_mode=False)


def test_the_token_goes_to_the_api_alone(pull_request):
    pull_request.leave(Report(pull_request.head, CHECKS, records()))
    pull_request.answer()  # the fake refuses a download that comes with it
    assert any(path.startswith("/files/") for _, path, _ in pull_request.github.requests)


ODD = [
    (LINK, b"/etc/passwd", "submissions/acme/scale/link.py"),
    (SUBMODULE, "1" * 40, "submissions/acme/scale/lib"),
    (REGULAR, b"#" * 300_000, SUBMISSION),
    (REGULAR, b"x", "submissions/ACME/scale/submission.py"),
    (REGULAR, b"x", "submissions/acme/scale/SUBMISSION.py"),
    (REGULAR, b"x", "submissions/acme/scale/a\nb.py"),
    (REGULAR, b"x", "submissions/acme/scale/.gitattributes"),
    (REGULAR, b"logins: [eve]", "submissions/acme/team.yml"),
    (REGULAR, b"logins: [Alan]", "submissions/acrne/team.yml"),
    ("0", "0" * 40, "submissions/zeta/scale/submission.py"),
    ("0", "0" * 40, SUBMISSION),
]


@pytest.mark.parametrize("entry", ODD)
def test_the_api_and_git_agree(pull_request, entry):
    competition, github = pull_request.competition, pull_request.github
    pull_request.propose(competition.commit_entries(entry))
    run = finished_run(json.loads(pull_request.run().read_text()))
    api = GitHub(github.url, run.repository, TOKEN)
    author = find_author(competition.origin, "Alan", "ada")
    by_api = examine(ApiCommits(api, find_pull_request(api, run)), competition.origin, author)
    by_git = examine(open_commits(competition.origin, competition.base, pull_request.head), competition.origin, author)
    assert by_api == by_git


def test_lines_beyond_reason_are_not_marked(pull_request):
    frames = (Frame(10**9, "f", "x"), Frame(-5, "f", "x"))
    verdict = type(incorrect().verdict)("INCORRECT", "judge", None, "wrong", "no", frames)
    pull_request.leave(Report(pull_request.head, CHECKS, records(incorrect, verdict=verdict)))
    check, _ = pull_request.answer("failure")
    assert check["output"]["annotations"][0]["start_line"] == 1
