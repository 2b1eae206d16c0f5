"""SQL in every parameter, header and member that is taken.

How: quotes, comments, unions with the table of tokens, stacked statements, patterns, NUL and broken UTF-8, in each
place of each address. Seen: everywhere. Defence: every statement is built of parameters (SQLAlchemy, no text of a
request in one).
"""

from urllib.parse import quote

from sqlalchemy import select

from harness.service.schema import tokens as tokens_table
from tests.service.arena import API
from tests.service.server import document

TEXTS = (
    "' OR '1'='1", "'; DROP TABLE jobs; --", "' UNION SELECT secret_sha256, 2, 3 FROM tokens --", '" OR ""="', "%", "_",
    "1); DELETE FROM acts; --", "'||pg_sleep(0)||'", "\\'; --", "$$;--", "{{7*7}}", "\x00", "\ud800", "1 OR 1=1", "()",
)  # fmt: skip
LEGAL = {"record_id", "submission_id", "problem", "target", "division", "page", "team", "number", "name"}


def attack(arena):
    team = arena.team()
    taken = arena.submit(team.token).json()["id"]
    arena.conclude(taken)
    with arena.database.read() as connection:
        hashes = set(connection.scalars(select(tokens_table.c.secret_sha256)))
    before, asked = arena.dump(), 0
    for text in TEXTS:
        raw = quote(text.encode("utf-8", "surrogatepass"), safe="")
        for answer in _ask(arena, team, text, raw):
            asked += 1
            assert answer.status_code < 500, (text, answer.url, answer.text)
            assert not [one for one in hashes if one in answer.text]
            assert answer.status_code >= 400 or answer.text == "[]" or "/queue/" in answer.url, (text, answer.url)
    assert arena.dump() == before
    return f"{asked} requests: refused, not found, or nothing found; the database as before"


def _ask(arena, team, text, raw):
    for route in arena.routes:
        few = route.path.startswith(API) or TEXTS.index(text) % 3 == 0  # pages look up what the API does
        if route.method == "GET" and "{" in route.path and few:
            for address in route.addresses(dict.fromkeys(LEGAL, (raw,))):
                yield arena.get(address)
    for name in ("problem", "team", "target", "division"):
        yield arena.get(f"{API}/records?{name}={raw}")
    for query in (f"limit={raw}", "limit=1.5", "limit=99999999999999999999"):
        for path in ("records", "queue", "acts"):
            yield arena.get(f"{API}/{path}?{query}")
    yield arena.get(f"{API}/acts?before={raw}")
    for name in ("problem", "target", "division", "suite", "problem_version"):
        yield arena.post(
            f"{API}/submissions", team.token, {**document("x"), name: text}, **{"Idempotency-Key": arena.key()}
        )
    yield arena.post(
        f"{API}/submissions", team.token, {**document("x"), "files": {text: ""}}, **{"Idempotency-Key": arena.key()}
    )
    header = text.encode("utf-8", "replace").replace(b"\0", b"0")
    yield arena.post(f"{API}/submissions", team.token, document("x"), **{"Idempotency-Key": header})
    yield arena.get(f"{API}/whoami", **{"Authorization": b"Bearer " + header})
    for act in (
        {"act": "disqualify", "record": text}, {"act": "disqualify", "team": text},
        {"act": "rerun", "submission": text},
        {"act": "freeze", "problem": text}, {"act": "team", "name": text}, {"act": "revoke", "token": text},
        {"act": "token", "team": text}, {"act": "season", "changes": {"closes": text}},
    ):  # fmt: skip
        yield arena.act(**act, reason="x")
