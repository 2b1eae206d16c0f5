"""A posted record is small enough, and still takes a second to show: for every visitor, as often as they like.

How: tens of thousands of cases, kernels, lines, values in two megabytes. Seen: a comment that was a page of a million
elements. Defence: a record has at most as many parts as some times a real one; it is refused before it is kept (it
was kept, until this was tried).
"""

import dataclasses

from harness.store.record import encode_record
from tests.service.arena import API, want
from tests.store.samples import incorrect

CASE = {"case_id": "", "role": "", "shape": {}, "distribution": "", "status": ""}


def attack(arena):
    team = arena.team()
    record = encode_record(dataclasses.replace(incorrect(team.name), problem="scale", target="b200"))
    line = {"line": 1, "function": "f", "text": ""}
    for many in (
        {"cases": [CASE] * 3000}, {"kernels": [{"shape_id": "", "name": ""}] * 5000},
        {"warnings": [""] * 40_001},
        {"stages": [{"name": "", "wall_s": 1}] * 5000},
        {"verdict": {**record["verdict"], "traceback": [line] * 5000}},
    ):  # fmt: skip
        told = arena.post(f"{API}/records", team.token, {**record, **many})
        assert told.status_code == 413, list(many)
    assert not [row for row in arena.dump()["unverified"] if team.name in row]
    return f"413 too-large: {want(told, 413, 'too-large')}"
