"""`harness admin`: what organisers do on the server's own machine. The logic is in `harness.service`."""

from __future__ import annotations

import click

from harness.cli.lazy import LazyGroup

VERBS = {
    "migrate": ("harness.cli.admin.database:migrate", "Bring the service's database to this version's form."),
    "team": ("harness.cli.admin.people:team", "Add a team, or list them."),
    "token": ("harness.cli.admin.people:token", "Issue, list and revoke tokens."),
    "season": ("harness.cli.admin.running:season", "Show the season, or move its times."),
    "freeze": ("harness.cli.admin.running:freeze", "Take and start nothing for a problem for now, or go on."),
    "rerun": ("harness.cli.admin.running:rerun", "Evaluate a submission once more."),
    "disqualify": ("harness.cli.admin.running:disqualify", "Take a program off the boards, or take that back."),
    "acts": ("harness.cli.admin.running:acts", "Show the log of what organisers did."),
    "export": ("harness.cli.admin.database:export", "Write the season as a static site."),
    "backup": ("harness.cli.admin.database:backup", "Write a backup, while the service runs."),
    "restore": ("harness.cli.admin.database:restore", "Fill an empty database from a backup."),
}


@click.command(cls=LazyGroup, verbs=VERBS)
def command() -> None:
    """Run a season: teams, tokens, rulings, times, backups. Each act is logged, for everybody to read."""
