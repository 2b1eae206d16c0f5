"""A posted record poses as one of the service's: ranked, verified, faster than light, with the id of a leader.

How: every member that decides of a rank, another one's id, members that the answer has itself, texts and numbers that
are as odd as JSON allows. Seen: boards that believed what a client measured. Defence: what is posted lies in another
table under a name of ours; nothing that ranks reads it, and what it says of itself is overwritten.
"""

import dataclasses
import json

from harness.store.record import encode_record
from tests.board.hostile import hostile_record
from tests.service.arena import API
from tests.store.samples import passed


def attack(arena):
    honest, team = arena.team(), arena.team()
    leader = arena.submit(honest.token).json()["id"]
    arena.conclude(leader, 10.0)
    before = {path: arena.get(path).json() for path in (f"{API}/standings/b200/closed", f"{API}/records?limit=100")}
    ranked = arena.get(f"{API}/boards/scale/b200/closed").json()["ranked"]
    fast = dataclasses.replace(passed(team.name, 1e-300), id=leader, problem="scale", target="b200")
    hostile = dataclasses.replace(hostile_record(), team=team.name, problem="scale", target="b200", id="../../x")
    documents = [
        {**encode_record(fast), "verified": True, "disqualified": None, "place": 1, "points": 99, "state": "finished"},
        {**encode_record(hostile), "verified": True},
        {**encode_record(fast), "score_us": {"float": "-inf"}},
        {**encode_record(fast), "score_us": -1, "unranked_reason": "\ud800\0"},
        {**encode_record(fast), "machine": {"n": 10**300}, "cases": []},
        {**encode_record(fast), "team": team.name, "program_sha256": "\ud800" * 64},
    ]
    for document in documents:
        answer = arena.post(f"{API}/records", team.token, document)
        assert answer.status_code in (201, 400, 422), answer.text
        if answer.status_code == 201:
            name = answer.json()["id"]
            assert name not in (leader, "../../x")
            seen = arena.get(f"{API}/records/{name}")
            assert seen.status_code == 200
            assert (seen.json()["verified"], seen.json()["ranked"]) == (False, False)
            assert arena.get(f"/records/{name}").status_code == 200
            assert "Unverified" in arena.get(f"/records/{name}").text
    assert {path: arena.get(path).json() for path in before} == before
    assert arena.get(f"{API}/boards/scale/b200/closed").json()["ranked"] == ranked
    assert arena.get(f"{API}/records/{leader}").json()["team"] == honest.name
    assert team.name not in json.dumps(arena.get(f"{API}/boards/scale/b200/closed").json()["ranked"])
    return f"{len(documents)} records: unverified, and no rank changes"
