"""The workflows themselves: what they may do, and their jobs run from the files, for every kind of pull request."""

import dataclasses
import io
import json
import re
import shutil
import zipfile

import pytest
import yaml

from harness.ci.answer import CHECK, MARKER
from harness.ci.held_names import load_held
from harness.ci.records_branch import add_records
from harness.ci.report import Report, encode_report, parse_report
from harness.cli.ci import VERBS
from harness.cli.ci.comment import GATE
from harness.store import encode_record
from tests.ci.fake_github import TOKEN, FakeGitHub
from tests.ci.rendering import assert_harmless
from tests.ci.repository import EVENTS, ROOT, STARTER, git
from tests.ci.test_answer import CHECKS, records
from tests.ci.test_report import zipped
from tests.ci.workflow import Runner, load_workflow
from tests.store.samples import checked, passed

WORKFLOWS = {path.stem: load_workflow(path) for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))}
ACTION = yaml.safe_load((ROOT / ".github" / "actions" / "environment" / "action.yml").read_text())
JOBS = [(name, job) for name, workflow in WORKFLOWS.items() for job in workflow["jobs"]]
PAGE = "https://github.com/ada/competition/actions/runs/4711"
SUBMISSION = "submissions/acme/scale/submission.py"


def steps_of(name, job):
    return WORKFLOWS[name]["jobs"][job]["steps"]


def test_the_gate_is_the_file_that_the_answer_expects():
    assert (ROOT / GATE).is_file()
    assert WORKFLOWS["report"]["on"]["workflow_run"]["workflows"] == [WORKFLOWS["submission"]["name"]]
    assert WORKFLOWS["submission"]["on"] == {"pull_request": None}


@pytest.mark.parametrize(("name", "job"), JOBS)
def test_rights_are_what_a_job_needs_and_no_more(name, job):
    workflow = WORKFLOWS[name]
    assert workflow["permissions"] == {}
    definition = workflow["jobs"][job]
    writes = {right for right, level in definition["permissions"].items() if level == "write"}
    allowed = {
        ("report", "answer"): {"checks", "pull-requests"},
        ("rank", "publish"): {"contents"},
        ("rank", "pages"): {"pages", "id-token"},
    }
    assert writes == allowed.get((name, job), set())
    assert definition["timeout-minutes"] <= 180
    assert ("self-hosted" in str(definition["runs-on"])) == ((name, job) == ("rank", "replay"))


def test_nothing_that_pull_requests_start_has_a_right_or_a_secret():
    for name, workflow in WORKFLOWS.items():
        assert "pull_request_target" not in workflow["on"]
        assert "secrets." not in (ROOT / ".github" / "workflows" / f"{name}.yml").read_text()
        if "pull_request" in workflow["on"]:
            rights = [job["permissions"] for job in workflow["jobs"].values()]
            assert all(right == {"contents": "read"} for right in rights), name


def test_actions_are_pinned_and_leave_no_credentials():
    everywhere = [step for name, job in JOBS for step in steps_of(name, job)] + ACTION["runs"]["steps"]
    for step in everywhere:
        if "uses" in step and not step["uses"].startswith("./"):
            assert re.fullmatch(r"actions/[\w/-]+@[0-9a-f]{40}", step["uses"]), step["uses"]
        if step.get("uses", "").startswith("actions/checkout"):
            assert step["with"]["persist-credentials"] is False
        assert "${{" not in step.get("run", "")


def test_workflows_are_thin():
    """A step is one command of the harness, or sets the machine up."""
    for name, job in JOBS:
        for step in steps_of(name, job):
            verb = re.match(r"\.venv/bin/harness ci ([a-z]+)", step.get("run", ""))
            assert "run" not in step or step["run"] in ("make environment", "bash .ci/run") or verb[1] in VERBS
            assert len(step.get("run", "").splitlines()) <= 2


def test_a_token_meets_no_submitted_code():
    """The steps that run submissions or a pull request's problems have none in their environment."""
    for name, job in JOBS:
        for step in steps_of(name, job):
            if re.search(r"ci (run|season|replay)|\.ci/run", step.get("run", "")):
                assert "token" not in json.dumps(step.get("env", {}))


def test_the_gate_takes_everything_but_the_submission_from_the_base():
    checkout, environment, *_ = steps_of("submission", "gate")
    assert checkout["with"]["ref"] == "${{ github.event.pull_request.base.sha }}"
    assert environment["uses"].startswith("./")
    assert steps_of("report", "answer")[0]["with"]["ref"] == "${{ github.event.repository.default_branch }}"


