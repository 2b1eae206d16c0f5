"""What comes over the wire is trusted in nothing: answers that are too much, wrong, hostile, or do not come at all."""

from __future__ import annotations

import json
import socket

import pytest

from harness.client import connection as connecting
from harness.client.address import parse_address
from harness.client.answers import BoardAnswer, State, read, read_list
from harness.client.connection import Connection
from harness.client.errors import AnswerError, RefusalError, UnavailableError
from harness.client.tokens import Token
from tests.board.hostile import HOSTILE

TOKEN = Token("hel_secret_of_acme", "/home/acme/token")


class Waits(list):
    """How long a connection waited, instead of waiting."""

    def __call__(self, wait_s: float) -> None:
        self.append(wait_s)


@pytest.fixture
def waits():
    return Waits()


@pytest.fixture
def asked(canned, waits):
    return Connection(parse_address(canned.url), TOKEN, sleep=waits)


def test_a_token_goes_into_a_header_and_nowhere_else(canned, asked):
    canned.answer({"a": [1, 2.5, None]})
    assert asked.get("/season", limit=3) == {"a": [1, 2.5, None]}
    ((method, path, headers),) = canned.requests
    assert (method, path, headers["Authorization"]) == ("GET", "/api/v1/season?limit=3", f"Bearer {TOKEN.text}")


def test_netrc_is_not_looked_into(canned, waits, tmp_path, monkeypatch):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    canned.answer({})
    Connection(parse_address(canned.url), sleep=waits).get("/season")
    assert "Authorization" not in canned.requests[0][2]


@pytest.mark.parametrize(
    "body",
    [
        b"<html>hello</html>",
        b"",
        b'"text"',
        b'{"a": 1, "a": 2}',
        b'{"a": NaN}',
        b'{"a": 1e999}',
        b'{"a": %s}' % (b"9" * 19),
        b"[" * 33 + b"]" * 33,
        b"[" * 100_000,
        b'{"a": "\xff"}',
    ],
)
def test_an_answer_that_is_no_plain_document(canned, asked, body):
    canned.answer(body)
    with pytest.raises(AnswerError) as told:
        asked.get("/season")
    assert f"is not what a harness service does: is {canned.url} the address of one?" in str(told.value)
    assert told.value.exit_code == 3


def test_numbers_as_large_as_seeds_are_read(canned, asked):
    canned.answer(b'{"seeds": [%d, %d]}' % ((1 << 63) - 1, 1 - (1 << 63)))
    assert asked.get("/season") == {"seeds": [(1 << 63) - 1, 1 - (1 << 63)]}


def test_an_answer_that_is_too_large_is_cut_off(canned, asked, monkeypatch):
    monkeypatch.setattr(connecting, "MAX_BYTES", 1 << 20)
    canned.answer(json.dumps("x" * (1 << 20)).encode())
    with pytest.raises(AnswerError, match="answers with more than 1 MiB: it was cut off"):
        asked.get("/season")


def test_a_redirect_is_not_followed(canned, asked):
    canned.answer({}, 307, Location=f"{canned.url}/elsewhere\x1b[31m")
    with pytest.raises(AnswerError, match="elsewhere', which is not followed: give the address where the service"):
        asked.post("/records", {})
    assert len(canned.requests) == 1


def test_what_is_not_there(canned, asked):
    canned.answer(b"<h1>Not Found</h1>", 404)
    with pytest.raises(AnswerError, match=r"answers \(HTTP 404\) is not what a harness service does"):
        asked.get("/season")


def test_what_may_pass_is_tried_again_and_waited_for(canned, asked, waits):
    canned.refuse(503, "closing", "it is being restarted", Retry_After="5")
    canned.answer(b"bad gateway", 502)
    canned.answer({"good": True})
    assert asked.post("/submissions", {"x": 1}, headers={"Idempotency-Key": "k"}) == {"good": True}
    assert len(waits) == 2
    assert waits[0] == 5
    assert 1 <= waits[1] <= 1.5
    assert {headers["Idempotency-Key"] for _, _, headers in canned.requests} == {"k"}


def test_what_does_not_pass_is_told_in_the_end(canned, asked, waits):
    canned.refuse(503, "unavailable", "the service cannot do this at the moment")
    with pytest.raises(UnavailableError, match="the service cannot do this at the moment") as told:
        asked.get("/season")
    assert len(waits) == connecting.TRIES - 1
    assert sorted(waits) == waits
    assert told.value.exit_code == 3


def test_a_long_wait_is_told_and_not_waited_for(canned, asked, waits):
    canned.refuse(503, "unavailable", "back tomorrow", Retry_After="86400")
    with pytest.raises(UnavailableError, match="back tomorrow"):
        asked.get("/season")
    assert waits == []


