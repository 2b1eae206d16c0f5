"""A problem's README as HTML: CommonMark with tables and formulas, code in colours, nothing from elsewhere.

HTML in a README is shown, not obeyed. Links within the repository lead to pages of the site where there are such, and
are plain text where not; pictures are their descriptions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markupsafe import Markup, escape

from harness.site.colouring import colour_python
from harness.site.links import Links
from harness.site.mathematics import render_formula
from harness.text import clean

_PROBLEM = re.compile(r"^\.\./([A-Za-z][A-Za-z0-9_-]*)/README\.md$")


@lru_cache(maxsize=64)
def render_markdown(text: str, links: Links, tables: str = "Table") -> Markup:
    """Return a README as HTML, without its title: the page has one.

    Args:
        text: CommonMark with tables, and formulas between dollars.
        links: to the pages of other problems.
        tables: what its tables are called, with their numbers, by a screen reader.
    """
    tokens = _parser().parse(clean(text, lines=True))
    if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        tokens = tokens[3:]
    for token in tokens:
        _resolve_links(token.children or (), links)
    _mark_empty_headings(tokens)
    for number, table in enumerate((token for token in tokens if token.type == "table_open"), 1):
        table.meta["label"] = f"{tables} {number}"
    return Markup(_parser().renderer.render(tokens, _parser().options, {}))  # noqa: S704  it escapes what it renders


def split_section(text: str, heading: str) -> tuple[str, str]:
    """Split a README at its last section, by its heading: what comes before it, and what it says."""
    before, _, after = text.partition(f"\n## {heading}\n")
    return before, after


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.inline.ruler.before("escape", "formula", _formula_rule)
    parser.block.ruler.before("paragraph", "formula_block", _formula_block_rule, {"alt": ["paragraph"]})
    rules = parser.renderer.rules  # type: ignore[attr-defined]
    rules["formula"] = lambda tokens, i, *_: str(render_formula(tokens[i].content))
    rules["formula_block"] = lambda tokens, i, *_: (
        f'<p class="formula" tabindex="0">{render_formula(tokens[i].content, display=True)}</p>\n'
    )
    rules["fence"] = rules["code_block"] = _render_code
    rules["image"] = lambda tokens, i, *_: str(escape(tokens[i].content))
    rules["table_open"] = lambda tokens, i, *_: (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(tokens[i].meta["label"])}"><table>\n'
    )
    rules["table_close"] = lambda *_: "</table></div>\n"
    return parser


def _render_code(tokens: Sequence[Token], index: int, *_: object) -> str:
    python = tokens[index].info.strip() in ("python", "py")
    code = tokens[index].content
    return f'<pre class="code" tabindex="0"><code>{colour_python(code) if python else escape(code)}</code></pre>\n'


def _resolve_links(children: Sequence[Token], links: Links) -> None:
    """Turn links into links of the site; one that would lead nowhere becomes a span."""
    open_links: list[bool] = []
    for token in children:
        if token.type == "link_open":
            target = str(token.attrs.get("href", ""))
            problem = _PROBLEM.match(target)
            external = target.startswith("https://")
            open_links.append(bool(problem or external))
            if problem:
                token.attrs = {"href": links.problem(problem[1])}
            elif external:
                token.attrs = {"href": target, "rel": "noreferrer noopener"}
            else:
                token.tag, token.attrs = "span", {}
        elif token.type == "link_close" and not open_links.pop():
            token.tag = "span"


def _mark_empty_headings(tokens: Sequence[Token]) -> None:
    """A heading cell without words is no heading: a screen reader would announce nothing."""
    for (opening, content), closing in zip(pairwise(tokens), tokens[2:], strict=False):
        if opening.type == "th_open" and not content.content:
            opening.tag = closing.tag = "td"
        elif opening.type == "th_open":
            opening.attrs = {"scope": "col"}
        elif opening.type == "td_open":
            opening.attrs = {}


def _formula_rule(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "$":
        return False
    end = state.src.find("$", state.pos + 1)
    content = state.src[state.pos + 1 : end]
    if end < 0 or not content or content[0].isspace() or content[-1].isspace():
        return False
    if not silent:
        state.push("formula", "", 0).content = content
    state.pos = end + 1
    return True


def _formula_block_rule(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    if state.getLines(first, first + 1, 0, False).strip() != "$$":
        return False
    line = first + 1
    while line < last and state.getLines(line, line + 1, 0, False).strip() != "$$":
        line += 1
    if line == last:
        return False
    if not silent:
        token = state.push("formula_block", "", 0)
        token.content = state.getLines(first + 1, line, 0, False)
        token.map = [first, line + 1]
        state.line = line + 1
    return True
