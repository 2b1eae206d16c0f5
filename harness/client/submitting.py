"""A submission's way through a service, as its team sees it: sent once, however often that takes, and followed.

Owns the order of things and the pace of asking. What is shown of it is the caller's business; what it may send (the
folder, refused before if a server would refuse it) is `submission`'s.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from typing import Any

from harness.client.answers import (
    DONE,
    Finished,
    Sketch,
    State,
    Who,
    read,
    read_id,
    read_list,
    read_record,
    read_ruling,
)
from harness.client.connection import Connection
from harness.client.errors import AnswerError, RefusalError, UnavailableError
from harness.client.pending import Pending
from harness.errors import HarnessError, UsageError
from harness.store.record import Record, encode_record
from harness.store.store import Previous
from harness.submission import Submission

FORMAT = 1
LEAST_POLL_S, MOST_POLL_S = 1.0, 30.0
SLOWER = 1.5
PATIENCE_S = 600.0
"""How long a service may be out of reach while one waits for it."""

LOOKED_AT = 100
COMPARED = 8  # of the fastest of those: the first of the same setting is the best
"""As many of a team's earlier records are looked at for its best."""

Watcher = Callable[[State], None]


def find_team(connection: Connection, wanted: str | None) -> str:
    """Return the team that the token is of.

    Args:
        connection: with a token.
        wanted: the team that was asked for, None for whichever it is.

    Raises:
        UsageError: it is an organiser's, or another team's than the one asked for.
        HarnessError: the service does not say.
    """
    who = read(Who, connection.get("/whoami", tries=2))
    place = connection.token.place if connection.token else ""
    if not who.team:
        raise UsageError(f"the token of {place} is an organiser's, who submits nothing: use a team's")
    if wanted not in (None, who.team):
        told = f"the token of {place} is of team {who.team}, and you ask for {wanted}"
        raise UsageError(f"{told}: leave --team out, or use that team's token")
    return who.team


def pack(submission: Submission, **named: str) -> dict[str, Any]:
    """Return what is sent of a submission.

    Args:
        submission: as it lies on the disk.
        named: problem, problem_version, target, division and suite; empty ones are left to the service.
    """
    files = {name: base64.b64encode(content).decode() for name, content in submission.files}
    return {"format": FORMAT, **{name: value for name, value in named.items() if value}, "files": files}


def send(connection: Connection, pending: Pending) -> State:
    """Send a submission, or ask for it if the service has it.

    Raises:
        HarnessError: it was refused, or the service cannot be reached.
    """
    if pending.submission:
        return ask(connection, pending.submission)
    headers = {"Idempotency-Key": pending.key}
    state = read(State, connection.post("/submissions", pending.document, headers=headers))
    read_id(state.id)
    return state


def ask(connection: Connection, submission: str, *, tries: int = 5) -> State:
    """Return how far a submission is."""
    return read(State, connection.get(f"/submissions/{read_id(submission)}", tries=tries))


def follow(
    connection: Connection,
    state: State,
    watch: Watcher,
    trouble: Callable[[str], None],
    *,
    patience_s: float = PATIENCE_S,
) -> State:
    """Ask how far a submission is until it is done.

    It asks as often as the service wishes, and less often while nothing changes.

    Args:
        connection: to the service.
        state: from `send`.
        watch: is told every state.
        trouble: is told that the service is out of reach for now.
        patience_s: for how long it may be.

    Raises:
        HarnessError: the service was out of reach for too long, or does not know it any more.
    """
    wait_s, reached_s = 0.0, time.monotonic()
    while True:
        watch(state)
        if state.state == DONE:
            return state
        wait_s = min(max(state.poll_after_s, SLOWER * wait_s, LEAST_POLL_S), MOST_POLL_S)
        connection.sleep(wait_s)
        try:
            fresh = ask(connection, state.id, tries=1)
        except UnavailableError as error:
            if not error.passing or time.monotonic() - reached_s > patience_s:
                raise
            trouble(str(error))
            continue
        reached_s = time.monotonic()
        if (fresh.state, fresh.stage, fresh.position, fresh.progress) != (
            state.state, state.stage, state.position, state.progress,
        ):  # fmt: skip
            wait_s = 0.0
        state = fresh


def fetch_record(connection: Connection, record_id: str) -> Record:
    """Return the record of a submission that is done, as `fetch_finished` does."""
    return fetch_finished(connection, record_id).record


def fetch_finished(connection: Connection, record_id: str) -> Finished:
    """Return the record of a submission that is done, and what organisers have ruled of it.

    Raises:
        AnswerError: what comes is another one, or none.
        HarnessError: it does not come.
    """
    document = connection.get(f"/records/{read_id(record_id)}")
    record = read_record(document)
    if record.id != record_id:
        raise AnswerError(f"{connection.address.name} answers with another record than {record_id}: try again")
    return Finished(record, read_ruling(document))


def fetch_previous(connection: Connection, record: Record) -> Previous:
    """Return the team's earlier records on a record's board; none where the service does not give them."""
    board = {name: getattr(record, name) for name in ("team", "problem", "target", "division")}
    try:
        found = connection.get("/records", **board, before=record.id, limit=LOOKED_AT)
        earlier = [item for item in read_list(Sketch, found) if item.state == "finished"]
        timed = [item for item in earlier if item.verdict == "PASSED" and item.score_us]
        fastest = sorted(timed, key=lambda item: item.score_us or 0.0)[:COMPARED]
        last = fetch_record(connection, earlier[0].id) if earlier else None
        candidates = (fetch_record(connection, item.id) for item in fastest)
        best = next((other for other in candidates if _is_comparable(other, record)), None)
    except HarnessError:
        return Previous(None, None)
    return Previous(last, best)


def _is_comparable(other: Record, record: Record) -> bool:
    return other.setting == record.setting and other.whole_suite


def post_record(connection: Connection, record: Record) -> tuple[str, str | None]:
    """Send a record that was made here: it is listed, never ranked.

    Returns:
        The name that the service gives it, and why organisers have ruled its program out, None if they have not.

    Raises:
        HarnessError: it is refused, or the service cannot be reached.
    """
    answer = connection.post("/records", encode_record(record))
    name = answer.get("id") if isinstance(answer, dict) else None
    return read_id(name if isinstance(name, str) else ""), read_ruling(answer)


def is_gone(error: HarnessError) -> bool:
    """Say whether an error ends a submission: refused for good (another token may still bring it through)."""
    return isinstance(error, RefusalError) and error.status != 401
