"""After a merge: what is built, which records are believed, and the branch that keeps them."""

import dataclasses
import json
import re
import shutil
import threading

import pytest

from harness.ci.change import Change
from harness.ci.examine import Entry
from harness.ci.filing import file_build, file_replay
from harness.ci.gate import list_checks
from harness.ci.git import GitError
from harness.ci.held_names import load_held
from harness.ci.merged import merged_entries, named_entries, split_doubles
from harness.ci.records_branch import add_records, load_branch
from harness.ci.report import Report, ReportError, encode_report, load_report, save_report
from harness.cli.verbs import cli
from harness.errors import StoreError, UsageError
from harness.spec import find_problem
from harness.store import encode_record
from harness.submission import find_submission
from harness.toolchain import EVALUATOR_VERSION, installed_versions
from tests.ci.repository import EVENTS, git, run_harness
from tests.store.samples import checked, incorrect, passed

ACME, ZETA = Entry("acme", "scale", "scale"), Entry("zeta", "scale", "scale")
STARTER = Entry("starter", "scale", "scale")
KEY = "cd" * 32
PROGRAM = "ab" * 32


@pytest.fixture
def root(competition):
    return competition.origin


@pytest.fixture
def merged(root):
    return list_checks(root, [ACME])


@pytest.fixture
def facts(root):
    """What a record says of the merged submission when it tells the truth."""
    submission = find_submission(root, "acme", "scale")
    return {
        "problem": "scale",
        "source_sha256": submission.sha256,
        "problem_version": find_problem(root, "scale").version,
        "season": "test-season",
        "evaluator_version": EVALUATOR_VERSION,
        "toolchain": installed_versions(),
        "finished": "2027-01-15T00:05:00Z",
        "artifact_key": KEY,
        "program_sha256": PROGRAM,
    }


@pytest.fixture
def built(facts):
    return checked("acme", **facts)


@pytest.fixture
def replayed(facts):
    """A replay on a GPU of all three cases of the problem, that says it could be ranked."""
    record = passed("acme", 9.0, minute=1, **facts, ranked=False)
    return dataclasses.replace(record, cases=record.cases[-3:])


def dump(record):
    return json.dumps(encode_record(record)).encode()


def changes(*paths):
    return [Change(path, removed=False) for path in paths]


def test_what_a_merge_changed(root):
    paths = ("submissions/acme/scale/submission.py", "submissions/acme/scale/b.py", "submissions/zeta/team.yml",
             "submissions/gone/scale/submission.py", "submissions/acme/other/submission.py", "Makefile",
             "submissions/../x/y", "submissions/zeta/scale_py/submission.py")  # fmt: skip
    assert merged_entries(changes(*paths), root) == (ACME,)


@pytest.mark.parametrize(
    ("names", "entries"),
    [
        (["acme/scale"], (ACME,)),
        (["all/scale"], (ACME, STARTER, ZETA)),
        (["zeta/all", "zeta/scale"], (ZETA,)),
        (["all"], (ACME, STARTER, ZETA)),
    ],
)
def test_what_an_organiser_names(root, names, entries):
    assert named_entries(names, root) == entries


def test_two_folders_for_one_problem_keep_nobody_else_from_being_ranked(
    competition, root, monkeypatch, capsys, tmp_path
):
    shutil.copytree(root / "submissions/acme/scale", root / "submissions/acme/scale_py")
    alias = Entry("acme", "scale", "scale_py")
    assert split_doubles(named_entries(["all"], root), root) == ((STARTER, ZETA), (ACME, alias))
    assert split_doubles(merged_entries(changes(f"{alias.path}/submission.py"), root), root) == ((), (alias,))
    monkeypatch.chdir(root)
    arguments = ["ci", "merged", "--submission", "all", "--out", str(tmp_path)]
    assert cli.main(arguments, standalone_mode=False) == 0
    assert "refused: submissions/acme/scale_py: acme has several folders for scale" in capsys.readouterr().out
    assert {check.team for check in load_report(tmp_path).checks} == {"starter", "zeta"}


