"""Frozen dataclasses to JSON documents and back, by their type hints.

This module knows nothing of what the dataclasses mean. A document that it reads is our own, but old: a field that is
missing takes the dataclass's default, a field that is unknown is left out. A value of a wrong type is a `StoreError`
that names the path to it. The texts inside a document are other people's, so what a database or a page cannot hold
(NUL, lone surrogates) is replaced when a document is written.
"""

from __future__ import annotations

import dataclasses
import math
import re
import types
import typing
from functools import cache
from typing import Any, TypeVar

from harness.errors import StoreError

T = TypeVar("T")

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def encode(value: Any) -> Any:
    """Return the JSON form of a dataclass, or of a value inside one.

    A float that JSON lacks becomes `{"float": "nan"}`, in the manner of launch plans.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {_storable(str(key)): encode(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if isinstance(value, str):
        return _storable(value)
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, (bool, int, float)):
        return value
    raise TypeError(f"{type(value).__name__} has no JSON form")


def decode(kind: type[T], document: Any) -> T:
    """Return the dataclass `kind` that `encode` made `document` from.

    Raises:
        StoreError: a value is missing or of a wrong type; the message names the path to it.
    """
    return typing.cast(T, _decode(kind, document, kind.__name__))


def _storable(text: str) -> str:
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _decode(kind: Any, value: Any, where: str) -> Any:
    origin = typing.get_origin(kind)
    if kind is Any:
        return _decode_any(value)
    if origin in (typing.Union, types.UnionType):
        return _decode_union(kind, value, where)
    if origin is tuple:
        (item_kind, _) = typing.get_args(kind)
        return tuple(_decode(item_kind, v, f"{where}[{i}]") for i, v in enumerate(_expect(list, value, where)))
    if origin is dict:
        (_, item_kind) = typing.get_args(kind)
        return {k: _decode(item_kind, v, f"{where}.{k}") for k, v in _expect(dict, value, where).items()}
    if dataclasses.is_dataclass(kind):
        return _decode_dataclass(kind, _expect(dict, value, where), where)
    if kind is float:
        return _decode_float(value, where)
    return _expect(kind, value, where)


def _decode_dataclass(kind: Any, fields: dict[str, Any], where: str) -> Any:
    hints = _hints(kind)
    known = {name: _decode(hints[name], value, f"{where}.{name}") for name, value in fields.items() if name in hints}
    try:
        return kind(**known)
    except TypeError as error:
        raise StoreError(f"the stored document at {where} is not complete: {error}") from None


def _decode_union(kind: Any, value: Any, where: str) -> Any:
    if value is None and type(None) in typing.get_args(kind):
        return None
    choices = [choice for choice in typing.get_args(kind) if choice is not type(None)]
    for choice in choices[:-1]:
        try:
            return _decode(choice, value, where)
        except StoreError:
            continue
    return _decode(choices[-1], value, where)


def _decode_float(value: Any, where: str) -> float:
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return float(_expect(float, _decode_any(value), where))


def _decode_any(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {"float"} and value["float"] in ("nan", "inf", "-inf"):
            return float(value["float"])
        return {key: _decode_any(item) for key, item in value.items()}
    return [_decode_any(item) for item in value] if isinstance(value, list) else value


def _expect(kind: type[T], value: Any, where: str) -> T:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise StoreError(f"the stored document at {where} should hold {kind.__name__}, not {type(value).__name__}")
    return value


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)
