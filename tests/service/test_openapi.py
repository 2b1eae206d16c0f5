"""The API against its own description: schemathesis asks a real server everything that the OpenAPI document allows.

And much that it does not. No answer may be an error of ours, of a status, a type or a form that is not documented, or
given to somebody without the token that the document asks for. It is asked as a stranger, as a team and as an
organiser; requests are the same every time.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.service.organising import found_team, give_token
from tests.service.event import WORKSPACE, finish, lease, outcome, submit
from tests.service.server import Server, log_lines

SQLITE = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
ROLES = ("nobody", "team", "organiser")
NO_LIMIT = {"HARNESS_PENDING": "1000000", "HARNESS_PER_HOUR": "1000000"}
NOT_CHECKED = (
    "positive_data_acceptance",  # what a season takes now is more than a document can say
    "object_level_authorization",  # it needs two teams' tokens at once: the walk over every route has them
)
COMMAND = Path(sys.executable).with_name("st")
pytestmark = pytest.mark.skipif(not COMMAND.exists(), reason="schemathesis is not installed: it needs Python 3.11")
OPTIONS = (
    "--no-color --continue-on-failure --generation-deterministic --workers 1 --suppress-health-check all --warnings off"
)


@pytest.fixture
def season(tmp_path, database, database_url):
    """A server with a record and a submission that waits, the tokens of each role, and an id that is there."""
    root = tmp_path / "repository"
    shutil.copytree(WORKSPACE, root)
    now_s = time.time()
    with database.write() as connection:
        found_team(connection, "test", "acme", "", now_s)
        tokens = {
            "nobody": "",
            "team": give_token(connection, "test", now_s, team="acme", days=1)[1],
            "organiser": give_token(connection, "test", now_s, holder="ada", days=1)[1],
        }
    done = submit(database, now_s=now_s)
    held = lease(database, now_s=now_s)
    assert finish(database, held, outcome(held.job, 10.0), now_s=now_s)
    submit(database, now_s=now_s)
    server = Server(root, database_url, "--workers", "build=0", **NO_LIMIT)
    yield server, tokens, done.id
    server.kill()


def ask_everything(season, role, folder, *options):
    """Run schemathesis in a role: strangers guess names, the others know some that are there."""
    server, tokens, name = season
    known = {"record_id": name, "submission_id": name, "problem": "scale", "target": "b200", "division": "closed"}
    config = folder / "schemathesis.toml"
    lines = [f'"path.{key}" = "{value}"' for key, value in known.items()] if role != "nobody" else []
    config.write_text("\n".join(["[parameters]", *lines, ""]))
    who = ["--header", f"Authorization: Bearer {tokens[role]}"] if tokens[role] else []
    asked = [f"{server.url}/api/v1/openapi.json", *who, "--exclude-checks", ",".join(NOT_CHECKED), *OPTIONS.split()]
    command = [COMMAND, "--config-file", config, "run", *asked, *options]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout[-6000:] + found.stderr[-2000:]
    assert re.search(r"\b(\d\d) selected / \1 total", found.stdout)
    lines = log_lines(server.log)
    assert not [line for line in lines if line.get("event") in ("bug", "database") or line.get("status", 0) >= 500]
    return sum(line["event"] == "request" for line in lines)


@SQLITE
def test_the_api_keeps_to_its_description(season, tmp_path):
    for role in ROLES:
        asked = ask_everything(season, role, tmp_path, "--max-examples", "5", "--phases", "fuzzing")
    assert asked > 100


@pytest.mark.slow
@pytest.mark.parametrize("role", ROLES)
def test_the_api_keeps_to_its_description_whatever_is_asked(season, tmp_path, role):
    assert ask_everything(season, role, tmp_path, "--max-examples", "40") > 1000
