"""`harness show`: one record in full."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.output import print_json, print_renderable
from harness.engine.workspace import Workspace, find_workspace
from harness.errors import ArtifactError, UsageError

if TYPE_CHECKING:
    from harness.artifact import Artifact
    from harness.plan import Plan
    from harness.store import Record, Store


@click.command()
@click.argument("record", required=False)
@click.option("--problem", help="Where no RECORD is named: the newest of this problem.")
@click.option("--team", help="Where no RECORD is named: the newest of this team.")
@click.option("--triton", "part", flag_value="triton", help="Print the generated Triton source.")
@click.option("--ttir", "part", flag_value="ttir", help="Print the kernels' TTIR.")
@click.option("--plan", "part", flag_value="plan", help="Print the launch plans: host operations and launches.")
@click.option("--from", "place", help="A file of records, or a folder of them, as `harness board --save` writes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    record: str | None, problem: str | None, team: str | None, part: str | None, place: str | None, as_json: bool
) -> int:
    """Show RECORD: an id, or the beginning of one; the newest if none is given."""
    from harness.board.history import Change, list_changes
    from harness.board.show import render_record
    from harness.store import encode_record, open_store

    if record is not None and (problem or team):
        raise UsageError("--problem and --team choose the newest record of theirs: leave them out, or the record")
    workspace, changes = find_workspace(Path.cwd()), tuple[Change, ...]()
    if place is not None:
        found = _choose(place, record, problem, team)
    else:
        with open_store(workspace.database) as store:
            store.recover()
            found = store.record(record) if record is not None else _newest(store, problem, team)
            changes = list_changes(found, store.previous(found))
    if part is not None:
        return _print_part(workspace, found, part, as_json)
    if as_json:
        print_json(encode_record(found))
    elif place is not None:
        again = f"harness show {found.id} --from {shlex.quote(place)} --json"
        print_renderable(render_record(found, whole=again))
    else:
        print_renderable(render_record(found, changes=changes))
    return 0


def _choose(place: str, record: str | None, problem: str | None, team: str | None) -> Record:
    """Return one of the records of a file or folder: the newest, or the one whose id begins so."""
    from harness.store import load_records, pick_id

    asked = [one for one in load_records(Path(place)) if problem in (None, one.problem) and team in (None, one.team)]
    records = {one.id: one for one in asked}
    newest_first = sorted(records, reverse=True)
    if not newest_first:
        raise UsageError(tell_no_record(problem, team, place))
    found = newest_first[0] if record is None else pick_id(record.strip().lower(), newest_first)
    if found is None:
        listed = ", ".join(newest_first[:10])
        raise UsageError(f"there is no record {str(record)[:40]!r} in {place}; there are {listed}")
    return records[found]


def _newest(store: Store, problem: str | None, team: str | None) -> Record:
    newest = store.records(problem=problem, team=team, limit=1)
    if not newest:
        raise UsageError(tell_no_record(problem, team))
    return newest[0]


def tell_no_record(problem: str | None, team: str | None, place: str | None = None) -> str:
    """Say that there is no record of a problem and a team, and what makes one: in a file or folder nothing does."""
    asked = " and ".join(filter(None, (problem and f"problem {problem}", team and f"team {team}")))
    told = f"there is no record{f' of {asked}' if asked else ''}"
    if place is not None:
        return f"{told} in {place}"
    submit = f"make submit PROBLEM={shlex.quote(problem or 'chunk_fwd_h')}"
    return f"{told} yet: {submit}{f' TEAM={shlex.quote(team)}' if team else ''} makes one"


def _print_part(workspace: Workspace, record: Record, part: str, as_json: bool) -> int:
    from harness.plan import encode_plan
    from harness.text import clean

    artifact = _load_artifact(workspace, record, part)
    if part == "plan" and not as_json:
        print_renderable(*_render_plans(artifact.plans))
        return 0
    launches = [launch for plan in artifact.plans.values() for launch in plan.launches]
    parts: dict[str, dict[str, object]] = {
        "triton": {launch.source: artifact.sources[launch.source] for launch in launches},
        "ttir": {launch.kernel: artifact.kernels[launch.kernel].source.ttir for launch in launches},
        "plan": {shape: encode_plan(plan) for shape, plan in artifact.plans.items()},
    }
    if as_json:
        print_json(parts[part])
        return 0
    for name, text in parts[part].items():
        click.echo(f"# {_describe(name, artifact.plans)}\n{clean(str(text), lines=True)}")
    return 0


def _load_artifact(workspace: Workspace, record: Record, part: str) -> Artifact:
    """Return what was built for a record: its generated code is there, not in the record.

    Raises:
        UsageError: it is not here, or there is none; with what to do.
    """
    from harness.artifact import load_artifact
    from harness.board.reading import outcome_words
    from harness.store.record import RANKING_SUITE

    if record.artifact_key is None:
        raise UsageError(
            f"nothing was built for record {record.id} ({outcome_words(record)}), so there is no generated code to "
            f"show: leave --{part} out to see what came of it"
        )
    try:
        return load_artifact(workspace.artifacts / record.artifact_key)
    except ArtifactError as error:
        words = [record.problem, "--team", record.team, "--target", record.target, "--division", record.division]
        words += ["--suite", record.suite] if record.suite != RANKING_SUITE else []
        chosen = "" if record.whole_suite else ", with --case as it was chosen then,"
        again = f"harness build {shlex.join(words)}"  # the file may be anybody's, and this is made to be copied
        raise UsageError(
            f"a record holds no code, and what was built for {record.id} is not in {workspace.artifacts} ({error}): "
            f"`{again}`{chosen} builds it again, where submission, problem and versions are as they were"
        ) from None


def _describe(name: str, plans: Mapping[str, Plan]) -> str:
    """Say what a source or a kernel is for: its functions, the shapes that launch it, and its address."""
    found = [
        (shape, x.function) for shape, plan in plans.items() for x in plan.launches if name in (x.source, x.kernel)
    ]
    shapes, functions = dict.fromkeys(shape for shape, _ in found), dict.fromkeys(function for _, function in found)
    return f"{', '.join(functions)} for {', '.join(shapes)} ({name[:12]})"


def _render_plans(plans: Mapping[str, Plan]) -> list[object]:
    from rich.text import Text

    from harness.plan import ConstantStep, LaunchStep

    lines: list[object] = []
    for shape, plan in plans.items():
        lines.append(Text(shape, "bold"))
        for index, step in enumerate(plan.steps):
            origin = " (at import)" if index < plan.import_steps else ""
            if isinstance(step, LaunchStep):
                text = f"launch {step.function} grid {step.grid} ({step.origin})"
            else:
                text = "constant" if isinstance(step, ConstantStep) else step.op
            lines.append(Text(f"  line {step.line:<5} {text}{origin}"))
    return lines
