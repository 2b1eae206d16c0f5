"""A team reports the result of its own submission, while it waits.

How: every method on every address that has its id; a record of that id, PASSED and ranked, posted as the team's own.
Seen: harnesses whose workers report over the same API as everybody. Defence: no address takes results, workers write
to the database; what a team posts gets a name of ours, in a table that nothing ranks from.
"""

import dataclasses

import requests

from harness.store.record import encode_record
from tests.service.arena import API
from tests.store.samples import passed


def attack(arena):
    team = arena.team()
    name = arena.submit(team.token).json()["id"]
    before = arena.dump()
    headers = {"Authorization": f"Bearer {team.token}"}
    for path in (f"submissions/{name}", f"submissions/{name}/files", f"submissions/{name}/result", f"records/{name}",
                 f"jobs/{name}", f"workers/{name}", f"leases/{name}"):  # fmt: skip
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            answer = requests.request(
                method, f"{arena.live.url}{API}/{path}", json={"verdict": "PASSED"}, headers=headers, timeout=60
            )
            assert answer.status_code in (404, 405), (method, path)
    assert arena.dump() == before
    forged = dataclasses.replace(passed(team.name, 0.001), id=name, problem="scale", season="test-season")
    document = {**encode_record(forged), "verified": True, "place": 1}
    posted = arena.post(f"{API}/records", team.token, document).json()["id"]
    assert posted != name
    assert arena.get(f"{API}/submissions/{name}").json()["state"] == "queued"
    assert arena.get(f"{API}/records/{name}").status_code == 404
    seen = arena.get(f"{API}/records/{posted}").json()
    assert (seen["verified"], seen["ranked"]) == (False, False)
    board = arena.get(f"{API}/boards/scale/b200/closed").json()
    assert team.name not in [row["team"] for row in board["ranked"] + board["unranked"]]
    assert arena.count_records(team) == 0
    arena.conclude(name)
    return "404 or 405; posted: unverified, unranked"
