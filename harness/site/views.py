"""What each page shows: one frozen dataclass a page. Whoever holds the records fills them, `rendering` draws them.

The static export fills them from a list of records (`gathering`), the live service from its database. So a page is the
same wherever it comes from, and nothing here knows a database. What only the live service shows is in `live_views`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from harness.board.history import Change
from harness.board.places import Board, Entry
from harness.board.standings import Standing
from harness.board.trend import Trend
from harness.store.record import Record, Setting

ENTRIES = 40
"""Entries, or records, on one page of a board or of a team."""

STANDINGS = 50
"""Teams of the overall standings that the season's page shows."""

LATEST = 20
"""How many of the latest records a page lists beside what it is about."""

TREND = 200
"""As many of a team's newest records on a board are looked through for those that its chart shows."""


@dataclass(frozen=True)
class SeasonFacts:
    """What the pages say of the season; everything but its name may be empty.

    Attributes:
        titles: problem names to titles, in the season's order.
        times: when it opens or closes, or that it has closed, for people.
        noise: target names to the spread between identical kernels, as a share of one.
        noise_assumed: the targets where nobody has measured it.
        versions: problem names to their versions today; a board of another version says so.
        settings: problem names to the setting that counts now (by default the newest one that has records).
        points: what each problem is worth in the overall standings.
        code_visible: submissions' code may be shown now: their sources, the lines of their tracebacks.
        code_until: until when it is hidden, for people ("the season closes"); empty if for ever.
    """

    name: str
    titles: Mapping[str, str] = field(default_factory=dict)
    times: str = ""
    noise: Mapping[str, float] = field(default_factory=dict)
    noise_assumed: frozenset[str] = frozenset()
    versions: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Setting] = field(default_factory=dict)
    points: Mapping[str, int] = field(default_factory=dict)
    code_visible: bool = False
    code_until: str = ""


@dataclass(frozen=True)
class Window:
    """Which page of a long list this is: `number` of `pages`, of `total` items."""

    number: int = 1
    pages: int = 1
    total: int = 0


def cut(count: int, number: int, size: int = ENTRIES) -> tuple[slice, Window]:
    """Return what page `number` of `count` items holds, and the window that says so. A number too large is the last."""
    pages = max(1, -(-count // size))
    number = min(max(number, 1), pages)
    return slice(size * (number - 1), size * number), Window(number, pages, count)


@dataclass(frozen=True)
class BoardCard:
    """A board in short.

    Attributes:
        leaders: its first entries.
        ranked, unranked: how many teams are ranked, and how many are listed without a place.
        changed: that the problem has changed since (`Board.changed`).
        failed: how many submissions there are, where not one of them is right; else 0.
    """

    problem: str
    target: str
    division: str
    leaders: tuple[Entry, ...] = ()
    ranked: int = 0
    unranked: int = 0
    changed: str = ""
    failed: int = 0

    @classmethod
    def of(cls, board: Board, failed: int = 0) -> BoardCard:
        """Return the card of a whole board."""
        names = (board.problem, board.target, board.division)
        return cls(*names, board.entries[:3], len(board.entries), len(board.unranked), board.changed, failed)


@dataclass(frozen=True)
class Overall:
    """The first of the overall standings of one target and division; `teams` is how many there are in all."""

    target: str
    division: str
    standings: tuple[Standing, ...]
    teams: int


@dataclass(frozen=True)
class SeasonView:
    """The season's home: standings, boards, what came last.

    Attributes:
        notices: what organisers have to say before everything else.
        ruled: the ids of records that organisers have ruled out; of those that are shown at least.
    """

    cards: tuple[BoardCard, ...] = ()
    overall: tuple[Overall, ...] = ()
    latest: tuple[Record, ...] = ()
    teams: int = 0
    submissions: int = 0
    notices: tuple[str, ...] = ()
    ruled: Collection[str] = ()


@dataclass(frozen=True)
class BoardView:
    """One page of a board.

    Attributes:
        board: with the entries of this page only; the lists without a place belong to the first page.
        top: the first two entries of the whole board.
        window: counts entries.
        unverified: records that teams posted from their own machines; they rank nowhere.
        notices: what organisers have to say of the board.
        ruled: as `SeasonView.ruled`.
    """

    board: Board
    top: tuple[Entry, ...] = ()
    window: Window = Window()
    trend: Trend | None = None
    latest: tuple[Record, ...] = ()
    unverified: tuple[Record, ...] = ()
    notices: tuple[str, ...] = ()
    ruled: Collection[str] = ()


@dataclass(frozen=True)
class SourceFile:
    """One file of a submission, as text."""

    name: str
    text: str


@dataclass(frozen=True)
class Kept:
    """What is kept of records beside them; it is empty where records are all there is.

    Attributes:
        rulings: why organisers have ruled a record out, by its id; it has no place then.
        sources: returns a record's submitted files, when its page is drawn: all of them together are large.
    """

    rulings: Mapping[str, str] = field(default_factory=dict)
    sources: Callable[[Record], tuple[SourceFile, ...]] = lambda _: ()


def tell_ruling(reason: str) -> str:
    """Return the notice on a record that organisers have ruled out."""
    return f"Ruled out by the organisers: {reason}"


@dataclass(frozen=True)
class QueueRow:
    """A submission on its way.

    Attributes:
        position: how many are before it and it; None once it runs.
        stage: "build" or "replay", for people.
        state: "queued", "leased", "running".
        since: when it came into this state, ISO.
        attempt: 2 if a fault of ours made it begin again.
        estimate_s: how long until it is done, if that can be said.
    """

    record_id: str
    team: str
    problem: str
    target: str
    state: str
    since: str
    position: int | None = None
    stage: str = ""
    attempt: int = 1
    estimate_s: float | None = None


@dataclass(frozen=True)
class RecordView:
    """A submission.

    Attributes:
        record: as it is stored. What of it is code is shown only when the season shows code.
        entry: its place, if it is what its team stands on the board with; `ranked` teams stand there.
        history: the team's records on the board, the newest first.
        sources: the submission's files, where whoever fills this has them.
        notices: what organisers or the service have to say of it, before everything else.
        waiting: where it is in the queue, while it is there.
        ruled: as `SeasonView.ruled`.
    """

    record: Record
    entry: Entry | None = None
    ranked: int = 0
    history: tuple[Record, ...] = ()
    trend: Trend | None = None
    changes: tuple[Change, ...] = ()
    sources: tuple[SourceFile, ...] = ()
    notices: tuple[str, ...] = ()
    waiting: QueueRow | None = None
    ruled: Collection[str] = ()


@dataclass(frozen=True)
class TeamPlace:
    """Where a team stands on one board, and how it came there."""

    problem: str
    target: str
    division: str
    entry: Entry
    ranked: int
    changed: str = ""
    trend: Trend | None = None


@dataclass(frozen=True)
class TeamView:
    """A team: its standings, its places, one page of its records, the newest first.

    Attributes:
        title: how it wants to be called in full; empty if that is not known.
        overall: for each target and division the team's own standing alone.
        ruled: as `SeasonView.ruled`.
    """

    name: str
    overall: tuple[Overall, ...] = ()
    places: tuple[TeamPlace, ...] = ()
    records: tuple[Record, ...] = ()
    window: Window = Window()
    title: str = ""
    ruled: Collection[str] = ()
