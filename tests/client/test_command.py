"""The command against a real service: what a team sees, every message that it can meet, and how it goes on."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest
from rich.console import Console

from harness.cli import watch
from harness.client.address import parse_address
from harness.client.pending import Pending, PendingFolder
from harness.client.watching import list_news, look, render_seen
from harness.engine.progress import ignore
from harness.service.evaluating import RecordedEvaluator
from harness.service.organising import disqualify, freeze, thaw
from harness.service.rules import change_season
from harness.service.working import evaluate_job, store_outcome
from harness.store.record import encode_record
from tests.board.hostile import HOSTILE, hostile_record
from tests.service.event import BUILDER, GPU, finish, lease, outcome, record_outcome, rules_now
from tests.service.server import ENOUGH_S, Server

SOURCE = "# the acme kernel\ndef custom_kernel(data): ...\n"


@pytest.fixture
def team(home, live):
    """A team with a token and a folder."""
    home.keep_token(live.url, live.acme)
    home.write(SOURCE)
    return home


def conclude(live, score_us=12.5):
    """Finish the next submission as a worker would."""
    now_s = live.service.now_s()
    held = lease(live.database, now_s=now_s)
    assert finish(live.database, held, outcome(held.job, score_us), now_s=now_s)
    return held.job.id


@contextmanager
def working(live, outcomes):
    """Workers for both stages, in a thread: what a folder of recorded outcomes has is what they find."""
    ended = threading.Event()
    evaluator = RecordedEvaluator(outcomes)

    def work():
        while not ended.wait(0.02):
            for worker in (BUILDER, GPU):
                if (held := lease(live.database, worker, now_s=live.service.now_s())) is not None:
                    rules = live.service.rules()
                    record = evaluate_job(live.database, live.service.settings.root, rules, evaluator, held.job, ignore)
                    store_outcome(live.database, held, record, frozenset({"b200"}))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(ENOUGH_S)


def under_way(home, live):
    """A submission that the service has, and whose team has stopped watching."""
    headers = {"Idempotency-Key": "number-of-mine"}
    name = live.post("/api/v1/submissions", live.acme, document(7), **headers).json()["id"]
    PendingFolder(home.root / ".harness").save(Pending("number-of-mine", live.url, "scale", name))


def pending(home):
    return list((home.root / ".harness" / "pending").glob("*.json"))


RUN = """
import signal
from harness.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may have it ignored
main()
"""


def test_stopped_it_says_how_to_go_on_and_goes_on(team, live):
    command = [sys.executable, "-c", RUN, "submit", "scale", "--to", live.url]
    environment = {**os.environ, "XDG_CONFIG_HOME": str(team.config), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, cwd=team.root, env=environment, stderr=subprocess.PIPE, text=True)
    told = process.stderr.readline()
    assert " has it: scale · b200 · closed · acme" in told, told + process.stderr.read()
    process.send_signal(signal.SIGINT)
    told = process.stderr.read()
    assert process.wait(ENOUGH_S) == 130
    assert "the service goes on with it. To see what becomes of it: harness submit --resume" in told
    assert "Traceback" not in told
    assert len(pending(team)) == 1
    name = conclude(live)
    code, out, _ = team.run("submit", "--resume")
    assert code == 0
    assert out.startswith("PASSED  scale · b200 · closed · acme")
    assert "acme is number 1 of 1 on scale, b200" in out
    assert f"record {name}   more: {live.url}/records/{name}" in out
    assert pending(team) == []
    code, _, told = team.run("submit", "--resume")
    assert (code, told) == (2, "error: no submission is under way: harness submit PROBLEM --to URL begins one")


def test_it_is_followed_to_the_report_and_the_exit_code_of_its_verdict(team, live, tmp_path):
    """The very outcomes of a service's workers: one that passes, and after an edit one that does not."""
    outcomes = tmp_path / "outcomes"
    outcomes.mkdir()
    record_outcome(outcomes, SOURCE, 8.5)
    record_outcome(outcomes, f"{SOURCE}# worse", None)
    with working(live, outcomes):
        code, out, told = team.run("submit", "scale", "--to", f"{live.url}/")
        assert code == 0, told
        assert out.startswith("PASSED  scale · b200 · closed · acme")
        assert "acme is number 1 of 1 on scale, b200" in out
        assert told.startswith(f"{live.url.removeprefix('http://')} has it: scale · b200 · closed · acme · ")
        board = " ".join(team.run("board", "--from", live.url)[1].split())
        version = live.service.rules().problems["scale"].version  # the outcomes were recorded with another one
        assert f"it is version {version} now. What stands here was made with version 1." in board
        team.write(f"{SOURCE}# worse")
        code, out, _ = team.run("submit", "scale", "--to", live.url, "--file", "submissions/acme/scale/submission.py")
    assert code == 1
    assert out.startswith("INCORRECT  scale · b200 · closed · acme")
    assert "last verdict PASSED INCORRECT" in " ".join(out.split())
    assert pending(team) == []


