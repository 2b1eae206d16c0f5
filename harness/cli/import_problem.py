"""`harness import-problem`: bring in a problem of the GPU MODE and Helion events."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.output import print_json
from harness.engine.workspace import disk_error, find_workspace, scratch_folder

NEXT = """
Nothing of it has run outside the sandbox, and reference.py refuses to be imported: read it, delete the statement at its
top, and go on as with a new problem (docs/problems.md). What is left to do: harness check-problem {name}"""


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--name", help="Our name for it; the folder's by default, without _py.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(folder: Path, name: str | None, as_json: bool) -> int:
    """Bring the event's problem in FOLDER (task.yml with `files`, reference.py, shared utils) into problems/NAME.

    Says what could not be carried over, with file and line. Its Python runs in the sandbox only.
    """
    from harness.authoring.event.bring import import_problem
    from harness.authoring.scaffold import problem_folder
    from harness.store.codec import encode
    from harness.text import clean

    root = find_workspace(Path.cwd()).root
    name = name or folder.resolve().name.removesuffix("_py")
    try:
        with scratch_folder() as scratch:
            imported = import_problem(root, folder, name, scratch)
    except OSError as error:
        raise disk_error(error, problem_folder(root, name)) from None
    files = [str(path.relative_to(root)) for path in imported.files]
    if as_json:
        print_json({"problem": name, "files": files, "findings": [encode(finding) for finding in imported.findings]})
        return 0
    for finding in imported.findings:
        place = f"{finding.file}:{finding.line}" if finding.line else finding.file
        click.echo(f"{clean(place)}: {finding.level}: {clean(finding.message)}")
    click.echo("\n".join(("", *files, NEXT.format(name=name))))
    return 0
