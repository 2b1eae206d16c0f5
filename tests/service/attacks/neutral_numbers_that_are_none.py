"""Numbers in a posted record that no page can write: infinite, none at all, far too large, of another kind.

How: each value of a record in turn is replaced by each of these; what is kept is asked for on its page, its board and
in the API. Seen: pages that fail for everybody because of one row. Defence: the form is checked when a record comes,
and every value is written by functions that take any number (a duration was not, until this was tried).
"""

import copy
import dataclasses
import json

from harness.errors import UsageError
from harness.service.posting import post_record
from harness.service.settings import Limits
from harness.service.teams import PARTICIPANT, Holder
from harness.store.record import encode_record
from tests.service.arena import API
from tests.store.samples import incorrect, passed

VALUES = ({"float": "inf"}, {"float": "nan"}, -1, 1e308, 5e-324, 2**63, "", [], {}, True)
EVERY = 61
"""Of all the replacements: enough to meet each value and each place of the form."""


def attack(arena):
    team = arena.team()
    records = (incorrect(team.name), passed(team.name, 10.0))
    tried = kept = 0
    for record in records:
        document = encode_record(dataclasses.replace(record, problem="scale", target="b200"))
        for path in _places(document):
            for value in VALUES:
                tried += 1
                number = isinstance(value, dict) and bool(value)
                if (number or tried % EVERY == 0) and (name := _keep(arena, team, _replace(document, path, value))):
                    kept += 1
                    _look(arena, name, (path, value))
    assert kept > 70
    return f"{kept} odd records, each shown"


def _places(value, path=()):
    if isinstance(value, dict):
        for key in value:
            yield (*path, key)
            yield from _places(value[key], (*path, key))
    elif isinstance(value, list) and value:
        yield (*path, 0)
        yield from _places(value[0], (*path, 0))


def _replace(document, path, value):
    changed = inner = copy.deepcopy(document)
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


def _keep(arena, team, document):
    holder, body = Holder("token", PARTICIPANT, team.name, ""), json.dumps(document).encode()
    try:
        with arena.database.write() as connection:
            rules = arena.live.service.rules_file.current(connection)
            return post_record(connection, holder, body, rules, Limits(per_hour=100_000), arena.now_s())
    except UsageError:
        return None


def _look(arena, name, told):
    for path in (f"/records/{name}", f"{API}/records/{name}"):
        assert arena.get(path).status_code == 200, told
    answer = arena.get(f"{API}/boards/scale/b200/closed")
    assert answer.status_code == 200, told
    json.loads(answer.text, parse_constant=lambda constant: 1 / 0)
