"""Names of files that lead somewhere else once they are written down.

How: parents, absolute paths, drives, NUL, newlines, dots of other scripts, a file below a file, reserved names,
control characters, lengths. Seen: archives that unpack over the host's files. Defence: a name is a short relative
path of plain letters; anything else is refused before it is stored, and the answer shows it escaped.
"""

from tests.service.arena import encoded, want

NAMES = (
    "../x", "/etc/passwd", "a/../../x", "a//b", "./x", "x/.", "..", ".", "", "C:\\x", "a\\b",
    "x\x00.py", "x\ny", "x\r\nSet-Cookie: a",

    "\u2024\u2024/x", "\uff0e\uff0e/x", "<script>.py", "a/b/c/d/e", "n" * 121, "submission.py/x", "\x1b[31m",
    "~/x/$(id)", "`id`",
    "\u202ex.py", "\ud800", "x;rm -rf", "'or'1", "https://x/y",
)  # fmt: skip


def attack(arena):
    team = arena.team()
    for name in NAMES:
        answer = arena.submit(team.token, files={"submission.py": encoded("x"), name: encoded("y")})
        told = want(answer, 422, "bad-name")
        assert told.isascii(), name
        assert told.isprintable(), name
        assert "Set-Cookie" not in answer.headers
    want(arena.submit(team.token, files={"__pycache__/submission.py": encoded("x")}), 422, "no-submission")
    assert arena.count(team) == 0
    return f"422 bad-name: {len(NAMES)} names"