@pytest.mark.parametrize("name", ["acme", "../x/scale", "acme/scael", "nobody/scale"])
def test_what_is_no_submission(root, name):
    with pytest.raises(UsageError, match="no submission .* in the season: name TEAM/PROBLEM"):
        named_entries([name], root)


def test_a_builds_records_are_filed_unranked(root, merged, built):
    record = file_build(built, merged, root)
    assert (record, record.ranked) == (built, False)


def test_a_replay_ranks_by_the_seasons_rules(root, merged, built, replayed):
    record = file_replay(dump(replayed), [built], merged, root)
    assert (record.ranked, record.unranked_reason, record.scored) == (True, None, True)
    assert record.normalised_source_sha256 == find_submission(root, "acme", "scale").normalised_sha256


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"unranked_reason": "no CUPTI"}, "no CUPTI"),
        ({"cases": ()}, "0 of the suite's 3 cases were replayed"),
        ({"score_us": None}, "no benchmark was timed"),
        ({"sandbox_level": "none"}, "sandbox level none: the season asks for"),
        ({"ranked": True, "score_us": None}, "no benchmark was timed"),  # what it says of itself counts for nothing
        ({"suite": "default", "division": "open"}, "the season has no open division"),
    ],
)
def test_a_replay_that_cannot_be_ranked_says_why(root, merged, built, replayed, changed, why):
    record = file_replay(dump(dataclasses.replace(replayed, **changed)), [built], merged, root)
    assert not record.ranked
    assert why in record.unranked_reason


def test_the_season_closes_for_merges_and_not_for_builds(root, merged, built, replayed):
    def reason(closes):
        text = (root / "shapes.yaml").read_text()
        text = re.sub(r"\n  closes: .*", "", text)
        (root / "shapes.yaml").write_text(text.replace("season:\n", f"season:\n  closes: {closes}T00:00:00Z\n", 1))
        return file_replay(dump(replayed), [built], merged, root).unranked_reason

    assert built.created > "2026-06"  # built again long after it was merged
    assert reason("2026-06-01") is None
    assert reason("2025-06-01") == "the season closed on 2025-06-01 00:00 UTC"
    git(root, "checkout", "-q", "-b", "topic")
    (root / "submissions/acme/scale/submission.py").chmod(0o755)  # a change that leaves its hash
    git(root, "add", "submissions")
    git(root, "commit", "-q", "-m", "Written early", date="2026-02-01T00:00:00Z")
    git(root, "checkout", "-q", "main")
    git(root, "merge", "-q", "--no-ff", "-m", "Merged late", "topic", date="2026-07-01T00:00:00Z")
    assert reason("2026-08-01") is None
    assert reason("2026-06-01") == "the season closed on 2026-06-01 00:00 UTC"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"team": "zeta"}, "is of nothing that was merged"),
        ({"target": "h100"}, "is of nothing that was merged"),
        ({"id": "../../../etc/x"}, "a record's id is none"),
        ({"source_sha256": "0" * 64}, "of another source, problem version, season or evaluator"),
        ({"problem_version": "1"}, "of another source, problem version"),
        ({"season": "other"}, "of another source, problem version, season"),
        ({"evaluator_version": "0"}, "or evaluator"),
        ({"artifact_key": "ef" * 32}, "is not of an artifact that was built here and accepted"),
        ({"artifact_key": None}, "is not of an artifact that was built here"),
        ({"program_sha256": "cd" * 32}, "is not of an artifact that was built here"),
        ({"program_sha256": "<script>"}, "names no program"),
        ({"state": "submitted"}, "is not finished"),
        ({"created": "<script>"}, "is not finished"),
        ({"created": "2026-19-39T00:00:00Z"}, "is not finished"),
        ({"toolchain": {**installed_versions(), "torch": "x"}}, "its values make no sense (InvalidVersion)"),
        ({"sandbox_level": "<b>"}, "names no sandbox level"),
    ],
)
def test_a_replay_of_something_else_is_refused(root, merged, built, replayed, changed, told):
    with pytest.raises(ReportError, match=re.escape(told)):
        file_replay(dump(dataclasses.replace(replayed, **changed)), [built], merged, root)


