"""Frozen dataclasses to JSON documents and back, by their type hints.

This module knows nothing of what the dataclasses mean. A document that it reads is our own, but old: a field that is
missing takes the dataclass's default, a field that is unknown is left out. A value of a wrong type is a `StoreError`
that names the path to it. The texts inside a document are other people's, so what a database or a page cannot hold
(NUL, lone surrogates) is replaced when a document is written.

Boards are made of many documents, with many numbers in each: what reads a type is made once, and a path only for the
message of an error.
"""

from __future__ import annotations

import dataclasses
import math
import re
import types
import typing
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any, TypeAlias, TypeVar

from harness.errors import StoreError

T = TypeVar("T")
_Reader: TypeAlias = Callable[[Any], Any]

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class _MismatchError(Exception):
    """A value that is not what it should be, and the path to it, which grows on its way out."""

    def __init__(self, told: str) -> None:
        super().__init__(told)
        self.told, self.path = told, ""

    def below(self, step: str) -> _MismatchError:
        self.path = step + self.path
        return self


def encode(value: Any) -> Any:
    """Return the JSON form of a dataclass, or of a value inside one.

    A float that JSON lacks becomes `{"float": "nan"}`, in the manner of launch plans.
    """
    kind = type(value)
    if kind is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if kind is str:
        return _storable(value)
    if value is None or kind is int or kind is bool:
        return value
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {_storable(str(key)): encode(item) for key, item in value.items()}
    if dataclasses.is_dataclass(kind):
        return {name: encode(getattr(value, name)) for name in kind.__dataclass_fields__}
    if isinstance(value, str):
        return _storable(value)
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if isinstance(value, (bool, int, float)):
        return value
    raise TypeError(f"{kind.__name__} has no JSON form")


def decode(kind: type[T], document: Any) -> T:
    """Return the dataclass `kind` that `encode` made `document` from.

    Raises:
        StoreError: a value is missing or of a wrong type; the message names the path to it.
    """
    try:
        return typing.cast(T, _reader(typing.cast(Hashable, kind))(document))
    except _MismatchError as wrong:
        raise StoreError(f"the stored document at {kind.__name__}{wrong.path} {wrong.told}") from None


def _storable(text: str) -> str:
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


@cache
def _reader(kind: Any) -> _Reader:
    """Return what reads a type."""
    origin = typing.get_origin(kind)
    if kind is Any:
        return _read_any
    if kind is float:
        return _read_float
    if origin in (typing.Union, types.UnionType):
        return _union_reader(kind)
    if origin is tuple:
        return _tuple_reader(_reader(typing.get_args(kind)[0]))
    if origin is dict:
        return _dict_reader(_reader(typing.get_args(kind)[1]))
    if dataclasses.is_dataclass(kind):
        return _dataclass_reader(kind)
    return lambda value: _expect(kind, value)


def _tuple_reader(read_item: _Reader) -> _Reader:
    def read(value: Any) -> tuple[Any, ...]:
        found: list[Any] = []  # as many as there are say where an error is
        try:
            for item in _expect(list, value):
                found.append(read_item(item))
        except _MismatchError as wrong:
            raise wrong.below(f"[{len(found)}]") if isinstance(value, list) else wrong from None
        return tuple(found)

    return read


def _dict_reader(read_item: _Reader) -> _Reader:
    def read(value: Any) -> dict[str, Any]:
        return {name: _read_member(read_item, name, item) for name, item in _expect(dict, value).items()}

    return read


def _dataclass_reader(kind: Any) -> _Reader:
    def read(value: Any) -> Any:
        readers, fields = _member_readers(kind), _expect(dict, value)
        known = {name: _read_member(readers[name], name, item) for name, item in fields.items() if name in readers}
        try:
            return kind(**known)
        except TypeError as error:
            raise _MismatchError(f"is not complete: {error}") from None

    return read


@cache
def _member_readers(kind: Any) -> dict[str, _Reader]:
    return {name: _reader(hint) for name, hint in typing.get_type_hints(kind).items()}


def _read_member(read: _Reader, name: str, value: Any) -> Any:
    try:
        return read(value)
    except _MismatchError as wrong:
        raise wrong.below(f".{name}") from None


def _union_reader(kind: Any) -> _Reader:
    choices = [choice for choice in typing.get_args(kind) if choice is not type(None)]
    may_be_none, readers = type(None) in typing.get_args(kind), [_reader(choice) for choice in choices]

    def read(value: Any) -> Any:
        if value is None and may_be_none:
            return None
        for attempt in readers[:-1]:
            try:
                return attempt(value)
            except _MismatchError:
                continue
        return readers[-1](value)

    return read


def _read_float(value: Any) -> float:
    if type(value) is float:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return float(_expect(float, _read_any(value)))


def _read_any(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {"float"} and value["float"] in ("nan", "inf", "-inf"):
            return float(value["float"])
        return {key: _read_any(item) for key, item in value.items()}
    return [_read_any(item) for item in value] if isinstance(value, list) else value


def _expect(kind: type[T], value: Any) -> T:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise _MismatchError(f"should hold {kind.__name__}, not {type(value).__name__}")
    return value
