"""The verbs of the command line by name, each loaded when it is called, and what becomes of their errors."""

from __future__ import annotations

import sys

import click

from harness.cli import STOPPED, STOPPED_CODE
from harness.cli.lazy import LazyGroup
from harness.cli.output import conclude, report_bug, report_error
from harness.errors import HarnessError

VERBS = {
    "submit": ("harness.cli.submit", "Check, compile and judge a submission, and put it on the board."),
    "build": ("harness.cli.build", "Compile a submission for a target, without checking or recording it."),
    "dry-run": (
        "harness.cli.dry_run",
        "Judge and time a submission on your own GPU, here or over ssh; record nothing.",
    ),
    "replay": ("harness.cli.replay", "Check and time a built artifact on this machine's GPU, without recording it."),
    "rescore": (
        "harness.cli.rescore",
        "Replay the artifacts of earlier submissions with today's evaluator, and record it.",
    ),
    "baseline": ("harness.cli.baseline", "Measure starters and torch on this machine's GPU, for comparison."),
    "board": ("harness.cli.board", "Show a problem's board, or export the whole season as a static site."),
    "queue": ("harness.cli.queue", "Show what a leaderboard service is working on, and what waits."),
    "watch": ("harness.cli.watch", "Show a leaderboard service's standings and queue, live."),
    "show": ("harness.cli.show", "Show one record: verdict, cases, compile report, generated code."),
    "records": ("harness.cli.records", "List this machine's records, of a team or a problem, the newest first."),
    "problems": ("harness.cli.problems", "List the season's problems, or a problem's cases."),
    "new": ("harness.cli.new", "Begin a team's submission from the starter."),
    "new-problem": ("harness.cli.new_problem", "Begin a problem from a small one that works."),
    "import-problem": ("harness.cli.import_problem", "Bring in a problem of the GPU MODE and Helion events."),
    "check-problem": ("harness.cli.check_problem", "List every fault of a problem's folder, with file and line."),
    "qualify": ("harness.cli.qualify", "Try honest variants and mutants on a problem: can it tell right from wrong?"),
    "verify": ("harness.cli.verify", "Assemble an artifact's kernels again and compare: is the machine code theirs?"),
    "audit": ("harness.cli.audit", "For organisers: are an artifact's kernels Helion's, and who shares whose work?"),
    "ci": ("harness.cli.ci", "Continuous integration: the steps of the workflows on pull requests and merges."),
    "serve": ("harness.cli.serve", "Serve boards, take submissions over HTTP, build and replay them."),
    "admin": ("harness.cli.admin", "For organisers: teams, tokens, rulings, the season's times, backups."),
    "doctor": ("harness.cli.doctor", "Say what this machine has, and what to do about what is missing."),
}


@click.command(
    cls=LazyGroup,
    verbs=VERBS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(package_name="helion-harness", prog_name="harness")
def cli() -> None:
    """Check, compile and rank GPU kernels written in Helion."""


def run() -> int:
    """Run the verb that the command line names; tell what became of it, and return the exit code."""
    try:
        code = cli.main(standalone_mode=False)
    except click.exceptions.Abort:
        print(STOPPED, file=sys.stderr)
        return conclude(STOPPED_CODE, STOPPED)
    except click.ClickException as error:
        error.show()
        return conclude(2, error.format_message())
    except HarnessError as error:
        report_error(error)
        return conclude(error.exit_code, str(error))
    except Exception as error:
        report_bug(error, debug="--debug" in sys.argv)
        return conclude(HarnessError.exit_code, f"{type(error).__name__}: {error}")
    return code if isinstance(code, int) else 0
