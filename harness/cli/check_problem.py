"""`harness check-problem`: every fault of a problem's folder at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from harness.cli.output import print_json, print_renderable
from harness.engine.workspace import find_workspace
from harness.errors import UsageError


@click.command()
@click.argument("problem")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(problem: str, as_json: bool) -> int:
    """List every fault of PROBLEM's folder, as errors and warnings with file and line.

    Whether the problem can tell right from wrong is for `harness qualify`. Exits with 1 if there is an error.
    """
    from harness.authoring.check import check_folder
    from harness.store.codec import encode

    root = find_workspace(Path.cwd()).root
    folder = root / "problems" / problem
    if not folder.is_dir():
        raise UsageError(f"problems/{problem}: no such folder; it is named as the problem is, not by an alias")
    findings = check_folder(root, folder)
    errors = sum(finding.level == "error" for finding in findings)
    if as_json:
        print_json({"problem": problem, "errors": errors, "findings": [encode(finding) for finding in findings]})
    else:
        print_renderable(*(_line(finding) for finding in findings), _summary(errors, len(findings) - errors))
    return 1 if errors else 0


def _line(finding: Any) -> Any:
    from rich.text import Text

    from harness.text import clean

    place = f"{finding.file}:{finding.line}" if finding.line else finding.file
    style = "bold red" if finding.level == "error" else "yellow"
    return Text.assemble(f"{place}: ", (finding.level, style), f": {clean(finding.message)}")


def _summary(errors: int, warnings: int) -> str:
    if not errors and not warnings:
        return "nothing to mend. Next: harness qualify"
    counts = ((errors, "error"), (warnings, "warning"))
    return ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts if count)
