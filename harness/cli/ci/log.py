"""What the verbs of `harness ci` leave behind: lines of a log, marks on files, a summary, a step's outputs.

GitHub's runner obeys some lines of a log, so nothing reaches it here that is not inert, but for the marks.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

from harness.ci.annotations import Mark
from harness.ci.commands import error_command, inert
from harness.cli.progress import quote_printed
from harness.engine.progress import Event
from harness.errors import UsageError
from harness.text import clean


class Log:
    """A job's log on stdout; a quiet one is for those who asked for JSON."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._started = time.monotonic()

    def say(self, text: str) -> None:
        """Print a text of anybody's."""
        if not self._quiet:
            print(inert(text), flush=True)

    def mark(self, marks: Iterable[Mark]) -> None:
        """Put messages on lines of files: as GitHub's annotations in a workflow, as lines elsewhere."""
        for mark in marks:
            if os.environ.get("GITHUB_ACTIONS") != "true":
                place = f"{mark.path}:{mark.line}: " if mark.path else ""
                self.say(f"{place}{mark.title}: {mark.message}")
            elif not self._quiet:
                print(error_command(mark.message, path=mark.path, line=mark.line, title=mark.title), flush=True)

    def hear(self, event: Event) -> None:
        """Tell the end of every stage, with the seconds since the start, and the last of what a submission printed."""
        if event.state == "printed":
            self.say(quote_printed(clean(event.text, lines=True)))
        elif event.state == "end":
            self.say(f"[{time.monotonic() - self._started:6.1f} s] {event.stage}: {event.text}")


def summarise(markdown: str) -> None:
    """Add to the job's summary, where there is one."""
    _append("GITHUB_STEP_SUMMARY", markdown)


def put_output(name: str, value: str) -> None:
    """Set an output of the step, where there are such; a value of one line."""
    _append("GITHUB_OUTPUT", f"{name}={' '.join(value.split())}\n")


def _append(variable: str, text: str) -> None:
    path = os.environ.get(variable)
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{variable}: {path} cannot be written: {error.strerror}") from None
