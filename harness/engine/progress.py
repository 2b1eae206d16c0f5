"""What a run tells while it goes on. The engine reports; who listens, and whether anybody does, is not its business."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    """One thing that happened in a stage.

    Attributes:
        stage: "trace", "assemble", "check" (on the CPU) or "replay" (on a GPU).
        state: "start", "advance" or "end"; "printed" for what the submission itself wrote, cleaned, its last lines.
        text: a few words: the case, the kernel, the result.
        done, total: how far the stage is, where that can be counted.
    """

    stage: str
    state: str
    text: str = ""
    done: int = 0
    total: int = 0


Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Listen to nothing."""
