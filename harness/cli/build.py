"""`harness build`: compile only."""

from __future__ import annotations

from typing import Any

import click

from harness.cli.output import print_json, print_renderable
from harness.cli.request import Options, resolve, submission_options


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
    from harness.engine.report import report_build, report_kernels, report_verdict
    from harness.store.codec import encode
    from harness.verdict import Verdict

    with show_progress(quiet=options.as_json) as listener:
        built = run_build(request, workspace, listener)
    if isinstance(built, Verdict):
        verdict = report_verdict(built)
        if options.as_json:
            print_json({"verdict": encode(verdict)})
        else:
            print_renderable(*render_build(verdict, None, (), None))
        return built.kind.exit_code
    folder = workspace.artifacts / built.artifact.manifest.key
    build = report_build(built.artifact, request.season.budgets.compile_cpu_s)
    kernels = report_kernels(built.artifact, request.target, built.cached)
    if options.as_json:
        print_json({"artifact": str(folder), "build": encode(build), "kernels": [encode(k) for k in kernels]})
    else:
        print_renderable(*render_build(None, build, kernels, folder))
    return 0
