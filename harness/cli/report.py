"""The report that ends a run in the terminal, and the standing that it leads to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from harness.board.history import list_changes
from harness.board.ranking import Board, rank
from harness.board.reading import fell_short
from harness.board.show import render_kernels, render_record
from harness.board.text import microseconds, seconds
from harness.store import BuildRecord, KernelRecord, Record, Store, VerdictRecord
from harness.target import load_target
from harness.text import clean


def render_report(record: Record, store: Store, *, debug: bool) -> list[RenderableType]:
    """Return the report of a finished record: verdict first, then what changed, cases, kernels, and the standing."""
    previous = store.previous(record.team, record.problem, record.target, division=record.division, before=record.id)
    shown = render_record(record, changes=list_changes(record, previous), environment=not fell_short(record))
    parts: list[RenderableType] = [shown, Text("")]
    if record.accepted:
        parts.append(render_standing(record, current_board(store, record.problem, record.target, record.division)))
    parts.append(Text(f"record {record.id}   more: make show RECORD={record.id}", "dim"))
    ours = record.verdict.details.get("traceback") if record.verdict else None
    if debug and isinstance(ours, str):
        parts.append(Text(clean(ours, lines=True), "dim"))
    return parts


def current_board(store: Store, problem: str, target: str, division: str) -> Board:
    """Return a board as it stands."""
    gpu, records = load_target(target), store.board(problem, target, division)
    assumed = gpu.noise is None
    return rank(records, problem, target, division, noise=gpu.ranking_noise, noise_assumed=assumed)


def render_standing(record: Record, board: Board) -> RenderableType:
    """Return a sentence on where a team stands."""
    place = next((entry for entry in board.entries if entry.record.team == record.team), None)
    if place is not None:
        tied = " (tied)" if place.tied else ""
        return Text(f"{record.team} is number {place.place}{tied} of {len(board.entries)} on {board.problem}, "
                    f"{board.target}", "bold")  # fmt: skip
    ranked = len(board.entries)
    text = (
        f"{record.team} is listed on {board.problem}, {board.target}, but not ranked "
        f"({ranked or 'no'} ranked {'entry' if ranked == 1 else 'entries'} so far): {record.unranked_reason}"
    )
    return Text(clean(text))


def render_build(
    verdict: VerdictRecord | None, build: BuildRecord | None, kernels: Sequence[KernelRecord], folder: Path | None
) -> list[RenderableType]:
    """Return what `harness build` prints: the verdict of a failure, or the compile report and the artifact."""
    if verdict is not None:
        lines = [Text(verdict.kind, "bold red"), Text(clean(verdict.message, lines=True))]
        lines += [Text(f"  line {frame.line}: {clean(frame.text)}") for frame in verdict.traceback]
        return [Group(*lines)]
    assert build is not None
    cost = f"compile budget: {seconds(build.cpu_s)} of {build.budget_s:g} CPU-seconds"
    per_shape = "   ".join(f"{shape} {seconds(cost_s)}" for shape, cost_s in build.shapes.items())
    report = render_kernels(kernels, whole="harness build --json")
    return [report, Text(f"\n{cost}"), Text(per_shape, "dim"), Text(f"artifact {folder}", "dim")]


def render_floors(floors_us: Mapping[str, float], target: str) -> list[RenderableType]:
    """Return the least times that a target's hardware allows, a line for each benchmark."""
    heading = Text(f"\nThe floor on {clean(target)}: no kernel can be faster", "bold")
    return [heading, *(Text(f"  {clean(name)}  {microseconds(floor)} µs") for name, floor in floors_us.items())]
