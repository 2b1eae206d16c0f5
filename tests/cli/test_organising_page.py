"""docs/organising.md: its commands parse, its listings load, its settings and messages exist: the page cannot rot."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import shlex
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner

from harness.cli.admin import VERBS
from harness.cli.verbs import cli
from harness.service import form
from harness.service.settings import DATABASE, Limits
from harness.spec.season import SeasonSpec
from harness.store.database import Database
from tests.season import SEASON_ROOT
from tests.service.event import finish, lease, submit

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "organising.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
SOURCES = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "harness").rglob("*.py")))
SYSTEM = "apt-get adduser git cd export mkdir (umask curl systemctl createuser createdb bash set".split()
LIMITS = {f"HARNESS_{limit.name.upper()}": limit.default for limit in dataclasses.fields(Limits)}
RECORD = "2sej0t06spftf2"


def listings(kind: str) -> list[str]:
    """The page's blocks of a kind: `console`, or a language with a file's name behind it."""
    return re.findall(rf"^```{re.escape(kind)}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def typed() -> list[str]:
    """What the page's listings tell to type."""
    return [line[2:] for block in listings("console") for line in block.splitlines() if line.startswith("$ ")]


def mentioned() -> list[str]:
    """Commands in the page's sentences and tables, with or without what they need."""
    prose = re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL)
    return sorted({" ".join(code.split()) for code in re.findall(r"`(harness [^`]+)`", prose)})


def parse(words: list[str], command: click.Command) -> None:
    """Take a command's words as click would, without doing what they say."""
    if isinstance(command, click.Group):
        found = command.get_command(click.Context(command), words[0])
        assert found is not None, words[0]
        parse(words[1:], found)
    else:
        command.make_context(command.name, words).close()


@pytest.fixture
def whole(tmp_path, monkeypatch):
    """Files of an organiser's own, which commands of the page name, are taken to be there: only the form is tried."""
    monkeypatch.setattr(click.Path, "convert", lambda self, value, param, context: Path(str(value)))


def test_every_command_can_be_typed(whole):
    for command in typed():
        words = shlex.split(command)
        while words[0] in ("sudo", "-u"):
            words = words[1:] if words[0] == "sudo" else words[2:]
        if words[0] == "harness":
            parse(words[1:], cli)
        elif words[0] == "make":
            (target,) = [word for word in words[1:] if re.search(rf"^{re.escape(word)}:", MAKEFILE, re.MULTILINE)]
            variables = [word.partition("=")[0] for word in words[words.index(target) + 1 :]]
            assert all(f"$({name}" in MAKEFILE for name in variables), command
        else:
            assert words[0] in SYSTEM, command


def test_every_command_that_is_mentioned_exists(whole):
    for command in mentioned():
        words = shlex.split(command)[1:]
        if words == ["admin"]:
            continue
        with contextlib.suppress(click.MissingParameter):  # a name, and not what to type
            parse(words, cli)


def test_a_command_that_does_not_exist_is_found():
    for words in (["admin", "expel"], ["admin", "token", "give"], ["serve", "--workers"], ["admin", "acts", "--all"]):
        with pytest.raises((AssertionError, click.UsageError)):
            parse(words, cli)


def test_every_act_of_organisers_is_on_the_page():
    assert [verb for verb in VERBS if f"harness admin {verb}" not in PAGE] == []


def test_the_season_of_the_page_loads():
    (listing,) = listings("yaml shapes.yaml")
    season = SeasonSpec.model_validate(yaml.safe_load(listing)["season"])
    assert season.opens is not None
    assert f"opens         {season.opens.isoformat()}" in PAGE
    assert season.closes is not None
    assert f"closes        {season.closes.isoformat()}" in PAGE
    assert set(season.problems) <= {path.name for path in (ROOT / "problems").iterdir()}


def test_every_setting_is_explained_with_its_default():
    table = dict(re.findall(r"^\| `(HARNESS_\w+)` \| ([^|]+) \|", PAGE, re.MULTILINE))
    assert table.pop(DATABASE) == "SQLite in `.harness/`"
    assert {name: float(value) for name, value in table.items()} == LIMITS
    (listing,) = listings("ini helion.env")
    assert {line.partition("=")[0] for line in listing.splitlines()} <= {DATABASE, *LIMITS}


def test_proxies_let_the_largest_submission_through():
    (caddy,), (nginx,) = listings("caddyfile"), listings("nginx")
    assert int(re.search(r"max_size (\d+)MB", caddy)[1]) * 10**6 >= Limits.body_bytes
    assert int(re.search(r"client_max_body_size (\d+)m;", nginx)[1]) << 20 >= Limits.body_bytes


def test_the_unit_starts_the_service():
    (listing,) = listings("ini helion.service")
    words = shlex.split(re.search(r"^ExecStart=(.*)$", listing, re.MULTILINE)[1])
    assert words[0].endswith("/.venv/bin/harness")
    parse(words[1:], cli)


def test_every_message_is_one_of_the_harness():
    shown = PAGE.split("## What the messages mean")[1]
    told = [
        code for cell in re.findall(r"^\| (`[^|]+?) \|", shown, re.MULTILINE) for code in re.findall(r"`([^`]+)`", cell)
    ]
    assert len(told) > 20
    joined = re.sub(r'"\n\s*f?"', "", SOURCES)
    assert [message for message in told if message not in joined] == []


def test_every_metric_exists():
    named = re.findall(r"`(harness_\w+)`", PAGE)
    assert len(named) >= 5
    assert [name for name in named if f'"{name}"' not in SOURCES] == []


def test_links_lead_somewhere():
    headings = {
        re.sub(r"[^a-z0-9 -]", "", line[3:].lower()).replace(" ", "-")
        for line in PAGE.splitlines()
        if line[:3] == "## "
    }
    for link in re.findall(r"\]\(([^)]+)\)", PAGE):
        file, _, anchor = link.partition("#")
        assert (ROOT / "docs" / file).exists() if file else anchor in headings, link


def test_the_acts_of_the_page_do_what_it_shows(tmp_path, monkeypatch):
    """The page's `harness admin` commands in their order, on a season with the page's submission in it."""
    url = f"sqlite:///{tmp_path / 'season.sqlite'}"
    monkeypatch.setenv(DATABASE, url)
    monkeypatch.chdir(SEASON_ROOT)
    database = Database(url, 15.0)
    form.prepare(database, migrate=True)
    shown = PAGE.split("## In half an hour")[1].split("## Backups")[0]
    said = {}
    for line in re.findall(r"^\$ (harness admin .*)$", shown, re.MULTILINE):
        words = shlex.split(line.replace(RECORD, said.get("record", RECORD)))
        result = CliRunner().invoke(cli, words[1:], catch_exceptions=False)
        assert result.exit_code == 0, (line, result.output)
        said[line] = result.output
        if words[2:4] == ["token", "issue"]:
            said["record"] = conclude_one(database)
    database.close()
    blocks = PAGE.replace(RECORD, said["record"])
    for line, output in said.items():
        if any(act in line for act in ("team add", "freeze", "disqualify")):
            assert output.strip() in blocks, line
    assert [line for line in said if "rerun" in line]


def conclude_one(database: Database) -> str:
    """Let acme's submission for vector_add pass, in a season that has it."""
    from harness.service.rules import RulesFile

    with database.read() as connection:
        rules = RulesFile(SEASON_ROOT).current(connection)
    job = submit(database, "acme", rules=rules, problem="vector_add")
    assert finish(database, lease(database))
    return job.id
