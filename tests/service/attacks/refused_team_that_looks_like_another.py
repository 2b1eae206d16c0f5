"""A second team is founded that is the first one to the eye, for twice the submissions and for confusion on the board.

How: other case, letters of other scripts, digits for letters, spaces, marks that are not seen, names that the harness
uses. Seen: one person under several spellings. Defence: names are few letters, and two that look alike are refused,
even from an organiser who is asked nicely.
"""

from tests.service.arena import API

NAMES = ("ACME", "Acme", "acme ", " acme", "acme\u200b", "\u0430cme", "acm\u0435", "acme\u0000", "acrne", "4cme",
    "acm3",
    "ac me",
         "acme/../bolt", "..", ".", "", "admin", "harness", "starter", "organiser",
    "a" * 40, "<b>acme", "=acme", "-acme")  # fmt: skip


def attack(arena):
    before = arena.dump()["teams"]
    for name in NAMES:
        answer = arena.act(act="team", name=name)
        assert answer.status_code == 422, name
        assert "\x00" not in answer.text
    assert arena.dump()["teams"] == before
    assert arena.get(f"{API}/whoami", arena.live.acme).json()["team"] == "acme"
    return f"422: {len(NAMES)} names"
