"""What is noted of a record's cases, for a table: a long note of several cases is told once, below it. Pure.

The texts hold other people's words as they came: whoever shows them cleans them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from harness.board.reading import case_note
from harness.store.record import CaseRecord

LONG = 40
"""From so many characters on a note that several cases share is told below the table."""


@dataclass(frozen=True)
class Notes:
    """The notes of a table.

    Attributes:
        of_cases: for each case its note, or the number of one below.
        below: lines to show under the table.
    """

    of_cases: tuple[str, ...]
    below: tuple[str, ...]


def gather_notes(cases: Sequence[CaseRecord], told: str = "") -> Notes:
    """Return the notes of some cases, each long one once.

    Args:
        cases: the rows of a table.
        told: what is said already; a long note that repeats it is none.
    """
    said = [case_note(case) for case in cases]
    notes = ["" if len(note) > LONG and note in told else note for note in said]
    counts = Counter(notes)
    shared = [note for note, count in counts.items() if len(note) > LONG and count > 1]
    if shared and counts[shared[0]] == len(cases):
        return Notes(("",) * len(cases), (f"all of these cases: {shared[0]}",))
    numbers = {note: f"({number})" for number, note in enumerate(shared, 1)}
    below = tuple(f"{number} {note}" for note, number in numbers.items())
    return Notes(tuple(numbers.get(note, note) for note in notes), below)
