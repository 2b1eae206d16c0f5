"""`harness check-problem`: every fault of a problem's folder at once, and what a season would spend on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.output import print_json, print_renderable
from harness.engine.workspace import Workspace, find_workspace
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.authoring.estimate import Estimate
    from harness.authoring.finding import Finding
    from harness.spec import Problem

STARTER_TEAM = "starter"
SUBMISSIONS = 200  # of a small season, where nobody says how many


@click.command()
@click.argument("problem")
@click.option("--target", help="The GPU of the estimate; the season's first by default.")
@click.option(
    "--submissions",
    type=click.IntRange(1),
    default=SUBMISSIONS,
    show_default=True,
    help="How many submissions the estimate is for.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(problem: str, target: str | None, submissions: int, as_json: bool) -> int:
    """List every fault of PROBLEM's folder, and what is still to write (FIXME), with file and line; estimate a season.

    Whether the problem can tell right from wrong is for `harness qualify`. Exits with 1 if there is an error.
    """
    from harness.store.codec import encode

    workspace = find_workspace(Path.cwd())
    folder = workspace.root / "problems" / problem
    if not folder.is_dir():
        raise UsageError(f"problems/{problem}: no such folder; it is named as the problem is, not by an alias")
    findings = _check(workspace.root, folder, quiet=as_json)
    errors = sum(finding.level == "error" for finding in findings)
    estimate = _estimate(workspace, problem, target) if not _task_is_faulty(findings) else None
    if as_json:
        document = {"problem": problem, "errors": errors, "findings": [encode(finding) for finding in findings]}
        print_json({**document, "estimate": estimate and encode(estimate), "submissions": submissions})
    else:
        click.echo("\n".join((*map(_line, findings), _summary(problem, findings))))
        print_renderable(*(_render_estimate(estimate, submissions) if estimate else ()))
    return 1 if errors else 0


def _check(root: Path, folder: Path, *, quiet: bool) -> tuple[Finding, ...]:
    from harness.authoring.check import check_folder, examine_in_child
    from harness.cli.progress import show_progress
    from harness.engine.progress import Event

    with show_progress(quiet=quiet) as listener:

        def examine(problem: Problem, files: Sequence[str]) -> dict[str, Any]:
            told = examine_in_child(
                problem, files, lambda step, done, total: listener(Event("examine", "start", step, done, total))
            )
            listener(Event("examine", "end", ", ".join(files)))
            return told

        return check_folder(root, folder, examine)


def _task_is_faulty(findings: Sequence[Finding]) -> bool:
    faulty = ("task.yml", "shapes.yaml", "reference.py")  # without them there is no version, no suite or no target
    return any(f.level == "error" and Path(f.file).name in faulty for f in findings)


def _estimate(workspace: Workspace, name: str, target: str | None) -> Estimate | None:
    from harness.authoring.estimate import estimate_cost
    from harness.case import DEFAULT_SUITE
    from harness.errors import SpecError
    from harness.spec import find_problem, load_season
    from harness.store import open_store
    from harness.target import load_target

    try:
        season, problem = load_season(workspace.root), find_problem(workspace.root, name)
    except SpecError:
        return None  # shapes.yaml is at fault, as was told
    gpu = load_target(target or season.targets[0])
    suites = season.problems[name].suites if name in season.problems else (DEFAULT_SUITE,)
    kept = (workspace.state / "records.sqlite").is_file()  # no records are begun only to look for one
    records = open_store(workspace.database).records(problem=name, team=STARTER_TEAM, target=gpu.name) if kept else []
    return estimate_cost(problem, suites, gpu, records, season.budgets.compile_cpu_s)


def _line(finding: Finding) -> str:
    """One line a finding, however long: editors jump to what begins it."""
    from harness.text import clean

    place = f"{finding.file}:{finding.line}" if finding.line else finding.file
    level = click.style(finding.level, fg="red" if finding.level == "error" else "yellow", bold=True)
    return f"{clean(place)}: {level}: {clean(finding.message)}"


def _summary(problem: str, findings: Sequence[Finding]) -> str:
    if not findings:
        return f"nothing to mend. Next: harness qualify {problem}"
    counts = Counter(finding.level for finding in findings)
    nouns = {
        "error": ("error", "errors"),
        "warning": ("warning", "warnings"),
        "to write": ("thing to write", "things to write"),
    }
    return ", ".join(f"{counts[level]} {noun[counts[level] > 1]}" for level, noun in nouns.items() if counts[level])


def _render_estimate(estimate: Estimate, submissions: int) -> list[Any]:
    from rich.table import Table
    from rich.text import Text

    cases = f"{len(estimate.cases)} cases, {estimate.shapes} shapes, suites {', '.join(estimate.suites)}"
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    for stage in estimate.stages:
        unit = f"CPU-s of {estimate.budget_s:g}" if stage.name == "build" else "s"
        table.add_row(f"  {stage.name}", f"{stage.seconds:.3g} {unit}", Text(stage.basis, "dim"))
    whole = ", ".join(f"{stage.name} {_hours(stage.seconds * submissions)}" for stage in estimate.stages)
    told = f"{submissions} submissions take at most: {whole} of one {estimate.target}"
    return [Text(f"\nA submission costs, for {estimate.target} ({cases})"), table, *_floors(estimate), Text(told)]


def _floors(estimate: Estimate) -> list[Any]:
    from rich.text import Text

    return [
        Text(f"  floor of {c.shape_id}: {c.floor_us:.3g} µs, {c.bound} ({_size(c.read_bytes + c.write_bytes)}, "
             f"{c.flops / 1e9:.3g} GFLOP)", "dim")
        for c in estimate.cases if c.role == "benchmark"
    ]  # fmt: skip


def _size(count: int) -> str:
    return f"{count / 1e6:.3g} MB"


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.2g} h" if seconds >= 360 else f"{seconds / 60:.2g} min"
