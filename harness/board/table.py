"""A board in the terminal.

Every text of others goes into a `rich.text.Text` through `clean`, never into markup.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from harness.board import meanings
from harness.board.fitted import Column, FittedTable, Row, number_column
from harness.board.places import Apart, Board, Entry
from harness.board.standings import Standing
from harness.board.text import gap, microseconds, moment, percent, shape_names
from harness.store.record import Record
from harness.text import clean

VERDICT_STYLES = {"PASSED": "bold green", "CHECKED": "bold cyan", "BUILT": "bold yellow", "SUBMITTED": "dim"}
FAILED_STYLE = "bold red"
OURS_STYLE = "bold magenta"
REASON_LEAST = 30
"""Characters on a line: a reason is wrapped so far before any column is left out for it."""


def render_board(
    board: Board, *, title: str | None = None, team: str | None = None, explain: bool = True
) -> RenderableType:
    """Return a board for the terminal.

    Args:
        board: from `ranking.rank`.
        title: the problem's title.
        team: whose rows to point out.
        explain: say what its columns mean.
    """
    if not (board.entries or board.unranked or board.elsewhere):
        return Text.assemble(_render_names(board, title), ("  no entry yet", "dim"))
    parts: list[RenderableType] = [_render_heading(board, title)]
    if board.entries:
        parts.append(_render_ranking(board, team, explain=explain))
    else:
        parts.append(Padding(Text("No ranked entry yet.", "dim"), (0, 2)))
    if board.unranked:
        parts += [Text("\nNot ranked", "bold"), _render_apart(board.unranked, team, "why")]
    if board.elsewhere:
        note = Text.assemble(("\nOther settings", "bold"), (" (not comparable, so not mixed in)", "dim"))
        parts += [note, _render_apart(board.elsewhere, team, "made with")]
    return Group(*parts)


def render_standings(standings: Sequence[Standing], where: str, problems: Sequence[str]) -> RenderableType:
    """Return the overall standings for the terminal.

    Args:
        standings: from `standings.rank_overall`.
        where: target and division.
        problems: in the season's order.
    """
    heading = Text.assemble(("Overall", "bold"), (f"  {clean(where)}, by points\n", "dim"))
    if not standings:
        return Group(heading, Padding(Text("No ranked entry yet.", "dim"), (0, 2)))
    columns = [number_column(""), Column("team", no_wrap=False), number_column("points")]
    columns += [number_column(clean(problem), 3) for problem in problems]
    rows: list[Row] = [
        [
            str(standing.place),
            Text(clean(standing.team), "bold"),
            Text(f"{standing.points:.1f}", "bold"),
            *(f"{standing.by_problem[name]:.1f}" if name in standing.by_problem else "" for name in problems),
        ]
        for standing in standings
    ]
    return Group(heading, Padding(FittedTable(columns, rows), (0, 0, 0, 2)))


def spaced(parts: Sequence[RenderableType]) -> list[RenderableType]:
    """Return boards and standings with a blank line between each two, except between two of a single line."""
    pieces: list[RenderableType] = []
    for before, part in zip([None, *parts], parts):  # noqa: B905  as many as there are parts
        together = before is None or (isinstance(before, Text) and isinstance(part, Text))
        pieces += [part] if together else [Text(""), part]
    return pieces


def verdict_text(kind: str) -> Text:
    """Return a verdict in its colour."""
    style = OURS_STYLE if kind in ("HARNESS_ERROR", "INTERRUPTED") else VERDICT_STYLES.get(kind, FAILED_STYLE)
    return Text(clean(kind), style)


def times_us(record: Record) -> dict[str, float]:
    """Return the time of each timed case of a record."""
    return {case.case_id: case.timing.time_us for case in record.cases if case.timing}


def _render_names(board: Board, title: str | None) -> Text:
    names = f"  {board.problem} · {board.target} · {board.division} division"
    return Text.assemble((clean(title or board.problem), "bold"), (clean(names), "dim"))


def _render_heading(board: Board, title: str | None) -> Text:
    heading = _render_names(board, title)
    if board.setting:
        tools = ", ".join(f"{tool} {version}" for tool, version in board.setting.toolchain)
        setting = (
            f"problem version {board.setting.problem_version}, evaluator {board.setting.evaluator_version}, {tools}"
        )
        heading.append(f"\n{clean(setting)}\n", "dim")
    if board.changed:
        heading.append(f"{clean(board.changed)}\n", "bold yellow")
    return heading


def _render_ranking(board: Board, team: str | None, *, explain: bool) -> RenderableType:
    cases = [case for case in board.entries[0].record.cases if case.timing]
    names = shape_names([case.shape for case in cases])
    times = [_time_column(name, case.case_id, board) for name, case in zip(names, cases, strict=True)]
    score, of_floor = explain_ranking(explain)
    columns = [
        number_column(""), Column("team", no_wrap=False), score, number_column("gap", 7),
        number_column("gap above", 5), *times, of_floor, Column("record"),
        Column("", 4, no_wrap=False, shrinks_to=REASON_LEAST),
    ]  # fmt: skip
    rows = [_ranking_row(entry, [case.case_id for case in cases], team) for entry in board.entries]
    parts: list[RenderableType] = [Padding(FittedTable(columns, rows), (0, 0, 0, 2))]
    if any(entry.tied for entry in board.entries):
        told = (
            "assumed: identical kernels' noise has not been measured"
            if board.noise_assumed
            else "the noise of identical kernels"
        )
        tied = f"= tied: within {percent(board.noise)} of the group's leader, {told} on this target"
        parts.append(Padding(Text(tied, "dim"), (1, 0, 0, 2)))
    return Group(*parts)


def explain_ranking(explain: bool) -> tuple[Column, Column]:
    """Return the columns of scores and of shares of the floor, with what they mean or without."""
    score, of_floor = (meanings.SCORE, meanings.OF_FLOOR) if explain else ("", "")
    return number_column("score µs", meaning=score), number_column("of floor", 6, meaning=of_floor)


def last_ranking(ranked: Sequence[bool]) -> list[bool]:
    """Return of boards one below the other which one says what their columns mean: the last that ranks anything."""
    last = max((place for place, ranks in enumerate(ranked) if ranks), default=None)
    return [place == last for place in range(len(ranked))]


def _time_column(name: str, case_id: str, board: Board) -> Column:
    """Return the column of a shape's times: its heading may take several lines, its numbers may not."""
    times = [microseconds(times_us(entry.record).get(case_id)) for entry in board.entries]
    return Column(name, 3, "right", no_wrap=False, shrinks_to=max(map(len, [*clean(name).split(), *times])))


