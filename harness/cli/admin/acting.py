"""What every verb of `harness admin` that acts ends with: a line for people, or its act as the log has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.cli.output import print_json

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from harness.service.acts import Act


def act_document(act: Act) -> dict[str, Any]:
    """Return an act as JSON values."""
    return {**vars(act), "details": dict(act.details)}


def find_logged(connection: Connection, act: str, subject: str) -> Act:
    """Return the act that was just logged, in its own transaction."""
    from harness.service.acts import newest_act

    logged = newest_act(connection, act, subject)
    assert logged is not None
    return logged


def tell_act(act: Act, told: str, *, as_json: bool) -> int:
    """Print what was done, once it is on the disk; return the exit code."""
    if as_json:
        print_json(act_document(act))
    else:
        print(told)
    return 0
