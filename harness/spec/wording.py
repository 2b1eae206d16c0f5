"""What is wrong with a document of ours, in our words: where it is, what stands there, and what to write instead.

pydantic finds the faults; nothing of its wording is passed on. What a field wants is read from the form itself, so a
field that is added needs no sentence here, and a kind of fault that has none is told by what its field wants. A fault
is told once, however many members of a union refused the value, and not for what only follows from another. Pure.
"""

from __future__ import annotations

import datetime
import json
import math
import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

KEY = "[key]"  # pydantic's last part of a place where the key of a mapping is at fault
SHOWN_CHARACTERS = 60
NAMES_INPUTS = "distribution"  # the key of a shape that is no axis: its value is text, all others are sizes
MOMENT = "a date or a time such as 2026-11-30 20:00"

_A_NUMBER = re.compile(r"[+-]?(\d{1,3}([, _]\d{3}){1,5}|\d{1,15})(\.\d{0,15})?([eE]\+?\d{1,2})?", re.ASCII)
_MOST = 10**15  # beyond it a float is no longer exact, and nobody means it

_SCALARS = {str: "text", int: "a whole number", float: "a number", bool: "true or false", Path: "a path"}

# Kinds of fault that say more than that another kind of value is wanted -> our words, from pydantic's figures.
_LIMITS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "greater_than": lambda ctx: f"must be more than {ctx['gt']:g}",
    "greater_than_equal": lambda ctx: f"must be at least {ctx['ge']:g}",
    "less_than": lambda ctx: f"must be less than {ctx['lt']:g}",
    "less_than_equal": lambda ctx: f"must be at most {ctx['le']:g}",
    "finite_number": lambda ctx: "must be a finite number",
    "too_short": lambda ctx: f"must have {_entries(ctx['min_length'])} or more (found {ctx['actual_length']})",
    "too_long": lambda ctx: f"may have {_entries(ctx['max_length'])} at most (found {ctx['actual_length']})",
    "string_too_short": lambda ctx: "must not be empty",
    "string_too_long": lambda ctx: f"may have {ctx['max_length']} characters at most",
    "string_pattern_mismatch": lambda ctx: f"must be of the form {ctx['pattern']}",
    "value_error": lambda ctx: str(ctx["error"]),
}


@dataclass(frozen=True)
class _Place:
    """A place in a form.

    Attributes:
        parts: the names and numbers that lead to it.
        wanted: the type of what stands there; None where the form has no such field.
        holder: the model that has the field, if one does.
    """

    parts: tuple[str, ...] = ()
    wanted: Any = None
    holder: type[BaseModel] | None = None


def tell_faults(faults: Sequence[ErrorDetails], model: type[BaseModel]) -> tuple[str, ...]:
    """Say what is wrong with a document, each fault as "PLACE: MESSAGE", or as "MESSAGE" for the whole of it.

    Args:
        faults: as pydantic has them.
        model: the form that was asked for.
    """
    told = (_tell(fault, _find_place(fault["loc"], model)) for fault in faults if not _follows(fault))
    return tuple(dict.fromkeys(told))


def _follows(fault: ErrorDetails) -> bool:
    """Whether entries are missing only because those that are there are at fault themselves."""
    return fault["type"] == "too_short" and len(fault["input"]) >= fault["ctx"]["min_length"]


def _find_place(loc: Sequence[str | int], model: type[BaseModel]) -> _Place:
    """Follow a place through the form; what pydantic adds to it, such as the member of a union, is left out."""
    place = _Place(wanted=model)
    for part in loc:
        wanted = _one_type(place.wanted)
        name = str(part) if str(part).isprintable() else repr(part)
        if isinstance(wanted, type) and issubclass(wanted, BaseModel):
            field = wanted.model_fields.get(str(part))
            place = _Place((*place.parts, name), field and _bare(field.annotation), wanted)
        elif get_origin(wanted) is dict:
            keys, values = get_args(wanted)
            key_is_at_fault = loc[-1] == KEY and loc[-2] is part
            place = _Place((*place.parts, name), _bare(keys) if key_is_at_fault else _value_of(name, _bare(values)))
        elif get_origin(wanted) is tuple:
            place = _Place((*place.parts, name), _bare(get_args(wanted)[0]))
        else:
            break
    return place


def _value_of(key: str, values: Any) -> Any:
    """What a mapping has for a key; of a shape, which has both, either a size or the name of a distribution."""
    if set(_members(values)) != {int, str}:
        return values
    return str if key == NAMES_INPUTS else int


def _bare(annotation: Any) -> Any:
    return _bare(get_args(annotation)[0]) if get_origin(annotation) is Annotated else annotation


def _members(annotation: Any) -> tuple[Any, ...]:
    """The types that a value may have, None apart: a field is left out rather than null."""
    if get_origin(annotation) in (Union, types.UnionType):
        return tuple(_bare(member) for member in get_args(annotation) if member is not type(None))
    return (annotation,)


