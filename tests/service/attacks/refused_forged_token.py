"""A token is made up: a known id with another secret, somebody else's secret, an organiser's role, odd spellings.

How: ids of tokens are in the public log of acts, so half of a token is known. Seen: tokens that only had to look
right, and comparisons that stopped at the first wrong letter. Defence: 256 random bits, looked up by id, compared as
hashes in constant time; one answer for an id that is not there and for a wrong secret; nothing but the header is
looked at.
"""

import base64

from tests.service.arena import API, want

SPELLINGS = (
    "hel_{id}_{zeros}", "hel_{other}_{secret}", "hel_{zero_id}_{secret}", "hel_{id}_{secret}=", "HEL_{id}_{secret}",
    "hel_{upper}_{secret}", "hel_{id}_{secret}{secret}", "hel_{id}_{short}", "hel_{id}_", "hel__{secret}", "{secret}",
    "hel_{id}_{secret} role=organiser", "organiser", "null", "undefined", "' OR 1=1 --", "hel_%_{secret}",
)  # fmt: skip


def attack(arena):
    mine, other = arena.team(), arena.team()
    _, name, secret = mine.token.split("_", 2)
    facts = {
        "id": name, "secret": secret, "other": other.token.split("_")[1], "zeros": "A" * 43, "zero_id": "0" * 14,
        "upper": name.upper(), "short": secret[:-1],
    }  # fmt: skip
    tokens = [spelling.format(**facts) for spelling in SPELLINGS]
    kinds = set()
    for token in tokens:
        for answer in (
            arena.get(f"{API}/whoami", token),
            arena.submit(token),
            arena.post(f"{API}/acts", token, {"act": "freeze", "reason": "mine"}),
        ):
            assert answer.status_code == 401, token
            kinds.add(answer.json()["type"].rpartition(":")[2])
    absent, wrong = (arena.get(f"{API}/whoami", f"hel_{i}_{'A' * 43}") for i in ("0" * 14, name))
    assert absent.json() == wrong.json(), "nobody learns which ids there are"
    basic = base64.b64encode(f"{mine.name}:{mine.token}".encode()).decode()
    for headers in (
        {"Authorization": f"Basic {basic}"}, {"Authorization": mine.token}, {"Authorization": "Bearer"},
        {"Cookie": f"token={mine.token}; Authorization=Bearer {mine.token}"}, {"X-Api-Key": mine.token},
        {"Proxy-Authorization": f"Bearer {mine.token}"},
    ):  # fmt: skip
        assert arena.get(f"{API}/whoami?token={mine.token}&access_token={mine.token}", **headers).status_code == 401
    twice = (
        f"GET {API}/whoami HTTP/1.0\r\nAuthorization: Bearer {tokens[0]}\r\nAuthorization: Bearer {mine.token}\r\n\r\n"
    )
    assert b" 401 " in arena.say(twice.encode()).split(b"\r\n")[0]
    want(arena.get(f"{API}/whoami"), 401, "token-missing")
    assert (arena.count(mine), arena.count(other)) == (0, 0)
    return f"401 {', '.join(sorted(kinds))}; {len(tokens)} tokens"
