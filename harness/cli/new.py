"""`harness new`: begin a submission from the starter."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from harness.cli.output import print_json
from harness.engine.workspace import disk_error, find_workspace
from harness.errors import UsageError


@click.command()
@click.argument("problem")
@click.option("--team", required=True, help="Your team's name: a-z, 0-9, - and _.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(problem: str, team: str, as_json: bool) -> int:
    """Copy the starter submission for PROBLEM to submissions/TEAM/PROBLEM."""
    from harness.spec import find_problem
    from harness.submission import MAIN, check_team_name

    root = find_workspace(Path.cwd()).root
    name = find_problem(root, problem).name
    folder = root / "submissions" / check_team_name(team) / name
    starter = root / "submissions" / "starter" / name
    if folder.exists():
        raise UsageError(f"{folder.relative_to(root)} exists already: edit {MAIN} there, or choose another team name")
    if not starter.is_dir():
        raise UsageError(f"there is no starter for {name}: write {folder.relative_to(root) / MAIN} yourself")
    try:
        shutil.copytree(starter, folder, ignore=shutil.ignore_patterns("__pycache__"))
    except OSError as error:
        raise disk_error(error, folder) from None
    if as_json:
        print_json({"submission": str(folder / MAIN)})
    else:
        click.echo(f"{(folder / MAIN).relative_to(root)} is yours now. Next: make submit PROBLEM={name} TEAM={team}")
    return 0
