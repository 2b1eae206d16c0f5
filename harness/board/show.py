"""One record in the terminal: what was decided and why first, then the cases, the compile report, the environment.

Every text of others goes into a `rich.text.Text` through `clean`, never into markup.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from harness.board import meanings
from harness.board.fitted import Column, FittedTable, Row, number_column
from harness.board.history import Change
from harness.board.listing import Listing
from harness.board.notes import gather_notes
from harness.board.reading import (
    case_message,
    element_text,
    error_text,
    explain_alarms,
    explain_state,
    failing_cases,
    fell_short,
    first_sentence,
    gather_warnings,
    line_place,
    low_occupancy,
    made_with,
    register_bound,
    shape_text,
    spills,
    status_word,
    verdict_place,
    worst_error,
    worst_relative_l2,
    wrong_share,
)
from harness.board.table import verdict_text
from harness.board.text import (
    common_axes,
    magnitude,
    microseconds,
    percent,
    seconds,
    shape_names,
    short_names,
    size_bytes,
)
from harness.board.times import render_times
from harness.frame import Frame
from harness.store.record import CaseRecord, KernelRecord, Record
from harness.text import clean

BETTER_STYLES = {True: "green", False: "red", None: ""}
STATUS_STYLES = {"passed": "green", "partial": "green", "built": "yellow", "failed": "bold red", "not_run": "dim"}
MAX_EXAMPLES = 5
ANEW = "the same command with --json"
"""Where all of a record is told that is not kept."""
NOTE_LEAST = 24


def render_record(
    record: Record, *, changes: Sequence[Change] = (), environment: bool = True, whole: str = ""
) -> RenderableType:
    """Return everything about a record for the terminal, what matters most first.

    Where the submission fell short, cases that were not run are counted only, and the last line repeats the verdict:
    the first one has scrolled away.

    Args:
        record: any state, any verdict.
        changes: from `history.list_changes`.
        environment: tell what the record was made with.
        whole: the command, or the place, that shows what is left out here; by default that of this machine's records.
    """
    short = fell_short(record)
    whole = whole or (f"harness show {record.id} --json" if record.id else ANEW)
    sections = [
        (None, render_verdict(record)),
        ("Changes", render_changes(changes) if changes else None),
        ("Cases", _render_cases(record, whole) if record.cases else None),
        ("Times", render_times(record, whole=whole)),
        ("Kernels", render_kernels(record.kernels, whole=whole) if record.kernels else None),
        ("Cost", _render_cost(record)),
        ("Warnings", _render_warnings(record, whole) if record.warnings else None),
        ("Environment", _render_environment(record) if environment else None),
    ]
    parts: list[RenderableType] = []
    for title, content in sections:
        if content is None:
            continue
        if title is not None:
            parts.append(Text(f"\n{title}", "bold"))
        parts.append(Padding(content, (0, 0, 0, 2 if title else 0)))
    if short:
        parts.append(_render_ending(record))
    return Group(*parts)


def render_verdict(record: Record) -> RenderableType:
    """Return a record's first screen: the verdict, the failing case, what differed and the submission's own lines."""
    names = f"  {record.problem} · {record.target} · {record.division} · {record.team}"
    name = f" · {clean(record.id)}" if record.id else ""
    parts: list[RenderableType] = [Text.assemble(verdict_text(record.kind), clean(names), (name, "dim"))]
    if record.score_us is not None:
        unranked = "" if record.ranked else f"  not ranked: {record.unranked_reason or 'no reason given'}"
        parts.append(Text.assemble((f"{microseconds(record.score_us)} µs", "bold"), (clean(unranked), "dim")))
    if told := explain_state(record):
        return Group(*parts, Text(told))
    verdict = record.verdict
    if verdict is None:
        return Group(*parts)
    if verdict.message:
        parts.append(Text(clean(verdict.message, lines=True)))
    if place := verdict_place(record):
        parts.append(Text(clean(place), "dim"))
    parts += [_render_failure(case, case_message(record, case)) for case in failing_cases(record)]
    if verdict.traceback:
        parts += [Text("\nIn the submission:", "bold"), _render_traceback(verdict.traceback)]
    return Group(*parts)


def _render_warnings(record: Record, whole: str) -> RenderableType:
    told = gather_warnings(record.warnings, whole)
    return Text("\n".join(map(clean, told)), "yellow")


def render_changes(changes: Sequence[Change]) -> RenderableType:
    """Return what changed since the team's last and best record."""
    rows: list[Row] = [
        [change.since, change.subject, change.before, Text(clean(change.after), BETTER_STYLES[change.better])]
        for change in changes
    ]
    columns = [Column("since", 7), Column("what", no_wrap=False), Column("before", no_wrap=False), Column("now")]
    return FittedTable(columns, rows)


def _render_cases(record: Record, whole: str) -> RenderableType:
    """Return the table of cases: status, errors against the tolerance, times against the floor."""
    fold, told = fell_short(record), record.verdict.message if record.verdict else ""
    listed = [case for case in record.cases if not (fold and case.status == "not_run")]
    parts: list[RenderableType] = [_case_table(listed, told, whole)] if listed else []
    if left := len(record.cases) - len(listed):
        more = "more " if listed else ""
        parts.append(Text(f"{left} {more}case{'' if left == 1 else 's'} not run", "dim"))
    return Group(*parts)


