"""Whose token is whose may be remembered; what is done with it is asked anew."""

from __future__ import annotations

from harness.service import known as module
from harness.service.known import MOST, Known
from harness.service.teams import Holder, list_tokens, revoke_token
from tests.service.server import document

ACME = Holder("token-id", "participant", "acme", "acme")


def post(live, key):
    return live.post("/api/v1/submissions", live.acme, document(f"# {key}"), **{"Idempotency-Key": key})


def test_a_token_that_was_seen_just_now_submits_nothing_once_it_is_revoked(live):
    assert post(live, "first-key").status_code == 202
    with live.database.write() as connection:
        (mine,) = (token for token in list_tokens(connection) if token.team == "acme")
        revoke_token(connection, mine.id, live.service.now_s())
    answer = post(live, "second-key")
    assert answer.status_code == 401
    assert answer.json()["detail"] == "the organisers have revoked this token: ask them for another"
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_token_is_remembered_for_a_moment(monkeypatch):
    known = Known()
    assert known.find("Bearer x") is None
    known.keep("Bearer x", ACME)
    assert known.find("Bearer x") == ACME
    assert known.find("Bearer y") is None
    monkeypatch.setattr(module, "AGE_S", 0.0)
    assert known.find("Bearer x") is None


def test_no_more_are_remembered_than_there_is_room_for():
    known = Known()
    for number in range(MOST + 1):
        known.keep(f"Bearer {number}", ACME)
    assert known.find("Bearer 0") is None
    assert known.find(f"Bearer {MOST}") == ACME
