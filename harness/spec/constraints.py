"""What a field's value must be beyond its type, each with the words for whoever wrote another. Pure."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import TypeVar

from pydantic import AfterValidator

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


EACH_ONCE = AfterValidator(_check_each_once)
"""Take a list in which nothing stands twice."""
