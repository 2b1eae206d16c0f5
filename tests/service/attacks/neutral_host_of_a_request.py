"""The request says where the service is, and its answers lead others there.

How: `Host`, `X-Forwarded-Host`, `X-Forwarded-Prefix`, an absolute address in the request's first line, two slashes,
an address that lacks its last slash. Seen: password resets and caches that were poisoned by it. Defence: links are
relative to the root that the server was started with, and nothing is redirected (it was, until this was tried).
"""

EVIL = "evil.example"
PATHS = ("/", "/queue", "/queue/", "/api/v1/season/", "/boards/scale-b200-closed/", "/teams/acme/",
         "/nowhere", "//evil.example/queue/", "/api/v1/openapi.json", "/records/none", "/acts/")  # fmt: skip


def attack(arena):
    for path in PATHS:
        for target in (path, f"http://{EVIL}{path}"):
            request = (
                f"GET {target} HTTP/1.1\r\nHost: {EVIL}\r\nX-Forwarded-Host: {EVIL}\r\nX-Forwarded-Prefix: /{EVIL}\r\n"
                f"X-Forwarded-Proto: https\r\nForwarded: host={EVIL}\r\nX-Original-Url: //{EVIL}\r\n"
                "Connection: close\r\n\r\n"
            )
            answer = arena.say(request.encode())
            head = answer.split(b"\r\n\r\n")[0]
            assert EVIL.encode() not in answer, (path, answer[:300])
            assert b"\r\nlocation:" not in head.lower(), path
            assert head.split(b" ")[1] in (b"200", b"404"), (path, head)
    return f"{len(PATHS)} addresses: no link and no redirection follows"