def test_a_fault_of_the_service_is_not_repeated(canned, asked, waits):
    canned.refuse(500, "our-fault", "something of ours failed")
    with pytest.raises(UnavailableError, match="something of ours failed: tell the organisers"):
        asked.get("/season")
    assert waits == []


def test_a_refusal_says_what_to_do_here(canned, asked, waits):
    canned.refuse(401, "token-expired", "this token has expired: ask the organisers for another")
    with pytest.raises(RefusalError) as told:
        asked.get("/whoami")
    assert str(told.value).endswith("for another (the token is the one of /home/acme/token)")
    assert (told.value.kind, told.value.exit_code, waits) == ("token-expired", 2, [])


@pytest.mark.parametrize(
    ("wait", "told"),
    [
        ("60", r"too many\. Try again in 60 s, at \d\d:\d\d:\d\d"),
        ("900", r"too many\. Try again in 15 minutes, at \d\d:\d\d:\d\d"),
        ("172800", r"too many\. Try again on \d{4}-\d\d-\d\d at \d\d:\d\d"),
        ("9" * 9, r"too many\. Try again on \d{4}-\d\d-\d\d at \d\d:\d\d"),
        ("soon", r"too many$"),
        ("-1", r"too many$"),
        ("²", r"too many$"),
    ],
)
def test_when_to_try_again(canned, asked, wait, told):
    canned.refuse(429, "rate-limit", "too many", Retry_After=wait)
    with pytest.raises(RefusalError, match=told):
        asked.get("/season")


def test_a_services_words_are_inert_and_cut(canned, asked):
    canned.refuse(403, "x" * 1000, HOSTILE + "x" * 100_000)
    with pytest.raises(RefusalError) as told:
        asked.get("/season")
    assert len(str(told.value)) < 800
    assert len(told.value.kind) <= 60
    assert not set("\x1b\x9b\x00\u202e\n") & set(str(told.value))


def test_nobody_listens(waits):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        address = parse_address(f"http://127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(UnavailableError) as told:
            Connection(address, sleep=waits).get("/season", tries=2)
    assert str(told.value) == (
        f"cannot reach {address.name}: nothing listens there. Is it running? `make serve` starts it"
    )
    assert len(waits) == 1


def test_a_name_that_nobody_knows(waits, monkeypatch):
    def resolve(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UnavailableError, match=r"cannot reach board\.invalid: nobody knows this name"):
        Connection(parse_address("https://board.invalid"), sleep=waits).get("/season", tries=1)


def test_a_connection_that_breaks_off(canned, asked, waits):
    canned.answer(b'{"a', Content_Length="400")
    canned.answer({"whole": True})
    assert asked.get("/season") == {"whole": True}
    assert len(waits) == 1


def test_who_does_not_prove_who_it_is_is_not_asked_again(canned, waits):
    # It speaks no TLS at all: what a certificate cannot be had from proves nothing.
    with pytest.raises(UnavailableError, match="does not prove who it is .* or does it speak plain http") as told:
        Connection(parse_address(canned.url.replace("http:", "https:")), TOKEN, sleep=waits).get("/season")
    assert not told.value.passing
    assert waits == []


STATE = {
    "id": "0" * 14, "team": "acme", "problem": "scale", "target": "b200", "division": "closed", "submitted": "now",
    "stage": "build", "state": "queued", "position": 1, "poll_after_s": 2,
}  # fmt: skip


def test_an_answers_texts_are_inert_and_members_of_later_versions_are_passed_over():
    state = read(State, STATE | {"team": HOSTILE, "mood": "good", "progress": {"stage": "trace", "text": "x" * 9000}})
    assert not set("\x1b\x9b\x00\u202e\n") & set(state.team)
    assert len(state.progress.text) == 300


@pytest.mark.parametrize(
    "change", [{"position": "1"}, {"position": True}, {"poll_after_s": None}, {"progress": []}, {"id": None}]
)
def test_an_answer_of_another_form_is_refused_whole(change):
    with pytest.raises(AnswerError, match="is not of the form that this version reads"):
        read(State, STATE | change)
    with pytest.raises(AnswerError):
        read_list(State, [STATE, STATE | change])
    with pytest.raises(AnswerError):
        read(State, {"id": "x"})


def test_an_endless_list_is_refused():
    with pytest.raises(AnswerError):
        read_list(State, [STATE] * 2001)
    board = {"problem": "p", "target": "t", "division": "d", "unranked": [], "other_settings": []}
    with pytest.raises(AnswerError):
        read(BoardAnswer, board | {"ranked": [{"record": "r", "team": "t", "verdict": "v"}] * 2001})
