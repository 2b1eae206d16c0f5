"""A violation: what was done, where, and what to do instead."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Violation:
    """One thing that a division does not allow.

    Attributes:
        reason: reason code of the verdict.
        message: names the operation and says what to do.
        line: line in submission.py, 0 if unknown.
    """

    reason: str
    message: str
    line: int = 0
