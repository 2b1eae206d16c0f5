"""`harness ci site`: the static site, from the branch that keeps the records."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from pathlib import Path

import click

from harness.cli.ci.log import Log
from harness.cli.ci.records_option import records_option
from harness.cli.output import print_json
from harness.engine.workspace import find_workspace


@click.command()
@records_option
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Where the site goes.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def command(branch: str, out: Path, as_json: bool) -> int:
    """Write the static site from all records that the branch has now.

    Runs in a checkout of the default branch, whose season and problems the pages tell of; whatever ran before it, the
    site that is written last is the newest.
    """
    from harness.ci.records_branch import load_branch
    from harness.site import export_site, load_season_facts
    from harness.site.loading import load_problem_texts

    root = find_workspace(Path.cwd()).root
    records = load_branch(root, branch, os.environ.get("GITHUB_TOKEN"))
    season = load_season_facts(root, datetime.now(timezone.utc))
    files = export_site(records, out, season, problems=load_problem_texts(root))
    Log(quiet=as_json).say(f"{len(records)} records on {len(files)} files of a site")
    if as_json:
        print_json({"records": len(records), "files": len(files)})
    return 0
