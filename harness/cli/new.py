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
@click.option("--team", help="Your team's name: a-z, 0-9, - and _.")
@click.option("--login", help="Your login on GitHub: written to submissions/TEAM/team.yml, for pull requests.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(problem: str, team: str | None, login: str | None, as_json: bool) -> int:
    """Copy the starter submission for PROBLEM to submissions/TEAM/PROBLEM."""
    from harness.spec import find_problem
    from harness.spec.team import TEAM_FILE
    from harness.submission import MAIN, check_team_name

    if not team:
        raise UsageError(f"say which team: harness new {problem} --team your-team (a-z, 0-9, - and _)")
    root = find_workspace(Path.cwd()).root
    name = find_problem(root, problem).name
    folder = root / "submissions" / check_team_name(team) / name
    starter = root / "submissions" / "starter" / name
    if folder.exists():
        raise UsageError(f"{folder.relative_to(root)} exists already: edit {MAIN} there, or choose another team name")
    if not starter.is_dir():
        raise UsageError(f"there is no starter for {name}: write {folder.relative_to(root) / MAIN} yourself")
    team_file = folder.parent / TEAM_FILE
    document = _name_people(team_file, login)
    try:
        shutil.copytree(starter, folder, ignore=shutil.ignore_patterns("__pycache__"))
        if document is not None:
            team_file.write_text(document, encoding="utf-8")
    except OSError as error:
        raise disk_error(error, folder) from None
    if as_json:
        print_json({"submission": str(folder / MAIN)})
    else:
        click.echo(f"{(folder / MAIN).relative_to(root)} is yours now. Next: make submit PROBLEM={name} TEAM={team}")
        if not team_file.exists():
            shown = team_file.relative_to(root)
            click.echo(f"A pull request needs {shown} too, with a line such as `logins: [your-github-login]`")
    return 0


def _name_people(team_file: Path, login: str | None) -> str | None:
    """Return the team.yml of a new team whose login is given, None if there is nothing to write.

    Raises:
        UsageError: the team's name looks like another's, or the login is none.
    """
    from harness.spec.team import find_name_fault, parse_team, team_document

    team, submissions = team_file.parent.name, team_file.parent.parent
    teams = [path.name for path in submissions.iterdir() if path.is_dir()]
    if team not in teams and (fault := find_name_fault(team, teams)):
        raise UsageError(fault)
    if login is None or team_file.exists():
        return None
    document = team_document(login)
    parse_team(document.encode(), f"--login {login}")
    return document
