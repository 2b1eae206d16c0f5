"""What organisers have ruled out comes back: submitted again, with other comments, from another target, posted.

How: the same program in another file, before and after the ruling, by a team of which one program or everything is
out. Seen: rulings on a row rather than on what it is. Defence: a ruling is on a program (the machine code, or the
source without comments) or on a team, and holds for what comes later.
"""

from tests.service.arena import API

PROGRAM = "f" * 64


def attack(arena):
    team, whole = arena.team(), arena.team()
    first = arena.submit(team.token, "# one\nx = 1").json()["id"]
    arena.conclude(first, 0.5, program_sha256=PROGRAM)
    own = arena.submit(whole.token).json()["id"]
    arena.conclude(own, 0.4)
    assert _ranked(arena) >= {team.name, whole.name}
    arena.act(act="disqualify", record=first, reason="it reads what it should not")
    arena.act(act="disqualify", team=whole.name, reason="several teams of one")
    again = arena.submit(team.token, "# two\nx = 1").json()["id"]
    arena.conclude(again, 0.3, program_sha256=PROGRAM)
    arena.conclude(arena.submit(whole.token, "# other\ny = 2").json()["id"], 0.2, program_sha256="e" * 64)
    assert not _ranked(arena) & {team.name, whole.name}
    assert arena.get(f"{API}/records/{again}").json()["disqualified"] == "it reads what it should not"
    honest = arena.submit(team.token, "# three\nz = 3").json()["id"]
    arena.conclude(honest, 20.0, program_sha256="d" * 64)
    assert team.name in _ranked(arena), "another program of the team's may stand"
    assert (
        arena.post(f"{API}/acts", team.token, {"act": "reinstate", "team": whole.name, "reason": "x"}).status_code
        == 403
    )
    return "no place; another program has one"


def _ranked(arena):
    return {row["team"] for row in arena.get(f"{API}/boards/scale/b200/closed").json()["ranked"]}
