"""`harness replay`: check and time an artifact on this machine's GPU."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click

from harness.cli.output import print_json, print_renderable

NOT_RECORDED = "a replay by itself is not recorded"


@click.command()
@click.argument("artifact")
@click.option("--case", "cases", multiple=True, help="Only these cases: an id, a shape, a role, or a glob.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the report.")
def command(artifact: str, cases: tuple[str, ...], as_json: bool) -> int:
    """Replay ARTIFACT on this machine's GPU: a folder, an artifact's key, or a record.

    Every case is checked, every benchmark timed, with no submitted Python in the process. Nothing is recorded.
    """
    from harness.board.show import render_record
    from harness.cli.progress import show_progress
    from harness.engine.replaying import find_artifact, run_replay
    from harness.engine.workspace import find_workspace
    from harness.spec import load_season
    from harness.store import NO_ID, encode_record, open_store
    from harness.verdict import Kind

    workspace = find_workspace(Path.cwd())
    season = load_season(workspace.root)
    found = find_artifact(workspace, artifact, open_store(workspace.database))
    with show_progress(quiet=as_json) as listener:
        record = run_replay(found, workspace, season, cases, listener)
    if record.accepted:
        record = dataclasses.replace(record, unranked_reason=record.unranked_reason or NOT_RECORDED)
    if as_json:
        print_json(encode_record(record))
    else:
        print_renderable(render_record(dataclasses.replace(record, id=NO_ID)))  # it is not recorded
    return Kind(record.kind).exit_code
