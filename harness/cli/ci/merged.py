"""`harness ci merged`: what a merge, or an organiser, wants built and replayed."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.ci.log import Log, put_output
from harness.cli.output import print_json
from harness.engine.workspace import find_workspace
from harness.errors import UsageError


@click.command()
@click.option("--event", type=click.Path(path_type=Path), envvar="GITHUB_EVENT_PATH", help="The event of a push.")
@click.option("--submission", "names", multiple=True, help="TEAM/PROBLEM, with 'all' for either; instead of an event.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Where report.json goes.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(event: Path | None, names: tuple[str, ...], out: Path, as_json: bool) -> int:
    """Say which submissions a push to the main branch changed, for `harness ci run` to build.

    Runs in a checkout of what was pushed, with its history.
    """
    from harness.ci.event import load_event, push
    from harness.ci.gate import list_checks
    from harness.ci.git import GitCommits, has_commit, run_git
    from harness.ci.merged import merged_entries, named_entries, split_doubles
    from harness.ci.report import Report, encode_report, save_report

    root = find_workspace(Path.cwd()).root
    wanted = tuple(name for given in names for name in given.split())
    if wanted:
        entries = named_entries(wanted, root)
    elif event is not None:
        moved = push(load_event(event))
        if not has_commit(root, moved.before):
            raise UsageError(f"{moved.before[:12]} is not in this history: name what is to be built with --submission")
        entries = merged_entries(GitCommits(root, moved.before, moved.after).changes(), root)
    else:
        raise UsageError("which submissions? Give --submission, or --event (GitHub names the file)")
    entries, doubles = split_doubles(entries, root)
    head = run_git(root, "rev-parse", "HEAD").decode().strip()
    report = Report(head, list_checks(root, entries))
    save_report(report, out)
    put_output("checks", str(len(report.checks)))
    lines = [entry.path for entry in entries] or ["no submission is concerned"]
    lines += [f"refused: {entry.path}: {entry.team} has several folders for {entry.problem}" for entry in doubles]
    Log(quiet=as_json).say("\n".join(lines))
    if as_json:
        print_json(encode_report(report))
    return 0
