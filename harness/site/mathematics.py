"""Formulas of a README, from a small part of TeX to MathML, which browsers draw and screen readers speak by themselves.

It knows what the problems' READMEs need and the near neighbours of that; a formula that it does not know is shown as it
is written. It never emits anything but MathML elements of this module and escaped text, so a README may be anyone's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markupsafe import Markup, escape

from harness.errors import SpecError

_SYMBOL = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|[^\s]")

_GREEK = dict(
    zip(
        "alpha beta gamma delta epsilon varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau phi "
        "varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega ell infty top".split(),
        "αβγδϵεζηθικλμνξπρστϕφχψωΓΔΘΛΞΠΣΦΨΩℓ∞⊤",  # noqa: RUF001
        strict=True,
    )
)
_OPERATORS = {
    "times": "×", "odot": "⊙", "cdot": "⋅", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "in": "∈",  # noqa: RUF001
    "approx": "≈", "pm": "±", "to": "→", "dots": "…", "ldots": "…", "cdots": "⋯", "|": "‖", "lfloor": "⌊",
    "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "sim": "∼", "otimes": "⊗", "oplus": "⊕", "{": "{", "}": "}", "%": "%",  # noqa: RUF001
}  # fmt: skip
_LARGE = {"sum": "∑", "prod": "∏"}
_FUNCTIONS = frozenset("max min exp log tanh sin cos lim arg det sup inf".split())
_WITH_LIMITS = frozenset("max min lim sup inf".split())
_SPACES = {",": "0.17", ":": "0.22", ";": "0.28", "quad": "1", "qquad": "2", " ": "0.25", "!": "-0.17"}
_FENCES = "()[]|."
_ENDS = frozenset(("}", r"\right", "&", r"\\", r"\end"))
_DEEPEST = 30


def render_formula(tex: str, *, display: bool = False) -> Markup:
    """Return a formula as MathML, or as it is written if it holds what this module does not know."""
    try:
        body = _Parser(tex, display=display).parse()
    except SpecError:
        return Markup("<code>{}</code>").format(tex.strip())
    block = Markup(' display="block"') if display else Markup("")
    return Markup('<math{} alttext="{}">{}</math>').format(block, " ".join(tex.split()), body)


class _Parser:
    """One formula, read once from left to right."""

    def __init__(self, tex: str, *, display: bool) -> None:
        self._symbols = list(_split(tex))
        self._at = 0
        self._display = display
        self._depth = 0

    def parse(self) -> Markup:
        body = self._row()
        if self._at < len(self._symbols):
            raise SpecError(f"formula: {self._symbols[self._at]} closes nothing")
        return body

    def _row(self) -> Markup:
        """Read up to what ends a group, which is left; an <mrow> if it is more than one element."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise SpecError("formula: nested too deeply")
        items = []
        while self._at < len(self._symbols) and self._symbols[self._at] not in _ENDS:
            items.append(self._scripted())
        self._depth -= 1
        return items[0] if len(items) == 1 else _element("mrow", *items)

    def _scripted(self) -> Markup:
        name = self._symbols[self._at]
        base = self._atom()
        below = above = None
        while self._at < len(self._symbols) and self._symbols[self._at] in ("_", "^"):
            if self._take() == "_":
                below = self._atom()
            else:
                above = self._atom()
        stacked = self._display and (name[1:] in _LARGE or name[1:] in _WITH_LIMITS)
        return _attach(base, below, above, stacked=stacked)

    def _atom(self) -> Markup:
        symbol = self._take()
        if symbol == "{":
            body = self._row()
            self._expect("}")
            return body
        if symbol.startswith("\\"):
            return self._command(symbol[1:])
        if symbol in "_^}&$#~":
            raise SpecError(f"formula: {symbol} here")
        if symbol[0].isdigit():
            return _element("mn", symbol)
        if symbol.isalpha():
            return _element("mi", symbol)
        if symbol == "|":
            return Markup('<mo lspace="0" rspace="0" stretchy="false">|</mo>')
        if symbol in "()[]":
            return Markup('<mo stretchy="false">{}</mo>').format(symbol)
        return _element("mo", "\N{MINUS SIGN}" if symbol == "-" else symbol)

    def _command(self, name: str) -> Markup:
        if name in _GREEK:
            return _element("mi", _GREEK[name])
        if name in _OPERATORS:
            return _element("mo", _OPERATORS[name])
        if name in _LARGE:
            return _element("mo", _LARGE[name])
        if name in _FUNCTIONS:
            # An operator of no sign stands between a function and what it is of; it gives the space.
            return _element("mi", name)
        if name in _SPACES:
            return Markup('<mspace width="{}em"></mspace>').format(_SPACES[name])
        structures = {"frac": self._frac, "sqrt": self._sqrt, "left": self._fenced, "begin": self._table}
        if name in structures:
            return structures[name]()
        if name in ("mathrm", "operatorname", "text", "mathit"):
            return self._word(name)
        raise SpecError(f"formula: unknown command \\{name}")

    def _frac(self) -> Markup:
        return _element("mfrac", self._atom(), self._atom())

    def _sqrt(self) -> Markup:
        return _element("msqrt", self._atom())

    def _fenced(self) -> Markup:
        opening = self._fence()
        body = self._row()
        self._expect(r"\right")
        return _element("mrow", opening, body, self._fence())

    def _fence(self) -> Markup:
        symbol = self._take().removeprefix("\\")
        if symbol not in (*_FENCES, "{", "}"):
            raise SpecError(f"formula: no fence: {symbol}")
        return Markup("") if symbol == "." else Markup('<mo stretchy="true">{}</mo>').format(symbol)

    def _word(self, name: str) -> Markup:
        """Read the letters of a group: spaces count in text only, and were kept as one token each."""
        self._expect("{")
        letters = []
        while (symbol := self._take()) != "}":
            letters.append({r"\ ": " ", r"\_": "_"}.get(symbol, symbol))
        word = "".join(letters)
        if name == "text":
            return _element("mtext", word)
        upright = Markup(' mathvariant="normal"') if len(word) == 1 and name != "mathit" else Markup("")
        return Markup("<mi{}>{}</mi>").format(upright, word)

    def _table(self) -> Markup:
        name = self._group()
        if name not in ("aligned", "align", "cases", "gathered"):
            raise SpecError("formula: unknown environment")
        rows: list[list[Markup]] = [[]]
        while True:
            rows[-1].append(self._row())
            symbol = self._take()
            if symbol == r"\\":
                rows.append([])
            elif symbol == r"\end":
                self._group()
                break
            elif symbol != "&":
                raise SpecError(f"formula: {symbol} in a table")
        cells = (_element("mtr", *(_element("mtd", cell) for cell in row)) for row in rows)
        table = Markup('<mtable class="{}">{}</mtable>').format(name, Markup("").join(cells))
        return _element("mrow", Markup('<mo stretchy="true">{{</mo>').format(), table) if name == "cases" else table

    def _group(self) -> str:
        self._expect("{")
        letters = []
        while (symbol := self._take()) != "}":
            letters.append(symbol)
        return "".join(letters)

    def _take(self) -> str:
        if self._at >= len(self._symbols):
            raise SpecError("formula: it ends too early")
        self._at += 1
        return self._symbols[self._at - 1]

    def _expect(self, symbol: str) -> None:
        if self._take() != symbol:
            raise SpecError(f"formula: {symbol} is missing")


def _split(tex: str) -> Iterator[str]:
    """Yield a formula's symbols; spaces count in text only."""
    for part in re.split(r"(\\text\{[^{}]*\})", tex):
        if part.startswith(r"\text{"):
            yield from (r"\text", "{", *part[6:-1], "}")
        else:
            yield from _SYMBOL.findall(part)


def _element(name: str, *content: Markup | str) -> Markup:
    return Markup(f"<{name}>{Markup('').join(map(escape, content))}</{name}>")  # noqa: S704  names are of this module


def _attach(base: Markup, below: Markup | None, above: Markup | None, *, stacked: bool) -> Markup:
    scripts = [script for script in (below, above) if script is not None]
    if not scripts:
        return base
    names = ("munder", "mover", "munderover") if stacked else ("msub", "msup", "msubsup")
    return _element(names[2] if len(scripts) == 2 else names[above is not None], base, *scripts)
