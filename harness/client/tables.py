"""A service's boards, standings and queue in the terminal, as the service ranks them: nothing is ranked again here.

What comes in has been made inert (`answers`); it goes into `rich.text.Text`, never into markup.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from harness.board.fitted import Column, FittedTable, Row, number_column
from harness.board.table import REASON_LEAST, explain_ranking, verdict_text
from harness.board.text import gap, microseconds, moment, percent, seconds, tell_ruled_out
from harness.client.answers import QUEUED, BoardAnswer, Posted, Season, Standing, State
from harness.client.answers import Row as BoardRow
from harness.client.narrating import describe

_INDENT = (0, 0, 0, 2)
_MOST_APART = 50


def render_board(board: BoardAnswer, title: str, team: str | None = None, *, explain: bool = True) -> RenderableType:
    """Return a board.

    Args:
        board: from the service.
        title: the problem's.
        team: whose rows to point out.
        explain: say what its columns mean.
    """
    names = f"  {board.problem} · {board.target} · {board.division} division"
    parts: list[RenderableType] = [Text.assemble((title, "bold"), (names, "dim"))]
    if board.setting is not None and board.problem_version_now not in (None, board.setting.problem_version):
        changed = (
            f"The problem has changed: it is version {board.problem_version_now} now. What stands here was made with"
        )
        parts.append(Text(f"{changed} version {board.setting.problem_version}.", "bold yellow"))
    parts.append(
        _render_ranking(board, team, explain=explain)
        if board.ranked
        else Padding(Text("No ranked entry yet.", "dim"), _INDENT)
    )
    for heading, rows in (("Not ranked", board.unranked), ("Other settings", board.other_settings)):
        if rows:
            parts += [Text(f"\n{heading}", "bold"), _render_apart(rows, team)]
    if board.ruled_out:
        parts.append(Text(f"\n{tell_ruled_out(board.ruled_out)}", "dim"))
    if board.unverified:
        told = (" (made on the teams' own machines; the service has not run it)", "dim")
        parts += [Text.assemble(("\nUnverified", "bold"), told), _render_posted(board.unverified, team)]
    return Group(*parts)


def render_standings(standings: Sequence[Standing], season: Season, target: str, division: str) -> RenderableType:
    """Return the overall standings."""
    heading = Text.assemble(("Overall", "bold"), (f"  {target} · {division} division, by points", "dim"))
    if not standings:
        return Group(heading, Padding(Text("No ranked entry yet.", "dim"), _INDENT))
    columns = [number_column(""), Column("team", no_wrap=False), number_column("points")]
    columns += [number_column(name, 3) for name in season.problems]
    rows: list[Row] = []
    for standing in standings:
        points = [f"{standing.by_problem[name]:.1f}" if name in standing.by_problem else "" for name in season.problems]
        rows.append([str(standing.place), Text(standing.team, "bold"), f"{standing.points:.1f}", *points])
    return Group(heading, Padding(FittedTable(columns, rows), _INDENT))


def render_queue(queue: Sequence[State], name: str) -> RenderableType:
    """Return what is under way and what waits at a service."""
    waiting = sum(state.state == QUEUED for state in queue)
    told = f"  {len(queue) - waiting} under way, {waiting} waiting" if queue else "  nothing is under way"
    heading = Text.assemble(("Queue", "bold"), (f"  {name}", "dim"), told)
    if not queue:
        return heading
    columns = [
        Column("submission", 8), Column("team", no_wrap=False), Column("problem"), Column("target", 5),
        Column("submitted (UTC)", 3), Column("is", no_wrap=False), number_column("done in", 6),
    ]  # fmt: skip
    return Group(heading, Padding(FittedTable(columns, [_queue_row(state) for state in queue]), _INDENT))


def queue_line(state: State) -> str:
    """Return a submission of the queue in one line, for logs."""
    return f"{state.id} {state.team} {state.problem} {state.target}: {_what_it_does(state)}"


def _queue_row(state: State) -> Row:
    about = "" if state.estimate_s is None else seconds(max(0.0, state.estimate_s))
    return [
        Text(state.id, "dim"),
        Text(state.team, "bold"),
        state.problem,
        state.target,
        moment(state.submitted),
        _what_it_does(state),
        about,
    ]


def _what_it_does(state: State) -> str:
    event = describe(state)
    if event is None:
        return f"done: {state.verdict or ''}"
    if event.stage == "queue":
        return f"waits for a {state.stage}, place {state.position}"
    count = f" {event.done}/{event.total}" if event.total else ""
    return f"{event.stage}{count} {event.text}".rstrip()


def _render_ranking(board: BoardAnswer, team: str | None, *, explain: bool) -> RenderableType:
    score, of_floor = explain_ranking(explain)
    columns = [
        number_column(""), Column("team", no_wrap=False), score, number_column("gap", 7),
        number_column("gap above", 5), of_floor, Column("record"),
        Column("", 4, no_wrap=False, shrinks_to=REASON_LEAST),
    ]  # fmt: skip
    rows: list[Row] = [
        [
            f"{row.place}{'=' if row.tied else ' '}",
            _team(row.team, team),
            Text(microseconds(row.score_us), "bold"),
            gap(row.gap_to_leader),
            gap(row.gap_to_above),
            percent(row.percent_of_floor / 100 if row.percent_of_floor else None),
            Text(row.record, "dim"),
            _remark(row),
        ]
        for row in board.ranked
    ]
    parts: list[RenderableType] = [Padding(FittedTable(columns, rows), _INDENT)]
    if any(row.tied for row in board.ranked):
        parts.append(Padding(Text(f"= tied: within {percent(board.noise)} of the group's leader", "dim"), (1, 0, 0, 2)))
    return Group(*parts)


def _remark(row: BoardRow) -> str:
    copied = f"same program as {row.same_program_as}" if row.same_program_as else ""
    pooled = f"{row.runs} runs, pooled" if row.runs > 1 else ""
    return "; ".join(part for part in (copied, pooled) if part)


def _render_apart(rows: Sequence[BoardRow], team: str | None) -> RenderableType:
    columns = [
        Column("team", no_wrap=False), Column("verdict"), number_column("score µs"), Column("finished (UTC)", 3),
        Column("record"), Column("why", no_wrap=False, shrinks_to=REASON_LEAST),
    ]  # fmt: skip
    cells: list[Row] = [
        [
            _team(row.team, team),
            verdict_text(row.verdict),
            microseconds(row.score_us),
            moment(row.finished),
            Text(row.record, "dim"),
            Text(row.why_apart, "dim"),
        ]
        for row in rows[:_MOST_APART]
    ]
    return Padding(FittedTable(columns, cells), _INDENT)


def _render_posted(rows: Sequence[Posted], team: str | None) -> RenderableType:
    columns = [
        Column("team", no_wrap=False), Column("verdict"), number_column("score µs"), Column("posted (UTC)", 3),
        Column("record"),
    ]  # fmt: skip
    cells: list[Row] = [
        [
            _team(row.team, team),
            verdict_text(row.verdict),
            microseconds(row.score_us),
            moment(row.created),
            Text(row.id, "dim"),
        ]
        for row in rows[:_MOST_APART]
    ]
    return Padding(FittedTable(columns, cells), _INDENT)


def _team(name: str, own: str | None) -> Text:
    return Text.assemble((name, "bold"), (" ◂", "cyan")) if name == own else Text(name)
