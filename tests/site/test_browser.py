"""Every kind of page in a real Chromium: by axe's rules of accessibility, on a phone, in the dark, without scripts.

axe-core (its own licence lies beside it) is put into the pages by the test; the pages have no script of their own.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.site.every_page import write_every_page

pytestmark = pytest.mark.browser

AXE = Path(__file__).with_name("axe") / "axe.min.js"
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
KINDS = (
    "index", "boards/chunk_fwd_h-b200-closed", "boards/fp8_quant-b200-closed/2", "boards/causal_conv1d-b200-closed",
    "problems/gdn_forward", "problems/vector_add", "teams/acme", "queue", "empty-queue", "acts", "acts/2", "not-found",
    "records/with-code", "records/on-its-way",
)  # fmt: skip
"""Of what is on one page; records in each state are added by what they say."""

SAID = (
    "[blink]rich[/blink]",
    "a team with a rather long name",
    "Spilled registers live",
    "Compiling took longer",
    ">PASSED<",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    write_every_page(folder)
    return folder


@pytest.fixture(scope="module")
def chosen(site) -> list[Path]:
    """A page of every kind, and records that are hostile, long, spilling, over budget, passed."""
    pages = [site / f"{kind}.html" for kind in KINDS]
    records = [(path, path.read_text()) for path in sorted((site / "records").glob("*.html"))]
    for said in SAID:
        pages.append(next(path for path, text in records if said in text))
    return list(dict.fromkeys(pages))


@pytest.fixture(scope="module")
def few(chosen) -> list[Path]:
    """The pages with the most in them that is of different kinds: axe takes a second or more for each."""
    names = ("index", "chunk_fwd_h-b200-closed", "with-code", "vector_add", "queue", "acts")
    return [next(path for path in chosen if path.stem == name) for name in names]


@pytest.fixture(scope="module")
def chrome():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("there is no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS.split())
        yield browser
        browser.close()


def find_faults(chrome, pages, scheme, width):
    """What axe finds in some pages, with everything that can be unfolded unfolded."""
    rules, found = AXE.read_text(encoding="utf-8"), []
    page = chrome.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    for path in pages:
        page.goto(path.as_uri())
        page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
        page.evaluate(rules)
        for fault in page.evaluate("axe.run().then(result => result.violations)"):
            found += [(path.name, scheme, fault["id"], node["html"][:200]) for node in fault["nodes"][:3]]
    page.close()
    return found


def test_axe_finds_what_is_wrong(chrome, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<!doctype html><title>x</title><p style='color: #ccc; background: #fff'>pale<img src='x.png'>")
    assert {"color-contrast", "html-has-lang", "image-alt"} <= {
        fault[2] for fault in find_faults(chrome, [page], "light", 390)
    }


def test_no_main_page_breaks_a_rule_of_accessibility(chrome, few):
    assert find_faults(chrome, few[::2], "light", 1280) + find_faults(chrome, few[1::2], "dark", 390) == []


@pytest.mark.slow
def test_no_page_breaks_a_rule_of_accessibility(chrome, chosen):
    """In the light on a desk, and in the dark on a phone, where columns become lines."""
    assert find_faults(chrome, chosen, "light", 1280) + find_faults(chrome, chosen, "dark", 390) == []


def test_pages_fit_a_phone_ask_nobody_for_anything_and_need_no_script(chrome, chosen):
    colours = {}
    for scheme, pages in (("light", chosen), ("dark", chosen[:1])):
        context = chrome.new_context(
            viewport={"width": 390, "height": 844}, color_scheme=scheme, java_script_enabled=False
        )
        page, said, asked = context.new_page(), [], []
        page.on("console", lambda message, said=said: said.append(message.text))
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        for path in pages:
            page.goto(path.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, path.name
            assert page.get_by_role("main").count() == 1, path.name
        colours[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
        context.close()
        assert said == []
        assert all(url.startswith(("file:", "data:")) for url in asked)
    assert colours["light"] != colours["dark"]


def test_the_keyboard_reaches_content_links_and_wide_tables(chrome, site):
    page = chrome.new_page(viewport={"width": 390, "height": 844})
    page.goto((site / "boards/chunk_fwd_h-b200-closed.html").as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.getElementById('main').contains(document.activeElement)")
    outlined, regions = set(), 0
    for _ in range(40):
        page.keyboard.press("Tab")
        outlined.add(page.evaluate("getComputedStyle(document.activeElement).outlineStyle"))
        regions += page.evaluate("document.activeElement.matches('[role=region]')")
    page.close()
    assert outlined == {"solid"}
    assert regions >= 2


def test_formulas_are_drawn_as_formulas(chrome, site):
    page = chrome.new_page()
    page.goto((site / "problems/chunk_fwd_h.html").as_uri())
    tall = page.evaluate("document.querySelector('.formula math').getBoundingClientRect().height")
    assert page.locator("math").count() > 20
    page.close()
    assert tall > 40, "two lines of a recurrence"
