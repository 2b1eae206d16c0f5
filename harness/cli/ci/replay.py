"""`harness ci replay`: the step on a GPU machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.ci.log import Log
from harness.cli.output import print_json
from harness.engine.workspace import find_workspace
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.store import Record

_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.option("--built", type=_FOLDER, required=True, help="What `harness ci run` left.")
@click.option("--target", required=True, help="Replay what was built for this GPU.")
@click.option("--out", type=_FOLDER, required=True, help="Where records go, a JSON file each.")
@click.option("--json", "as_json", is_flag=True, help="Print the records as JSON.")
def command(built: Path, target: str, out: Path, as_json: bool) -> int:
    """Replay artifacts on this machine's GPU and write a record of each.

    Artifacts are validated as hostile on load, and no submitted Python runs here. Exits with 3 if one could not be
    replayed; the others are replayed all the same.
    """
    from harness.store import encode_record

    log = Log(quiet=as_json)
    out.mkdir(parents=True, exist_ok=True)
    documents, failed = [], False
    for folder in sorted((built / "artifacts").glob("*")):
        try:
            record = _replay(folder, target, log)
        except HarnessError as error:
            log.say(f"not replayed: {error}")
            failed = True
            continue
        if record is not None:
            documents.append(encode_record(record))
            (out / f"{record.id}.json").write_text(json.dumps(documents[-1], indent=1), encoding="utf-8")
            log.say(f"{record.kind}: {record.verdict.message if record.verdict else ''}")
    if as_json:
        print_json(documents)
    return 3 if failed else 0


def _replay(folder: Path, target: str, log: Log) -> Record | None:
    """Return the record of an artifact's replay, None if it was built for another GPU."""
    from harness.artifact import load_artifact
    from harness.engine.replaying import run_replay
    from harness.spec import load_season

    artifact = load_artifact(folder)
    if artifact.manifest.target != target:
        return None
    log.say(f"{artifact.manifest.team}/{artifact.manifest.problem} on {target}")
    workspace = find_workspace(Path.cwd())
    return run_replay(artifact, workspace, load_season(workspace.root), (), log.hear)
