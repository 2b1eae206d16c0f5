"""A row of a ranking is drawn again when anything on it has changed, and only then."""

from __future__ import annotations

import dataclasses

from markupsafe import Markup

from harness.board.ranking import rank
from harness.site import rows as module
from harness.site.links import Links
from harness.site.rows import Rows
from tests.store.samples import passed

HERE, BELOW = Links("/", suffix="", home_page=""), Links("/below/", suffix="", home_page="")
ENTRY, SECOND = rank([passed("acme", 10.0), passed("bolt", 20.0, 1)], "chunk_fwd_h", "b200", "closed").entries
TIMED = [case for case in ENTRY.record.cases if case.timing]


class Drawing:
    """A macro that counts."""

    def __init__(self):
        self.rows, self.drawn = Rows(), []

    def __call__(self, entry=ENTRY, timed=TIMED, links=HERE):
        before = len(self.drawn)
        self.rows.draw(self._macro, entry, timed, links)
        return len(self.drawn) > before

    def _macro(self, entry, timed):
        self.drawn.append(entry)
        return Markup("<tr></tr>")


def test_a_row_is_drawn_once():
    draw = Drawing()
    assert draw()
    assert not draw(dataclasses.replace(ENTRY))
    assert draw(SECOND)
    assert not draw()


def test_what_has_changed_is_drawn_again():
    draw = Drawing()
    draw()
    slower = dataclasses.replace(ENTRY.record, score_us=11.0)
    for changes in ({"place": 2}, {"gap_to_above": 0.5}, {"same_program_as": "bolt"}, {"runs": 2}, {"record": slower}):
        assert draw(dataclasses.replace(ENTRY, **changes)), changes
    assert draw()
    assert draw(timed=TIMED[:1])
    assert draw(links=BELOW)


def test_no_more_rows_are_kept_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr(module, "MOST", 1)
    draw = Drawing()
    draw()
    draw(SECOND)
    assert draw()


def test_what_was_asked_for_last_is_kept(monkeypatch):
    monkeypatch.setattr(module, "MOST", 2)
    draw = Drawing()
    draw()
    draw(SECOND)
    assert not draw()
    draw(links=BELOW)
    assert not draw()
    assert draw(SECOND)