def test_with_json_the_record_is_the_document(team, live):
    under_way(team, live)
    name = conclude(live)
    code, out, told = team.run("submit", "scale_py", "--resume", "--json")
    assert (code, told) == (0, "")
    document = json.loads(out)
    assert (document["id"], document["score_us"], document["verdict"]["kind"]) == (name, 12.5, "PASSED")


def test_what_is_ruled_out_is_told_when_it_comes_again(team, live):
    def rule_out(reason, **whom):
        with live.database.write() as connection:
            disqualify(connection, "ada", reason, live.service.now_s(), **whom)

    def send_again():
        headers = {"Idempotency-Key": "number-again"}
        name = live.post("/api/v1/submissions", live.acme, document(7), **headers).json()["id"]
        PendingFolder(team.root / ".harness").save(Pending("number-again", live.url, "scale", name))

    under_way(team, live)
    first = conclude(live)
    PendingFolder(team.root / ".harness").forget(PendingFolder(team.root / ".harness").list()[0])
    rule_out("copied", record=first)
    send_again()
    conclude(live)
    code, out, _ = team.run("submit", "--resume")
    assert code == 0
    assert "Ruled out by the organisers: copied. scale, b200 has no place for it" in " ".join(out.split())
    assert "acme is" not in out
    assert "2 submissions are ruled out by the organisers" in team.run("board", "scale", "--from", live.url)[1]
    send_again()
    assert json.loads(team.run("submit", "--resume", "--json")[1])["disqualified"] == "copied"
    rule_out("two teams of one person", team="acme")
    team.write("def custom_kernel(data:\n")
    told = team.run("submit", "scale", "--to", live.url, "--post")[2]
    assert "note: the organisers have ruled this out there: two teams of one person" in told


@pytest.mark.slow
def test_through_a_server_with_workers(home, sqlite_template, tmp_path):
    """The whole way, with outcomes that were recorded: `harness serve` and `harness submit`, nothing in between."""
    shutil.copy(sqlite_template, tmp_path / "whole.sqlite")
    (tmp_path / "outcomes").mkdir()
    record_outcome(tmp_path / "outcomes", SOURCE, 8.5)
    options = ("--workers", "build=1,gpu=1", "--targets", "b200", "--evaluate", f"recorded={tmp_path / 'outcomes'}")
    server = Server(home.root, f"sqlite:///{tmp_path / 'whole.sqlite'}", *options)
    try:
        server.admin("team", "add", "acme")
        token = json.loads(server.admin("token", "issue", "acme", "--json"))["token"]
        home.keep_token(server.url, token)
        home.write(SOURCE)
        code, out, _ = home.run("submit", "scale", "--to", server.url, "--target", "b200")
        assert (code, out.split("\n")[0][:38]) == (0, "PASSED  scale · b200 · closed · acme ·")
        assert "acme is number 1 of 1 on scale, b200" in out
    finally:
        server.kill()


def refused(home, *arguments, code=2):
    found, out, told = home.run(*arguments)
    assert (found, out) == (code, ""), (out, told)
    return told


def test_what_the_service_refuses(team, live):
    def submit():
        return refused(team, "submit", "scale", "--to", live.url)

    name = live.url.removeprefix("http://")
    (team.root / "submissions" / "acme" / "scale" / "big.bin").write_bytes(b"x" * 190_000)
    assert submit() == f"error: {name}: the request is larger than 200,000 bytes"
    (team.root / "submissions" / "acme" / "scale" / "big.bin").unlink()

    task = team.root / "problems" / "scale" / "task.yml"
    ours = task.read_text()
    task.write_text(f"{ours}\n# another version\n")
    with live.database.read() as connection:
        version = rules_now(connection).problems["scale"].version
    assert f"{name}: the server has version {version} of scale, you have " in submit()
    task.write_text(ours)

    now_s = live.service.now_s()
    with live.database.write() as connection:
        season = rules_now(connection).season
        change_season(connection, season, {"closes": "2026-01-31T18:00Z"}, "test", "over", now_s)
    assert submit() == f"error: {name}: the season closed on 2026-01-31 18:00 UTC"
    with live.database.write() as connection:
        change_season(connection, season, {"closes": None, "opens": "2999-01-01T00:00Z"}, "test", "later", now_s)
    assert submit() == f"error: {name}: the season opens on 2999-01-01 00:00 UTC"
    with live.database.write() as connection:
        change_season(connection, season, {"closes": None, "opens": "now"}, "test", "now", now_s)
        freeze(connection, "test", "scale", "a fault in it", rules_now(connection), now_s)
    assert submit() == f"error: {name}: the organisers have stopped submissions of scale for now: a fault in it"
    with live.database.write() as connection:
        thaw(connection, "test", "scale", "mended", now_s)
        freeze(connection, "test", "", "a power cut", rules_now(connection), now_s)
    assert submit() == f"error: {name}: the organisers have stopped submissions of every problem for now: a power cut"
    assert pending(team) == []