def _one_type(annotation: Any) -> Any:
    """The only type that a value may have, None where it is one of several."""
    members = _members(annotation)
    return members[0] if len(members) == 1 else None


def _tell(fault: ErrorDetails, place: _Place) -> str:
    found = fault["input"]
    if fault["type"] == "missing":
        message = f"is missing; {_describe(place.wanted)} is expected"
    elif fault["type"] in ("extra_forbidden", "invalid_key"):
        message = f"there is no such field{_found(found)}{_hint_of_fields(place)}"
    elif fault["type"] in _LIMITS:
        message = _LIMITS[fault["type"]](fault.get("ctx", {})) + _found(found, scalars_only=True)
    else:
        message = f"{_describe(place.wanted)} is expected{_found(found)}{_hint(place.wanted, found)}"
    return ": ".join(filter(None, (".".join(place.parts), message)))


def _describe(annotation: Any) -> str:
    """Say what a type wants, as the subject of "... is expected"."""
    return " or ".join(dict.fromkeys(map(_describe_member, _members(annotation))))


def _describe_member(wanted: Any) -> str:
    if get_origin(wanted) is Literal:
        return f"one of {', '.join(map(str, get_args(wanted)))}"
    if get_origin(wanted) is tuple:
        return "a list" if _is_scalar(get_args(wanted)[0]) else "a list of mappings"
    if get_origin(wanted) is dict:
        return "a mapping (name: value)"
    if wanted is datetime.datetime:
        return MOMENT
    if isinstance(wanted, type) and issubclass(wanted, BaseModel):
        return f"a mapping with {_list_fields(wanted)}"
    return _SCALARS.get(wanted, "another value")


def _list_fields(model: type[BaseModel]) -> str:
    """The fields of a model: those that it needs, then those that it may have."""
    needed = [name for name, field in model.model_fields.items() if field.is_required()]
    others = [name for name, field in model.model_fields.items() if not field.is_required()]
    perhaps = f"perhaps {', '.join(others)}" if others else ""
    return " and ".join(filter(None, (", ".join(needed), perhaps)))


def _found(value: object, *, scalars_only: bool = False) -> str:
    shown = next(_show(value), "")
    if not shown and not scalars_only:
        shown = "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else "another value"
    return f" (found {shown})" if shown else ""


def _show(value: object) -> Iterator[str]:
    """Show a scalar as YAML has it; nothing for a list or a mapping."""
    if value is None:
        yield "nothing"
    elif isinstance(value, str):
        yield repr(value[:SHOWN_CHARACTERS])
    elif isinstance(value, bool):
        yield "true" if value else "false"
    elif isinstance(value, float) and not math.isfinite(value):
        yield ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    elif isinstance(value, (int, float, datetime.date)):
        yield str(value)[:SHOWN_CHARACTERS]


def _hint(annotation: Any, found: object) -> str:
    """Say how to write what was probably meant; nothing where that is not clear."""
    shown, wanted = next(_show(found), None), _one_type(annotation)
    if found is None:
        return ""
    if get_origin(wanted) is Literal and isinstance(found, str):
        return hint_of_names(found, [str(value) for value in get_args(wanted)])
    if wanted is int:
        return hint_of_number(found)
    if get_origin(wanted) is tuple:
        one = shown is not None and _is_scalar(get_args(wanted)[0])
        return f": write [{_quote(found)}]" if one else ": begin each entry with `- `"
    return f': write it in quotes, "{shown}"' if wanted is str and shown is not None else ""


def _is_scalar(annotation: Any) -> bool:
    return all(wanted in _SCALARS or get_origin(wanted) is Literal for wanted in _members(_bare(annotation)))


def _quote(value: object) -> str:
    return str(value) if re.fullmatch(r"[\w./-]+", str(value)) else json.dumps(str(value))


def _hint_of_fields(place: _Place) -> str:
    fields = list(place.holder.model_fields) if place.holder else []
    return hint_of_names(place.parts[-1], fields) or f"; there are {', '.join(fields)}"


def hint_of_names(found: str, names: Sequence[str]) -> str:
    """Return ": did you mean NAME?" where one of some names is near, else nothing."""
    near = get_close_matches(found, names, n=1)
    return f": did you mean {near[0]}?" if near else ""


def hint_of_number(found: object) -> str:
    """Return ": write 100" where a whole number was written in a way that YAML takes for text ("1e2", "1,000")."""
    if not isinstance(found, str) or not _A_NUMBER.fullmatch(found.strip()):
        return ""
    value = float(re.sub("[, _]", "", found))
    return f": write {int(value)}" if value.is_integer() and abs(value) <= _MOST else ""


def _entries(count: int) -> str:
    return f"{count} entr{'y' if count == 1 else 'ies'}"
