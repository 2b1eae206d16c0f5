"""A click group whose verbs are imported when they are used."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """Verbs by name: the module that holds each (as `command`, or as what a colon adds) and its one-line help."""

    def __init__(self, *args: Any, verbs: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order in which they are declared."""
        return list(self._verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb's module and return its command."""
        if cmd_name not in self._verbs:
            return None
        module, _, attribute = self._verbs[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute or "command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs without importing them."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, text) for name, (_, text) in self._verbs.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; an unknown one is answered with near names."""
        name = args[0]
        if name not in self._verbs and not name.startswith("-"):
            near = get_close_matches(name, self._verbs, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise click.UsageError(f"no verb {name!r}.{hint} Verbs: {', '.join(self._verbs)}.", ctx)
        return super().resolve_command(ctx, args)
