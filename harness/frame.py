"""One line of a submission's own traceback, as every stage hands it on: the tracer's process, verdicts, records."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    """Where the submission was: a line of it, in which function, and its text; the text is other people's."""

    line: int
    function: str
    text: str
