"""The API over real HTTP: who may what, what everybody sees, and errors that say what to do."""

from __future__ import annotations

import base64
import dataclasses
import http.client
import json
import logging
import socket
from datetime import datetime, timezone

import pytest
import requests
from sqlalchemy import func, select, update

from harness.service import logs
from harness.service.schema import jobs, unverified
from harness.service.settings import Limits
from harness.store.record import encode_record
from tests.service.event import finish as conclude_job
from tests.service.event import lease, outcome
from tests.service.server import document
from tests.store.samples import checked, incorrect, passed

LIMITS = Limits(pending=5, per_hour=20, body_bytes=400_000, body_s=2.0)
SECRET_SOURCE = "def custom_kernel(data): return 'the trick'"


@pytest.fixture
def limits():
    return LIMITS


def submit(live, token, source=SECRET_SOURCE, key="a-key-of-mine", **fields):
    return live.post("/api/v1/submissions", token, document(source, **fields), **{"Idempotency-Key": key})


def act(live, **what):
    return live.post("/api/v1/acts", live.ada, what)


def finish(live, score_us=None, **changes):
    """Conclude the next job as a worker would."""
    now_s = live.service.now_s()
    held = lease(live.database, now_s=now_s)
    assert conclude_job(live.database, held, outcome(held.job, score_us, **changes), now_s=now_s)
    return held.job.id


def refused(response, status, kind):
    assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")
    problem = response.json()
    assert problem["type"] == f"urn:helion-harness:{kind}"
    assert problem["status"] == status
    return problem["detail"]


def test_a_submission_from_its_post_to_the_board(live):
    taken = submit(live, live.acme)
    assert taken.status_code == 202
    state = taken.json()
    assert (state["state"], state["team"], state["position"], state["record"]) == ("queued", "acme", 1, None)
    again = submit(live, live.acme)
    assert (again.status_code, again.json()["id"], again.headers["location"]) == (
        200, state["id"], taken.headers["location"],
    )  # fmt: skip
    assert "there is no such record; one is there once its submission is done" in refused(
        live.get(f"/api/v1/records/{state['id']}"), 404, "not-found"
    )
    finish(live, 12.5)
    done = live.get(taken.headers["location"]).json()
    assert (done["state"], done["verdict"], done["record"]) == ("done", "PASSED", f"/api/v1/records/{state['id']}")
    record = live.get(done["record"]).json()
    assert (record["score_us"], record["verified"], record["disqualified"]) == (12.5, True, None)
    board = live.get("/api/v1/boards/scale/b200/closed").json()
    assert [(row["place"], row["team"], row["record"]) for row in board["ranked"]] == [(1, "acme", state["id"])]
    table = live.get("/api/v1/boards/scale/b200/closed.csv")
    assert table.headers["content-type"].startswith("text/csv")
    assert table.text.splitlines()[1].startswith("1,False,acme,PASSED,12.5")
    assert live.get("/api/v1/boards").json() == [{"problem": "scale", "target": "b200", "division": "closed"}]
    (standing,) = live.get("/api/v1/standings/b200/closed").json()
    assert (standing["team"], standing["points"]) == ("acme", 10.0)
    assert [r["id"] for r in live.get("/api/v1/records?team=acme").json()] == [state["id"]]
    assert live.get("/api/v1/queue").json() == []


def test_who_may_submit(live):
    assert "send `Authorization: Bearer TOKEN`" in refused(submit(live, None), 401, "token-missing")
    assert submit(live, None).headers["www-authenticate"] == "Bearer"
    refused(submit(live, "hel_x_y"), 401, "token-malformed")
    refused(submit(live, f"hel_{'0' * 14}_{'A' * 43}"), 401, "token-foreign")
    assert "use a team's" in refused(submit(live, live.ada), 403, "teams-only")
    in_the_address = requests.post(f"{live.url}/api/v1/submissions?token={live.acme}", json=document("x"), timeout=60)
    refused(in_the_address, 401, "token-missing")
    assert live.get("/api/v1/whoami", live.acme).json()["team"] == "acme"
    act(live, act="revoke", token=live.acme.split("_")[1], reason="lost")
    assert "revoked" in refused(submit(live, live.acme), 401, "token-revoked")


