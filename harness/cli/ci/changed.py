"""`harness ci changed`: the gate's first step."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.ci.log import Log, put_output, summarise
from harness.cli.ci.records_option import records_option
from harness.cli.output import print_json
from harness.engine.workspace import find_workspace
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.ci.event import PullRequest

BELIEVED = ("submissions", "problems", "shapes.yaml", ".github")
"""What is taken as it lies in the checkout, and must be the base's therefore."""


@click.command()
@click.option("--event", type=click.Path(path_type=Path), envvar="GITHUB_EVENT_PATH", help="The event's file.")
@click.option("--base", help="Elsewhere than on GitHub: the base branch's commit.")
@click.option("--head", help="Elsewhere than on GitHub: the pull request's commit.")
@click.option("--author", help="Elsewhere than on GitHub: the login of whoever asks.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Where report.json goes.")
@records_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(
    event: Path | None, base: str | None, head: str | None, author: str | None, out: Path, branch: str, as_json: bool
) -> int:
    """Say which submissions a pull request changes, and whether its author may.

    Runs in a fresh checkout of the base, with its history. The pull request is read as data; if nothing is wrong with
    it, its submissions are extracted on top of the checkout. Exits with 1 if it cannot be taken; every fault is told at
    once.
    """
    from harness.ci.annotations import list_marks
    from harness.ci.extract import extract
    from harness.ci.gate import inspect
    from harness.ci.git import expect_checkout, open_commits
    from harness.ci.held_names import load_held
    from harness.ci.markdown import plain_headline, render_markdown
    from harness.ci.paths import shown
    from harness.ci.people import find_author
    from harness.ci.report import encode_report, save_report

    root = find_workspace(Path.cwd()).root
    asked = _find_request(event, base, head, author)
    token = os.environ.get("GITHUB_TOKEN")
    commits = open_commits(root, asked.base, asked.head, token)
    expect_checkout(root, asked.base, BELIEVED)
    author_of = find_author(root, asked.author, asked.owner)
    proposal, report = inspect(commits, root, author_of, asked.head, load_held(root, branch, token))
    save_report(report, out)
    put_output("checks", str(len(report.checks)))
    if not report.checks:  # else the summary comes with the results
        summarise(render_markdown(report))
    if not report.faults:
        extract(commits, proposal, root)
    log = Log(quiet=as_json)
    log.say(plain_headline(report) if not report.checks else f"to check: {len(report.checks)}")
    log.mark(list_marks(report))
    for fault in report.standing:
        log.say(f"in the base already, and left alone: {shown(fault.path)}: {fault.message}")
    if as_json:
        print_json(encode_report(report))
    return 1 if report.faults else 0


def _find_request(event: Path | None, base: str | None, head: str | None, author: str | None) -> PullRequest:
    from harness.ci.event import PullRequest, load_event, pull_request

    if base and head and author:
        return PullRequest(author, "", base, head)
    if base or head or author:
        raise UsageError("--base, --head and --author go together: give all three, or none and an event")
    if event is None:
        raise UsageError("which pull request? Give --base, --head and --author, or --event (GitHub names the file)")
    return pull_request(load_event(event))
