"""Which line of the submission did it: lookups in stacks and tracebacks.

Owns the notion of "the submission's own frame": one whose code comes from the submission's file.
"""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Container
from pathlib import Path
from types import FrameType, TracebackType

from harness.frame import Frame

MAX_FRAMES = 20
# What Helion writes above the statements that it generates: the file's name and the line that they come from.
_ORIGIN = re.compile(r"\s*# src\[(.+):(\d+)[-\d]*\]")


def submission_line(path: str, generated: Container[str] = ()) -> int:
    """Return the line of the innermost running frame of the file `path`, 0 if there is none.

    Args:
        path: the submission's file.
        generated: files that Helion generated; a line of theirs stands for the one that it was generated from.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file, line = frame.f_code.co_filename, frame.f_lineno
        if file == path:
            return line
        original = _original_line(file, line, Path(path).name) if file in generated else 0
        if original:
            return original
        frame = frame.f_back
    return 0


def called_from(path: str) -> bool:
    """Tell whether the caller of the function that asks is code of the file `path`."""
    return sys._getframe(2).f_code.co_filename == path


def submission_frames(error: BaseException, path: str) -> tuple[Frame, ...]:
    """Return the frames of the file `path` in an error's traceback, outermost first.

    A syntax error of that file counts as a frame of its own.
    """
    frames = _frames(error.__traceback__, path)
    if isinstance(error, SyntaxError) and error.filename == path and error.lineno:
        frames.append(Frame(error.lineno, "<module>", (error.text or "").strip()))
    return tuple(frames[-MAX_FRAMES:])


def raised_in(error: BaseException, folder: str) -> bool:
    """Tell whether an error was raised by code under `folder`, rather than further down or elsewhere."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(folder)


def frames_below(error: BaseException, path: str) -> tuple[tuple[str, str], ...]:
    """Return file and function of each frame below the last one of the file `path`, innermost last."""
    below: list[tuple[str, str]] = []
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        below = [] if code.co_filename == path else [*below, (code.co_filename, code.co_name)]
        traceback = traceback.tb_next
    return tuple(below)


def _original_line(file: str, line: int, name: str) -> int:
    """Return the line of the file called `name` that a generated line comes from, 0 if the function does not say."""
    for text in reversed(linecache.getlines(file)[:line]):
        origin = _ORIGIN.match(text)
        if origin:
            return int(origin[2]) if origin[1] == name else 0
        if text.startswith("def "):
            break
    return 0


def _frames(traceback: TracebackType | None, path: str) -> list[Frame]:
    frames = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename == path:
            line = traceback.tb_lineno
            frames.append(Frame(line, code.co_name, linecache.getline(path, line).strip()[:200]))
        traceback = traceback.tb_next
    return frames