def test_what_is_too_much(live):
    told = refused(submit(live, live.acme, "#" * 400_000), 413, "too-large")
    assert told == "the request is larger than 400,000 bytes"
    connection = http.client.HTTPConnection("127.0.0.1", live.port, timeout=60)
    headers = {"Authorization": f"Bearer {live.acme}", "Transfer-Encoding": "chunked"}
    endless = (b"x" * 65536 for _ in range(20))
    connection.request("POST", "/api/v1/submissions", endless, headers, encode_chunked=True)
    assert connection.getresponse().status == 413
    for i in range(5):
        assert submit(live, live.acme, key=f"number-{i}").status_code == 202
    one_more = submit(live, live.acme, key="number-5")
    assert "5 are allowed at a time" in refused(one_more, 429, "too-many-pending")
    assert one_more.headers["retry-after"] == "60"
    with live.database.read() as connection:
        assert connection.execute(select(func.count()).select_from(jobs)).scalar() == 5


def test_a_body_that_never_comes_is_given_up(live):
    with socket.create_connection(("127.0.0.1", live.port), timeout=60) as slow:
        head = f"POST /api/v1/submissions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {live.acme}\r\n"
        slow.sendall(f"{head}Content-Length: 1000\r\n\r\n{{".encode())
        assert slow.recv(65536).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("path", ["submissions", "acts"])
def test_a_stranger_is_refused_before_the_body_is_read(live, path):
    with socket.create_connection(("127.0.0.1", live.port), timeout=60) as stranger:
        stranger.sendall(f"POST /api/v1/{path} HTTP/1.1\r\nHost: x\r\nContent-Length: 399999\r\n\r\n".encode())
        assert stranger.recv(65536).startswith(b"HTTP/1.1 401 ")


def test_an_act_is_no_larger_than_what_is_read(live):
    refused(live.post("/api/v1/acts", live.ada, {"act": "freeze", "reason": "x" * 400_000}), 413, "too-large")


def test_code_is_seen_by_whom_the_season_lets(live):
    name = submit(live, live.acme).json()["id"]
    failed = incorrect("acme")
    finish(live, None, verdict=failed.verdict, cases=failed.cases)
    line = failed.verdict.traceback[0].text

    def seen(token):
        files = live.get(f"/api/v1/submissions/{name}/files", token)
        record = live.get(f"/api/v1/records/{name}", token)
        return files.status_code == 200, line in record.text

    assert [seen(token) for token in (None, live.bolt, live.acme, live.ada)] == [
        (False, False), (False, False), (True, True), (True, True),
    ]  # fmt: skip
    told = refused(live.get(f"/api/v1/submissions/{name}/files"), 403, "code-hidden")
    assert told == "other teams' code is shown once the season has closed"
    refused(live.get(f"/api/v1/submissions/{name}/files", "wrong"), 401, "token-malformed")
    (file,) = live.get(f"/api/v1/submissions/{name}/files", live.acme).json()
    assert base64.b64decode(file["content"]).decode() == SECRET_SOURCE
    act(live, act="season", changes={"code_visible": "never"}, reason="by request")
    assert seen(None) == (False, False)
    assert "is shown never" in refused(live.get(f"/api/v1/submissions/{name}/files"), 403, "code-hidden")
    act(live, act="season", changes={"code_visible": "at_once"}, reason="a workshop")
    assert seen(None) == (True, True)
    act(live, act="season", changes={"code_visible": "after_close", "closes": "2026-01-01T00:00Z"}, reason="the end")
    assert seen(None) == (True, True)


def test_nothing_that_is_public_has_code_in_it(live):
    name = submit(live, live.acme).json()["id"]
    failed = incorrect("acme")
    finish(live, None, verdict=failed.verdict, cases=failed.cases)
    submit(live, live.acme, key="one-that-waits")
    line = failed.verdict.traceback[0].text
    paths = live.get("/api/v1/openapi.json").json()["paths"]
    values = {
        "{submission_id}": name,
        "{record_id}": name,
        "{problem}": "scale",
        "{target}": "b200",
        "{division}": "closed",
    }
    asked = 0
    for path, ways in paths.items():
        for pattern, value in values.items():
            path = path.replace(pattern, value)
        if "get" in ways:
            answer = live.get(path)
            asked += 1
            assert answer.status_code in (200, 401, 403), path
            assert "the trick" not in answer.text
            assert line not in answer.text
            assert live.acme[-43:] not in answer.text
    assert asked >= 11


