from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from markupsafe import Markup

from harness.site.links import Links
from harness.site.markdown import render_markdown, split_section
from harness.site.mathematics import render_formula

READMES = sorted((Path(__file__).parents[2] / "problems").glob("*/README.md"))
LINKS = Links("../")


def shape(tex: str, *, display: bool = False) -> str:
    """A formula's elements, without attributes."""
    text = str(render_formula(tex, display=display))
    ElementTree.fromstring(text)
    return re.sub(r"<(\w+)[^>]*>", r"<\1>", text).removeprefix("<math>").removesuffix("</math>")


@pytest.mark.parametrize(
    ("tex", "elements"),
    [
        ("x", "<mi>x</mi>"),
        ("h_0 = 0", "<mrow><msub><mi>h</mi><mn>0</mn></msub><mo>=</mo><mn>0</mn></mrow>"),
        ("x_i^2", "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>"),
        ("10^{-10}", "<msup><mn>10</mn><mrow><mo>−</mo><mn>10</mn></mrow></msup>"),
        (r"\frac{a}{b}", "<mfrac><mi>a</mi><mi>b</mi></mfrac>"),
        (r"\sqrt{K}", "<msqrt><mi>K</mi></msqrt>"),
        (r"\mathrm{softplus}", "<mi>softplus</mi>"),
        (r"\text{ for } t", "<mrow><mtext> for </mtext><mi>t</mi></mrow>"),
        (r"\beta \odot \varepsilon", "<mrow><mi>β</mi><mo>⊙</mo><mi>ε</mi></mrow>"),
        ("a < b", "<mrow><mi>a</mi><mo>&lt;</mo><mi>b</mi></mrow>"),
        (r"\left(\frac{x}{2}\right)", "<mrow><mo>(</mo><mfrac><mi>x</mi><mn>2</mn></mfrac><mo>)</mo></mrow>"),
    ],
)
def test_formulas_become_mathml(tex, elements):
    assert shape(tex) == elements


def test_limits_stand_under_a_sum_on_a_line_of_its_own_and_beside_it_in_a_text():
    assert shape(r"\sum_{j=0}^{W} x", display=True).startswith("<mrow><munderover><mo>∑")
    assert shape(r"\sum_{j=0}^{W} x").startswith("<mrow><msubsup><mo>∑")
    assert shape(r"\max_j x", display=True).startswith("<mrow><munder><mi>max")


def test_cases_have_their_brace():
    assert shape(r"\begin{cases} a & b \\ 0 & c \end{cases}").startswith("<mrow><mo>{</mo><mtable><mtr>")


def test_lines_are_aligned():
    tex = r"\begin{aligned} a &= b \\ c &= d \end{aligned}"
    assert shape(tex, display=True).count("<mtr>") == 2
    assert shape(tex, display=True).count("<mtd>") == 4


@pytest.mark.parametrize(
    "tex",
    [r"\unknown{x}", "{a", "a}", r"\frac{a}", r"\left( a", r"\begin{matrix} a \end{matrix}", "x^", "a & b",
     "{" * 5000, r"\left<x\right>"],
)  # fmt: skip
def test_what_is_not_known_is_shown_as_it_is_written(tex):
    assert render_formula(tex) == Markup("<code>{}</code>").format(tex)


def test_a_hostile_formula_is_text():
    shown = str(render_formula(r"""\text{<script>alert(1)</script>} "' onload=x <img src=x>"""))
    assert "<script" not in shown
    assert "<img" not in shown
    ElementTree.fromstring(shown)


@pytest.mark.parametrize("path", READMES, ids=lambda path: path.parent.name)
def test_every_formula_of_every_problem_is_known(path):
    page = str(render_markdown(path.read_text(encoding="utf-8"), LINKS))
    assert "<math" in page
    assert "$" not in re.sub(r"<(code|pre)[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
    assert not re.search(r"<code>[^<]*\\", page), "a formula was shown as it is written"
    assert "<h1" not in page, "the page has its own title"


def test_a_readme_obeys_nothing_and_leads_nowhere_else():
    text = (
        "# title\n\n<script>alert(1)</script> <b onclick=x>bold</b>\n\n[a](javascript:alert(1)) "
        "[b](../softmax/README.md) "
        "[c](mutants.py) [d](https://arxiv.org/abs/1) [e](http://plain.example) ![picture](https://evil.example/x)\n\n"
        "```python\nx = '<script>'\n```\n\n|a||\n|---|---|\n|1|<img src=x>|\n\n\x1b[31m\u202e"
    )
    page = str(render_markdown(text, LINKS))
    assert re.findall(r'href="([^"]*)"', page) == ["../problems/softmax.html", "https://arxiv.org/abs/1"]
    assert 'rel="noreferrer noopener"' in page
    assert not re.search(r"<(script|img|b )", page)
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert page.count("<th") == 2, "one <thead> and one heading: an empty one is none"
    assert 'aria-label="Table 1"' in page


def test_a_section_is_split_off():
    assert split_section("a\n## Q\nb\n", "Q") == ("a", "b\n")
    assert split_section("a\n", "Q") == ("a\n", "")
