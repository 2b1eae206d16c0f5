"""Another team's code is looked for on every page, in every export and every answer, before the season shows it.

How: a marker in the sources, their names and everything in a record that may quote them; then every address of the
app is asked for as everybody, and each answer searched for it, in base64, hex and other wrappings too; before and
after the close, when code is never shown, and once more after it was shown for a while. Seen: sources in an export,
in a diff, in an error message, in a page that a cache had kept. Defence: code is taken from a record in one place
(`conceal`), pages have none to show, and what was drawn is kept with what it was drawn for.
"""

import dataclasses

from harness.frame import Frame
from harness.service.results import fault_record
from harness.store.record import VerdictRecord, encode_record
from tests.service.arena import API, encoded
from tests.service.event import hand_on, lease
from tests.service.walking import WORDS, holds, walk
from tests.store.samples import incorrect, passed

MARKS = {
    kind: f"Planted{kind}In7Of9Code" for kind in ("Source", "Second", "Line", "Message", "Detail", "Case", "Syntax")
}
OWNERS = {"own", "organiser"}
CODE = {f"{API}/submissions/{{submission_id}}/files", f"{API}/records/{{record_id}}"}
SHOWN = {*CODE, "/records/{record_id}"}


def attack(arena):
    team, other = arena.team(), arena.team()
    ids = _plant(arena, team)
    words = {**WORDS, "team": (team.name,), "record_id": ids, "submission_id": ids}
    tokens = {
        "nobody": "",
        "other": other.token,
        "own": team.token,
        "organiser": arena.organiser(),
        "forged": other.token[:-1] + "_",
    }

    def seen(*roles):
        """Who sees a marker, and where."""
        asking = {role: tokens[role] for role in roles}
        found = {(role, route.path) for role, route, _, answer in walk(arena.live.url, arena.routes, words, asking)
                 if holds(answer, tuple(MARKS.values()))}  # fmt: skip
        return {role for role, _ in found}, {path for _, path in found}

    assert seen(*tokens) == (OWNERS, CODE), "while the season is open"
    with arena.season(closes="2024-01-01T00:00:00Z", code_visible="never"):
        assert seen("other", "own") == ({"own"}, CODE), "never"
    with arena.season(closes="2024-01-01T00:00:00Z"):
        assert seen("nobody") == ({"nobody"}, SHOWN), "after the close"
    with arena.season(code_visible="at_once"):
        assert seen("other") == ({"other"}, SHOWN), "at once"
    with arena.season(opens="2100-01-01T00:00:00Z"):
        assert seen("nobody") == (set(), set()), "before the season opens"
    assert seen("nobody", "other") == (set(), set()), "hidden again"
    return f"{len(arena.routes)} addresses, {len(tokens)} roles, 6 seasons: the team and organisers, until it is shown"


def _plant(arena, team):
    """Submissions of each kind with code in them, on their way, failed, posted; return their ids."""
    names = {name: encoded(f"# {MARKS[kind]}") for name, kind in
             (("submission.py", "Source"), (f"{MARKS['Second']}.py", "Second"))}  # fmt: skip
    failures = [
        VerdictRecord("COMPILE_ERROR", "trace", None, "helion_error", f"It fails.\n  2 | {MARKS['Message']}",
                      (Frame(2, "f", MARKS["Line"]),), {"source": MARKS["Detail"]}),
        VerdictRecord("COMPILE_ERROR", "source", None, "syntax_error", f"invalid syntax: {MARKS['Syntax']}"),
    ]  # fmt: skip
    ids = [arena.submit(team.token, files=names).json()["id"] for _ in range(2)]
    for name, verdict in zip(ids, failures, strict=True):
        cases = (dataclasses.replace(incorrect().cases[0], message=f"wrong\n{MARKS['Case']}"),)
        arena.conclude(name, None, verdict=verdict, cases=cases)
    ids.append(arena.submit(team.token, files=names).json()["id"])
    held = lease(arena.database, now_s=arena.now_s())
    checked = fault_record(held.job, "x", f"first\n{MARKS['Message']}")
    assert hand_on(arena.database, held, now_s=arena.now_s())
    ids.append(arena.submit(team.token, files=names).json()["id"])
    for score, document in ((1.0, checked), (2.0, passed(team.name, 2.0))):
        posted = dataclasses.replace(document, team=team.name, problem="scale", target="b200", division="closed",
                                     verdict=failures[0], state="finished", score_us=score)  # fmt: skip
        ids.append(arena.post(f"{API}/records", team.token, encode_record(posted)).json()["id"])
    return tuple(ids)
