"""A cache between the service and its readers keeps what was for one of them, or what was true for a while.

How: whose code is shown to its team is asked for, then by somebody without a token, with the first one's `ETag`; a
page is asked for while code is shown, and again once it is not. Seen: private pages out of a shared cache. Defence:
answers of the API are kept by nobody (`no-store`), pages are asked for each time (`no-cache`), and a page's tag is of
what is in it.
"""

from tests.service.arena import API

SECRET = "def custom_kernel(data): return 'OnlyForItsTeam'"


def attack(arena):
    team = arena.team()
    name = arena.submit(team.token, SECRET).json()["id"]
    arena.conclude(name, 10.0)
    for path in (f"{API}/submissions/{name}/files", f"{API}/records/{name}", f"{API}/whoami"):
        mine = arena.get(path, team.token)
        assert mine.headers["Cache-Control"] == "no-store", path
        others = arena.get(path, **{"If-None-Match": mine.headers.get("ETag", "*")})
        assert others.status_code in (200, 401, 403)
        assert "OnlyForItsTeam" not in others.text
    page = f"/records/{name}"
    with arena.season(code_visible="at_once"):
        shown = arena.get(page)
        assert "OnlyForItsTeam" in shown.text
    hidden = arena.get(page, **{"If-None-Match": shown.headers["ETag"]})
    assert (hidden.status_code, hidden.headers["Cache-Control"]) == (200, "no-cache")
    assert "OnlyForItsTeam" not in hidden.text
    assert hidden.headers["ETag"] != shown.headers["ETag"]
    return "no-store, no-cache; another tag for another reader's page"
