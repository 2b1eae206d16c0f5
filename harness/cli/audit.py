"""`harness audit`: what organisers look at before they believe a top entry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.output import print_json, print_renderable
from harness.errors import ArtifactError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from harness.artifact import Artifact
    from harness.engine.copies import Copies
    from harness.engine.evidence import Note
    from harness.engine.workspace import Workspace
    from harness.spec import Season
    from harness.store import Store


@click.command()
@click.argument("artifact", required=False)
@click.option("--file", "file", type=click.Path(path_type=Path), help="The submission that ARTIFACT was built from.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the report.")
def command(artifact: str | None, file: Path | None, as_json: bool) -> int:
    """Tell what speaks for and against ARTIFACT's kernels being Helion's: a folder, an artifact's key, or a record.

    Without ARTIFACT, list submissions of the season that share a source or machine code with another team's. Exits with
    1 if there is anything to look at. No verdict comes from it.
    """
    from dataclasses import asdict

    from harness.engine.workspace import find_workspace
    from harness.spec import load_season
    from harness.store import open_store

    workspace = find_workspace(Path.cwd())
    season, store = load_season(workspace.root), open_store(workspace.database)
    if artifact is None:
        copies = _find_copies(workspace, season, store)
        if as_json:
            print_json({"copies": [asdict(group) for group in copies]})
        else:
            print_renderable(*_render_copies(copies))
        return 1 if any(not group.of_starter for group in copies) else 0
    found = _find_artifact(artifact, workspace, store)
    notes = _gather(found, file, workspace, season, quiet=as_json)
    if as_json:
        print_json({"artifact": found.manifest.key, "notes": [asdict(note) for note in notes]})
    else:
        print_renderable(*_render_notes(found, notes))
    return 1 if any(note.sign == "against" for note in notes) else 0


def _find_artifact(name: str, workspace: Workspace, store: Store) -> Artifact:
    from harness.engine.replaying import find_artifact

    try:
        return find_artifact(workspace, name, store)
    except ArtifactError as error:
        raise UsageError(f"{name} cannot be read as an artifact: {error}") from None


def _gather(
    artifact: Artifact, file: Path | None, workspace: Workspace, season: Season, *, quiet: bool
) -> Sequence[Note]:
    from harness.cli.progress import show_progress
    from harness.cli.request import find_level
    from harness.engine.evidence import find_its_submission, gather_evidence

    submission = find_its_submission(artifact, workspace, file)
    if submission is None and file is not None:
        raise UsageError(f"{file} is not what this artifact was built from")
    with show_progress(quiet=quiet) as listener:
        return gather_evidence(artifact, submission, workspace, season, find_level(), listener)


def _find_copies(workspace: Workspace, season: Season, store: Store) -> tuple[Copies, ...]:
    from harness.engine.copies import CodeNames, find_copies, starter_hashes

    records = [record for record in store.records() if record.season == season.name and record.state == "finished"]
    return find_copies(records, CodeNames(workspace), starter_hashes(workspace))


def _render_notes(artifact: Artifact, notes: Sequence[Note]) -> list[RenderableType]:
    from rich.text import Text

    from harness.text import clean

    manifest = artifact.manifest
    signs = {"for": ("+", "green"), "against": ("-", "bold red"), "open": ("?", "yellow")}
    of = f"{manifest.problem} · {manifest.target} · {manifest.team}"
    lines: list[RenderableType] = [Text(f"{of}: is it Helion's? (no proof: what there is to see)")]
    for note in notes:
        mark, style = signs[note.sign]
        lines.append(Text.assemble(f"  {mark} ", (note.subject, style), f"  {clean(note.text)}"))
    return lines


def _render_copies(copies: Sequence[Copies]) -> list[RenderableType]:
    from rich.text import Text

    from harness.text import clean

    if not copies:
        return ["no two teams share a source or machine code"]
    lines: list[RenderableType] = []
    for group in copies:
        what = f"{group.problem} · {group.target}: the same {' and '.join(group.shared)}"
        if group.of_starter:
            lines.append(Text(clean(f"{what}: the starter's, which is everybody's"), "dim"))
        else:
            lines.append(Text(clean(f"{what}: {group.entries[0].team} was first"), "bold yellow"))
        for entry in group.entries:
            lines.append(Text(clean(f"  {entry.created}  {entry.team}  {entry.verdict}  record {entry.record}")))
    return lines