def test_a_season_says_what_it_takes(live):
    season = live.get("/api/v1/season").json()
    assert (season["name"], season["phase"], season["targets"]) == ("test-season", "open", ["b200", "h200"])
    version = season["problems"]["scale"]["version"]
    stale = submit(live, live.acme, problem_version="0ld")
    assert version in refused(stale, 409, "problem-version")
    assert stale.json()["server_version"] == version
    act(live, act="season", changes={"closes": "2026-01-01T00:00:00Z"}, reason="the end")
    assert live.get("/api/v1/season").json()["phase"] == "closed"
    assert "the season closed on 2026-01-01 00:00 UTC" in refused(submit(live, live.acme), 403, "season-closed")
    act(live, act="season", changes={"closes": None, "opens": "2100-01-01T00:00:00Z"}, reason="a mistake")
    assert "the season opens on 2100-01-01 00:00 UTC" in refused(submit(live, live.acme), 403, "season-not-open")
    act(live, act="season", changes={"opens": "now"}, reason="now")
    act(live, act="freeze", problem="scale", reason="its reference is wrong")
    assert "its reference is wrong" in refused(submit(live, live.acme), 403, "frozen")
    assert live.get("/api/v1/season").json()["frozen"] == {"scale": "its reference is wrong"}
    act(live, act="thaw", problem="scale", reason="mended")
    assert submit(live, live.acme).status_code == 202


def test_organisers_act_and_everybody_reads_it(live):
    for token, status, kind in ((None, 401, "token-missing"), (live.acme, 403, "organisers-only")):
        refused(live.post("/api/v1/acts", token, {"act": "freeze", "reason": "mine"}), status, kind)
    submit(live, live.acme)
    name = finish(live, 9.0)
    assert act(live, act="disqualify", record=name, reason="copied").json() == {"act": "disqualify", "records": 1}
    assert live.get("/api/v1/boards/scale/b200/closed").json()["ranked"] == []
    assert live.get(f"/api/v1/records/{name}").json()["disqualified"] == "copied"
    assert act(live, act="reinstate", record=name, reason="was the other").status_code == 200
    again = act(live, act="rerun", submission=name, reason="once more").json()["submission"]
    assert live.get(f"/api/v1/submissions/{again}").json()["state"] == "queued"
    assert act(live, act="team", name="core").json() == {"act": "team", "team": "core"}
    token = act(live, act="token", team="core", days=2).json()["token"]
    assert live.get("/api/v1/whoami", token).json()["team"] == "core"
    log = live.get("/api/v1/acts").json()
    assert [(a["actor"], a["act"]) for a in log[:5]] == [
        ("ada", "token"), ("ada", "team"), ("ada", "rerun"), ("ada", "reinstate"), ("ada", "disqualify"),
    ]  # fmt: skip
    assert token[-43:] not in json.dumps(log)
    assert len(live.get(f"/api/v1/acts?before={log[1]['id']}&limit=2").json()) == 2


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"act": "explode"}, "does not match any of the expected tags"),
        ({"act": "freeze", "problem": "scale"}, "say why"),
        ({"act": "disqualify", "record": "nothing", "reason": "x"}, "there is no record 'nothing'"),
        ({"act": "season", "changes": {"closes": None}}, "say why"),
        ({"act": "season", "changes": {"opens": None}, "reason": "x"}, "a season that never opens: name a later time"),
        ({"act": "season", "changes": {"closes": "tomorrow"}, "reason": "x"}, "'tomorrow' is not a time"),
        ({"act": "season", "changes": {"closes": "9999-01-01"}, "reason": "x"}, "a season is between 1971 and 9998"),
        ({"act": "team", "name": "Ümlaut"}, "is not valid"),
        ({"act": "token", "team": "nobody"}, "there is no team 'nobody'"),
        ({"act": "freeze", "problem": "scale", "reason": "\0"}, "should match pattern"),
    ],
)
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_acts_that_cannot_be(live, document, message):
    answer = live.post("/api/v1/acts", live.ada, document)
    assert answer.status_code == 422
    assert message in answer.json()["detail"]
    assert len(live.get("/api/v1/acts").json()) == 5, "nothing but the fixture's teams and tokens"


