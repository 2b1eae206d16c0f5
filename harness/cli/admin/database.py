"""`harness admin migrate|export|backup|restore`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from harness.cli.admin.opening import AS_JSON, find_settings, opened
from harness.cli.output import print_json

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@AS_JSON
def migrate(as_json: bool) -> int:
    """Bring the database to this version's form, keeping everything. Stop the service first."""
    from harness.service import form

    with opened(migrate=True) as database:
        if as_json:
            print_json({"database": database.place, "revision": form.HEAD})
        else:
            print(f"{database.place} is of this version's form ({form.HEAD})")
    return 0


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@AS_JSON
def export(folder: Path, as_json: bool) -> int:
    """Write the season into FOLDER as a static site, as everybody may see it now, with code only if it is shown now."""
    from datetime import datetime, timezone

    from harness.service.archive import export_season

    with opened(makes=False) as database, database.read() as connection:
        files = export_season(connection, find_settings().root, folder, datetime.now(timezone.utc))
    if as_json:
        print_json({"folder": str(folder), "files": len(files)})
    else:
        print(f"{len(files)} files written: open {folder / 'index.html'}")
    return 0


@click.command()
@click.argument("file", type=_FILE)
@AS_JSON
def backup(file: Path, as_json: bool) -> int:
    """Write every row to FILE. It holds teams' code: keep it as safe as the database."""
    from harness.service.backup import back_up

    with opened(makes=False) as database:
        rows = back_up(database, file)
    if as_json:
        print_json({"file": str(file), "rows": rows})
    else:
        print(f"{rows} rows written to {file}")
    return 0


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@AS_JSON
def restore(file: Path, as_json: bool) -> int:
    """Fill an empty database from FILE; of either kind, whichever the backup was of."""
    from harness.service.backup import restore as fill

    with opened(migrate=True) as database:
        rows = fill(database, file)
        if as_json:
            print_json({"database": database.place, "rows": rows})
        else:
            print(f"{rows} rows restored to {database.place}", file=sys.stderr)
    return 0