def test_a_replay_of_what_was_wrong_on_a_cpu_is_refused(root, merged, built, replayed, facts):
    with pytest.raises(ReportError, match="built here and accepted"):
        file_replay(dump(replayed), [incorrect("acme", **facts)], merged, root)
    for content in (b"{}", b"[" * 10_000, b"null", b'{"format": 99}'):
        with pytest.raises(ReportError):
            file_replay(content, [built], merged, root)


def test_records_are_kept_on_a_branch_of_their_own(competition, built, replayed):
    clone = competition.checkout()
    assert add_records(clone, "records", [built], None) == (built,)
    assert add_records(clone, "records", [replayed, built], None) == (built, replayed)
    assert add_records(clone, "records", [built], None) == (built, replayed)
    history = git(competition.origin, "log", "--format=%an %s", "records").decode().splitlines()
    assert history == ["github-actions[bot] acme scale b200: PASSED", "github-actions[bot] acme scale b200: CHECKED"]
    assert git(competition.origin, "ls-tree", "--name-only", "records").decode().split() == ["records", "teams.json"]
    assert load_branch(clone, "records", None) == (built, replayed)
    assert load_branch(clone, "none", None) == ()
    assert git(clone, "status", "--porcelain") == b""


def test_two_runs_that_file_at_once_lose_nothing(competition, built):
    clones = [competition.checkout(f"clone{number}") for number in range(3)]
    records = [dataclasses.replace(built, id=f"{number}".rjust(14, "0")) for number in range(3)]
    threads = [threading.Thread(target=add_records, args=(clone, "records", [record], None))
               for clone, record in zip(clones, records, strict=True)]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert add_records(clones[0], "records", [], None) == tuple(records)


def test_a_branch_that_cannot_be_pushed_is_told(competition, built):
    clone = competition.checkout()
    git(clone, "remote", "set-url", "--push", "origin", "/nowhere")
    with pytest.raises(GitError, match="git push"):
        add_records(clone, "records", [built], None)


def on_main(competition):
    """Merge what lies in the fork."""
    git(competition.origin, "update-ref", "refs/heads/main", competition.commit())


def test_the_name_of_a_team_that_left_stays_its_peoples(competition, built):
    clone = competition.checkout()
    nobodys = dataclasses.replace(built, id="0" * 14, team="long-gone")
    add_records(clone, "records", [built, nobodys], None)
    assert load_held(clone, "records", None) == {"acme": ("Alan",), "long-gone": ()}
    competition.write("submissions/acme/team.yml", "logins: [Alan, kurt]\n")
    on_main(competition)
    add_records(clone, "records", [], None)
    assert load_held(clone, "records", None)["acme"] == ("Alan", "kurt")
    competition.write("submissions/acme/team.yml", "broken")
    on_main(competition)
    add_records(clone, "records", [dataclasses.replace(built, id="1" * 14)], None)
    shutil.rmtree(competition.fork / "submissions/acme")
    on_main(competition)
    add_records(clone, "records", [dataclasses.replace(built, id="2" * 14, team="zeta")], None)
    held = {"acme": ("Alan", "kurt"), "long-gone": (), "zeta": ("zoe",)}
    assert load_held(clone, "records", None) == held
    history = git(competition.origin, "log", "--format=%s", "records").decode().splitlines()
    assert history[2] == "People of teams"
    assert len(history) == 4
    git(clone, "remote", "remove", "origin")
    assert load_held(clone, "records", None) == {}  # elsewhere than on GitHub there may be none


