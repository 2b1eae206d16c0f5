"""Python in a few colours: what a reader's eye looks for, and no more. Pure; the stylesheet has the colours."""

from __future__ import annotations

from markupsafe import Markup
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, String, _TokenType

_CLASSES: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "c"),
    (String, "s"),
    (Number, "n"),
    (Keyword, "k"),
    (Name.Decorator, "d"),
    (Name.Function, "f"),
    (Name.Class, "f"),
)


def colour_python(code: str) -> Markup:
    """Return code as HTML, to stand in a <pre>. What is no Python comes back as text."""
    pieces: list[Markup] = []
    for kind, text in PythonLexer(stripnl=False).get_tokens(code):
        name = next((name for family, name in _CLASSES if kind[: len(family)] == family), "")
        form = Markup('<span class="{}">{}</span>') if name and text.strip() else Markup("{1}")
        pieces.append(form.format(name, text))
    return Markup("").join(pieces)
