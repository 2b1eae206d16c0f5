"""What is still to be written in a problem's folder: every FIXME in it, by file and line.

`harness new-problem` and `harness import-problem` leave them where a person has to write, or to look; anybody may. One
in a comment says what is to do (`# FIXME: ...`, going on in comment lines that are indented by three), one in the code
stands in for it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.authoring.finding import Fault

FILES = ("task.yml", "reference.py", "mutants.py", "kernels.yml", "README.md")
COLUMNS = 118

_SAYS = re.compile(r"\bFIXME: *(?P<text>.*?) *(?:-->)?$")
_STANDS_IN = re.compile(r"\bFIXME\b")
_GOES_ON = re.compile(r"^ *#   (?P<text>.*)$")


def comment(message: str, indent: str = "") -> list[str]:
    """Return the comment lines that say what is to be written."""
    return textwrap.wrap(
        f"FIXME: {message}", COLUMNS, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}#   ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def find_unwritten(paths: Sequence[Path]) -> Iterator[Fault]:
    """Find what is still to be written in files, as far as they are there."""
    for path in paths:
        if path.is_file():
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            yield from (Fault(f"{path}: {text}", number) for number, text in _find(lines, python=path.suffix == ".py"))


def _find(lines: Sequence[str], *, python: bool) -> Iterator[tuple[int, str]]:
    said = 0  # up to which line it belongs to a comment that was told
    for number, line in enumerate(lines, start=1):
        if number <= said:
            continue
        if says := _SAYS.search(line):
            parts = [says["text"]]
            while number + len(parts) <= len(lines) and (more := _GOES_ON.match(lines[number + len(parts) - 1])):
                parts.append(more["text"])
            said = number + len(parts) - 1
            yield number, " ".join(parts)
        elif python and _STANDS_IN.search(line):  # elsewhere it is an axis that there is not, and told as such
            yield number, f"FIXME stands for what is to be written: {line.strip()[:100]}"
