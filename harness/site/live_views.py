"""What the pages show that only a service has: its queue, and its organisers' log, which is kept with the season."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.site.views import QueueRow, Window


@dataclass(frozen=True)
class QueueView:
    """What waits and what runs.

    Attributes:
        rows: those that run, then those that wait, in their order; `window` counts all.
        durations_s: stages to the time that one takes, from what was observed.
        workers: kinds of workers to how many are alive.
    """

    rows: tuple[QueueRow, ...] = ()
    window: Window = field(default_factory=Window)
    durations_s: Mapping[str, float] = field(default_factory=dict)
    workers: Mapping[str, int] = field(default_factory=dict)
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Act:
    """One act of an organiser: who did what to whom or to what, when, and why."""

    when: str
    who: str
    what: str
    subject: str = ""
    reason: str = ""
    record_id: str = ""


@dataclass(frozen=True)
class ActsView:
    """The organisers' log, the newest first. It is appended to and never changed."""

    acts: tuple[Act, ...] = ()
    window: Window = field(default_factory=Window)
