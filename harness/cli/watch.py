"""`harness watch`: a service's standings and queue, live; a line for what changes where there is no terminal."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import TYPE_CHECKING

import click

from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.client.connection import Connection
    from harness.client.watching import Seen

EVERY_S = 5.0


@click.command()
@click.option("--from", "url", required=True, help="The leaderboard service: https://HOST.")
@click.option("--every", "every_s", type=click.FloatRange(2, 3600), default=EVERY_S, show_default=True, help="Seconds.")
@click.option("--target", help="Whose standings; by default the season's first.")
@click.option("--division", type=click.Choice(["closed", "open"]), help="By default the season's first.")
@click.option("--once", is_flag=True, help="Show it once and end.")
def command(url: str, every_s: float, target: str | None, division: str | None, once: bool) -> int:
    """Show a leaderboard service's standings and queue as they change, until Ctrl-C."""
    from harness.client.address import parse_address
    from harness.client.connection import Connection
    from harness.client.watching import look

    connection = Connection(parse_address(url))
    seen = look(connection, target, division)
    try:
        if once or not sys.stdout.isatty():
            _print_changes(connection, seen, every_s, once=once)
        else:
            _show_live(connection, seen, every_s)
    except KeyboardInterrupt:
        pass  # the way to end it
    return 0


def _print_changes(connection: Connection, seen: Seen, every_s: float, *, once: bool) -> None:
    from harness.client.watching import list_news, look

    before: Seen | None = None
    while True:
        for line in list_news(before, seen):
            print(f"{datetime.now():%H:%M:%S} {line}", flush=True)
        if once:
            return
        before = seen
        connection.sleep(every_s)
        try:
            seen = look(connection, seen.target, seen.division)
        except HarnessError as error:
            print(f"note: {error}; trying again", file=sys.stderr, flush=True)


def _show_live(connection: Connection, seen: Seen, every_s: float) -> None:
    from rich.console import Console
    from rich.live import Live

    from harness.client.watching import look, render_seen

    with Live(render_seen(seen), console=Console(), screen=True, auto_refresh=False) as live:
        while True:
            connection.sleep(every_s)
            try:
                seen = look(connection, seen.target, seen.division)
                live.update(render_seen(seen), refresh=True)
            except HarnessError as error:
                live.update(render_seen(seen, f"{error}; trying again"), refresh=True)
