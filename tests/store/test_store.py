from __future__ import annotations

import dataclasses
import sqlite3
import time

import pytest
from sqlalchemy import event, insert

from harness.board import rank
from harness.errors import StoreError, UsageError
from harness.store import new_record_id, open_store
from harness.store.rows import owner_columns, record_columns
from harness.store.schema import records
from harness.store.store import FASTEST_PROGRAMS
from tests.store.samples import START_S, checked, incorrect, passed, submitted


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "board.db") as store:
        yield store


def add(store, *finished):
    for record in finished:
        store.submit(dataclasses.replace(record, state="submitted", verdict=None))
        store.finish(record)


def test_a_record_is_submitted_then_finished(store):
    record = submitted()
    store.submit(record)
    assert store.record(record.id) == record
    done = dataclasses.replace(incorrect(), id=record.id)
    store.finish(done)
    assert store.record(record.id) == done


def test_finish_says_when_it_was_finished(store):
    record = checked(finished=None)
    add(store, record)
    assert store.record(record.id).finished.endswith("Z")


@pytest.mark.parametrize("wrong", ["twice submitted", "never submitted", "twice finished", "no verdict", "not new"])
def test_a_record_has_one_life(store, wrong):
    record, unfinished = checked(), submitted()
    add(store, record)
    again, message = {
        "twice submitted": (lambda: store.submit(submitted(id=record.id)), "is stored already"),
        "never submitted": (lambda: store.finish(checked()), "was never submitted, or is finished already"),
        "twice finished": (lambda: store.finish(record), "was never submitted, or is finished already"),
        "no verdict": (lambda: store.finish(unfinished), "has no verdict yet"),
        "not new": (lambda: store.submit(checked()), "only a submitted one can be stored first"),
    }[wrong]
    with pytest.raises(StoreError, match=message):
        again()
    assert store.records() == [record]


def test_a_prefix_names_a_record(store):
    early, late = checked(minute=0), checked(minute=60 * 24 * 20)
    add(store, early, late)
    assert store.record(early.id[:4]) == early
    assert store.record(f" {late.id.upper()} ") == late
    with pytest.raises(UsageError, match=f"begins more than one record's id: {late.id}, {early.id}. Give more of it"):
        store.record(early.id[:1])
    with pytest.raises(UsageError, match=f"there is no record '{late.id[:12]}zz'. Did you mean {late.id}"):
        store.record(late.id[:12] + "zz")
    for hostile in ("%", "_", "", "' or 1=1 --"):
        with pytest.raises(UsageError, match="is not a record's id. The newest is"):
            store.record(hostile)


def test_an_empty_store_says_how_to_fill_it(store):
    with pytest.raises(UsageError, match="No record is stored yet: `make submit PROBLEM=...` makes one"):
        store.record("abc")
    assert store.records() == store.board("chunk_fwd_h", "b200", "closed") == store.boards() == []


def test_records_are_narrowed_and_newest_first(store):
    mine, yours = [checked(minute=m) for m in range(3)], checked("bolt", target="h200", minute=9)
    add(store, *mine, yours)
    assert store.records() == [yours, *reversed(mine)]
    assert store.records(team="acme", limit=2) == [mine[2], mine[1]]
    assert store.records(target="h200", problem="chunk_fwd_h", division="closed") == [yours]
    assert store.records(division="open") == []
    assert store.boards() == [("chunk_fwd_h", "b200", "closed"), ("chunk_fwd_h", "h200", "closed")]


def test_a_board_holds_each_teams_best_per_setting(store):
    old_tools = {"toolchain": {"helion": "1.4.0"}}
    best, slow, old = passed("acme", 10, 1), passed("acme", 11, 2), passed("acme", 9, 0, **old_tools)
    newest, earlier, wrong = checked("acme", 5), checked("acme", 4), incorrect("acme", 6)
    unranked = passed("bolt", 1.0, 7, ranked=False)
    others = [passed("acme", 1, target="h200"), passed("acme", 1, division="open"), passed("acme", 1, problem="conv")]
    add(store, best, slow, old, newest, earlier, wrong, unranked, *others)
    assert store.board("chunk_fwd_h", "b200", "closed") == [old, best, slow, newest, unranked]


def test_a_board_holds_every_run_of_a_teams_fastest_programs(store):
    program = {"normalised_source_sha256": "aa" * 32}
    runs = [passed("acme", score, minute, **program) for minute, score in enumerate((10, 12, 11))]
    others = [passed("acme", 20 + n, 10 + n) for n in range(2 * FASTEST_PROGRAMS)]
    add(store, *runs, *others)
    assert store.board("chunk_fwd_h", "b200", "closed") == [*runs, *others[: FASTEST_PROGRAMS - 1]]