def render_kernels(kernels: Sequence[KernelRecord], *, whole: str = "") -> RenderableType:
    """Return the compile report, alarming numbers marked.

    Args:
        kernels: of one record or build.
        whole: the command to name where columns are left out for want of width.
    """
    columns = [
        Column("shape"), Column("kernel", no_wrap=False), number_column("regs"), number_column("spills B"),
        number_column("shared", 6), number_column("warps", 5), number_column("stages", 4),
        number_column("occupancy", 8), number_column("compile", 7), Column("", 3),
    ]  # fmt: skip
    names = short_names([kernel.shape_id for kernel in kernels])
    rows = [_kernel_row(name, kernel) for name, kernel in zip(names, kernels, strict=True)]
    table = FittedTable(columns, rows, whole=whole)
    return Group(table, *(Text(f"! {sentence}", "yellow") for sentence in explain_alarms(kernels)))


def _case_table(cases: Sequence[CaseRecord], told: str, whole: str) -> RenderableType:
    common = common_axes([case.shape for case in cases])
    columns = [
        Column(f"case ({common})" if common else "case"), Column(""), Column("inputs"), Column("status"),
        number_column("error/tol", 8), number_column("rel L2", 6), number_column("wrong", 7),
        number_column("time µs", meaning=meanings.TIME), number_column("interval µs", 4, meaning=meanings.INTERVAL),
        number_column("of floor", 7, meaning=meanings.OF_FLOOR),
        number_column("replay", 3), Column("note", 5, no_wrap=False, shrinks_to=NOTE_LEAST),
    ]  # fmt: skip
    names, notes = shape_names([case.shape for case in cases]), gather_notes(cases, told)
    rows = [_case_row(*row) for row in zip(names, cases, notes.of_cases, strict=True)]
    return Group(FittedTable(columns, rows, whole=whole), *(Text(clean(line), "dim") for line in notes.below))


def _case_row(name: str, case: CaseRecord, note: str) -> Row:
    worst = worst_error(case)
    timing = case.timing
    return [
        name,
        Text("bench" if case.role == "benchmark" else clean(case.role), "dim"),
        Text(clean(case.distribution), "dim"),
        Text(clean(status_word(case.status)), STATUS_STYLES.get(case.status, "")),
        _alarm(magnitude(worst), worst is not None and not worst <= 1),
        magnitude(worst_relative_l2(case)),
        Text(percent(wrong_share(case)), "bold red"),
        microseconds(timing.time_us) if timing else "",
        f"{microseconds(timing.low_us)} to {microseconds(timing.high_us)}" if timing else "",
        percent(timing.percent_of_floor / 100) if timing and timing.percent_of_floor else "",
        seconds(case.seconds),
        Text(clean(note), "dim"),
    ]


def _kernel_row(name: str, kernel: KernelRecord) -> Row:
    return [
        name,
        kernel.name,
        _alarm(_number(kernel.registers), register_bound(kernel)),
        _alarm(_number(kernel.stack_bytes), spills(kernel)),
        size_bytes(kernel.shared_bytes),
        _number(kernel.warps),
        _number(kernel.stages),
        _alarm(percent(kernel.occupancy, 0), low_occupancy(kernel)),
        seconds(kernel.cpu_s),
        Text("cached" if kernel.cached else "", "dim"),
    ]


def _render_failure(case: CaseRecord, message: str) -> RenderableType:
    parts = [Text(f"\n{clean(shape_text(case.shape))}, inputs {clean(case.distribution)}", "bold")]
    if message:
        parts.append(Text(clean(message, lines=True)))
    for error in case.errors:
        parts.append(Text.assemble((f"{clean(error.output)}: ", "bold"), error_text(error)))
        parts += [Text(f"  {clean(error.output)}{element_text(e)}") for e in error.examples[:MAX_EXAMPLES]]
    return Group(*parts)


def _render_traceback(lines: Sequence[Frame]) -> RenderableType:
    rows: list[Row] = [
        [f"{line.line:>5}", Text(clean(line.text), "bold"), Text(clean(line_place(line)), "dim")] for line in lines
    ]
    return FittedTable([number_column(""), Column("", no_wrap=False), Column("", 5)], rows, heading=False)


def _render_ending(record: Record) -> RenderableType:
    said = first_sentence(record.verdict.message) if record.verdict else ""
    return Text.assemble("\n", verdict_text(record.kind), f"  {clean(said)}" if said else "")


def _render_cost(record: Record) -> RenderableType | None:
    lines: list[RenderableType] = []
    if record.build is not None:
        build = record.build
        share = percent(build.cpu_s / build.budget_s, 0) if build.budget_s else ""
        lines.append(Text(f"compiling {seconds(build.cpu_s)} of CPU, {share} of the {build.budget_s:.0f} s budget"))
        rest_s = max(build.cpu_s - sum(build.shapes.values()), 0.0)
        parts = [("import", rest_s), *build.shapes.items()]
        lines.append(Listing([f"{name} {seconds(cost_s)}" for name, cost_s in parts], label="  "))
    if record.stages:
        stages = [f"{stage.name} {seconds(stage.wall_s)}" for stage in record.stages]
        lines.append(Listing(stages, label="waited    "))
    return Group(*lines) if lines else None


def _render_environment(record: Record) -> RenderableType:
    rows: list[Row] = [[Text(name, "dim"), value] for name, value in made_with(record)]
    return FittedTable([Column(""), Column("", no_wrap=False)], rows, heading=False)


def _alarm(text: str, alarming: bool) -> Text:
    return Text(f"{text} !", "bold red") if alarming else Text(text)


def _number(value: int | None) -> str:
    return "" if value is None else str(value)
