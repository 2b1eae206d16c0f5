"""How an event packs its data: tuples, lists and dicts with tensors and plain values for leaves. Pure.

Ours is a flat tuple of tensors. So the packing becomes code: where `generate` finds each tensor in what the event's
generator returned, and how `reference` packs them again. Plain values (a config's sizes, say) become expressions over
the shape. It comes out of the sandbox as hostile data: `parse_layout` takes it field by field, within bounds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from harness.authoring.event.sizes import UNKNOWN, Size, fit_size, in_python
from harness.errors import UsageError

MAX_DEPTH, MAX_LEAVES, MAX_TEXT = 8, 256, 200
KINDS = ("tuple", "list", "dict")

Plain: TypeAlias = "int | float | bool | str | None"


@dataclass(frozen=True)
class Slot:
    """The place of a tensor, by its number."""

    number: int


@dataclass(frozen=True)
class Constant:
    """A plain value, as one call had it."""

    value: Plain


@dataclass(frozen=True)
class Packed:
    """A tuple, list or dict: its items by position or key."""

    kind: str
    keys: tuple[int | str, ...]
    items: tuple[Layout, ...]


Layout: TypeAlias = "Slot | Constant | Packed"


def flat(count: int) -> Layout:
    """Return the layout that ours have: a tuple of tensors."""
    return Packed("tuple", tuple(range(count)), tuple(map(Slot, range(count))))


def parse_layout(document: Any, depth: int = 0) -> Layout:
    """Return the layout of a probe's answer.

    Raises:
        ValueError, TypeError: it is not of the form.
    """
    kind, content = document
    if depth > MAX_DEPTH:
        raise ValueError
    if kind == "tensor" and type(content) is int:
        return Slot(content)
    if kind == "value" and (content is None or type(content) in (int, float, bool, str)):
        if (isinstance(content, str) and len(content) > MAX_TEXT) or (
            isinstance(content, float) and not math.isfinite(content)
        ):
            raise ValueError
        return Constant(content)
    if kind not in KINDS or len(content) > MAX_LEAVES:
        raise ValueError
    keys = tuple(key for key, _ in content)
    if any(type(key) not in (int, str) or len(str(key)) > MAX_TEXT for key in keys):
        raise ValueError
    return Packed(kind, keys, tuple(parse_layout(item, depth + 1) for _, item in content))


def slots(layout: Layout, access: str = "data", hint: str = "") -> Iterator[tuple[Slot, str, str]]:
    """Yield each tensor's slot, the Python expression that finds it, and what the packing calls it."""
    if isinstance(layout, Slot):
        yield layout, access, hint
    elif isinstance(layout, Packed):
        for key, item in zip(layout.keys, layout.items, strict=True):
            called = key if isinstance(key, str) else f"{hint}_{key}" if hint else ""
            yield from slots(item, f"{access}[{key!r}]", called)


def name_tensors(layout: Layout, top: Sequence[str], alone: str) -> list[str]:
    """Return a name for each tensor: the code's for an item of the data, a dict's key, or one that is made up.

    Args:
        layout: the packing.
        top: what the code calls the items of the data, empty where it does not; of no account if their count differs.
        alone: what to call a tensor without a name, numbered if there are several.
    """
    if isinstance(layout, Slot):
        found = [top[0] if len(top) == 1 else ""]
    else:
        assert isinstance(layout, Packed)
        known = top if len(top) == len(layout.items) else [""] * len(layout.items)
        hints = [key if isinstance(key, str) else name for key, name in zip(layout.keys, known, strict=True)]
        found = [hint for item, first in zip(layout.items, hints, strict=True) for _, _, hint in slots(item, "", first)]
    return distinct([clean_name(name) for name in found], alone)


def distinct(names: Sequence[str], alone: str) -> list[str]:
    """Return names that differ from each other: numbered where one is missing or stands twice."""
    blank = [name if name and names.count(name) == 1 else "" for name in names]
    return [name or (alone if len(names) == 1 else f"{alone}_{number}") for number, name in enumerate(blank)]


def clean_name(name: str) -> str:
    """Return a text as a name that a tensor may have, or nothing."""
    text = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")[:60]
    return text if re.match(r"[A-Za-z]", text) else ""


def pack(
    calls: Sequence[Layout], names: Sequence[str], shapes: Sequence[Mapping[str, int]], where: str = "data"
) -> tuple[str, tuple[str, ...]]:
    """Return the Python expression that packs tensors as the event does, and what a person should look at.

    Args:
        calls: the layouts that the calls showed.
        names: the variable that holds each tensor.
        shapes: each call's axes and their sizes.
        where: the place in the data, for messages.

    Raises:
        UsageError: the calls do not pack alike.
    """
    first = calls[0]
    forms = {(type(one), *((one.kind, one.keys) if isinstance(one, Packed) else ())) for one in calls}
    if len(forms) != 1:
        raise UsageError(f"{where} of generate_input has another form in some tests, and ours has one")
    if isinstance(first, Slot):
        return names[first.number], ()
    if isinstance(first, Constant):
        return _fit([one.value for one in calls if isinstance(one, Constant)], shapes, where)
    parts = [
        pack([one.items[n] for one in calls if isinstance(one, Packed)], names, shapes, f"{where}[{key!r}]")
        for n, key in enumerate(first.keys)
    ]
    texts = [text for text, _ in parts]
    doubts = tuple(doubt for _, told in parts for doubt in told)
    if first.kind == "dict":
        return "{" + ", ".join(f"{key!r}: {text}" for key, text in zip(first.keys, texts, strict=True)) + "}", doubts
    return (f"[{', '.join(texts)}]" if first.kind == "list" else as_tuple(texts)), doubts


def as_tuple(items: Sequence[str]) -> str:
    """Return the text of a tuple of expressions."""
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _fit(values: Sequence[Plain], shapes: Sequence[Mapping[str, int]], where: str) -> tuple[str, tuple[str, ...]]:
    """A plain value as Python: an axis or arithmetic over axes if it is a whole number, else as it stands."""
    whole = [value for value in values if type(value) is int]
    if len(whole) < len(values) and len({repr(value) for value in values}) == 1:
        return repr(values[0]), ()
    size = fit_size(whole, shapes) if len(whole) == len(values) else Size(None)
    if size.expression is None:
        return UNKNOWN, (f"{where} follows from the axes in no simple way: write it for {UNKNOWN}",)
    doubts = (f"{where} is taken to be {size.expression}; {' or '.join(size.others)} fits all tests too",)
    return in_python(size.expression), doubts if size.others else ()
