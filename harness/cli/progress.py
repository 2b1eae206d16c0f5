"""Progress on stderr while a run goes on: a live bar on a terminal, a line per event elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from harness.engine.progress import Event, Listener, ignore
from harness.text import clean

TITLES = {
    "trace": "trace",
    "assemble": "assemble",
    "check": "check on CPU",
    "replay": "replay on GPU",
    "baseline": "baselines",
    "qualify": "qualify",
    "queue": "queue",
    "examine": "run Python",
    "build": "build",
}

PRINTED_LINES = 20
PRINTED_CHARACTERS = 500


@contextlib.contextmanager
def show_progress(*, quiet: bool) -> Iterator[Listener]:
    """Give a listener that shows what it hears on stderr, or nothing if quiet."""
    if quiet:
        yield ignore
    elif not sys.stderr.isatty():
        yield _cleaned(_Lines().hear)
    else:
        columns = (
            SpinnerColumn(finished_text="[green]✓"),
            TextColumn("{task.description:<12}"),
            BarColumn(24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}", markup=False),
        )
        with Progress(*columns, console=Console(stderr=True), transient=False) as progress:
            yield _cleaned(_Bars(progress).hear)


def _cleaned(hear: Listener) -> Listener:
    """Take away what acts on a terminal from what others say: a node, a service, a submission."""
    return lambda event: hear(replace(event, text=clean(event.text, lines=event.state == "printed")))


def quote_printed(text: str) -> str:
    """Mark what the submission printed as its own words, the last of them: it must not pass for ours."""
    lines = text.rstrip("\n").split("\n")
    cut = ["..."] if len(lines) > PRINTED_LINES else []
    shown = [line if len(line) <= PRINTED_CHARACTERS else f"{line[:PRINTED_CHARACTERS]}..." for line in lines]
    return "\n".join(f"  submission | {line}" for line in cut + shown[-PRINTED_LINES:])


class _Lines:
    """One line per stage, for logs."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def hear(self, event: Event) -> None:
        """Print what happened, with the seconds since the start."""
        count = f" {event.done}/{event.total}" if event.total else ""
        if event.state == "printed":
            print(quote_printed(event.text), file=sys.stderr, flush=True)
        elif event.state != "start":
            elapsed_s = time.monotonic() - self._started
            print(f"[{elapsed_s:6.1f} s] {TITLES[event.stage]}{count} {event.text}", file=sys.stderr, flush=True)


class _Bars:
    """A bar per stage."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def hear(self, event: Event) -> None:
        """Move the stage's bar."""
        if event.state == "printed":
            self._progress.console.print(quote_printed(event.text), markup=False, highlight=False)
            return
        if event.stage not in self._tasks:
            total = event.total or None
            self._tasks[event.stage] = self._progress.add_task(TITLES[event.stage], total=total, note="")
        task = self._tasks[event.stage]
        if event.state == "end":
            whole = self._progress.tasks[task].total or 1
            self._progress.update(task, completed=whole, total=whole, note=event.text)
        else:
            self._progress.update(task, completed=event.done, total=event.total or None, note=event.text)
