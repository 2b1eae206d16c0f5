"""The sentence that ends a report: where a run leads to, on the board as it stands."""

import dataclasses
import io

import pytest
from rich.console import Console

from harness.cli.report import render_report
from harness.store import open_store
from tests.store.samples import checked, passed


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "board.db") as store:
        yield store


def some_cases(record):
    return dataclasses.replace(record, cases=record.cases[:1], whole_suite=False, unranked_reason="1 of 6 cases")


def ending(store, *records):
    """What the last of some records' report ends with, in one line."""
    for record in records:
        store.submit(dataclasses.replace(record, state="submitted", verdict=None))
        store.finish(record)
    console = Console(file=io.StringIO(), width=110)
    console.print(*render_report(records[-1], store, debug=False))
    return " ".join(console.file.getvalue().rpartition("Environment")[2].split())


@pytest.mark.parametrize("division", ["closed", "open"])
def test_the_division_is_named(store, division):
    told = (
        f"acme is listed on chunk_fwd_h, b200, {division} division, but not ranked (no ranked entries so far): no GPU"
    )
    assert told in ending(store, checked("acme", 0, division=division))
    place = f"bolt is number 1 of 1 on chunk_fwd_h, b200, {division} division"
    assert place in ending(store, passed("bolt", 9, 1, division=division))
    assert "(1 ranked entry so far)" in ending(store, checked("acme", 2, division=division))


def test_a_run_of_chosen_cases_that_the_board_does_not_show_is_not_called_listed(store):
    assert "acme is listed on" in ending(store, some_cases(checked("acme", 0))), "there is no other run of the team"
    told = ending(store, checked("acme", 1), some_cases(checked("acme", 2)))
    where = "the board of chunk_fwd_h, b200, closed division, keeps the team's run of all"
    assert f"this run is not shown: it ran some cases only, and {where} record" in told
    assert "is listed on" not in told
    assert "acme is listed on" in ending(store, checked("acme", 3))
