"""The ways in which a replay can end early. Each becomes the `status` of a response."""

from __future__ import annotations

from typing import Any


class Fault(Exception):  # noqa: N818 -- the word of the protocol
    """The plan or a kernel did something wrong. `where` says what and where, in fields for a report."""

    status = "fault"

    def __init__(self, reason: str, where: dict[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.where = where or {}


class OutOfBounds(Fault):
    """A kernel touched memory outside the tensor that its pointer came from."""

    status = "out_of_bounds"


class Unsupported(Fault):
    """The interpreter cannot run this: no statement about the kernel follows."""

    status = "unsupported"


class TimeLimit(Fault):
    """The request's time limit was reached; without words, whoever set it says so."""

    status = "timeout"


BY_STATUS: dict[str, type[Fault]] = {kind.status: kind for kind in (Fault, OutOfBounds, Unsupported, TimeLimit)}
