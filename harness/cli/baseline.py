"""`harness baseline`: what a submission is compared with, measured on this machine's GPU."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.output import print_json, print_renderable, report_faulty
from harness.cli.request import DEFAULT_TEAM, Options, resolve
from harness.engine.workspace import find_workspace
from harness.errors import HarnessError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.engine.baselines import Baselines


@click.command()
@click.argument("problem", required=False)
@click.option("--target", help="The GPU; by default this machine's.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(problem: str | None, target: str | None, as_json: bool) -> int:
    """Measure the starter, the reference in eager torch and in compiled torch, of PROBLEM or of all problems.

    Needs a GPU of the season. Kept in baselines/, one file a problem and GPU, with the environment; records then say
    how many times faster than each a submission is. Of all problems, one at fault is left out.
    """
    from harness.engine.gpu_node import local_node
    from harness.engine.local_gpus import find_season_gpu
    from harness.engine.replaying import explain_no_gpu
    from harness.spec import choose_problems, load_season
    from harness.target import load_target

    workspace = find_workspace(Path.cwd())
    season = load_season(workspace.root)
    names, faults = choose_problems(workspace.root, season, [problem] if problem is not None else [])
    targets = (load_target(target).name,) if target is not None else season.targets
    found = find_season_gpu(season.model_copy(update={"targets": targets}))
    if found is None:
        raise UsageError(f"baselines are measured on a GPU of the season ({', '.join(targets)}): {explain_no_gpu()}")
    gpu, model = found
    node = local_node(workspace.state, gpu)
    measured, failed = _measure_all(list(names), model.name, node, workspace.root, quiet=as_json)
    if problem is not None and failed:
        raise next(iter(failed.values()))
    faults |= {name: str(error) for name, error in failed.items()}
    if as_json:
        from harness.store.codec import encode

        faulty = [{"problem": name, "error": told} for name, told in faults.items()]
        print_json([*map(encode, measured), *faulty])
    else:
        print_renderable(*map(_table, measured))
    return max([report_faulty(faults), *(error.exit_code for error in failed.values())])


def _measure_all(
    names: Sequence[str], target: str, node: list[str], root: Path, *, quiet: bool
) -> tuple[list[Baselines], dict[str, HarnessError]]:
    """Measure and keep the baselines of problems; return them, and by name what was wrong with each of the others.

    Raises:
        NodeLacksError: this machine can measure none.
    """
    from harness.cli.progress import show_progress
    from harness.engine.baselines import measure_with_starter, save_baselines
    from harness.engine.gpu_node import NodeLacksError

    measured: list[Baselines] = []
    failed: dict[str, HarnessError] = {}
    for name in names:
        try:
            with show_progress(quiet=quiet) as listener:
                workspace, request = resolve(Options(name, DEFAULT_TEAM, target=target))
                measured.append(measure_with_starter(node, request, workspace, listener))
        except NodeLacksError:
            raise
        except HarnessError as error:
            failed[name] = error
        else:
            save_baselines(measured[-1], root)
    return measured, failed


def _table(baselines: Baselines) -> object:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from harness.board.text import microseconds
    from harness.board.times import BASELINES
    from harness.text import clean

    table = Table("benchmark", *(f"{kind} µs" for kind in BASELINES), box=box.SIMPLE, title=clean(baselines.problem))
    for case_id, times in baselines.cases.items():
        cells = [microseconds(times[kind]) if kind in times else _note(baselines, case_id, kind) for kind in BASELINES]
        table.add_row(Text(clean(case_id)), *map(Text, cells))
    return table


def _note(baselines: Baselines, case_id: str, kind: str) -> str:
    from harness.text import clean

    return clean(baselines.notes.get(f"{case_id} {kind}", "none"))[:40]
