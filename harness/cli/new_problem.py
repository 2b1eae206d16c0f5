"""`harness new-problem`: begin a problem from the template."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.output import print_json
from harness.engine.workspace import disk_error, find_workspace

NEXT = """\
It loads, runs and qualifies as it is; make it yours, file by file (docs/problems.md explains each). As you go:
  harness check-problem {name}      every fault of the folder, with file and line, and what a season would cost
  harness submit {name}             the starter, compiled and checked on the CPU; unranked until the season lists it
  harness qualify {name}            honest precisions pass, mutants do not; --markdown prints the table for README.md
To open it: add "{name}: {{points: 100}}" under `problems` in shapes.yaml."""


@click.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(name: str, as_json: bool) -> int:
    """Write problems/NAME and its starter: a small problem that works, to be edited."""
    from harness.authoring.scaffold import begin_problem, problem_folder

    root = find_workspace(Path.cwd()).root
    try:
        files = begin_problem(root, name)
    except OSError as error:
        raise disk_error(error, problem_folder(root, name)) from None
    written = [str(path.relative_to(root)) for path in files]
    if as_json:
        print_json({"problem": name, "files": written})
    else:
        click.echo("\n".join((*written, "", NEXT.format(name=name))))
    return 0
