"""`harness ci`: what workflows call. The logic is in `harness.ci` and the engine; here it meets files and logs."""

from __future__ import annotations

from typing import Any

import click

from harness.ci.commands import inert
from harness.cli.lazy import LazyGroup
from harness.errors import HarnessError

VERBS = {
    "changed": ("harness.cli.ci.changed", "Say what a pull request changes and whether it may, and extract it."),
    "merged": ("harness.cli.ci.merged", "Say which submissions a merge, or an organiser, wants built and replayed."),
    "run": ("harness.cli.ci.run", "Check, compile and judge what changed, for every target of the season."),
    "comment": ("harness.cli.ci.comment", "Answer a pull request with what its run found: a comment and a check."),
    "replay": ("harness.cli.ci.replay", "Replay the artifacts of a run on this machine's GPU."),
    "publish": ("harness.cli.ci.publish", "File the records of a build and its replays."),
    "site": ("harness.cli.ci.site", "Write the static site from all records that there are."),
    "season": ("harness.cli.ci.season", "Check what a pull request changes of problems and season."),
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
