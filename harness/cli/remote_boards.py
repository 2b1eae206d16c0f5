"""`harness board --from URL`: the boards of a service, as it ranks them."""

from __future__ import annotations

from harness.board.table import last_ranking, spaced
from harness.cli.output import print_json, print_renderable
from harness.client.address import parse_address
from harness.client.boards import fetch_boards, fetch_season, fetch_standings
from harness.client.connection import Connection
from harness.client.tables import render_board, render_standings
from harness.errors import UsageError


def show_boards(
    url: str,
    problem: str | None,
    target: str | None,
    division: str | None,
    *,
    team: str | None,
    only_standings: bool,
    as_json: bool,
) -> int:
    """Print a service's boards, or one problem's, as `harness board` prints those of this machine; no token is sent."""
    connection = Connection(parse_address(url))
    season = fetch_season(connection)
    division = division or season.divisions[0]
    if division not in season.divisions:
        told = f"the season at {connection.address.name} has no {division} division"
        raise UsageError(f"{told}: --division {' or '.join(season.divisions)}")
    boards = [] if only_standings else fetch_boards(connection, season, problem, target, division)
    where = boards[0][0].target if boards else target or season.targets[0]
    standings, standings_json = ((), None) if problem else fetch_standings(connection, where, division)
    if as_json:
        documents = [document for _, document in boards]
        print_json(standings_json if only_standings else documents[0] if problem else documents)
        return 0
    titles = {name: str(facts.get("title", name)) for name, facts in season.problems.items()}
    explained = zip((board for board, _ in boards), last_ranking([bool(b.ranked) for b, _ in boards]), strict=True)
    shown = [render_board(b, titles.get(b.problem, b.problem), team, explain=explain) for b, explain in explained]
    if standings or only_standings:
        shown.append(render_standings(standings, season, where, division))
    print_renderable(*spaced(shown))
    return 0
