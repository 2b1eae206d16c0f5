"""Hostile JSON: a good document with a few places changed, and texts that are nearly JSON."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import strategies as st

NAMES = [
    "..", ".", "", "/", "../../etc/passwd", "/etc/passwd", "a/b", "a\0b", "a\nb", "\u202egnp", "\ud800", "x" * 300,
    "CON", "a b", "__class__", "-rf", "~", "%s", "{0}", "N4", "f" * 64, "e" * 64, "A" * 64,
]  # fmt: skip
NUMBERS = [
    0, -1, 1, 2**31, 2**32, 2**40, 2**41, 2**63, -(2**63), 2**64, 10**38, 10**60, 1e308, -0.0, 0.5, 1e-320, 255, 256,
    4096, 65535, 65536,
]  # fmt: skip
WORDS = [
    "float32", "int1", "*fp32", "constexpr", "helion", "triton", "tensor", "aten.empty_like.default", "inf", "nan",
    "descriptor", "zero", "num_warps", "tensordesc<fp32[4]>", "import os", "data:;base64,AA==", "AAAA", "%%%",
]  # fmt: skip

SCALARS = st.one_of(
    st.sampled_from(NAMES),
    st.sampled_from(NUMBERS),
    st.sampled_from(WORDS),
    st.sampled_from([None, True, False]),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
)
TAGGED = st.builds(
    lambda tag, value: {tag: value}, st.sampled_from(["tensor", "float", "dtype", "device", "function", "x"]), SCALARS
)
VALUES = st.recursive(
    st.one_of(SCALARS, TAGGED),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from([*NAMES, *WORDS]), inner, max_size=3)
    ),
    max_leaves=8,
)
CHANGES = ("replace", "replace", "replace", "delete", "duplicate", "repeat", "nest", "rename", "add", "swap")


def places(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a document, as paths; the document itself is ()."""
    items = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else []
    )
    return [path, *(place for key, value in items for place in places(value, (*path, key)))]


def find(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


@st.composite
def changed(draw: st.DrawFn, document: Any) -> Any:
    """A document with one to three places changed."""
    document = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 3))):
        found = places(document)
        path = found[draw(st.integers(0, len(found) - 1))]
        if not path:
            if draw(st.integers(0, 19)) == 0:
                return draw(VALUES)
            continue
        _change(draw, document, path, draw(st.sampled_from(CHANGES)), found)
    return document


def _change(draw: st.DrawFn, document: Any, path: tuple[Any, ...], how: str, found: list[tuple[Any, ...]]) -> None:
    parent, key = find(document, path[:-1]), path[-1]
    value = parent[key]
    if how == "delete":
        del parent[key]
    elif how == "duplicate" and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(value))
    elif how == "repeat" and len(found) < 1000:
        parent[key] = [value] * draw(st.sampled_from([2, 17, 300]))
    elif how == "nest":
        for _ in range(draw(st.sampled_from([1, 5, 40]))):
            value = [value]
        parent[key] = value
    elif how == "rename" and isinstance(parent, dict):
        parent[draw(st.sampled_from([*NAMES, *WORDS]))] = parent.pop(key)
    elif how == "add" and isinstance(value, dict):
        value[draw(st.sampled_from([*NAMES, *WORDS]))] = draw(VALUES)
    elif how == "swap" and len(found) < 1000:
        parent[key] = copy.deepcopy(find(document, found[draw(st.integers(0, len(found) - 1))]))
    else:
        parent[key] = draw(VALUES)


INSERTED = [
    b"", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"NaN", b"Infinity", b"-", b"1e999", b"9" * 5000, b"\xed\xa0\x80",
    b"[" * 3000, b'{"a":' * 1500, b'"a":1,"a":2,', b"\\ud800", b"\n", b"{", b"}", b'"', b",", b"//", b"\xf0\x9f",
]  # fmt: skip


@st.composite
def spoilt(draw: st.DrawFn, content: bytes) -> bytes:
    """A file's bytes with something done to them that no good writer does."""
    place = draw(st.integers(0, len(content)))
    inserted = draw(st.sampled_from(INSERTED))
    end = draw(st.sampled_from([place, place, place + 1, place + 7, len(content)]))
    return content[:place] + inserted + content[end:]


def encode(document: Any) -> bytes:
    return json.dumps(document).encode()
