"""A report as Markdown for GitHub: the job's summary, the sticky comment, the check run.

Nothing of the author's becomes Markdown or HTML: short texts stand in `<code>` with every character that could mean
something written as a number, long ones in `<pre>` with &, < and > escaped. GitHub finds no mention, link, issue or
emoji in either. Everything else here is ours.
"""

from __future__ import annotations

import html
import io
from collections.abc import Sequence

from rich.console import Console

from harness.board.reading import count_passed, first_sentence
from harness.board.show import render_record
from harness.board.text import percent, seconds
from harness.ci.change import Fault
from harness.ci.paths import shown
from harness.ci.report import Check, Report, believed
from harness.ci.season_changes import ProblemChange, Setting
from harness.store import Record
from harness.text import clean

WIDTH = 110
MAX_CELL = 200
MAX_BLOCK = 16_000
MAX_FAULTS_SHOWN = 50

MAX_MARKDOWN = 60_000
"""GitHub takes 65,535 characters of a comment and of a check's summary."""


def render_markdown(report: Report) -> str:
    """Return a report: what to do first, then a line per check, then each check as a terminal shows it.

    Raises:
        ReportError: its records' values make no sense.
    """
    parts = [headline(report)]
    if report.faults:
        parts.append(_render_faults(report.faults))
    if report.standing:
        known = "In the base already, and left alone; it does not count against this pull request:"
        parts.append(f"{known}\n\n{_render_faults(report.standing)}")
    if report.removed:
        parts.append("Removed: " + ", ".join(code(shown(path)) for path in report.removed))
    if report.checks and not report.faults:
        parts.append(_render_table(report))
    whole = "\n\n".join(parts)
    for check in report.checks:
        record = report.record_of(check)
        part = _render_details(check, record) if record else ""
        if part and len(whole) + len(part) < MAX_MARKDOWN:
            whole += f"\n\n{part}"
    return f"{whole}\n"


def headline(report: Report) -> str:
    """Say in a sentence what came of a pull request."""
    if report.faults:
        count = len(report.faults)
        return f"**Not taken**: {count} {'thing' if count == 1 else 'things'} to mend. Nothing was run."
    if not report.checks:
        removed = "submissions are removed, nothing is to be checked" if report.removed else "no submission is changed"
        return f"**Nothing to check**: {removed}."
    if report.ours:
        return "**Not decided**: the harness or its machine failed; this counts against nobody. Run the job again."
    if report.unfinished:
        return f"**Not finished**: {len(report.unfinished)} of {len(report.checks)} checks were not done."
    if report.good:
        return "**Checked**: right on a CPU and compiled in budget. Ranking needs a replay on a GPU, after the merge."
    short = sum(not record.accepted for record in report.records)
    return f"**Fell short**: {short} of {len(report.checks)} checks. What to do is below."


def plain_headline(report: Report) -> str:
    """Say it without Markdown."""
    return headline(report).replace("**", "")


def code(text: str) -> str:
    """Return a short text of anybody's, as one line of code that means nothing to Markdown."""
    text = clean(text)
    text = text if len(text) <= MAX_CELL else f"{text[:MAX_CELL]}…"
    return "<code>" + "".join(c if c.isalnum() or c == " " else f"&#{ord(c)};" for c in text) + "</code>"


def block(text: str) -> str:
    """Return a long text of anybody's, as it is."""
    text = clean(text, lines=True).strip("\n")
    text = text if len(text) <= MAX_BLOCK else f"{text[:MAX_BLOCK]}\n[cut here; the job's log has more]"
    return f"<pre>\n{html.escape(text, quote=False)}\n</pre>"


def terminal_text(record: Record) -> str:
    """Return a record as a terminal shows it.

    Raises:
        ReportError: its values make no sense.
    """
    console = Console(file=io.StringIO(), width=WIDTH, highlight=False, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        believed(lambda: console.print(render_record(record)))
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def render_season(problems: Sequence[ProblemChange], settings: Sequence[Setting], faults: Sequence[str]) -> str:
    """Return what a change of problems and season comes to."""
    fit = "**Not fit**: mend what is listed first." if faults else "**Fit**: every problem checks and qualifies."
    parts = [fit if problems or settings else "**No problem and no setting of the season changes.**"]
    parts += ["\n".join(f"- {code(fault)}" for fault in faults[:MAX_FAULTS_SHOWN])] if faults else []
    if problems:
        rows = [
            f"| {code(p.name)} | {code(p.before or 'new')} | {code(p.after or 'gone')} | {_rescored(p)} |"
            for p in problems
        ]
        parts.append("\n".join(["| problem | version | becomes | scored anew |", "|---|---|---|---|", *rows]))
    if settings:
        rows = [f"| {code(s.place)} | {code(s.before)} | {code(s.after)} | {_meaning(s)} |" for s in settings]
        parts.append("\n".join(["| setting | was | becomes | |", "|---|---|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _rescored(problem: ProblemChange) -> str:
    if problem.rescored:
        return f"{len(problem.entries)}: {code(', '.join(problem.entries))}"
    return "nothing" if problem.entries else "nothing: no submission yet"


def _meaning(setting: Setting) -> str:
    return "verdicts depend on it: everything is to be scored anew" if setting.decides else "no score depends on it"


def _render_faults(faults: Sequence[Fault]) -> str:
    lines = [
        f"- {code(shown(fault.path)) + ': ' if fault.path else ''}{code(fault.message)}"
        for fault in faults[:MAX_FAULTS_SHOWN]
    ]
    if left := len(faults) - len(lines):
        lines.append(f"- and {left} more")
    return "\n".join(lines)


def _render_table(report: Report) -> str:
    lines = ["| submission | target | verdict | cases | compile budget | |", "|---|---|---|---|---|---|"]
    lines += [_render_row(check, report.record_of(check)) for check in report.checks]
    return "\n".join(lines)


def _render_row(check: Check, record: Record | None) -> str:
    name = code(f"{check.team}/{check.problem}")
    if record is None or record.verdict is None:
        return f"| {name} | {code(check.target)} | not done | | | |"
    passed, of = count_passed(record.cases)
    build = record.build
    share = percent(build.cpu_s / build.budget_s, 0) if build and build.budget_s > 0 else ""
    cost = f"{seconds(build.cpu_s)}, {share}" if build else ""
    said = "" if record.accepted else code(first_sentence(record.verdict.message))
    return f"| {name} | {code(check.target)} | {code(record.kind)} | {code(f'{passed} {of}')} | {code(cost)} | {said} |"


def _render_details(check: Check, record: Record) -> str:
    title = f"{code(f'{check.team}/{check.problem}')} {code(check.target)}: {code(record.kind)}"
    opened = "" if record.accepted else " open"
    return f"<details{opened}><summary>{title}</summary>\n\n{block(terminal_text(record))}\n\n</details>"