def test_too_many_at_a_time_says_when_to_try_again(team, live):
    for number in range(3):
        headers = {"Idempotency-Key": f"number-{number}"}
        assert live.post("/api/v1/submissions", live.acme, document(number), **headers).status_code == 202
    told = refused(team, "submit", "scale", "--to", live.url)
    assert "3 of your submissions are not evaluated yet; 3 are allowed at a time. Try again in 60 s, at " in told


def document(number):
    return {"format": 1, "problem": "scale", "files": {"submission.py": f"{number:04}"}}


def test_tokens_that_do_not_do(team, live):
    def submit(*more):
        return refused(team, "submit", "scale", "--to", live.url, *more)

    place = team.keep_token(live.url, live.acme, 0o644)
    assert submit() == f"error: others can read the token in {place}: chmod 600 {place}"
    team.keep_token(live.url, live.acme)
    assert "is of team acme, and you ask for bolt: leave --team out" in submit("--team", "bolt")
    team.keep_token(live.url, live.ada)
    assert f"the token of {place} is an organiser's, who submits nothing: use a team's" in submit()
    foreign = f"hel_{'0' * 14}_{'A' * 43}"
    team.keep_token(live.url, foreign)
    told = submit()
    assert "this server did not make this token, or it is damaged: ask the organisers for a token of this" in told
    assert f"(the token is the one of {place})" in told
    assert foreign not in told
    with live.database.write() as connection:
        connection.exec_driver_sql("UPDATE tokens SET expires_s = 1")
    team.keep_token(live.url, live.acme)
    assert "this token has expired: ask the organisers for another" in submit()
    place.unlink()
    assert f"there is no token for {live.url.removeprefix('http://')}. Put the one that" in submit()


def test_where_nobody_is(team):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        team.keep_token(url, "hel_some_token")
        told = refused(team, "submit", "scale", "--to", url, code=3)
        assert told.startswith("harness error: cannot reach 127.0.0.1:")
        assert "nothing listens there. Is it running? `make serve` starts it" in told
        assert "cannot reach" in refused(team, "board", "--from", url, code=3)


def test_an_address_of_one_of_its_pages(team, live):
    told = refused(team, "board", "--from", f"{live.url}/boards")
    assert f"give the service's own address, such as {live.url}, and not that of one of its pages" in told


def test_what_is_sent_but_not_answered_can_be_gone_on_with(team, canned, live, tmp_path):
    team.keep_token(canned.url, "hel_some_token")
    canned.answer({"role": "participant", "team": "acme"})
    canned.refuse(500, "our-fault", "something of ours failed")
    told = refused(team, "submit", "scale", "--to", canned.url, code=3)
    assert "note: nothing is lost: harness submit --resume goes on with this submission" in told
    (path,) = pending(team)
    kept = json.loads(path.read_text())
    path.write_text(json.dumps({**kept, "url": live.url}))  # as if it had been there all the time
    (tmp_path / "outcomes").mkdir()
    record_outcome(tmp_path / "outcomes", SOURCE, 8.5)
    with working(live, tmp_path / "outcomes"):
        code, out, _ = team.run("submit", "--resume")
    assert (code, out[:6]) == (0, "PASSED")
    assert pending(team) == []


