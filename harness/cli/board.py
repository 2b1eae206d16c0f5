"""`harness board`: who leads, and the season as a static site."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.output import print_json, print_renderable
from harness.engine.workspace import Workspace, find_workspace
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.board.site import SeasonFacts


@click.command()
@click.argument("problem", required=False)
@click.option("--target", help="The GPU; the season's first by default.")
@click.option("--division", type=click.Choice(["closed", "open"]), default="closed", show_default=True)
@click.option("--team", help="Point out this team's rows.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV for spreadsheets.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--export", type=click.Path(path_type=Path, file_okay=False), help="Write the season as a static site.")
def command(
    problem: str | None,
    target: str | None,
    division: str,
    team: str | None,
    as_csv: bool,
    as_json: bool,
    export: Path | None,
) -> int:
    """Show the board of PROBLEM, or of every problem of the season.

    Ranked entries first; what was only checked on a CPU is listed apart.
    """
    from harness.board.export import board_csv, board_document
    from harness.board.table import render_board
    from harness.cli.report import current_board
    from harness.spec import find_problem, load_season
    from harness.store import open_store
    from harness.target import load_target

    workspace = find_workspace(Path.cwd())
    season = load_season(workspace.root)
    if export is not None:
        return _export(export, workspace)
    if as_csv and problem is None:
        raise UsageError("--csv needs a problem: one table is one board. Problems: " + ", ".join(season.problems))
    name = load_target(target or season.targets[0]).name
    problems = [find_problem(workspace.root, p) for p in ([problem] if problem else season.problems)]
    store = open_store(workspace.database)
    store.recover()
    boards = [current_board(store, p.name, name, division) for p in problems]
    if as_csv:
        sys.stdout.write(board_csv(boards[0]))
    elif as_json:
        documents = [board_document(board) for board in boards]
        print_json(documents[0] if problem else documents)
    else:
        print_renderable(*(render_board(b, title=p.title, team=team) for b, p in zip(boards, problems, strict=True)))
    return 0


def season_facts(root: Path) -> SeasonFacts:
    """Return what the site says of the season."""
    from harness.board.site import SeasonFacts
    from harness.spec import find_problem, load_season
    from harness.target import load_target, target_names

    spec = load_season(root)
    titles = {name: find_problem(root, name).title for name in spec.problems}
    deadlines = dict.fromkeys(titles, spec.closes.isoformat()) if spec.closes else {}
    noise = {name: target.noise for name in target_names() if (target := load_target(name)).noise is not None}
    return SeasonFacts(spec.title, titles, deadlines, noise)


def _export(folder: Path, workspace: Workspace) -> int:
    from harness.board.site import export_site
    from harness.store import open_store

    files = export_site(open_store(workspace.database).records(), folder, season_facts(workspace.root))
    print(f"{len(files)} files written: open {folder / 'index.html'}", file=sys.stderr)
    return 0
