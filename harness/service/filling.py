"""What pages show, from the database: the views of `site`, filled by `reading`.

A page takes a few small queries however many records there are. Whole boards are kept in memory by their versions,
which rise in the transaction of whatever changes a board; so standings over many boards cost one query too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlalchemy import Connection, func, select

from harness.board.history import list_changes
from harness.board.places import Board, Entry
from harness.board.trend import Trend, plot_trend
from harness.service.entries import BoardKey, board_of, find_ruling
from harness.service.filling_live import find_waiting, list_notices
from harness.service.job import Job, load_job
from harness.service.keeping import Boards
from harness.service.reading import (
    SKETCHED,
    find_ruled,
    list_boards,
    list_leaders,
    list_records,
    list_reruns,
    list_unverified,
    load_record,
    load_source,
    load_unverified,
    sketch,
)
from harness.service.rules import Rules
from harness.service.teams import find_title
from harness.site.gathering import rank_everywhere
from harness.site.links import board_page
from harness.site.views import (
    ENTRIES,
    LATEST,
    STANDINGS,
    TREND,
    BoardCard,
    BoardView,
    Overall,
    RecordView,
    SeasonView,
    SourceFile,
    TeamPlace,
    TeamView,
    cut,
    tell_ruling,
)
from harness.store.record import Record, decode_record
from harness.store.schema import records
from harness.store.store import Previous


@dataclass(frozen=True)
class Filling:
    """Fills views by one state of the database.

    Attributes:
        connection: a reading one.
        rules: of now.
        boards: kept between pages.
        now_s: the time.
        with_code: submissions' code may be shown.
    """

    connection: Connection
    rules: Rules
    boards: Boards
    now_s: float
    with_code: bool

    def season(self) -> SeasonView:
        """Fill the season's home."""
        every = self.boards.load_all(self.connection, self.rules)
        submissions, teams = self.boards.count(self.connection)
        latest = tuple(list_records(self.connection, limit=LATEST))
        return SeasonView(
            cards=self.boards.cards(self.connection, self.rules),
            overall=tuple(replace(item, standings=item.standings[:STANDINGS]) for item in self._overall(every)),
            latest=latest,
            teams=teams,
            submissions=submissions,
            notices=list_notices(self.connection),
            ruled=find_ruled(self.connection, latest),
        )

    def find_board(self, page: str) -> BoardKey | None:
        """Return the board of a page, by its name under boards/; the season has all of its own from the start."""
        season = self.rules.season
        keys = [BoardKey(p, t, d) for p in season.problems for t in season.targets for d in season.divisions]
        every = [*keys, *list_boards(self.connection)]
        return next((key for key in every if board_page(key) == f"boards/{page}"), None)

    def board(self, key: BoardKey, number: int) -> BoardView | None:
        """Fill a page of a board, None if the board has no such page."""
        board = self.boards.load(self.connection, self.rules, key)
        part, window = cut(len(board.entries), number)
        if window.number != number:
            return None
        page, top = replace(board, entries=board.entries[part]), board.entries[:2]
        if number > 1:
            return BoardView(replace(page, unranked=(), elsewhere=()), top, window)
        leaders = list_leaders(self.connection, key, board.setting) if board.setting else []
        latest = tuple(self._latest(key))
        return BoardView(
            page,
            top,
            window,
            trend=plot_trend(leaders[-TREND:]),
            latest=latest,
            unverified=tuple(list_unverified(self.connection, key)),
            notices=list_notices(self.connection, key.problem),
            ruled=find_ruled(self.connection, latest),
        )

    def whole_board(self, key: BoardKey) -> Board:
        """Return a whole board, for its JSON and CSV."""
        return self.boards.load(self.connection, self.rules, key)

    def record(self, record_id: str) -> RecordView | None:
        """Fill a record's page: of a stored one, of one on its way, of one that a team posted."""
        # `render` takes code away, and says so; a page for everybody has nothing to show it with.
        record, waiting = load_record(self.connection, record_id, with_code=True), None
        job = load_job(self.connection, record_id)
        if record is None and job is None:
            posted = load_unverified(self.connection, record_id)
            notice = "Unverified: measured by the team on its own machine. Nobody has checked it, and it never ranks."
            return RecordView(posted, notices=(notice,)) if posted is not None else None
        if record is None:
            assert job is not None
            record, waiting = _on_its_way(job), find_waiting(self.connection, job, self.now_s)
        board = self.boards.load(self.connection, self.rules, board_of(record))
        history = tuple(self._history(record))
        return RecordView(
            record=record,
            entry=next((entry for entry in board.entries if entry.record.id == record.id), None),
            ranked=len(board.entries),
            history=history,
            trend=self._trend(record.team, board),
            changes=list_changes(record, self._previous(record)) if record.state == "finished" else (),
            sources=tuple(self._sources(job)) if job is not None else (),
            notices=tuple(self._notices(record, job)),
            waiting=waiting,
            ruled=find_ruled(self.connection, history),
        )

    def team(self, name: str, number: int) -> TeamView | None:
        """Fill a page of a team, None if it has never submitted, or if it has no such page."""
        count = self.connection.execute(select(func.count()).where(records.c.team == name)).scalar() or 0
        part, window = cut(count, number)
        if count == 0 or window.number != number:
            return None
        every = self.boards.load_all(self.connection, self.rules)
        # Their ids first: an index has them all, so that no other row of the team's is looked at.
        ids = select(records.c.id).where(records.c.team == name).order_by(records.c.id.desc())
        wanted = records.c.id.in_(ids.offset(part.start).limit(ENTRIES))
        rows = self.connection.execute(select(*SKETCHED).where(wanted).order_by(records.c.id.desc()))
        shown = tuple(map(sketch, rows))
        places = self._places(name, every) if number == 1 else ()
        return TeamView(
            name,
            tuple(self._standings_of(name, every)),
            tuple(places),
            shown,
            window,
            find_title(self.connection, name),
            find_ruled(self.connection, shown),
        )

    def cards_of(self, problem: str) -> tuple[BoardCard, ...]:
        """Return a problem's boards."""
        return tuple(card for card in self.boards.cards(self.connection, self.rules) if card.problem == problem)

    def _latest(self, key: BoardKey) -> list[Record]:
        return list_records(
            self.connection, problem=key.problem, target=key.target, division=key.division, limit=LATEST
        )

    def _history(self, record: Record) -> list[Record]:
        board = board_of(record)
        names = {"problem": board.problem, "target": board.target, "division": board.division}
        return list_records(self.connection, team=record.team, **names, limit=LATEST)

    def _overall(self, every: list[Board]) -> tuple[Overall, ...]:
        return rank_everywhere(every, {name: entry.points for name, entry in self.rules.season.problems.items()})

    def _standings_of(self, team: str, every: list[Board]) -> Iterator[Overall]:
        for item in self._overall(every):
            if mine := tuple(standing for standing in item.standings if standing.team == team):
                yield replace(item, standings=mine)

    def _places(self, team: str, every: list[Board]) -> Iterator[TeamPlace]:
        for board in every:
            entry = next((entry for entry in board.entries if entry.record.team == team), None)
            if entry is not None:
                yield self._place(board, entry)

    def _place(self, board: Board, entry: Entry) -> TeamPlace:
        trend = self._trend(entry.record.team, board)
        names = (board.problem, board.target, board.division)
        return TeamPlace(*names, entry, len(board.entries), board.changed, trend)

    def _trend(self, team: str, board: Board) -> Trend | None:
        if board.setting is None:
            return None
        key = BoardKey(board.problem, board.target, board.division)
        newest = select(records.c.id).where(key.rows(records, team=team)).order_by(records.c.id.desc()).limit(TREND)
        ranked = (records.c.standing == "ranked", records.c.setting == board.setting.key)
        query = select(*SKETCHED).where(records.c.id.in_(newest), *ranked)
        return plot_trend([sketch(row) for row in self.connection.execute(query)])

    def _previous(self, record: Record) -> Previous:
        """Return what `Store.previous` does, in this transaction; only what is ranked is a best."""
        mine = board_of(record).rows(records, team=record.team, state="finished")
        query = select(records.c.document).where(mine, records.c.id < record.id).limit(1)
        comparable = (records.c.standing == "ranked", records.c.setting == record.setting.key)
        ranked = query.where(*comparable).order_by(records.c.score_us, records.c.id)
        found = [self.connection.execute(q).scalar() for q in (query.order_by(records.c.id.desc()), ranked)]
        last, best = (decode_record(document) if document is not None else None for document in found)
        return Previous(last, best)

    def _sources(self, job: Job) -> Iterator[SourceFile]:
        # Even where nothing of it is shown, that there is code makes the page say that it is hidden.
        for name, content in load_source(self.connection, job):
            yield SourceFile(name, content.decode("utf-8", "replace") if self.with_code else "")

    def _notices(self, record: Record, job: Job | None) -> Iterator[str]:
        if (reason := find_ruling(self.connection, record.team, record.program)) is not None:
            yield tell_ruling(reason)
        if job is not None and job.rerun_of is not None:
            yield f"Run again by the organisers; it was first submitted as {job.rerun_of}."
        for again in list_reruns(self.connection, job.id) if job is not None else ():
            yield f"The organisers had this run again: {again.id}."


def _on_its_way(job: Job) -> Record:
    """Return what is known of a submission before its record is stored."""
    return Record(
        id=job.id,
        state="submitted",
        created=job.created,
        team=job.team,
        problem=job.problem,
        problem_version=job.problem_version,
        division=job.division,
        season=job.season,
        target=job.target,
        source_sha256=job.source_sha256,
        normalised_source_sha256="",
        evaluator_version="",
        toolchain={},
        machine={},
        sandbox_level="",
        suite=job.suite,
    )
