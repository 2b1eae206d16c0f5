"""`harness build`: compile only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from harness.cli.output import print_json, print_renderable
from harness.cli.request import Options, resolve, submission_options

if TYPE_CHECKING:
    from harness.engine.request import BuildRequest
    from harness.verdict import Verdict


@click.command()
@submission_options
def command(**values: Any) -> int:
    """Compile the submission for PROBLEM, without checking or recording it.

    Prints the compile report and the artifact's folder.
    """
    options = Options(**values)
    workspace, request = resolve(options)
    from harness.cli.progress import show_progress
    from harness.cli.report import render_build
    from harness.engine.build import run_build
    from harness.engine.report import report_build, report_kernels
    from harness.store.codec import encode
    from harness.verdict import Verdict

    with show_progress(quiet=options.as_json) as listener:
        built = run_build(request, workspace, listener)
    if isinstance(built, Verdict):
        return end_failed_build(request, built, as_json=options.as_json)
    folder = built.artifact.stored_in
    build = report_build(built.artifact, request.season.budgets.compile_cpu_s)
    kernels = report_kernels(built.artifact, request.target, built.cached)
    if options.as_json:
        print_json({"artifact": str(folder), "build": encode(build), "kernels": [encode(k) for k in kernels]})
    else:
        print_renderable(*render_build(build, kernels, folder))
    return 0


def end_failed_build(request: BuildRequest, verdict: Verdict, *, as_json: bool) -> int:
    """Print the report of a build that failed, as `harness submit` does; return the exit code."""
    from harness.board.show import render_record
    from harness.engine.recording import describe_failure
    from harness.store import encode_record

    record = describe_failure(request, verdict)
    if as_json:
        print_json(encode_record(record))
    else:
        print_renderable(render_record(record, environment=False))
    return verdict.kind.exit_code
