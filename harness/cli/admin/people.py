"""`harness admin team` and `harness admin token`."""

from __future__ import annotations

import time
from datetime import datetime, timezone

import click

from harness.cli.admin.acting import find_logged, tell_act
from harness.cli.admin.opening import AS_JSON, actor, opened
from harness.cli.output import print_json
from harness.errors import UsageError


@click.group()
def team() -> None:
    """Add a team, or list them."""


@team.command("add")
@click.argument("name")
@click.option("--title", default="", help="How it wants to be called in full.")
@AS_JSON
def add_team(name: str, title: str, as_json: bool) -> int:
    """Add the team NAME."""
    from harness.service.organising import found_team

    with opened() as database, database.write() as connection:
        found_team(connection, actor(), name, title, time.time())
        done = find_logged(connection, "team", name)
    return tell_act(done, f"team {name} is there. Its first token: harness admin token issue {name}", as_json=as_json)


@team.command("list")
@AS_JSON
def show_teams(as_json: bool) -> int:
    """List the teams."""
    from harness.service.teams import list_teams

    with opened(makes=False) as database, database.read() as connection:
        names = list_teams(connection)
    if as_json:
        print_json(names)
    else:
        print("\n".join(names) or "no team yet: harness admin team add NAME")
    return 0


@click.group()
def token() -> None:
    """Issue, list and revoke tokens."""


@token.command("issue")
@click.argument("team", required=False)
@click.option("--organiser", default="", help="Not a team's: an organiser's, by this name.")
@click.option("--days", type=float, default=90.0, show_default=True, help="How long it is valid.")
@AS_JSON
def issue(team: str | None, organiser: str, days: float, as_json: bool) -> int:
    """Make a token for TEAM and show it: once, because only its hash is kept."""
    from harness.service.organising import give_token

    if bool(team) == bool(organiser):
        raise UsageError("say whose token: a team, or --organiser NAME")
    with opened() as database, database.write() as connection:
        name, secret = give_token(connection, actor(), time.time(), team=team or "", holder=organiser, days=days)
    if as_json:
        print_json({"id": name, "token": secret})
    else:
        print(f"{secret}\nShown this once; valid for {days:g} days. To revoke it: harness admin token revoke {name}")
    return 0


@token.command("list")
@AS_JSON
def show_tokens(as_json: bool) -> int:
    """List tokens: their ids, never themselves."""
    from harness.service.teams import list_tokens

    with opened(makes=False) as database, database.read() as connection:
        found = list_tokens(connection)
    if as_json:
        print_json([vars(item) for item in found])
        return 0
    for item in found:
        ends = datetime.fromtimestamp(item.expires_s, timezone.utc)
        state = "revoked" if item.revoked else "expired" if item.expires_s <= time.time() else f"until {ends:%Y-%m-%d}"
        print(f"{item.id}  {item.role:<11}  {item.team or item.holder:<24}  {state}")
    return 0


@token.command("revoke")
@click.argument("name", metavar="ID")
@click.option("--reason", default="", help="Why; everybody can read it.")
@AS_JSON
def revoke(name: str, reason: str, as_json: bool) -> int:
    """Revoke the token with this ID (its middle part)."""
    from harness.service.organising import take_token

    with opened() as database, database.write() as connection:
        take_token(connection, actor(), name, reason, time.time())
        done = find_logged(connection, "revoke", name)
    return tell_act(done, f"token {name} is revoked", as_json=as_json)
