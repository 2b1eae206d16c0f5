"""A team does what organisers do: rules others out, opens the season, makes itself a token.

How: every act, with a team's token; roles in the body, in headers, in the address; other spellings of the address,
other methods. Seen: rights that were checked by a front that read the path differently. Defence: the role is the
token's, looked at where the act is carried out and before the body is read.
"""

import requests

from tests.service.arena import API, want

ACTS = (
    {"act": "disqualify", "team": "acme", "reason": "x"}, {"act": "reinstate", "team": "acme", "reason": "x"},
    {"act": "rerun", "submission": "x", "reason": "x"}, {"act": "freeze", "reason": "x"},
    {"act": "thaw", "reason": "x"},
    {"act": "season", "changes": {"closes": None}, "reason": "x"}, {"act": "team", "name": "mine"},
    {"act": "token", "holder": "me"}, {"act": "token", "team": "acme"}, {"act": "revoke", "token": "x", "reason": "x"},
)  # fmt: skip
SPELLINGS = ("/api/v1/acts/", "/api/v1//acts", "//api/v1/acts", "/API/V1/ACTS", "/api/v1/./acts", "/api/v1/acts%2f",
             "/api/v1/acts;x", "/api/v1/acts%00", "/api/v2/acts", "/api/v1/x/../acts", "/acts")  # fmt: skip
SAID = {
    "X-Role": "organiser",
    "X-Original-Url": "/api/v1/acts",
    "X-HTTP-Method-Override": "POST",
    "X-Forwarded-User": "ada",
}


def attack(arena):
    team = arena.team()
    before = arena.dump()
    for what in ACTS:
        want(arena.post(f"{API}/acts", team.token, what), 403, "organisers-only")
        want(
            arena.post(f"{API}/acts?role=organiser", team.token, {**what, "role": "organiser"}, **SAID),
            403,
            "organisers-only",
        )
        want(arena.post(f"{API}/acts", None, what, **SAID), 401, "token-missing")
    for path in SPELLINGS:
        request = requests.Request(
            "POST", arena.live.url + path, json=ACTS[3], headers={"Authorization": f"Bearer {team.token}"}
        )
        prepared = request.prepare()
        prepared.url = arena.live.url + path
        with requests.Session() as session:
            status = session.send(prepared, timeout=60, allow_redirects=False).status_code
        assert status in (403, 404, 405), (path, status)
    for method in ("PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"):
        answer = requests.request(method, f"{arena.live.url}{API}/acts", json=ACTS[3], headers=SAID, timeout=60)
        assert answer.status_code == 405, method
    assert arena.dump() == before
    return f"403 organisers-only: {len(ACTS)} acts; 404 or 405 for {len(SPELLINGS)} other spellings"