def test_previous_gives_the_last_and_the_best(store):
    best, last, now = passed("acme", 10, 1), incorrect("acme", 2), passed("acme", 9, 3)
    add(store, best, passed("acme", 12, 0), last, now, passed("bolt", 1, 0), passed("acme", 1, 0, division="open"))
    store.submit(submitted(minute=2.5))
    previous = store.previous(now)
    assert (previous.last, previous.best) == (last, best)
    assert store.previous(passed("acme", 9, 4)).best == now
    assert store.previous(passed("nobody", 9, 4)).last is None


def test_the_best_is_of_the_records_own_setting(store):
    """Times of another evaluator, problem version or tool are not comparable."""
    old, slow, fast = passed("acme", 5, 1, evaluator_version="3"), passed("acme", 14, 2), passed("acme", 10, 3)
    now = passed("acme", 12, 4)
    add(store, old, fast, slow)
    assert store.previous(now).best == fast
    assert store.previous(passed("acme", 9, 4, evaluator_version="5")).best is None


def test_a_board_has_what_is_of_all_cases_behind_newer_parts(store):
    whole, part, newest = (
        checked("acme", 1),
        checked("acme", 2, whole_suite=False),
        checked("acme", 3, whole_suite=False),
    )
    add(store, whole, part, newest)
    assert store.board("chunk_fwd_h", "b200", "closed") == [whole, newest]
    assert (
        rank(store.board("chunk_fwd_h", "b200", "closed"), "chunk_fwd_h", "b200", "closed").unranked[0].record == whole
    )


def test_the_best_is_of_all_cases_where_there_is_such_a_one(store):
    fewer = passed("acme", 5, 1, ranked=False, whole_suite=False)
    add(store, fewer)
    assert store.previous(passed("acme", 9, 4)).best == fewer
    whole = passed("acme", 10, 2, ranked=False)
    add(store, whole)
    assert store.previous(passed("acme", 9, 4)).best == whole


def test_a_ranked_record_is_the_best_even_if_an_unranked_one_is_faster(store):
    ranked, unranked = passed("acme", 10, 1), passed("acme", 5, 2, ranked=False)
    add(store, ranked, unranked)
    assert store.previous(passed("acme", 9, 4)).best == ranked


def test_a_board_stays_fast_among_many_records(store):
    row = {**record_columns(passed("", 1.0)), **owner_columns()}
    rows = [
        row
        | {"id": new_record_id(START_S + i), "team": f"team{i % 50}", "problem": f"problem{i % 10}"}
        | {"program": f"{i:064}"}
        for i in range(1, 5_001)
    ]
    with store._database.write() as connection:
        connection.execute(insert(records), rows)
    start = time.perf_counter()
    assert len(store.board("problem3", "b200", "closed")) == 5 * FASTEST_PROGRAMS
    elapsed_s = time.perf_counter() - start
    assert elapsed_s < 1.0, f"{elapsed_s:.3f} s"


@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (lambda store: store.board("p", "b200", "closed"), "records_board (problem=? AND target=? AND division=?"),
        (lambda store: store.records(team="a", problem="p", target="b200"), "records_team (team=? AND problem=?"),
        (lambda store: store.records(problem="p", target="b200"), "records_problem (problem=? AND target=?"),
        (lambda store: store.previous(passed("a", 1.0)), "records_team (team=? AND problem=? AND target=?"),
        (lambda store: store.recover(), "records_state (state=?"),
    ],
)
def test_lookups_use_an_index(store, ask, index):
    statements = []
    event.listen(store._database.engine, "before_cursor_execute", lambda *a: statements.append((a[2], a[3])))
    ask(store)
    asked = [(text, values) for text, values in statements if text.startswith("SELECT")]
    with store._database.read() as connection:
        for text, values in asked:
            plan = [row[3] for row in connection.exec_driver_sql(f"explain query plan {text}", values)]
            assert any(index in step for step in plan), plan
            assert not any(step.startswith("SCAN records") for step in plan), plan


def test_hostile_values_are_stored_as_they_are(store):
    record = checked("Robert'); drop table records; --\x1b[31m<script>")
    add(store, record)
    assert store.records(team=record.team) == [record]


def test_the_files_are_safe_and_readable_while_written(tmp_path, store):
    connection = sqlite3.connect(tmp_path / "board.db")
    assert connection.execute("pragma journal_mode").fetchone() == ("wal",)
    with store._database.read() as ours:
        assert ours.exec_driver_sql("pragma synchronous").scalar() == 2
    connection.close()
