"""`harness submit`: the main job."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from harness.cli.output import print_json, print_renderable
from harness.cli.request import Options, build_options, resolve
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.client.connection import Connection


@click.command()
@click.argument("problem", required=False)
@build_options
@click.option("--full", is_flag=True, help="Check benchmarks by all their programs, not a sample.")
@click.option("--to", "url", help="Send it to this leaderboard service, which evaluates it; as the team of your token.")
@click.option("--resume", is_flag=True, help="Go on with the newest submission to a service that has not ended.")
@click.option("--post", is_flag=True, help="With --to: run it here and send the record; listed as unverified.")
def command(problem: str | None, full: bool, url: str | None, resume: bool, post: bool, **values: Any) -> int:
    """Check, compile and judge the submission for PROBLEM, and record it.

    It is traced, compiled for the target and checked on the CPU: CHECKED, not ranked. Where this machine has a GPU of
    the target it is replayed there, too: PASSED with a score, and ranked if the season ranks it. With --to a
    leaderboard service does all this, and the report is the same.
    """
    if problem is None and not resume:
        raise click.MissingParameter(param_type="argument", param_hint="'PROBLEM'")
    options = Options(problem=problem or "", **values)
    _check_ways(full=full, url=url, resume=resume, post=post)
    if resume or (url is not None and not post):
        from harness.cli import submit_to

        if url is None:
            return submit_to.resume(options if problem else None, as_json=options.as_json, debug=options.debug)
        return submit_to.submit_to(url, options)
    return _run_here(options, url, full=full)


def _check_ways(*, full: bool, url: str | None, resume: bool, post: bool) -> None:
    if resume and (url is not None or post):
        raise UsageError("--resume goes on with what was sent before, to where it was sent: leave --to and --post out")
    if post and url is None:
        raise UsageError("--post needs --to: say which service the record is for")
    if full and not post and (resume or url is not None):
        raise UsageError("--full is for this machine: a service decides itself how it checks")


def _run_here(options: Options, url: str | None, *, full: bool) -> int:
    """Run it on this machine; send the record to a service if there is one."""
    connection: Connection | None = None
    if url is not None:
        from harness.cli.submit_to import name_team, open_connection

        connection = open_connection(url)
        options = name_team(connection, options)  # what is wrong with the token is told before the work
    workspace, request = resolve(options)
    from harness.cli.progress import show_progress
    from harness.cli.report import render_report
    from harness.engine.gpu_node import find_node
    from harness.engine.submit import run_submit
    from harness.store import encode_record, open_store
    from harness.verdict import Kind

    store = open_store(workspace.database)
    for lost in store.recover():
        print(f"note: record {lost.id} ({lost.team}, {lost.problem}) was interrupted: submit again", file=sys.stderr)
    node = find_node(request.target, workspace.state)
    with show_progress(quiet=options.as_json) as listener:
        submitted = run_submit(request, workspace, store, listener, full=full, node=node)
    record = submitted.record
    if options.as_json:
        print_json(encode_record(record))
    else:
        print_renderable(*render_report(record, store, debug=options.debug))
    if connection is not None:
        from harness.cli.submit_to import send_record

        send_record(connection, record)
    return Kind(record.kind).exit_code
