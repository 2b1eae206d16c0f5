"""The way through a service: `harness submit --to URL`, `--resume` and `--post`."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.output import print_json, print_renderable
from harness.cli.request import Options, find_named, named_targets
from harness.engine.workspace import Workspace, find_workspace
from harness.errors import HarnessError, UsageError

if TYPE_CHECKING:
    from harness.client.answers import Finished, State
    from harness.client.connection import Connection
    from harness.client.pending import Pending, PendingFolder
    from harness.store import Record

INTERRUPTED = 130
RESUME = "harness submit --resume"


def open_connection(url: str) -> Connection:
    """Return a connection to a service, with the token that is kept for it.

    Raises:
        UsageError: the address is none, or there is no token.
    """
    from harness.client.address import parse_address
    from harness.client.connection import Connection
    from harness.client.tokens import find_token

    address = parse_address(url)
    return Connection(address, find_token(address))


def name_team(connection: Connection, options: Options) -> Options:
    """Return the options with the team that the token is of."""
    from harness.client.submitting import find_team

    return dataclasses.replace(options, team=find_team(connection, options.team))


def submit_to(url: str, options: Options) -> int:
    """Send a submission to a service and follow it to its report; return the exit code."""
    if options.cases or options.portable:
        raise UsageError("--case and --portable are for this machine: a service evaluates all cases, as they stand")
    connection = open_connection(url)
    workspace = find_workspace(Path.cwd())
    pending = _prepare(connection, workspace, name_team(connection, options))
    return _run(connection, workspace, pending, options.as_json, debug=options.debug)


def resume(options: Options | None, *, as_json: bool, debug: bool) -> int:
    """Go on with the newest submission that has not ended, of one problem if the options name one."""
    from harness.client.pending import PendingFolder

    workspace = find_workspace(Path.cwd())
    waiting = PendingFolder(workspace.state).list()
    if options is not None:
        from harness.spec import find_problem

        problem = find_problem(workspace.root, options.problem).name
        waiting = [pending for pending in waiting if pending.problem == problem]
    if not waiting:
        raise UsageError("no submission is under way: harness submit PROBLEM --to URL begins one")
    if len(waiting) > 1:
        print(f"note: {len(waiting)} submissions are under way; this is the newest, the others come after it: "
              f"{RESUME}", file=sys.stderr)  # fmt: skip
    pending = waiting[0]
    return _run(open_connection(pending.url), workspace, pending, as_json, debug=debug)


def send_record(connection: Connection, record: Record) -> None:
    """Send a record that was made here to a service, and tell what it is there."""
    from harness.client.submitting import post_record

    name, ruling = post_record(connection, record)
    where = f"{connection.address.url}/records/{name}"
    print(f"posted as {name}: listed as unverified, never ranked   {where}", file=sys.stderr)
    if ruling is not None:
        print(f"note: the organisers have ruled this out there: {ruling}", file=sys.stderr)


def _prepare(connection: Connection, workspace: Workspace, options: Options) -> Pending:
    from harness.client.pending import Pending, new_key
    from harness.client.submitting import pack
    from harness.spec import find_problem, load_season
    from harness.target import load_target

    problem = find_problem(workspace.root, options.problem)
    submission = find_named(options, workspace, problem)
    season = load_season(workspace.root)
    targets = [load_target(options.target).name] if options.target else named_targets(season, submission)
    document = pack(
        submission,
        problem=problem.name,
        problem_version=problem.version,
        target=targets[0] if targets else "",
        division=options.division or "",
        suite=options.suite,
    )
    return Pending(new_key(), connection.address.url, problem.name, document=document)


def _run(connection: Connection, workspace: Workspace, pending: Pending, as_json: bool, *, debug: bool) -> int:
    """Send or find a submission, follow it, show its report; what stops this does not stop the submission."""
    from harness.client.pending import PendingFolder
    from harness.client.submitting import is_gone
    from harness.verdict import Kind

    folder = PendingFolder(workspace.state)
    try:
        finished = _follow(connection, folder, pending, quiet=as_json)
        if as_json:
            from harness.store import encode_record

            print_json({**encode_record(finished.record), "disqualified": finished.ruling})
        else:
            _report(connection, finished, debug=debug)
    except KeyboardInterrupt:
        print(f"\nstopped watching; the service goes on with it. To see what becomes of it: {RESUME}", file=sys.stderr)
        return INTERRUPTED
    except HarnessError as error:
        if is_gone(error):
            folder.forget(pending)
        else:
            print(f"note: nothing is lost: {RESUME} goes on with this submission", file=sys.stderr)
        raise
    folder.forget(pending)
    return Kind(finished.record.kind).exit_code


def _follow(connection: Connection, folder: PendingFolder, pending: Pending, *, quiet: bool) -> Finished:
    from harness.cli.progress import show_progress
    from harness.client.narrating import Narrator
    from harness.client.submitting import fetch_finished, follow, send

    folder.save(pending)  # before anything is sent: whatever happens from here on, it can be gone on with
    state = send(connection, pending)
    folder.save(pending.acknowledged(state.id))
    _tell_begin(connection, state, quiet=quiet)
    with show_progress(quiet=quiet) as listener:
        state = follow(connection, state, Narrator(listener).watch, _trouble(quiet=quiet))
    return fetch_finished(connection, state.id)


def _tell_begin(connection: Connection, state: State, *, quiet: bool) -> None:
    if not quiet:
        where = f"{state.problem} · {state.target} · {state.division} · {state.team}"
        print(f"{connection.address.name} has it: {where} · {state.id}", file=sys.stderr)


def _trouble(*, quiet: bool) -> Callable[[str], None]:
    told: set[str] = set()

    def tell(text: str) -> None:
        if not quiet and text not in told:
            print(f"note: {text}. The submission goes on; this asks again", file=sys.stderr)
        told.add(text)

    return tell


def _report(connection: Connection, finished: Finished, *, debug: bool) -> None:
    from harness.cli.report import compose_report, render_ruling, render_standing
    from harness.client.boards import fetch_board
    from harness.client.submitting import fetch_previous

    record, standing = finished.record, None
    if finished.ruling is not None:
        standing = render_ruling(record, finished.ruling)
    elif record.accepted:
        try:
            board, _ = fetch_board(connection, record.problem, record.target, record.division)
        except HarnessError as error:
            print(f"note: the board could not be read: {error}", file=sys.stderr)
        else:
            place = next((row for row in board.ranked if row.team == record.team), None)
            apart = (*board.unranked, *board.other_settings)
            kept = place is not None or any(row.team == record.team for row in apart)
            shown = any(row.record == record.id for row in apart)
            standing = render_standing(record, place, len(board.ranked), replaced=kept and not shown)
    more = f"{connection.address.url}/records/{record.id}"
    previous = fetch_previous(connection, record)
    print_renderable(*compose_report(record, previous, standing, more=more, whole=more, debug=debug))