def test_who_takes_a_name_with_records_is_refused_by_the_command(competition, built, monkeypatch, capsys, tmp_path):
    add_records(competition.checkout("publisher"), "records", [built], None)
    shutil.rmtree(competition.fork / "submissions/acme")
    on_main(competition)
    competition.write("submissions/acme/team.yml", "logins: [eve, alan]\n")
    competition.write("submissions/acme/scale/submission.py", "x = 1\n")
    asked = ["ci", "changed", "--base", competition.base, "--head", competition.commit(), "--out", str(tmp_path / "r")]
    for author, branch, code in (("eve", "records", 1), ("alan", "records", 0), ("eve", "none", 0)):
        monkeypatch.chdir(competition.checkout())
        chosen = ["--author", author, "--records-branch", branch]
        assert cli.main([*asked, *chosen], standalone_mode=False) == code
        told = capsys.readouterr().out
        assert ("its name stays with the people who held it (Alan)" in told) == (code == 1)


def test_a_damaged_file_of_names_is_told(competition, built):
    clone = competition.checkout()
    add_records(clone, "records", [built], None)
    tip = git(competition.origin, "rev-parse", "records").decode().strip()
    for content in (b"[", b'{"acme": "Alan"}'):
        blob = git(competition.origin, "hash-object", "-w", "--stdin", stdin=content).decode().strip()
        tree = git(competition.origin, "mktree", stdin=f"100644 blob {blob}\tteams.json\n".encode()).decode().strip()
        sha = git(competition.origin, "commit-tree", tree, "-p", tip, "-m", "x").decode().strip()
        git(competition.origin, "update-ref", "refs/heads/records", sha)
        with pytest.raises(StoreError, match=r"teams\.json of the branch is damaged"):
            load_held(clone, "records", None)


def test_publish_files_what_is_right_tells_what_is_not_and_the_site_shows_it(
    competition, built, replayed, merged, tmp_path
):
    clone = competition.checkout()
    head = git(clone, "rev-parse", "HEAD").decode().strip()
    result = run_harness(clone, "ci", "merged", "--submission", "acme/scale", "--out", tmp_path / "merged")
    assert result.returncode == 0, result.stderr
    (tmp_path / "built").mkdir()
    foreign = dataclasses.replace(built, id="1" * 14, target=merged[1].target, created="2026-19-39T00:00:00Z")
    (tmp_path / "built" / "report.json").write_text(json.dumps(encode_report(Report(head, merged, (built, foreign)))))
    (tmp_path / "replayed" / "replayed-b200").mkdir(parents=True)
    forged = dataclasses.replace(replayed, id="0" * 14, source_sha256="0" * 64)
    for record in (replayed, forged):
        (tmp_path / "replayed" / "replayed-b200" / f"{record.id}.json").write_bytes(dump(record))
    result = run_harness(clone, "ci", "publish", "--merged", tmp_path / "merged", "--built", tmp_path / "built",
                         "--replayed", tmp_path / "replayed")  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [
        "filed: acme/scale b200: CHECKED, not ranked",
        "filed: acme/scale b200: PASSED",
        f"refused: record {'1' * 14} is not finished",
        f"refused: record {'0' * 14} is of another source, problem version, season or evaluator",
        "2 records on the branch records",
    ]
    result = run_harness(clone, "ci", "publish", "--merged", tmp_path / "merged")
    assert result.returncode == 2
    assert "--built is needed: 2 checks were wanted" in result.stderr
    result = run_harness(clone, "ci", "site", "--out", tmp_path / "site")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("2 records on ")
    index = (tmp_path / "site" / "index.html").read_text()
    assert "Test season" in index
    assert "acme" in index


