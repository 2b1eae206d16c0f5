"""`harness serve`: the leaderboard service."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.store.database import Database

DEFAULT_PORT = 8000


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at; 0.0.0.0 for every one.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True, help="0 for any that is free."
)
@click.option("--workers", help="How many of which kind: build=2,gpu=1. [default: build=1, and gpu=1 if there is one]")
@click.option("--evaluate", default="engine", show_default=True, help="engine, or recorded=FOLDER[@PACE] to rehearse.")
@click.option("--targets", help="What the gpu workers replay on, by commas; by default this machine's GPU.")
def command(host: str, port: int, workers: str | None, evaluate: str, targets: str | None) -> int:
    """Serve boards, take submissions, build and replay them.

    The database is SQLite in .harness/, or what HARNESS_DATABASE_URL names. Ctrl-C stops it: what is under way is given
    back and goes on when it starts again.
    """
    from harness.engine.workspace import find_workspace
    from harness.sandbox import best_level
    from harness.service.evaluating import ENGINE, check_targets, local_targets, make_evaluator, want_sandbox
    from harness.service.server import serve
    from harness.service.settings import load_settings
    from harness.service.supervisor import Crew, parse_counts
    from harness.service.teams import list_teams
    from harness.spec import load_season

    workspace = find_workspace(Path.cwd())
    settings = load_settings(workspace.root, workspace.database.parent, os.environ)
    if evaluate != ENGINE:
        make_evaluator(evaluate, workspace.root)  # what is wrong with it is told now, not by every worker
    season = load_season(workspace.root)
    gpus = tuple(targets.split(",")) if targets else local_targets(season)
    counts = parse_counts(workers) if workers else {"build": 1, **({"gpu": 1} if gpus else {})}
    if evaluate == ENGINE and any(counts.values()):
        check_targets(gpus, bool(counts.get("gpu")))
        want_sandbox(season, best_level())

    def ready(address: str, database: Database) -> None:
        print(f"the service is at {address}   database: {database.place}   Ctrl-C stops it", file=sys.stderr)
        with database.read() as connection:
            empty = not list_teams(connection)
        if not any(counts.values()):
            print("no workers: boards are shown, submissions wait until there are some (--workers)", file=sys.stderr)
        if empty:
            print("no team yet: harness admin team add NAME, then harness admin token issue NAME", file=sys.stderr)

    serve(settings, Crew(counts, gpus, evaluate), host, port, ready)
    return 0