def test_a_posted_record_is_unverified_and_ranks_nowhere(live):
    mine = dataclasses.replace(passed("acme", 0.001), problem="scale", season="test-season")
    posted = live.post("/api/v1/records", live.acme, encode_record(mine))
    assert posted.status_code == 201
    name = posted.json()["id"]
    assert name != mine.id, "a name of ours"
    assert live.post("/api/v1/records", live.acme, encode_record(mine)).json()["id"] == name, "the same one again"
    record = live.get(f"/api/v1/records/{name}").json()
    assert (record["verified"], record["ranked"]) == (False, False)
    assert "not verified" in record["unranked_reason"]
    board = live.get("/api/v1/boards/scale/b200/closed").json()
    assert (board["ranked"], board["unranked"]) == ([], [])
    assert [(row["id"], row["team"], row["verified"]) for row in board["unverified"]] == [(name, "acme", False)]
    with live.database.write() as connection:
        connection.execute(update(unverified).values(document={}))
    again = live.get("/api/v1/boards/scale/b200/closed").json()
    assert again["unverified"] == board["unverified"], "what a stranger may ask for is not decoded each time"
    assert name in live.get("/boards/scale-b200-closed").text
    assert live.get("/api/v1/standings/b200/closed").json() == []
    assert live.get("/api/v1/records").json() == []


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_what_cannot_be_posted(live):
    mine = dataclasses.replace(checked("acme"), problem="scale")

    def post(record, token=None):
        return live.post("/api/v1/records", token or live.acme, record)

    told = refused(post(encode_record(mine), live.bolt), 403, "foreign-record")
    assert told == "the record is of team 'acme', the token of 'bolt': post your own"
    refused(post(encode_record(mine), live.ada), 403, "teams-only")
    deep = inner = {}
    for _ in range(200):
        inner["a"] = inner = {}
    for wrong, status in (
        ({}, 422),
        ({**encode_record(mine), "score_us": "fast"}, 422),
        ({**encode_record(mine), "state": "submitted"}, 422),
        ({**encode_record(mine), "problem": "softmax"}, 422),
        ({**encode_record(mine), "format": 99}, 422),
        (deep, 400),
    ):
        assert post(wrong).status_code == status, wrong
    with live.database.read() as connection:
        assert connection.execute(select(func.count()).select_from(unverified)).scalar() == 0


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_what_is_not_there(live):
    for path in ("/api/v1/submissions/x", "/api/v1/records/x", "/api/v1/boards/scale/mi300/closed", "/api/v1/nothing"):
        refused(live.get(path), 404, "not-found")
    refused(live.get("/api/v1/boards/scale/b200/c%00"), 404, "not-found")
    for address in ("submissions/%00", "submissions/%00/files", "records/%00"):
        refused(live.get(f"/api/v1/{address}"), 404, "not-found")
    refused(requests.delete(f"{live.url}/api/v1/boards", timeout=60), 405, "method-not-allowed")
    refused(live.get("/api/v1/records?limit=1000"), 422, "malformed")
    refused(live.get("/api/v1/records?team=%00"), 422, "malformed")


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_machines_ask_how_it_is(live):
    submit(live, live.acme)
    assert live.get("/healthz").text == "ok\n"
    assert live.get("/readyz").json()["ready"] is True
    metrics = live.get("/metrics").text
    assert 'harness_jobs{stage="build",state="queued"} 1.0' in metrics
    assert 'harness_requests_total{method="POST",route="/api/v1/submissions",status="202"} 1.0' in metrics
    live.service.closing = True
    assert live.get("/readyz").status_code == 503
    closing = submit(live, live.acme, key="while-closing")
    assert "the service is being restarted" in refused(closing, 503, "closing")
    live.service.closing = False
    assert live.get("/readyz").json()["ready"] is True
    live.service.intake.close()
    ended = live.get("/readyz")
    assert (ended.status_code, ended.json()["why"]) == (503, "what takes submissions has ended: start it again")


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_what_came_in_time_counts_however_long_it_waits(live):
    """The season closes while a submission waits to be taken: it counts from when it had come."""
    came_s = live.service.now_s()
    closes = datetime.fromtimestamp(came_s + 0.5, timezone.utc).isoformat()
    assert act(live, act="season", changes={"closes": closes}, reason="the end").status_code == 200
    live.service.now_s = lambda: came_s
    live.service.intake._clock = lambda: came_s + 10
    assert submit(live, live.acme, key="in-time-key").status_code == 202
    live.service.now_s = lambda: came_s + 0.5
    refused(submit(live, live.acme, key="late-key-1"), 403, "season-closed")


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_logs_have_neither_tokens_nor_code(live, capfd):
    before = logging.getLogger().handlers[:]
    logs.configure()
    try:
        submit(live, live.acme)
        submit(live, live.acme[:-1], key=live.acme[:60])
        live.get(f"/api/v1/records/{live.acme}?token={live.acme}", live.acme)
        live.get("/api/v1/records?limit=" + SECRET_SOURCE)
        live.stop()  # a line is written once its answer is sent: with this, all are
    finally:
        logging.getLogger().handlers[:] = before
    told = capfd.readouterr().err
    lines = [json.loads(line) for line in told.splitlines()]
    assert [line["status"] for line in lines if line["event"] == "request"] == [202, 401, 404, 422]
    for secret in (live.acme[-43:], live.acme[-30:-5], "the trick", "custom_kernel"):
        assert secret not in told
