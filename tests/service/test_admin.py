"""`harness admin` as it is typed, and what `harness serve` refuses before it serves."""

from __future__ import annotations

import json
import os
import re
import shutil
import time

import pytest
from click.testing import CliRunner

from harness.cli.verbs import cli
from harness.errors import SpecError, StoreError, UsageError
from harness.service.teams import identify
from harness.store.database import Database
from tests.service.event import WORKSPACE, finish, lease, outcome, submit


@pytest.fixture
def typed(tmp_path, monkeypatch):
    """Type a command in a repository whose service has a database of its own; return what it prints."""
    shutil.copytree(WORKSPACE, tmp_path / "repository")
    monkeypatch.chdir(tmp_path / "repository")
    monkeypatch.setenv("HARNESS_DATABASE_URL", f"sqlite:///{tmp_path / 'service.sqlite'}")

    def type_in(*arguments):
        result = CliRunner().invoke(cli, arguments, catch_exceptions=False, standalone_mode=False)
        return result.stdout

    type_in.database = lambda: Database(tmp_path / "service.sqlite", 15.0)
    type_in.folder = tmp_path
    return type_in


def test_from_nothing_to_a_first_token(typed):
    assert "is of this version's form" in typed("admin", "migrate")
    assert "no team yet: harness admin team add NAME" in typed("admin", "team", "list")
    assert "Its first token: harness admin token issue acme" in typed("admin", "team", "add", "acme")
    token, told = typed("admin", "token", "issue", "acme", "--days", "7").splitlines()
    assert told.startswith("Shown this once; valid for 7 days. To revoke it: harness admin token revoke ")
    with typed.database().read() as connection:
        assert identify(connection, f"Bearer {token}", time.time()).team == "acme"
    (listed,) = json.loads(typed("admin", "token", "list", "--json"))
    assert (listed["team"], listed["role"], "token" in listed) == ("acme", "participant", False)
    assert "until" in typed("admin", "token", "list")
    typed("admin", "token", "revoke", listed["id"], "--reason", "lost")
    assert "revoked" in typed("admin", "token", "list")
    assert json.loads(typed("admin", "team", "list", "--json")) == ["acme"]
    organiser = json.loads(typed("admin", "token", "issue", "--organiser", "ada", "--json"))["token"]
    with typed.database().read() as connection:
        assert identify(connection, f"Bearer {organiser}", time.time()).organises
    acts = json.loads(typed("admin", "acts", "--json"))
    assert [act["act"] for act in acts] == ["token", "revoke", "token", "team"]
    assert all(act["actor"].startswith("admin ") for act in acts)
    assert organiser[-43:] not in json.dumps(acts)
    assert "token" in typed("admin", "acts")


def test_rulings_and_times(typed):
    typed("admin", "team", "add", "acme")
    database = typed.database()
    job = submit(database)
    held = lease(database)
    assert finish(database, held, outcome(held.job, 5.0))
    assert typed("admin", "disqualify", job.id, "--reason", "copied") == "1 record off the boards\n"
    assert typed("admin", "disqualify", job.id, "--reason", "not copied", "--lift") == "1 record back on the boards\n"
    assert typed("admin", "disqualify", "--team", "acme", "--reason", "x") == "1 record off the boards\n"
    assert f"submission {job.id} is queued again, as " in typed("admin", "rerun", job.id, "--reason", "a hot GPU")
    assert typed("admin", "freeze", "scale", "--reason", "a fault") == "scale is frozen\n"
    assert typed("admin", "freeze", "scale", "--reason", "mended", "--lift") == "scale goes on\n"
    typed("admin", "season", "--closes", "2027-02-01T18:00Z", "--code-visible", "never", "--reason", "a holiday")
    season = json.loads(typed("admin", "season", "--json"))
    assert (season["closes"], season["code_visible"]) == ("2027-02-01T18:00:00+00:00", "never")
    typed("admin", "season", "--closes", "never", "--reason", "no end")
    assert json.loads(typed("admin", "season", "--json"))["closes"] is None
    log = typed("admin", "acts", "--limit", "2").splitlines()
    assert "season test-season: closes 2027-02-01 18:00 UTC → no end  no end" in log[0]
    changes = "closes no end → 2027-02-01 18:00 UTC, code visible after close → never"
    assert f"season test-season: {changes}  a holiday" in log[1]
    told = typed("admin", "season")
    assert "test-season" in told
    assert "opens         already open\ncloses        no end\n" in told
    database.close()


