"""Who somebody is: tokens that are ours, and every kind that is not."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from harness.errors import UsageError
from harness.service.errors import RefusedError
from harness.service.schema import tokens
from harness.service.teams import add_team, identify, issue_token, list_teams, list_tokens, revoke_token
from tests.service.event import START_S, join

DAY_S = 86400.0


def issue(database, **given):
    with database.write() as connection:
        return issue_token(connection, now_s=START_S, **given)


def who(database, authorization, now_s=START_S):
    with database.read() as connection:
        return identify(connection, authorization, now_s)


def refusal(database, authorization, now_s=START_S):
    with pytest.raises(RefusedError) as caught:
        who(database, authorization, now_s)
    assert caught.value.status == 401
    return caught.value.kind, str(caught.value)


def test_a_token_says_who_has_it(database):
    join(database, "acme")
    _, team = issue(database, team="acme")
    _, organiser = issue(database, holder="ada")
    found = who(database, f"Bearer {team}")
    assert (found.role, found.team, found.organises) == ("participant", "acme", False)
    found = who(database, f"bearer {organiser}")
    assert (found.role, found.team, found.name, found.organises) == ("organiser", "", "ada", True)


def test_every_wrong_token_is_told_what_to_do(database):
    join(database, "acme")
    name, token = issue(database, team="acme", days=30)
    assert refusal(database, None) == ("token-missing", "this needs a token: send `Authorization: Bearer TOKEN`")
    for malformed in ("Basic YTpi", "Bearer", f"Bearer {token}x", "Bearer hel_1_2", f"Token {token}"):
        kind, told = refusal(database, malformed)
        assert kind == "token-malformed"
        assert told.startswith("this is no whole token of this server (hel_...)")
        assert told.endswith("ask the organisers for a token of this server")
    other = token[:-1] + ("A" if token[-1] != "A" else "B")
    foreign = f"hel_{'0' * 14}_{token[-43:]}"
    for unknown in (other, foreign):
        kind, told = refusal(database, f"Bearer {unknown}")
        assert (kind, "this server did not make this token" in told) == ("token-foreign", True)
    kind, told = refusal(database, f"Bearer {token}", START_S + 30 * DAY_S)
    assert (kind, told) == ("token-expired", "this token has expired: ask the organisers for another")
    with database.write() as connection:
        revoke_token(connection, name, START_S)
    assert refusal(database, f"Bearer {token}")[0] == "token-revoked"


def test_the_secret_is_nowhere(database):
    join(database, "acme")
    name, token = issue(database, team="acme")
    secret = token[-43:]
    with database.read() as connection:
        kept = str(connection.execute(select(tokens)).all())
        listed = str(list_tokens(connection))
    assert name in kept
    assert secret not in kept + listed


def test_tokens_differ(database):
    join(database, "acme")
    assert len({issue(database, team="acme")[1] for _ in range(20)}) == 20


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"team": "nobody"}, "there is no team 'nobody': harness admin team add nobody"),
        ({}, "say whose token it is"),
        ({"holder": "ada", "days": 0}, "valid for more than 0 and at most 3660 days"),
    ],
)
def test_a_token_for_nobody_is_not_made(database, given, message):
    with pytest.raises(UsageError, match=message):
        issue(database, **given)


def test_revoking_what_is_not_there(database):
    told = "there is no token 'x': `harness admin token list` shows their ids"
    with database.write() as connection, pytest.raises(UsageError, match=told):
        revoke_token(connection, "x", START_S)


def test_names_of_teams(database):
    join(database, "acme", "bolt")
    for name, message in (
        ("acme", "there is a team 'acme' already"),
        ("Acme!", "is not valid: use 1 to 39 of a-z"),
        ("acrne", "looks like that of team 'acme'"),
        ("organiser", "is kept for the harness's own use"),
    ):
        with pytest.raises(UsageError, match=message), database.write() as connection:
            add_team(connection, name)
    with database.read() as connection:
        assert list_teams(connection) == ["acme", "bolt"]