def test_the_gpus_machine_has_no_submission():
    checkout = steps_of("rank", "replay")[0]["with"]
    assert "!/submissions/" in checkout["sparse-checkout"]
    assert not any("ci run" in step.get("run", "") for step in steps_of("rank", "replay"))


class Conversation:
    """A pull request from its opening to the answer in it."""

    def __init__(self, competition):
        self.competition = competition

    def open(self, author="Alan", head=None):
        """Run the gate's job on the pull request."""
        self.head, self.author = head or self.competition.commit(), author
        self.gate = Runner(self.competition, self.competition.event(self.head, author))
        self.passed = self.gate.run(WORKFLOWS["submission"], "gate")
        return self.passed

    def answer(self, artifact=None, conclusion=None):
        """Run the answer's job; return the check and the comments that GitHub has got."""
        event = json.loads((EVENTS / "workflow_run.json").read_text())
        event["workflow_run"]["head_sha"] = self.head
        event["workflow_run"]["conclusion"] = conclusion or ("success" if self.passed else "failure")
        with FakeGitHub(self.competition.origin, self.head, self.author) as github:
            left = artifact or self.gate.artifacts.get("report")
            if left:
                github.artifacts[9] = ("report", left)
            runner = Runner(self.competition, event, folder="answer", token=TOKEN)
            assert runner.wants(WORKFLOWS["report"], "answer")
            assert runner.run(WORKFLOWS["report"], "answer", GITHUB_API_URL=github.url), runner.log
        (check,) = github.checks
        assert_harmless(check["output"]["summary"], links=[PAGE])
        assert (check["name"], check["head_sha"]) == (CHECK, self.head)
        bodies = [comment["body"] for comment in github.comments]
        for body in bodies:
            assert_harmless(body.removeprefix(MARKER), links=[PAGE])
        return check, *bodies


@pytest.fixture
def conversation(competition):
    return Conversation(competition)


def hostile_pull_requests():
    """By name: what the author does, who they are, and what must be told."""

    def add(name, content):
        return lambda c: c.write(f"submissions/{name}", content)

    def rename(c):
        shutil.rmtree(c.fork / "submissions/acme/scale")
        (c.fork / "submissions/zeta/scale").rename(c.fork / "submissions/acme/scale")

    def both(c):
        c.write(SUBMISSION, STARTER + "# a\n")
        c.write("submissions/zeta/scale/submission.py", STARTER + "# b\n")

    def forge(c):
        c.write(SUBMISSION, STARTER + "# a\n")
        c.write(".github/workflows/submission.yml", "on: pull_request\njobs: {}\n")

    markup = "scale/<img src=x onerror=alert(1)>@octocat.py"
    return {
        "first-time contributor": (add("acme/scale/submission.py", "x = 1\n"), "eve", "eve is not of team"),
        "renamed from another team": (rename, "Alan", "Alan is not of team 'zeta'"),
        "two teams at once": (both, "Alan", "a pull request is of one team; this one changes acme, zeta"),
        "binary file": (add("acme/scale/kernel.cubin", b"\x7fELF\0"), "Alan", "it is a binary file"),
        "5 MB source": (add("acme/scale/submission.py", b"#" * 5_000_000), "Alan", "5,000,000 bytes"),
        "path tricks": (add("acme/scale/%0A::set-output name=x::\n::error::.py", b""), "Alan", "rename it"),
        "markup in a name": (add(f"acme/{markup}", b""), "Alan", "rename it"),
        "workflow changed": (forge, "Alan", "nothing outside of submissions/TEAM/ may be changed"),
        "markup in team.yml": (
            add("acme/team.yml", "logins: ['</code><script>@octocat']"),
            "Alan",
            "a GitHub login is letters and digits",
        ),
    }


IN_EVERY_RUN = ("first-time contributor", "path tricks")


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[] if n in IN_EVERY_RUN else pytest.mark.slow) for n in hostile_pull_requests()],
)
def test_hostile_pull_requests_are_refused_from_end_to_end(conversation, name):
    act, author, told = hostile_pull_requests()[name]
    act(conversation.competition)
    before = git(conversation.competition.origin, "for-each-ref", "refs/heads")
    assert not conversation.open(author)
    assert conversation.gate.results["What changed, and may it?"] == "failure"
    assert conversation.gate.results["Check it for every target"] == "skipped"
    assert git(conversation.gate.workspace, "status", "--porcelain") == b""  # nothing was laid on the base
    commands = [line for line in conversation.gate.log.splitlines() if line.lstrip().startswith("::") or "##[" in line]
    assert all(line.startswith("::error file=") for line in commands)
    assert_harmless(conversation.gate.summary)
    check, comment = conversation.answer()
    assert check["conclusion"] == "failure"
    assert told in " ".join(assert_harmless(comment.removeprefix(MARKER), links=[PAGE]).code)
    assert git(conversation.competition.origin, "for-each-ref", "refs/heads") == before