def test_acts_as_json_are_as_they_are_logged(typed):
    database = typed.database

    def act(*arguments):
        done = json.loads(typed("admin", *arguments, "--json"))
        (logged,) = json.loads(typed("admin", "acts", "--limit", "1", "--json"))
        assert done == logged
        return done["act"], done["subject"], done["reason"], done["details"]

    assert act("team", "add", "acme") == ("team", "acme", "", {})
    name = json.loads(typed("admin", "token", "issue", "acme", "--json"))["id"]
    assert act("token", "revoke", name, "--reason", "lost") == ("revoke", name, "lost", {"team": "acme"})
    submit(database())
    held = lease(database())
    assert finish(database(), held, outcome(held.job, 5.0))
    record = held.job.id
    for lift, words in (((), ("freeze", "disqualify")), (("--lift",), ("thaw", "reinstate"))):
        for problem in ("", "scale"):
            subject = problem or "all problems"
            assert act("freeze", problem, "--reason", "why", *lift) == (words[0], subject, "why", {})
        assert act("disqualify", record, "--reason", "why", *lift)[:3] == (words[1], record, "why")
        team = act("disqualify", "--team", "acme", "--reason", "why", *lift)
        assert team == (words[1], "team acme", "why", {"team": "acme"})
    kind, subject, _, details = act("rerun", record, "--reason", "once more")
    assert (kind, subject, sorted(details)) == ("rerun", record, ["as", "team"])


def test_a_season_is_opened_and_closed_now(typed):
    typed("admin", "season", "--opens", "2999-01-01T00:00Z", "--reason", "a rehearsal comes first")
    assert json.loads(typed("admin", "season", "--json"))["phase"] == "before"
    told = typed("admin", "season", "--opens", "now", "--reason", "it begins")
    assert re.search(r"^phase +open\nopens +2\d{3}-\d\d-\d\dT", told, re.MULTILINE)
    with pytest.raises(UsageError, match="a season that never opens: name a later time, or freeze it .* write now$"):
        typed("admin", "season", "--opens", "never", "--reason", "not yet")
    typed("admin", "season", "--opens", "2020-01-01T00:00Z", "--reason", "it began before")
    typed("admin", "season", "--closes", "now", "--reason", "it ends")
    assert json.loads(typed("admin", "season", "--json"))["phase"] == "closed"


