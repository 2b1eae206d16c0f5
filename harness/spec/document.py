"""Reading a YAML document into a pydantic model, with errors that a person can act on."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from harness.errors import SpecError

Model = TypeVar("Model", bound=BaseModel)


class Strict(BaseModel):
    """A frozen model that refuses unknown fields, for a misspelt key must not pass in silence, and infinite numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class _UniqueKeys(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # libyaml's where it is
    """YAML lets a key stand twice and keeps the last; an organiser's typo should not win that way."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for index, key in enumerate(keys):
            if key in keys[:index]:
                raise yaml.constructor.ConstructorError(None, None, f"key {key!r} stands twice", node.start_mark)
        mapping: dict[object, object] = super().construct_mapping(node, deep)
        return mapping


def load_document(path: Path, model: type[Model]) -> Model:
    """Read a YAML file into `model`.

    Raises:
        SpecError: as `parse_document`, or the file cannot be read as text.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SpecError(f"{path}: no such file") from None
    except UnicodeDecodeError:
        raise SpecError(f"{path}: not UTF-8 text") from None
    return parse_document(text, path, model)


def parse_document(text: str, path: Path | str, model: type[Model]) -> Model:
    """Read a YAML text into `model`.

    Args:
        text: of anybody; how much of it is taken is the caller's to limit.
        path: what errors call it.
        model: the form.

    Raises:
        SpecError: every fault, one a line: file, place in the document, what was expected, what stood there.
    """
    try:
        content = yaml.load(text, Loader=_UniqueKeys)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        raise SpecError(f"{path}: not valid YAML: {_tell_yaml(error)}") from None
    except (RecursionError, ValueError):  # nested beyond reason; a date that is none
        raise SpecError(f"{path}: not valid YAML") from None
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise SpecError("\n".join(_tell(path, fault) for fault in error.errors())) from None


def _tell_yaml(error: yaml.YAMLError) -> str:
    """Say what is wrong and where, in one line; the file is named before it."""
    return " ".join(str(error).split()).replace('in "<unicode string>", line', "at line")


def _tell(path: Path | str, fault: ErrorDetails) -> str:
    place = "".join(f"{part}." for part in fault["loc"]).rstrip(".")
    message = fault["msg"].removeprefix("Value error, ")
    if isinstance(fault["input"], (str, int, float)):
        message += f" (found {str(fault['input'])[:60]!r})"
    return f"{path}: {place}: {message}" if place else f"{path}: {message}"
