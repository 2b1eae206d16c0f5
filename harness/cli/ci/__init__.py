"""`harness ci`: what workflows call. The logic is in `harness.ci` and the engine; here it meets files and logs."""

from __future__ import annotations

from typing import Any

import click

from harness.ci.commands import inert
from harness.cli.lazy import LazyGroup
from harness.errors import HarnessError

VERBS = {
    "changed": ("harness.cli.ci.changed", "Say what a pull request changes and whether it may, and extract it."),
    "run": ("harness.cli.ci.run", "Check, compile and judge what changed, for every target of the season."),
}


class _Guarded(LazyGroup):
    """Errors end up in a log that GitHub's runner obeys: they are made inert on the way."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb."""
        try:
            return super().invoke(ctx)
        except HarnessError as error:
            raise type(error)(inert(str(error))) from error


@click.command(cls=_Guarded, verbs=VERBS)
def command() -> None:
    """Continuous integration: the steps of the workflows in .github, for any system that can run a command."""
