"""What a field's value must be beyond its type, each with the words for whoever wrote another. Pure."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import TypeVar

from pydantic import AfterValidator, BeforeValidator
from pydantic_core import PydanticCustomError

Values = TypeVar("Values", bound=Sequence[Hashable])


def matching(pattern: str, told: str) -> AfterValidator:
    """Take text that a pattern matches as a whole.

    Args:
        pattern: a regular expression.
        told: what such a text is, as a sentence.
    """
    compiled = re.compile(pattern)

    def check(text: str) -> str:
        if not compiled.fullmatch(text):
            raise ValueError(told)
        return text

    return AfterValidator(check)


def _check_each_once(values: Values) -> Values:
    twice = next((value for number, value in enumerate(values) if value in values[:number]), None)
    if twice is not None:
        raise ValueError(f"{twice} stands twice: name it once")
    return values


def _check_no_truth(value: object) -> object:
    if isinstance(value, bool):
        raise PydanticCustomError("no_number", "true and false are no numbers")
    return value


NO_TRUTH = BeforeValidator(_check_no_truth)
"""Take no true or false for a number: YAML has them for yes, no, on and off, and pydantic makes 1 and 0 of them."""

EACH_ONCE = AfterValidator(_check_each_once)
"""Take a list in which nothing stands twice."""
