"""`harness ci publish`: the last step after a merge."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.ci.log import Log, summarise
from harness.cli.ci.records_option import records_option
from harness.cli.output import print_json
from harness.engine.workspace import find_workspace
from harness.errors import HarnessError, UsageError
from harness.verdict import Kind

if TYPE_CHECKING:
    from harness.ci.report import Report
    from harness.store import Record

_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.option("--merged", type=_FOLDER, required=True, help="Where `harness ci merged` wrote, in this very job.")
@click.option("--built", type=_FOLDER, help="What the build's job left.")
@click.option("--replayed", type=_FOLDER, help="What the GPUs' jobs left: JSON files, in folders or not.")
@records_option
@click.option("--json", "as_json", is_flag=True, help="Print what was filed as JSON.")
def command(merged: Path, built: Path | None, replayed: Path | None, branch: str, as_json: bool) -> int:
    """File the records of a build and of its replays, and who holds the names of their teams.

    Runs in a checkout of what was merged. What the other jobs left is read as hostile: a record that is not of a merged
    submission is refused and told, the others are filed. A merge that has nothing built leaves nothing, and needs no
    --built. The branch is pushed with GITHUB_TOKEN.
    """
    from harness.ci.markdown import code
    from harness.ci.records_branch import add_records
    from harness.ci.report import load_report

    root, log = find_workspace(Path.cwd()).root, Log(quiet=as_json)
    wanted = load_report(merged)
    if wanted.checks and built is None:
        raise UsageError(f"--built is needed: {len(wanted.checks)} checks were wanted")
    filed, refused = _file(wanted, load_report(built), replayed, root) if wanted.checks and built else ([], [])
    records = add_records(root, branch, filed, os.environ.get("GITHUB_TOKEN"))
    lines = [f"filed: {r.team}/{r.problem} {r.target}: {r.kind}{'' if r.ranked else ', not ranked'}" for r in filed]
    lines += [f"refused: {why}" for why in refused]
    log.say("\n".join([*lines, f"{len(records)} records on the branch {branch}"]))
    summarise("".join(f"- {code(line)}\n" for line in lines))
    if as_json:
        print_json({"filed": [record.id for record in filed], "refused": refused, "records": len(records)})
    return 0


def _file(merged: Report, built: Report, replayed: Path | None, root: Path) -> tuple[list[Record], list[str]]:
    """Return the records to be filed, and why others are not."""
    from harness.ci.filing import MAX_RECORD_BYTES, file_build, file_replay

    checked: list[Record] = []
    replays: list[Record] = []
    refused: list[str] = []
    for record in built.records:
        if record.kind == Kind.HARNESS_ERROR.value:
            continue  # nobody's verdict
        try:
            checked.append(file_build(record, merged.checks, root))
        except HarnessError as error:
            refused.append(str(error))
    for path in sorted(replayed.rglob("*.json")) if replayed is not None and replayed.is_dir() else ():
        try:
            with path.open("rb") as file:
                replays.append(file_replay(file.read(MAX_RECORD_BYTES + 1), checked, merged.checks, root))
        except HarnessError as error:
            refused.append(str(error))
    return [*checked, *replays], refused
