"""From a list of records to what pages show: for the static export, which has all records at hand. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

from harness.board.concealing import conceal
from harness.board.history import list_changes
from harness.board.places import Board
from harness.board.ranking import rank
from harness.board.standings import rank_overall
from harness.board.trend import Trend, plot_trend
from harness.site.links import board_page
from harness.site.views import (
    LATEST,
    STANDINGS,
    TREND,
    BoardCard,
    BoardView,
    Kept,
    Overall,
    RecordView,
    SeasonFacts,
    SeasonView,
    TeamPlace,
    TeamView,
    cut,
    tell_ruling,
)
from harness.store.record import Record, Setting
from harness.store.store import Previous


class Gathered:
    """The season's records, ranked, and what each page takes from them."""

    def __init__(self, records: Sequence[Record], season: SeasonFacts, kept: Kept | None = None) -> None:
        self._kept = kept or Kept()
        shown = records if season.code_visible else [conceal(record) for record in records]
        self._whole = {record.id: record for record in records}
        self.records = sorted(shown, key=lambda record: record.id, reverse=True)
        self.boards = rank_boards(self.records, season, self._kept.rulings)
        self._overall = rank_everywhere(self.boards, season.points)
        self._board_of = {board_page(board): board for board in self.boards}
        self._entry_of = {entry.record.id: entry for board in self.boards for entry in board.entries}
        self._of_board: dict[str, list[Record]] = defaultdict(list)
        self._of_team: dict[str, list[Record]] = defaultdict(list)
        self._of_both: dict[tuple[str, str], list[Record]] = defaultdict(list)
        for record in self.records:
            page = board_page(record)
            self._of_board[page].append(record)
            self._of_team[record.team].append(record)
            self._of_both[page, record.team].append(record)

    @property
    def teams(self) -> tuple[str, ...]:
        """Every team that has submitted."""
        return tuple(self._of_team)

    def season_view(self) -> SeasonView:
        """Return what the season's home shows."""
        return SeasonView(
            cards=tuple(map(self._card, self.boards)),
            overall=tuple(replace(item, standings=item.standings[:STANDINGS]) for item in self._overall),
            latest=tuple(self.records[:LATEST]),
            teams=len(self._of_team),
            submissions=len(self.records),
            ruled=self._kept.rulings.keys(),
        )

    def board_views(self, board: Board) -> Iterator[BoardView]:
        """Return the pages of a board; the first one has what is not ranked."""
        here = self._of_board[board_page(board)]
        pages = cut(len(board.entries), 1)[1].pages
        for number in range(1, pages + 1):
            part, window = cut(len(board.entries), number)
            page = replace(board, entries=board.entries[part])
            if number > 1:
                yield BoardView(replace(page, unranked=(), elsewhere=()), board.entries[:2], window)
                continue
            trend = self._plot(here, board.setting)
            ruled = self._kept.rulings.keys()
            yield BoardView(page, board.entries[:2], window, trend, tuple(here[:LATEST]), ruled=ruled)

    def record_view(self, record: Record) -> RecordView:
        """Return what a record's page shows. Its code is taken away where it is drawn: the page says that it is."""
        page = board_page(record)
        board, history = self._board_of[page], self._of_both[page, record.team]
        finished, ruling = record.state == "finished", self._kept.rulings.get(record.id)
        return RecordView(
            record=self._whole[record.id],
            entry=self._entry_of.get(record.id),
            ranked=len(board.entries),
            history=tuple(history[:LATEST]),
            trend=self._plot(history[:TREND], record.setting),
            changes=list_changes(record, self._previous(record, history)) if finished else (),
            sources=self._kept.sources(record),
            notices=(tell_ruling(ruling),) if ruling is not None else (),
            ruled=self._kept.rulings.keys(),
        )

    def team_views(self, team: str) -> Iterator[TeamView]:
        """Return the pages of a team."""
        own = self._of_team[team]
        overall = tuple(
            replace(item, standings=mine)
            for item in self._overall
            if (mine := tuple(standing for standing in item.standings if standing.team == team))
        )
        places = tuple(self._places(team))
        for number in range(1, cut(len(own), 1)[1].pages + 1):
            part, window = cut(len(own), number)
            yield TeamView(team, overall, places, tuple(own[part]), window, ruled=self._kept.rulings.keys())

    def cards_of(self, problem: str) -> tuple[BoardCard, ...]:
        """Return the boards of a problem."""
        return tuple(self._card(board) for board in self.boards if board.problem == problem)

    def _card(self, board: Board) -> BoardCard:
        here = self._of_board[board_page(board)]
        return BoardCard.of(board, 0 if any(record.accepted for record in here) else len(here))

    def _places(self, team: str) -> Iterator[TeamPlace]:
        for board in self.boards:
            for entry in board.entries:
                if entry.record.team == team:
                    trend = self._plot(self._of_both[board_page(board), team][:TREND], board.setting)
                    yield TeamPlace(
                        board.problem, board.target, board.division, entry, len(board.entries), board.changed, trend
                    )

    def _previous(self, record: Record, history: Sequence[Record]) -> Previous:
        """Return what `Store.previous` does; only what is ranked, and not ruled out, is a best."""
        earlier = [other for other in history if other.id < record.id and other.state == "finished"]
        own = [other for other in earlier if other.setting == record.setting]
        ranked = [other for other in own if other.scored and other.id not in self._kept.rulings]
        best = min(ranked, key=lambda other: (other.score_us or 0.0, other.id), default=None)
        return Previous(earlier[0] if earlier else None, best)

    def _plot(self, records: Sequence[Record], setting: Setting | None) -> Trend | None:
        ruled = self._kept.rulings
        return plot_trend([record for record in records if record.setting == setting and record.id not in ruled])


def rank_boards(records: Sequence[Record], season: SeasonFacts, ruled: Container[str] = ()) -> tuple[Board, ...]:
    """Return every board that has a record, in the season's order of problems; what is ruled out has no place there."""
    order = {name: i for i, name in enumerate(season.titles)}
    found: dict[tuple[str, str, str], list[Record]] = defaultdict(list)
    for record in records:
        found[record.problem, record.target, record.division].append(record)
    keys = sorted(found, key=lambda key: (order.get(key[0], len(order)), key))
    return tuple(
        rank(
            found[key],
            *key,
            noise=season.noise.get(key[1], 0.0),
            noise_assumed=key[1] in season.noise_assumed,
            setting=season.settings.get(key[0]),
            version_now=season.versions.get(key[0]),
            ruled=ruled,
        )
        for key in keys
    )


def rank_everywhere(boards: Sequence[Board], points: Mapping[str, int]) -> tuple[Overall, ...]:
    """Return the overall standings of each target and division that has a ranked entry, the fullest first."""
    places = dict.fromkeys((board.target, board.division) for board in boards)
    found = []
    for target, division in places:
        here = [board for board in boards if (board.target, board.division) == (target, division)]
        if standings := rank_overall(here, points):
            found.append(Overall(target, division, standings, len(standings)))
    return tuple(sorted(found, key=lambda item: -item.teams))