def test_merged_reads_a_push(competition, monkeypatch, tmp_path):
    before = competition.base
    competition.write("submissions/zeta/scale/submission.py", "# new\n")
    git(competition.origin, "update-ref", "refs/heads/main", competition.commit())
    clone = competition.checkout()
    event = json.loads((EVENTS / "push.json").read_text()) | {"before": before, "after": competition.base}
    (tmp_path / "event.json").write_text(json.dumps(event))
    monkeypatch.chdir(clone)
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output"))
    arguments = ["ci", "merged", "--event", str(tmp_path / "event.json"), "--out", str(tmp_path / "merged")]
    assert cli.main(arguments, standalone_mode=False) == 0
    report = json.loads((tmp_path / "merged" / "report.json").read_text())
    assert report["head"] == competition.base
    assert [(c["team"], c["target"]) for c in report["checks"]] == [("zeta", "b200"), ("zeta", "h200")]
    assert (tmp_path / "output").read_text() == "checks=2\n"
    (tmp_path / "event.json").write_text(json.dumps(event | {"before": "0" * 40}))
    with pytest.raises(UsageError, match="000000000000 is not in this history: name what is to be built"):
        cli.main(arguments, standalone_mode=False)


def test_a_run_without_its_first_step_says_which(root, monkeypatch, tmp_path):
    monkeypatch.chdir(root)
    with pytest.raises(UsageError) as error:
        cli.main(["ci", "run", "--out", str(tmp_path / "r")], standalone_mode=False)
    assert error.value.exit_code == 2
    out = tmp_path / "r"
    assert str(error.value) == (
        f"{out} has no report.json: run `harness ci changed --out {out}` first, or after a merge `harness ci merged`"
    )


@pytest.mark.parametrize(("lenient", "code"), [(True, 0), (False, 2)])
def test_a_check_that_cannot_be_done_stops_no_other(root, merged, monkeypatch, capsys, tmp_path, lenient, code):
    checks = tuple(dataclasses.replace(check, team=team) for team, check in zip(("gone", "lost"), merged, strict=True))
    save_report(Report("1" * 40, checks), tmp_path)
    monkeypatch.chdir(root)
    arguments = ["ci", "run", "--out", str(tmp_path), *(["--lenient"] if lenient else [])]
    assert cli.main(arguments, standalone_mode=False) == code
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("not done: ")]
    assert [line.split(" under")[0] for line in told] == ["not done: no team 'gone'", "not done: no team 'lost'"]
    assert load_report(tmp_path).unfinished == checks


def test_a_run_once_more_has_one_record_for_each_check(root, merged, monkeypatch, tmp_path):
    save_report(Report("1" * 40, merged[:1]), tmp_path)
    monkeypatch.chdir(root)
    ids = set()
    for _ in range(2):
        assert cli.main(["ci", "run", "--out", str(tmp_path)], standalone_mode=False) == 0
        (record,) = load_report(tmp_path).records
        ids.add(record.id)
    assert len(ids) == 2


@pytest.mark.parametrize(("lenient", "code"), [(True, 0), (False, 3)])
def test_a_failure_of_ours_discards_no_ranking_run(root, merged, built, monkeypatch, tmp_path, lenient, code):
    check = dataclasses.replace(merged[0], team="gone")
    verdict = dataclasses.replace(built.verdict, kind="HARNESS_ERROR")
    ours = dataclasses.replace(built, team="gone", target=check.target, verdict=verdict)
    save_report(Report("1" * 40, (check,), (ours,)), tmp_path)
    monkeypatch.chdir(root)
    arguments = ["ci", "run", "--out", str(tmp_path), *(["--lenient"] if lenient else [])]
    assert cli.main(arguments, standalone_mode=False) == code
    assert load_report(tmp_path).ours


def test_replay_needs_its_gpu_and_refuses_what_is_no_artifact(competition, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(competition.origin)
    (tmp_path / "built" / "artifacts" / KEY).mkdir(parents=True)
    (tmp_path / "built" / "artifacts" / KEY / "manifest.json").write_text('{"format": 1}')
    arguments = ["ci", "replay", "--built", str(tmp_path / "built"), "--target", "b200", "--out", str(tmp_path / "out")]
    assert cli.main(arguments, standalone_mode=False) == 3
    assert "not replayed: " in capsys.readouterr().out
    assert list((tmp_path / "out").iterdir()) == []