def test_backup_and_restore(typed, monkeypatch):
    typed("admin", "team", "add", "acme")
    file = typed.folder / "season.backup"
    assert "rows written to" in typed("admin", "backup", str(file))
    monkeypatch.setenv("HARNESS_DATABASE_URL", f"sqlite:///{typed.folder / 'other.sqlite'}")
    typed("admin", "restore", str(file))
    for path in (file, typed.folder / "service.sqlite", typed.folder / "other.sqlite"):
        assert path.stat().st_mode & 0o777 == 0o600, f"{path} holds teams' code"
    assert typed("admin", "team", "list") == "acme\n"
    monkeypatch.delenv("HARNESS_DATABASE_URL")
    path = typed.folder / "repository" / ".harness" / "service.sqlite"
    for reading in (("team", "list"), ("token", "list"), ("acts",), ("backup", str(typed.folder / "none"))):
        with pytest.raises(UsageError, match=f"there is no database {path} yet: make serve makes it"):
            typed("admin", *reading)
    assert not path.exists(), "what only reads makes nothing"
    typed("admin", "team", "add", "bolt")
    assert path.exists(), "the default is a file in .harness/"
    folder = 0o755 if os.geteuid() == 0 else 0o700
    assert (path.parent.stat().st_mode & 0o777, path.stat().st_mode & 0o777) == (folder, 0o600)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("admin", "token", "issue"), "say whose token: a team, or --organiser NAME"),
        (("admin", "token", "issue", "acme"), "there is no team 'acme'"),
        (("admin", "season", "--closes", "soon"), "'soon' is not a time: write 2027-01-31T18:00Z"),
        (("admin", "season", "--closes", "2027-01-01T00:00Z"), "say why: the reason stands in the log of acts"),
        (
            ("admin", "season", "--opens", "2027-01-02T00:00Z", "--closes", "2027-01-01T00:00Z"),
            "the season would close before it opens",
        ),
        (("serve", "--workers", "cook=2"), "'cook=2' is no number of workers: write build=2,gpu=1"),
        (("serve", "--targets", "b200"), "this machine has no NVIDIA B200 .*leave --targets out, or rehearse"),
        (("serve", "--workers", "gpu=1"), "no GPU here that the season ranks, .*: leave gpu=N out, or rehearse"),
        (("serve", "--evaluate", "guess"), "'guess' is no way to evaluate: engine, or recorded=FOLDER"),
        (("serve", "--evaluate", "recorded=nowhere"), "no records at nowhere"),
        (("serve", "--evaluate", "recorded=.@fast"), "the pace of recorded outcomes should be a number, not 'fast'"),
        (
            ("serve", "--host", "203.0.113.1"),
            "cannot listen at 203.0.113.1 port 8000: .*: choose another --host, an address",
        ),
        (("serve", "--host", "nosuch.invalid"), "cannot listen at nosuch.invalid port 8000: .*: choose another --host"),
    ],
)
def test_what_cannot_be_done(typed, arguments, message, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # a machine without a GPU, as most are
    with pytest.raises(UsageError, match=message):
        typed(*arguments)


def test_limits_come_from_the_environment(typed, monkeypatch):
    for text, message in (("many", "should be a number, not 'many'"), ("0", "should be above zero, not '0'")):
        monkeypatch.setenv("HARNESS_PER_HOUR", text)
        with pytest.raises(UsageError, match=f"HARNESS_PER_HOUR {message}"):
            typed("admin", "team", "list")


def test_a_season_that_names_no_problem_says_where(typed):
    path = typed.folder / "repository" / "shapes.yaml"
    path.write_text(path.read_text().replace("scale:", "scael:", 1))
    with pytest.raises(SpecError, match=r"shapes\.yaml: season\.problems\.scael: unknown problem 'scael'"):
        typed("admin", "season")


def test_databases_that_are_not_used(typed, monkeypatch):
    for url in ("sqlite:///season.sqlite", "sqlite+pysqlite:///season.sqlite"):
        monkeypatch.setenv("HARNESS_DATABASE_URL", url)
        with pytest.raises(UsageError, match=f"four slashes: sqlite:///{typed.folder}/repository/season.sqlite"):
            typed("admin", "team", "list")
    assert not (typed.folder / "repository" / "season.sqlite").exists()
    monkeypatch.setenv("HARNESS_DATABASE_URL", "mysql://user:secret@host/name")
    with pytest.raises(UsageError, match="names mysql; what works is sqlite:////PATH") as told:
        typed("admin", "team", "list")
    assert "secret" not in str(told.value)


def test_an_old_database_is_not_served(typed, cluster, monkeypatch):
    monkeypatch.setenv("HARNESS_DATABASE_URL", cluster.url(cluster.make_database()).replace("+psycopg", ""))
    with pytest.raises(StoreError, match="is not set up, and this version needs .*: run `harness admin migrate`"):
        typed("serve")
    typed("admin", "migrate")
    assert "no team yet" in typed("admin", "team", "list")


def test_a_database_that_is_not_there(typed, monkeypatch, tmp_path):
    monkeypatch.setenv("HARNESS_DATABASE_URL", f"postgresql://ada:secret@/boards?host={tmp_path}")
    with pytest.raises(StoreError, match="cannot be reached. Is it running, and is its URL right") as caught:
        typed("admin", "team", "list")
    assert "secret" not in str(caught.value)
