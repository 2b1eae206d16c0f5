"""`harness queue`: what a service is working on, and what waits."""

from __future__ import annotations

import click

from harness.cli.output import print_json, print_renderable


@click.command()
@click.option("--from", "url", required=True, help="The leaderboard service: https://HOST.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(url: str, as_json: bool) -> int:
    """Show what a leaderboard service is working on, and what waits, in the order in which it is served."""
    from harness.client.address import parse_address
    from harness.client.boards import fetch_queue
    from harness.client.connection import Connection
    from harness.client.tables import render_queue

    connection = Connection(parse_address(url))
    queue, document = fetch_queue(connection)
    if as_json:
        print_json(document)
    else:
        print_renderable(render_queue(queue, connection.address.name))
    return 0