def test_a_removed_submission(conversation):
    shutil.rmtree(conversation.competition.fork / "submissions/acme/scale")
    assert conversation.open()
    assert conversation.gate.results["Check it for every target"] == "skipped"
    check, comment = conversation.answer()
    assert check["conclusion"] == "success"
    assert "submissions are removed, nothing is to be checked" in comment


@pytest.mark.slow
def test_a_pull_request_without_a_submission_passes_and_gets_no_comment(conversation):
    conversation.competition.write("README.md", "hello")
    assert conversation.open("eve")
    (check,) = conversation.answer()
    assert check["conclusion"] == "success"


def one_target(competition):
    """Let the season have one target: half of the work."""
    shapes = competition.fork / "shapes.yaml"
    shapes.write_text(re.sub(r"targets: \[.*\]", "targets: [b200]", shapes.read_text()))
    git(competition.origin, "update-ref", "refs/heads/main", competition.commit())


@pytest.mark.slow
def test_a_name_that_has_records_is_refused_by_gate_and_answer(conversation):
    competition = conversation.competition
    add_records(competition.checkout("publisher"), "records", [checked("acme", problem="scale")], None)
    shutil.rmtree(competition.fork / "submissions/acme")
    git(competition.origin, "update-ref", "refs/heads/main", competition.commit())
    competition.write("submissions/acme/team.yml", "logins: [eve]\n")
    competition.write(SUBMISSION, STARTER)
    assert not conversation.open("eve")
    told = "a team 'acme' was here and has records: its name stays with the people who held it (Alan)"
    assert told in conversation.gate.log
    check, comment = conversation.answer()
    assert check["conclusion"] == "failure"
    assert told in " ".join(assert_harmless(comment.removeprefix(MARKER), links=[PAGE]).code)


def test_a_pull_request_from_a_fork_is_checked_and_answered(conversation):
    """The whole path: the gate's job with a real build and check, and the answer that GitHub gets."""
    one_target(conversation.competition)
    conversation.competition.write("submissions/newton/team.yml", "logins: [isaac]\n")
    conversation.competition.write("submissions/newton/scale_py/submission.py", STARTER + CHATTY)
    assert conversation.open("isaac"), conversation.gate.log
    assert set(conversation.gate.artifacts) == {"report", "built"}
    assert "newton/scale for b200" in conversation.gate.log
    assert "\n  submission | ::error::ours\n" in conversation.gate.log
    page = assert_harmless(conversation.gate.summary)
    assert "CHECKED" in page.code
    check, comment = conversation.answer()
    assert check["conclusion"] == "success", comment
    told = "".join(assert_harmless(comment.removeprefix(MARKER), links=[PAGE]).code)
    assert "newton/scale" in told
    assert "CHECKED  scale · b200 · closed · newton" in told  # as the terminal shows it


CHATTY = """
print("::error::ours")
"""

ATTACK = '''
raise ValueError("""
::error file=Makefile::fooled
::set-output name=checks::0
##[add-path]/tmp
</pre></details><img src=x onerror=alert(1)> @octocat ![x](https://evil.example/x.png)
""")
'''


@pytest.mark.slow
def test_a_submission_that_falls_short_is_marked_where_it_does(conversation):
    one_target(conversation.competition)
    conversation.competition.write(SUBMISSION, STARTER + ATTACK)
    assert not conversation.open()
    line = len(STARTER.splitlines()) + 2
    commands = [c for c in conversation.gate.log.splitlines() if c.lstrip().startswith("::") or "##[" in c]
    (told,) = commands
    assert told.startswith(f"::error file={SUBMISSION},line={line},title=COMPILE_ERROR (b200)::")
    check, comment = conversation.answer()
    assert check["conclusion"] == "failure"
    (mark,) = check["output"]["annotations"]
    assert (mark["path"], mark["start_line"]) == (SUBMISSION, line)
    assert "onerror" in "".join(assert_harmless(comment.removeprefix(MARKER), links=[PAGE]).code)


