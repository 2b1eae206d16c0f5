"""A posted record's message makes whoever looks for code in it search for hours, with everybody waiting.

How: a hundred thousand beginnings of what is hidden in messages, none of which ends: time by the square of the
length, for every visitor anew. Seen: regular expressions on the web, everywhere. Defence: no more of a message is
read than ours have (`board.concealing`; it was read whole, until this was tried: 2 MB took minutes).
"""

import dataclasses

from harness.store.record import encode_record
from tests.service.arena import API
from tests.store.samples import incorrect

BEGINNINGS = (
    "inline assembly ('",
    'inline assembly ("',
    "the interpreter's process ended early (",
    "the interpreter stopped",
    " is not interpreted",
)


def attack(arena):
    team = arena.team()
    for beginning in BEGINNINGS:
        text = beginning * (340_000 // len(beginning))
        record = dataclasses.replace(incorrect(team.name), problem="scale", target="b200", unranked_reason=text)
        verdict = dataclasses.replace(record.verdict, message=text)
        cases = (dataclasses.replace(record.cases[0], message=text[:20_000]),)
        document = encode_record(dataclasses.replace(record, verdict=verdict, cases=cases))
        document["unranked_reason"] = ""
        name = arena.post(f"{API}/records", team.token, document).json()["id"]
        for path in (f"/records/{name}", f"{API}/records/{name}", "/boards/scale-b200-closed"):
            assert arena.get(path).status_code == 200, path
    return f"{len(BEGINNINGS)} messages, shown at once"
