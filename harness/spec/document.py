"""Reading a YAML document into a pydantic model, with errors that a person can act on."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from harness.errors import SpecError
from harness.spec.wording import tell_faults
from harness.spec.yaml_wording import tell_yaml

Model = TypeVar("Model", bound=BaseModel)


class Strict(BaseModel):
    """A frozen model that refuses unknown fields, for a misspelt key must not pass in silence, and infinite numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


_UNTAKEN = frozenset(f"tag:yaml.org,2002:{name}" for name in ("set", "omap", "pairs", "binary"))
_MISFITS = (ValueError, AttributeError, IndexError, KeyError, TypeError)  # of PyYAML, where a value is not of its tag


class _UniqueKeys(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # libyaml's where it is
    """YAML lets a key stand twice and keeps the last; an organiser's typo should not win that way."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for index, key in enumerate(keys):
            if key in keys[:index]:
                mark = node.value[index][0].start_mark
                raise yaml.constructor.ConstructorError(None, None, f"key {key!r} stands twice, again", mark)
        mapping: dict[object, object] = super().construct_mapping(node, deep)
        return mapping

    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:
        if node.tag in _UNTAKEN:
            told = f"{node.tag.rpartition(':')[2]} is not taken: write text, numbers, lists and mappings"
            raise yaml.constructor.ConstructorError(None, None, told, node.start_mark)
        try:
            return super().construct_object(node, deep=deep)
        except _MISFITS as error:  # what looks like a date or a number, or is tagged as one, and is none
            why = error if isinstance(error, ValueError) else f"this is no {node.tag.rpartition(':')[2]}"
            told = f"{str(node.value)[:60]}: {why}"
            raise yaml.constructor.ConstructorError(None, None, told, node.start_mark) from None


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
        raise SpecError(f"{path}: not valid YAML: {tell_yaml(error, text)}") from None
    except (RecursionError, ValueError):
        raise SpecError(f"{path}: not valid YAML: nested too deeply, or with characters that are none") from None
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise SpecError("\n".join(f"{path}: {fault}" for fault in tell_faults(error.errors(), model))) from None
