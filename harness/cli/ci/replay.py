"""`harness ci replay`: the step on a GPU machine."""

from __future__ import annotations

import json
from pathlib import Path

import click

from harness.cli.ci.log import Log
from harness.cli.output import print_json
from harness.engine.workspace import find_workspace
from harness.errors import ArtifactError, HarnessError


@click.command()
@click.option("--built", type=click.Path(path_type=Path, exists=True, file_okay=False), required=True,
              help="What `harness ci run` left: artifacts/KEY folders.")  # fmt: skip
@click.option("--target", required=True, help="Replay what was built for this GPU.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Where records go.")
@click.option("--json", "as_json", is_flag=True, help="Print the records as JSON.")
def command(built: Path, target: str, out: Path, as_json: bool) -> int:
    """Replay artifacts on this machine's GPU and write a record of each.

    Artifacts are validated as hostile on load, and no submitted Python runs here. Exits with 3 if one could not be
    replayed by a fault of ours; the others are replayed all the same.
    """
    from harness.artifact import load_artifact
    from harness.engine.replaying import run_replay
    from harness.spec import load_season
    from harness.store import encode_record

    workspace, log = find_workspace(Path.cwd()), Log(quiet=as_json)
    season = load_season(workspace.root)
    out.mkdir(parents=True, exist_ok=True)
    documents, failed = [], 0
    for folder in sorted((built / "artifacts").glob("*")):
        try:
            artifact = load_artifact(folder)
        except ArtifactError as error:
            log.say(f"not replayed: {error}")
            failed += 1
            continue
        manifest = artifact.manifest
        if manifest.target != target:
            continue
        log.say(f"{manifest.team}/{manifest.problem} on {target}")
        try:
            record = run_replay(artifact, workspace, season, (), log.hear)
        except HarnessError as error:
            log.say(f"not replayed: {error}")
            failed += 1
            continue
        documents.append(encode_record(record))
        (out / f"{record.id}.json").write_text(json.dumps(documents[-1], indent=1), encoding="utf-8")
        log.say(f"{record.kind}: {record.verdict.message if record.verdict else ''}")
    if as_json:
        print_json(documents)
    return 3 if failed else 0
