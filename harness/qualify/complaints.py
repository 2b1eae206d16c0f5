"""What is wrong with a problem's functions, each thing once, however many distributions and shapes show it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.replay.inputs import Request

_NUMBER = re.compile(r"(?<![\w.])-?\d+(\.\d+)?(e[+-]?\d+)?")  # not those in names
_LINE = re.compile(r" at line \d+")


class Complaints:
    """Faults as they are found; those that differ in their numbers alone are one, unless other lines are to blame."""

    def __init__(self) -> None:
        """Begin with none."""
        self._found: dict[tuple[str, ...], list[tuple[str, Request | None]]] = {}

    def add(self, text: str, request: Request | None = None) -> None:
        """Take a fault, and the inputs that show it, if that takes any."""
        key = (_NUMBER.sub("#", text), *_LINE.findall(text)) if request else (text,)
        self._found.setdefault(key, []).append((text, request))

    def told(self) -> list[str]:
        """Return every fault, with the distributions and the first shape that show it, in the order of discovery."""
        return [_tell(found) for found in self._found.values()]


def _tell(found: Sequence[tuple[str, Request | None]]) -> str:
    text, first = found[0]
    if first is None:
        return text
    requests = [request for _, request in found if request is not None]
    names = list(dict.fromkeys(request.distribution for request in requests))
    shapes = len({request.shape for request in requests}) - 1
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    word = "distribution" if len(names) == 1 else "distributions"
    more = f" and {shapes} other shape{'s' * (shapes > 1)}" if shapes else ""
    return f"{text} ({word} {listed}, {describe_shape(first)}{more})"


def describe_shape(request: Request) -> str:
    """Return a shape as M=4, N=8."""
    return ", ".join(f"{axis}={size}" for axis, size in request.shape)
