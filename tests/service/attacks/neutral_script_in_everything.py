"""Scripts in every text that comes to a page, for a real browser to run (stored and reflected XSS).

How: markup in a posted record's every text, in a record's errors and reasons, in acts, in addresses that are not
there; each page is opened in Chromium with the pages' own policy switched off, its details unfolded, every element
hovered over in a script of ours. Seen: team names and error messages on leaderboards. Defence: every value is cleaned
and escaped on its way into a page; behind that, a policy that runs no script at all.
"""

import dataclasses
import shutil

import pytest

from harness.frame import Frame
from harness.store.record import VerdictRecord, encode_record
from tests.board.hostile import hostile_record
from tests.service.arena import API
from tests.service.walking import WORDS

MARKED = pytest.mark.browser
ENOUGH_MS = 240_000
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
PAYLOADS = (
    "<script>window.ran=1</script>", "<img src=x onerror=window.ran=1>", "<svg onload=window.ran=1>",
    '"onmouseover="window.ran=1',
    "</title><script>window.ran=1</script>", "javascript:window.ran=1",
    "<iframe srcdoc='<script>parent.ran=1</script>'>",
    "<details open ontoggle=window.ran=1>", "<style>@import'//evil.example'</style>", "<base href=//evil.example>",
    "<meta http-equiv=refresh content=0;url=//evil.example>", "<a href=javascript:window.ran=1>x</a>",
    "`${window.ran=1}`",
)  # fmt: skip
ALL = " ".join(PAYLOADS)
TOUCH = """() => {
  for (const d of document.querySelectorAll('details')) d.open = true;
  for (const e of document.querySelectorAll('*')) {
    e.dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
    if (e.focus) e.focus();
  }
  const links = [...document.querySelectorAll('[href],[src],[action],[style]')]
    .map(e => e.getAttribute('href') || e.getAttribute('src') || e.getAttribute('action') || e.getAttribute('style'));
  return [window.ran || 0, links, document.querySelectorAll('script,iframe,img,object,embed,form,base').length];
}"""


def attack(arena):
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("there is no Chromium on this machine")
    paths = _plant(arena)
    try:
        with sync_api.sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=chromium, args=FLAGS.split(), timeout=ENOUGH_MS)
            _visit(browser.new_context(bypass_csp=True), arena.live.url, paths)
            _visit(browser.new_context(), arena.live.url, paths[:1])
            browser.close()
    finally:
        arena.act(act="thaw", problem="scale", reason="over")
    return f"{len(paths)} pages, without the pages' own policy: nothing ran"


def _plant(arena):
    team = arena.team()
    posted = dataclasses.replace(hostile_record(), team=team.name, problem="scale", target="b200", division="closed")
    documents = (encode_record(posted), _say_instead(encode_record(posted)))
    names = [arena.post(f"{API}/records", team.token, document).json()["id"] for document in documents]
    failed = VerdictRecord("COMPILE_ERROR", ALL, None, ALL, f"{ALL}\n{ALL}", (Frame(1, ALL, ALL),), {ALL: ALL})
    for score, changes in ((None, {"verdict": failed}), (3.0, {"machine": {"gpu": ALL}, "sandbox_level": ALL})):
        names.append(arena.submit(team.token, f"# {ALL}").json()["id"])
        arena.conclude(names[-1], score, unranked_reason=ALL, warnings=(ALL,), **changes)
    names.append(arena.submit(team.token).json()["id"])
    arena.act(act="freeze", problem="scale", reason=ALL)
    arena.act(act="disqualify", record=names[-2], reason=ALL)
    words = {**WORDS, "team": (team.name,), "record_id": names, "submission_id": names}
    shown = [r for r in arena.routes if r.method == "GET" and not r.path.endswith((".csv", ".css"))]
    pages = [a for r in shown for i, a in enumerate(r.addresses(words)) if not i or not a.startswith(API)]
    quoted = ALL.replace(" ", "%20").replace("/", "%2F")
    nowhere = [f"/{kind}/{quoted}" for kind in ("records", "teams", "boards", "problems", "queue", "acts")]
    return [
        *pages,
        *nowhere,
        f"/{quoted}",
        f"{API}/records/{quoted}",
        f"{API}/records?limit={quoted}",
        f"/?{quoted}#{quoted}",
    ]


def _say_instead(value):
    """Return a document with every payload in the place of each hostile text."""
    if isinstance(value, dict):
        return {_say_instead(key): _say_instead(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_say_instead(item) for item in value]
    return ALL if isinstance(value, str) and "alert(1)" in value else value


def _visit(context, url, paths):
    page = context.new_page()
    page.set_default_timeout(ENOUGH_MS)
    dialogs, strangers = [], []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.on(
        "request", lambda request: None if request.url.startswith((url, "data:")) else strangers.append(request.url)
    )
    for path in paths:
        page.goto(url + path, wait_until="load")
        ran, links, elements = page.evaluate(TOUCH)
        assert not ran, path
        assert page.url.startswith(url), path
        assert not [
            link for link in links if link and link.strip().lower().startswith(("javascript:", "//", "vbscript:"))
        ], path
        assert not elements, path
    assert not dialogs
    assert not strangers
    context.close()
