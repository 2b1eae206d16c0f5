"""The command line: how people reach the engine. The only place that prints and exits.

Verbs are loaded when they are called, so that `harness --help` and usage errors answer at once. Progress goes to
stderr, results to stdout; `--json` prints one JSON document. Exit codes: 0 passed, checked or built; 1 the submission
fell short; 2 bad usage, or a GPU asked for that is not here; 3 our fault or a machine's, such as one that cannot be
reached; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import sys

import click

from harness.cli.lazy import LazyGroup
from harness.cli.output import print_json, report_bug, report_error
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

_STOPPED = "stopped; nothing counts, submit again when you like"


@click.command(
    cls=LazyGroup,
    verbs=VERBS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(package_name="helion-harness", prog_name="harness")
def cli() -> None:
    """Check, compile and rank GPU kernels written in Helion."""


def main() -> None:
    """Run the command line; every error becomes a message and an exit code."""
    try:
        code = cli.main(standalone_mode=False)
    except click.exceptions.Abort:
        print(_STOPPED, file=sys.stderr)
        sys.exit(_end(130, _STOPPED))
    except click.ClickException as error:
        error.show()
        sys.exit(_end(2, error.format_message()))
    except HarnessError as error:
        report_error(error)
        sys.exit(_end(error.exit_code, str(error)))
    except Exception as error:
        report_bug(error, debug="--debug" in sys.argv)
        sys.exit(_end(HarnessError.exit_code, f"{type(error).__name__}: {error}"))
    sys.exit(code if isinstance(code, int) else 0)


def _end(code: int, message: str) -> int:
    """Give a program that asked for JSON the error as such, whatever was wrong; return the exit code."""
    if "--json" in sys.argv:
        print_json({"error": message, "exit_code": code})
    return code
