"""A team says that it comes from elsewhere, or is another.

How: every header that a proxy might set, other spellings of the address and of the key, parameters that nobody asked
for. Seen: limits by `X-Forwarded-For`, which the client writes. Defence: nothing is decided by an address; a team is
a token's.
"""

from tests.service.arena import LIMITS, want

HEADERS = (
    "X-Forwarded-For", "X-Real-Ip", "Forwarded", "X-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip",
    "X-Forwarded-Host", "X-Team", "X-User", "Via", "From", "User-Agent", "Origin", "Referer",
)  # fmt: skip


def attack(arena):
    team = arena.team()
    for _ in range(LIMITS.pending):
        assert arena.submit(team.token).status_code == 202
    for number, name in enumerate(HEADERS):
        told = want(arena.submit(team.token, headers={name: f"203.0.113.{number}"}), 429, "too-many-pending")
    assert arena.count(team) == LIMITS.pending
    return f"429 too-many-pending: {told}"