def test_what_the_service_no_longer_knows_is_forgotten(team, live):
    under_way(team, live)
    with live.database.write() as connection:
        connection.exec_driver_sql("DELETE FROM jobs")
    assert "there is no such submission" in refused(team, "submit", "--resume")
    assert pending(team) == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["submit", "scale", "--to", "http://board.example.org"], "is not encrypted: everybody on the way"),
        (["submit", "scale", "--to", "board.example.org"], "'board.example.org' is not an address"),
        (["submit", "scale", "--post"], "--post needs --to: say which service the record is for"),
        (["submit", "scale", "--to", "https://x", "--resume"], "--resume goes on with what was sent before"),
        (["submit", "scale", "--to", "https://x", "--case", "test"], "--case and --portable are for this machine"),
        (["submit", "scale", "--to", "https://x", "--portable"], "--case and --portable are for this machine"),
        (["submit", "scale", "--to", "https://x", "--full"], "--full is for this machine"),
        (["submit", "scael", "--resume"], "unknown problem 'scael'. Did you mean scale?"),
        (["queue"], "Missing option '--from'"),
        (["queue", "--from", "records"], "'records' is not an address"),
        (["watch", "--from", "http://board.example.org"], "is not encrypted"),
        (["board", "--from", "http://board.example.org"], "is not encrypted"),
        (["board", "scale", "--from", "https://x", "--csv"], "--csv, --save and --export are for records here"),
    ],
)
def test_bad_usage_says_what_to_do(home, arguments, told):
    assert told in refused(home, *arguments)


def test_a_record_of_this_machine_is_posted(team, live):
    team.write("def custom_kernel(data:\n")
    code, out, told = team.run("submit", "scale", "--to", live.url, "--post")
    assert code == 1
    assert out.startswith("COMPILE_ERROR")
    name = told.partition("posted as ")[2][:14]
    assert f"{name}: listed as unverified, never ranked {live.url}/records/{name}" in told
    record = live.get(f"/api/v1/records/{name}").json()
    assert (record["team"], record["verified"], record["ranked"]) == ("acme", False, False)


def test_boards_of_a_service(team, live):
    for token, score_us in ((live.acme, 10.0), (live.bolt, 20.0)):
        headers = {"Idempotency-Key": f"of-{score_us}-us"}
        assert live.post("/api/v1/submissions", token, document(int(score_us)), **headers).status_code == 202
        conclude(live, score_us=score_us)
    code, out, _ = team.run("board", "--from", live.url, "--team", "bolt")
    lines = [line.split() for line in out.splitlines()]
    assert code == 0
    assert [line[:3] for line in lines if line[:1] == ["1"]] == [["1", "acme", "10.00"], ["1", "acme", "10.0"]]
    assert ["2", "bolt", "◂", "20.00", "2.0x"] in [line[:5] for line in lines]
    assert out.count("score: geometric mean of the benchmarks' times") == 1
    code, out, _ = team.run("board", "scale", "--from", live.url, "--json")
    assert json.loads(out) == live.get("/api/v1/boards/scale/b200/closed").json()
    code, out, _ = team.run("board", "--standings", "--from", live.url, "--json")
    assert json.loads(out) == live.get("/api/v1/standings/b200/closed").json()
    assert "has no problem 'scael': scale" in refused(team, "board", "scael", "--from", live.url)
    assert "has no target 'h100': b200, h200" in refused(team, "board", "--target", "h100", "--from", live.url)
    assert "has no open division: --division closed" in refused(team, "board", "--division", "open", "--from", live.url)
    assert "has no target 'h100'" in refused(team, "watch", "--target", "h100", "--from", live.url)


def test_the_queue_of_a_service(team, live):
    assert team.run("queue", "--from", live.url)[1].rstrip().endswith("nothing is under way")
    ids = []
    for number in range(2):
        headers = {"Idempotency-Key": f"number-{number}"}
        ids.append(live.post("/api/v1/submissions", live.acme, document(number), **headers).json()["id"])
    lease(live.database, now_s=live.service.now_s())
    code, out, _ = team.run("queue", "--from", live.url)
    rows = [" ".join(line.split()) for line in out.splitlines()]
    assert (code, rows[0].endswith("1 under way, 1 waiting")) == (0, True)
    assert rows[2].startswith(f"{ids[0]} acme scale b200 ")
    assert rows[2].endswith("trace begins")
    assert rows[3].endswith("waits for a build, place 1")
    assert json.loads(team.run("queue", "--from", live.url, "--json")[1])[0]["id"] == ids[0]
    lines = team.run("watch", "--once", "--from", live.url)[1].splitlines()
    assert [line.partition(" ")[2] for line in lines] == [
        f"{ids[0]} acme scale b200: trace begins",
        f"{ids[1]} acme scale b200: waits for a build, place 1",
    ]


def test_watching_tells_what_changes(team, live, connect):
    headers = {"Idempotency-Key": "number-1"}
    name = live.post("/api/v1/submissions", live.acme, document(1), **headers).json()["id"]
    before = look(connect(None), None, None)
    assert before.division == "closed"  # the first that the season has
    assert list(list_news(before, before)) == []
    conclude(live, score_us=10.0)
    now = look(connect(None), None, "closed")
    assert list(list_news(before, now)) == ["1. acme: 10.0 points", f"{name}: done"]
    text = render(render_seen(now, "cannot reach it; trying again"))
    assert "Test season open" in text
    assert "1 acme 10.0" in text
    assert text.endswith("nothing is under way cannot reach it; trying again")