def _ranking_row(entry: Entry, case_ids: Sequence[str], team: str | None) -> Row:
    of_cases = times_us(entry.record)
    return [
        f"{entry.place}{'=' if entry.tied else ' '}",
        _team(entry.record, team),
        Text(microseconds(entry.score_us), "bold"),
        gap(entry.gap_to_leader),
        gap(entry.gap_to_above),
        *(microseconds(of_cases.get(case_id)) for case_id in case_ids),
        percent(entry.percent_of_floor / 100 if entry.percent_of_floor else None),
        Text(entry.record.id, "dim"),
        _remark(entry),
    ]


def _remark(entry: Entry) -> Text:
    runs = Text(f"{entry.runs} runs, pooled" if entry.runs > 1 else "", "dim")
    copied = Text(f"same program as {clean(entry.same_program_as)}" if entry.same_program_as else "", "yellow")
    return Text("; ").join(part for part in (copied, runs) if part)


def _render_apart(aparts: Sequence[Apart], team: str | None, reason: str) -> RenderableType:
    columns = [
        Column("team", no_wrap=False), Column("verdict"), number_column("score µs"), Column("finished (UTC)", 3),
        Column("record"), Column(reason, no_wrap=False, shrinks_to=REASON_LEAST),
    ]  # fmt: skip
    rows: list[Row] = [
        [
            _team(apart.record, team),
            verdict_text(apart.record.kind),
            microseconds(apart.record.score_us),
            clean(moment(apart.record.finished)),
            Text(apart.record.id, "dim"),
            Text(clean(apart.why), "dim"),
        ]
        for apart in aparts
    ]
    return Padding(FittedTable(columns, rows), (0, 0, 0, 2))


def _team(record: Record, own: str | None) -> Text:
    return (
        Text.assemble((clean(record.team), "bold"), (" ◂", "cyan")) if record.team == own else Text(clean(record.team))
    )
