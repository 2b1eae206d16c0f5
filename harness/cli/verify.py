"""`harness verify`: is an artifact's machine code what its IR gives?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.output import print_json, print_renderable
from harness.errors import ArtifactError, UsageError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from harness.artifact import Manifest
    from harness.engine.verifying import Verification


@click.command()
@click.argument("artifact")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the report.")
def command(artifact: str, as_json: bool) -> int:
    """Assemble every kernel of ARTIFACT again from its IR and compare: a folder, an artifact's key, or a record.

    Exits with 1 if some kernel's machine code, or what is stated of it, is not what its IR gives.
    """
    from dataclasses import asdict

    from harness.cli.progress import show_progress
    from harness.cli.request import find_level
    from harness.engine.replaying import find_artifact
    from harness.engine.verifying import run_verify
    from harness.engine.workspace import find_workspace
    from harness.spec import load_season
    from harness.store import open_store
    from harness.toolchain import check_toolchain

    workspace = find_workspace(Path.cwd())
    try:
        found = find_artifact(workspace, artifact, open_store(workspace.database))
    except ArtifactError as error:
        raise UsageError(f"{artifact} cannot be read as an artifact: {error}") from None
    season, toolchain = load_season(workspace.root), check_toolchain()
    with show_progress(quiet=as_json) as listener:
        result = run_verify(found, season, find_level(), toolchain, listener)
    if as_json:
        print_json({"same": result.same, **asdict(result)})
    else:
        print_renderable(*_render(result, found.manifest))
    return 0 if result.same else 1


def _render(result: Verification, manifest: Manifest) -> list[RenderableType]:
    from rich.text import Text

    from harness.text import clean

    of = f"{manifest.problem} · {manifest.target} · {manifest.team}"
    count = len(result.kernels)
    different = [kernel for kernel in result.kernels if kernel.differences]
    if different:
        head = Text.assemble(("DIFFERENT", "bold red"), f"  {of}: {len(different)} of {count} kernels")
    else:
        head = Text.assemble(("SAME", "bold green"), f"  {of}: {count} of {count} kernels are what their IR gives")
    lines: list[RenderableType] = [head]
    for tool, (built, here) in result.other_tools.items():
        told = f"built with {tool} {built}, compared with {here}: machine code can differ for that alone"
        lines.append(Text(clean(told), "yellow"))
    for kernel in different:
        lines.append(Text(clean(f"  {kernel.name} {kernel.key[:12]}")))
        lines += [Text(clean(f"    {difference}")) for difference in kernel.differences]
    return lines
