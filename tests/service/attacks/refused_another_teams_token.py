"""A team reaches for what is another's: its name in a body, its idempotency key, its code, its record.

How: `team` as a member, a header, a parameter; a key that the other team has used, whose answer would tell of its
submission; a record of the other team, posted. Seen: the owner of a submission taken from a form. Defence: whose
something is comes from the token and from nothing else; keys count within a team.
"""

import dataclasses

from harness.store.record import encode_record
from tests.service.arena import API, want
from tests.store.samples import passed


def attack(arena):
    victim, thief = arena.team(), arena.team()
    key, source = arena.key(), "# a trick\ndef custom_kernel(data): ..."
    theirs = arena.submit(victim.token, source, key=key).json()
    told = want(arena.submit(thief.token, source, team=victim.name), 400, "malformed")
    assert "'team'" in told
    mine = arena.submit(thief.token, source, key=key, headers={"X-Team": victim.name, "Cookie": f"team={victim.name}"})
    assert (mine.status_code, mine.json()["team"]) == (202, thief.name)
    assert mine.json()["id"] != theirs["id"]
    want(arena.get(f"{API}/submissions/{theirs['id']}/files?team={thief.name}", thief.token), 403, "code-hidden")
    forged = dataclasses.replace(passed(victim.name, 0.001), problem="scale")
    want(arena.post(f"{API}/records", thief.token, encode_record(forged)), 403, "foreign-record")
    want(arena.post(f"{API}/records", arena.organiser(), encode_record(forged)), 403, "teams-only")
    assert (arena.count(victim), arena.count(thief)) == (1, 1)
    return "400 malformed, 403 code-hidden, 403 foreign-record; one key, two submissions"