@pytest.mark.slow
def test_a_merge_is_built_replayed_and_published(competition):
    """The three jobs of rank.yml; the replay's machine has no GPU here, so its record is made up from the build's."""
    one_target(competition)
    before = competition.base
    competition.write(SUBMISSION, STARTER + "# merged\n")
    git(competition.origin, "update-ref", "refs/heads/main", competition.commit())
    event = json.loads((EVENTS / "push.json").read_text()) | {"before": before, "after": competition.base}
    rank = WORKFLOWS["rank"]
    runner = Runner(competition, event, token="", vars={"RANKED_TARGETS": '["b200"]'}, matrix={"target": "b200"})
    assert runner.run(rank, "build"), runner.log
    assert runner.context["needs"]["build"]["outputs"] == {"checks": "1"}
    assert runner.wants(rank, "replay")
    assert not runner.run(rank, "replay")
    assert runner.results["Replay"] == "failure"
    assert "not replayed: no GPU here" in runner.log
    assert not (runner.workspace / "submissions").exists()
    assert (runner.workspace / "problems").is_dir()

    with zipfile.ZipFile(io.BytesIO(runner.artifacts["built"])) as built:
        (record,) = parse_report(built.read("report.json")).records
    replay = passed("acme", 9.0).cases[-3:]
    replay = dataclasses.replace(record, id="1" * 14, verdict=passed("acme", 9.0).verdict, score_us=9.0, cases=replay)
    runner.artifacts["replayed-b200"] = zipped(("1.json", json.dumps(encode_record(replay))))
    assert runner.wants(rank, "publish")
    assert runner.run(rank, "publish"), runner.log
    assert "filed: acme/scale b200: CHECKED, not ranked" in runner.log
    assert re.search("^filed: acme/scale b200: PASSED$", runner.log, re.MULTILINE), runner.log
    kept = git(competition.origin, "ls-tree", "-r", "--name-only", "records").decode().split()
    assert kept == sorted([f"records/{'1' * 14}.json", f"records/{record.id}.json", "teams.json"])
    assert runner.wants(rank, "pages")
    assert runner.run(rank, "pages"), runner.log
    with zipfile.ZipFile(io.BytesIO(runner.deployed)) as site:
        assert {"index.html", "style.css"} <= set(site.namelist())


def test_a_merge_with_nothing_to_build_keeps_whose_the_names_are(competition):
    """A change of team.yml: nothing is built or replayed, the records' branch is told, the site is written."""
    rank = WORKFLOWS["rank"]
    clone = competition.checkout("publisher")
    add_records(clone, "records", [checked("acme", problem="scale")], None)
    before = competition.base
    competition.write("submissions/acme/team.yml", "logins: [Alan, kurt]\n")
    git(competition.origin, "update-ref", "refs/heads/main", competition.commit())
    event = json.loads((EVENTS / "push.json").read_text()) | {"before": before, "after": competition.base}
    runner = Runner(competition, event, token="", vars={"RANKED_TARGETS": '["b200"]'})
    assert runner.run(rank, "build"), runner.log
    assert not runner.wants(rank, "replay")
    assert runner.wants(rank, "publish")
    assert runner.run(rank, "publish"), runner.log
    assert "1 records on the branch records" in runner.log
    assert load_held(clone, "records", None) == {"acme": ("Alan", "kurt")}


def test_sites_are_written_one_at_a_time_from_all_that_there_is():
    pages = WORKFLOWS["rank"]["jobs"]["pages"]
    assert pages["concurrency"] == {"group": "pages", "cancel-in-progress": False}
    assert pages["steps"][0]["with"]["ref"] == "${{ github.event.repository.default_branch }}"
    others = [job for name, job in WORKFLOWS["rank"]["jobs"].items() if name != "pages"]
    assert not any("ci site" in step.get("run", "") for job in others for step in job["steps"])
    names = [
        step["with"][key] for step in pages["steps"] for key in ("name", "artifact_name") if key in step.get("with", {})
    ]
    assert names == ["github-pages-${{ github.run_attempt }}"] * 2


@pytest.mark.slow
def test_a_report_that_the_pull_request_forges_is_not_believed(conversation):
    """Its own workflow may write what it likes: of another team's submission nothing comes of it."""
    conversation.competition.write(SUBMISSION, STARTER + "# mine\n")
    conversation.head, conversation.author, conversation.passed = conversation.competition.commit(), "eve", True
    conversation.gate = None
    forged = zipped(("report.json", json.dumps(encode_report(Report(conversation.head, CHECKS, records())))))
    check, comment = conversation.answer(artifact=forged, conclusion="success")
    assert check["conclusion"] == "failure"
    assert "eve is not of team" in "".join(assert_harmless(comment.removeprefix(MARKER), links=[PAGE]).code)
