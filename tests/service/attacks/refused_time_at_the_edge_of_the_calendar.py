"""A season's time is set to where the calendar ends, and every page fails from then on.

How: the first and the last moments that can be written, with zones that lead over the edge. Seen: a year with five
digits, typed. Defence: a season is between two years of four digits (nothing worked any more, not even setting it
right, until this was tried).
"""

from tests.service.arena import API, want

TIMES = (
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "9999-12-31T23:59:59.999999", "0001-01-01",
    "1970-01-01", "99999-01-01",
    "-0001-01-01", "2027-02-30", "2027-01-01T25:00", "today", "", "\u0662\u0660\u0662\u0667-01-01", "1e9",
    "2027-01-01T00:00+99:00",
)  # fmt: skip


def attack(arena):
    before = arena.get(f"{API}/season").json()
    for time in TIMES:
        for name in ("opens", "closes"):
            told = want(arena.act(act="season", changes={name: time}, reason="x"), 422, "refused")
    for path in ("/", "/acts", f"{API}/standings/b200/closed"):
        assert arena.get(path).status_code == 200
    assert {**arena.get(f"{API}/season").json(), "now": ""} == {**before, "now": ""}
    return f"422: {told}"
