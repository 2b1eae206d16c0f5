"""`harness submit`: the main job."""

from __future__ import annotations

import sys
from typing import Any

import click

from harness.cli.output import print_json, print_renderable
from harness.cli.request import Options, resolve, submission_options


@click.command()
@submission_options
@click.option("--full", is_flag=True, help="Check benchmarks by all their programs, not a sample.")
def command(full: bool, **values: Any) -> int:
    """Check, compile and judge the submission for PROBLEM, and record it.

    It is traced, compiled for the target and checked on the CPU: CHECKED, not ranked. Where this machine has a GPU of
    the target it is replayed there, too: PASSED with a score, and ranked if the season ranks it.
    """
    options = Options(**values)
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
    return Kind(record.kind).exit_code
