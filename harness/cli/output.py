"""What a person sees: results on stdout, progress and errors on stderr."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import traceback
from collections.abc import Mapping
from typing import Any

from harness.errors import HarnessError, UsageError

PIPED_COLUMNS = 110


def print_json(document: Any) -> None:
    """Print one JSON document to stdout."""
    json.dump(document, sys.stdout, indent=2, ensure_ascii=True)
    sys.stdout.write("\n")


def output_columns() -> int:
    """Return how wide output may be: as COLUMNS says, or the terminal, or where there is none, the same everywhere."""
    known = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal()
    return shutil.get_terminal_size((PIPED_COLUMNS, 24)).columns if known else PIPED_COLUMNS


def print_renderable(*renderables: Any) -> None:
    """Print rich renderables to stdout, `output_columns` wide; without trailing blanks where that is no terminal."""
    from rich.console import Console

    piped = not sys.stdout.isatty()
    console = Console(highlight=False, width=output_columns())
    with console.capture() if piped else contextlib.nullcontext() as capture:
        for renderable in renderables:
            console.print(renderable)
    if capture is not None:
        # Through the console again: it knows what to do when nobody reads the other end of the pipe.
        console.out("\n".join(line.rstrip() for line in capture.get().split("\n")), end="", highlight=False)


def report_faulty(faults: Mapping[str, str]) -> int:
    """Tell which problems a list of all leaves out, and why; return the exit code that says so, 0 if there are none."""
    from harness.text import clean

    for name, told in faults.items():
        print(f"error: {clean(name)} is left out: {clean(told, lines=True)}", file=sys.stderr)
    return UsageError.exit_code if faults else 0


def report_error(error: HarnessError) -> None:
    """Tell an error that ended the run, without a traceback."""
    from harness.text import clean

    kind = "error" if error.exit_code == 2 else "harness error"
    print(f"{kind}: {clean(str(error), lines=True)}", file=sys.stderr)


def report_bug(error: Exception, *, debug: bool) -> None:
    """Tell an error that nobody foresaw; its traceback is for those who ask for it."""
    from harness.text import clean

    if debug:
        traceback.print_exception(error)
    advice = "" if debug else "; the same command with --debug shows where"
    told = f"{type(error).__name__}: {clean(str(error), lines=True)}"
    print(f"harness error: {told}\nThis is the harness's fault: please report it{advice}.", file=sys.stderr)


def conclude(code: int, message: str) -> int:
    """Give a program that asked for JSON the error as such, whatever was wrong; return the exit code."""
    if "--json" in sys.argv:
        print_json({"error": message, "exit_code": code})
    return code
