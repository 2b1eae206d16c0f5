"""`harness ci run`: the gate's second step, and a rebuild after a merge."""

from __future__ import annotations

import contextlib
import io
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.ci.log import Log, summarise
from harness.cli.output import print_json
from harness.cli.request import Options, resolve
from harness.errors import HarnessError, UsageError

if TYPE_CHECKING:
    from harness.ci.report import Check, Report
    from harness.store import Record


@click.command()
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Where report.json lies.")
@click.option("--lenient", is_flag=True, help="Exit with 0 though a submission falls short, or we do.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(out: Path, lenient: bool, as_json: bool) -> int:
    """Check, compile and judge every submission that `harness ci changed` or `harness ci merged` found.

    What was built is put beside report.json. A check that cannot be done is told, and the others are done all the same.
    Exits with 1 if a submission falls short, and with 3 if we do.
    """
    from harness.ci.annotations import list_marks
    from harness.ci.markdown import plain_headline, render_markdown, terminal_text
    from harness.ci.report import REPORT, encode_report, load_report, save_report

    if not (out / REPORT).exists():
        raise UsageError(
            f"{out} has no {REPORT}: run `harness ci changed --out {out}` first, or after a merge `harness ci merged`"
        )
    report, log = load_report(out), Log(quiet=as_json)
    if report.faults:
        raise UsageError("the pull request has faults: nothing is run")
    failed: list[HarnessError] = []
    for check in report.checks:
        log.say(f"\n{check.team}/{check.problem} for {check.target}")
        try:
            record = _run(check, out, log)
        except HarnessError as error:
            log.say(f"not done: {error}")
            failed.append(error)
            continue
        others = (other for other in report.records if not check.asks_for(other))  # of a run before this one, too
        report = replace(report, records=(*others, record))
        save_report(report, out)  # after each: a job that is stopped has told what was done
        log.say(terminal_text(record))
    summarise(render_markdown(report))
    log.mark(list_marks(report))
    log.say(plain_headline(report))
    if as_json:
        print_json(encode_report(report))
    return 0 if lenient else _exit_code(report, failed)


def _exit_code(report: Report, failed: Sequence[HarnessError]) -> int:
    """Return what a gate ends with: our own failures come first, for a submission may fall short by them."""
    if report.ours:
        return HarnessError.exit_code
    if failed:
        return failed[0].exit_code
    return 0 if report.good else 1


def _run(check: Check, out: Path, log: Log) -> Record:
    """Run one check, and keep what it built."""
    from harness.engine.submit import run_submit
    from harness.store import open_store

    notes = io.StringIO()
    with contextlib.redirect_stderr(notes):  # it quotes the submission: the log takes it through `say` only
        workspace, request = resolve(Options(check.problem, check.team, target=check.target))
    if notes.getvalue():
        log.say(notes.getvalue().rstrip())
    with contextlib.closing(open_store(workspace.database)) as store:
        submitted = run_submit(request, workspace, store, log.hear, full=False)
    artifact = submitted.artifact
    if artifact is not None and submitted.record.accepted:
        key = artifact.manifest.key
        shutil.copytree(workspace.artifacts / key, out / "artifacts" / key, dirs_exist_ok=True)
    return submitted.record
