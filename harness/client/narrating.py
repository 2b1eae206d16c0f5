"""A submission's states at a service, told as the events that a run on this machine tells.

Only changes are told: a service is asked every few seconds, and a log wants a line when something happens.
"""

from __future__ import annotations

from harness.board.text import seconds
from harness.client.answers import DONE, QUEUED, State
from harness.engine.progress import Event, Listener

STAGES = ("trace", "assemble", "check", "build", "replay")
MOST = 1_000_000


class Narrator:
    """Tells a listener what changes from state to state."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._told: Event | None = None

    def watch(self, state: State) -> None:
        """Hear a state."""
        event = describe(state)
        if event == self._told:
            return
        if self._told is not None and (event is None or event.stage != self._told.stage):
            self._listener(Event(self._told.stage, "end", _ended(self._told), self._told.total, self._told.total))
        if event is not None:
            self._listener(event)
        self._told = event


def describe(state: State) -> Event | None:
    """Return what a state says to somebody who waits; None once it is done."""
    if state.state == DONE:
        return None
    if state.state == QUEUED:
        return Event("queue", "advance", _place(state))
    progress = state.progress
    if progress is None or progress.stage not in STAGES:
        return Event("replay" if state.stage == "replay" else "trace", "advance", "begins")
    total = min(max(progress.total, 0), MOST)
    return Event(progress.stage, "advance", progress.text, min(max(progress.done, 0), total), total)


def _place(state: State) -> str:
    for_what = "a GPU" if state.stage == "replay" else "a build"
    place = "next" if state.position <= 1 else f"number {state.position}"
    # Rounded: a guess that moves by a second is no news.
    about = "" if state.estimate_s is None else f", done in about {seconds(_rounded_s(state.estimate_s))}"
    return f"{place} for {for_what}{about}"


def _rounded_s(estimate_s: float) -> float:
    step_s = 5 if estimate_s < 60 else 30
    return max(step_s, step_s * round(min(estimate_s, 1e7) / step_s))


def _ended(event: Event) -> str:
    return "its turn came" if event.stage == "queue" else "done"