def test_what_a_service_says_acts_on_no_terminal(home, canned):
    state = {
        "id": HOSTILE, "team": HOSTILE, "problem": HOSTILE, "target": HOSTILE, "division": HOSTILE,
        "submitted": HOSTILE, "stage": HOSTILE, "state": HOSTILE, "position": -1, "poll_after_s": -1,
        "estimate_s": 1e308, "progress": {"stage": "trace", "text": HOSTILE, "done": 10**17, "total": -5},
    }  # fmt: skip
    canned.answer([state])
    code, out, told = home.run("queue", "--from", canned.url)
    assert (code, told) == (0, "")
    assert "=cmd|'/c calc'!A1" in out
    assert not set("\x1b\x9b\x00\u202e") & set(out)
    canned.answers.clear()
    canned.answer([state | {"id": "0" * 14, "team": "[blink]x[/]", "problem": "p", "target": "t", "submitted": "s"}])
    assert "[blink]x[/]" in home.run("queue", "--from", canned.url)[1]
    canned.answers.clear()
    canned.refuse(503, "unavailable", HOSTILE, Retry_After="999999")
    code, out, told = home.run("queue", "--from", canned.url)
    assert code == 3
    assert not set("\x1b\x9b\x00\u202e") & set(told)


def test_a_hostile_record_is_shown_inert_and_the_newest_comes_first(home, canned):
    home.keep_token(canned.url, "hel_some_token")
    record = dataclasses.replace(hostile_record(), target="b200")
    folder = PendingFolder(home.root / ".harness")
    for key in ("key-number-1", "key-number-2"):
        folder.save(Pending(key, canned.url, "scale", record.id))
    state = {"id": record.id, "state": "done", "stage": "replay", "position": 0, "poll_after_s": 0, "submitted": "now"}
    canned.answer(state | dict.fromkeys(("team", "problem", "target", "division"), HOSTILE))
    canned.answer(encode_record(record))
    canned.answer(b"not a board")
    code, out, told = home.run("submit", "--resume")
    assert code == 0
    assert "note: 2 submissions are under way; this is the newest, the others come after it" in told
    assert f"note: the board could not be read: what {canned.url.removeprefix('http://')} answers" in told
    assert out.startswith("PASSED")
    assert not set("\x1b\x9b\x00\u202e") & set(out + told)
    assert [item.key for item in folder.list()] == ["key-number-1"]


def render(renderable):
    text = io.StringIO()
    Console(file=text, width=110).print(renderable)
    return " ".join(text.getvalue().split())


@pytest.mark.parametrize("show", ["_print_changes", "_show_live"])
def test_watching_goes_on_over_trouble_until_it_is_stopped(live, connect, canned, capsys, monkeypatch, show):
    for variable, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "110", "LINES": "40"}.items():
        monkeypatch.setenv(variable, value)
    steps = []

    def step(_):
        steps.append(connection.address)
        if len(steps) == 1:
            connection.address = parse_address(canned.url)  # which cannot answer now
        elif len(steps) == 2:
            connection.address = steps[0]
            conclude(live, 10.0)
        else:
            raise KeyboardInterrupt

    canned.refuse(500, "our-fault", "something of ours failed")
    headers = {"Idempotency-Key": "number-1"}
    name = live.post("/api/v1/submissions", live.acme, document(1), **headers).json()["id"]
    connection = connect(None, sleep=step)
    seen = look(connection, None, "closed")
    options = {"once": False} if show == "_print_changes" else {}
    with pytest.raises(KeyboardInterrupt):
        getattr(watch, show)(connection, seen, 5.0, **options)
    told = capsys.readouterr()
    if show == "_print_changes":
        assert [line.partition(" ")[2] for line in told.out.splitlines()] == [
            f"{name} acme scale b200: waits for a build, place 1",
            "1. acme: 10.0 points",
            f"{name}: done",
        ]
        assert "something of ours failed: tell the organisers; trying again" in told.err
    else:
        frames = told.out.split("\x1b[H")
        assert any("waits for a build, place 1" in frame for frame in frames)
        assert any("tell the organisers; trying again" in frame for frame in frames)
        assert "10.0" in frames[-1]
        assert "nothing is under way" in frames[-1]
        assert frames[-1].endswith("\x1b[?25h\x1b[?1049l")  # cursor and screen are as they were
    assert len(steps) == 3
