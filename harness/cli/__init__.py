"""The command line: how people reach the engine. The only place that prints and exits.

Verbs are loaded when they are called, so that `harness --help` and usage errors answer at once. Progress goes to
stderr, results to stdout; `--json` prints one JSON document. Exit codes: 0 passed, checked or built; 1 the submission
fell short; 2 bad usage, or a GPU asked for that is not here; 3 our fault or a machine's, such as one that cannot be
reached; 130 stopped by Ctrl-C. The verbs are in `verbs`, which `main` imports: that takes a tenth of a second, in which
Ctrl-C is heard as it is later.
"""

from __future__ import annotations

import sys

STOPPED, STOPPED_CODE = "stopped; nothing counts, submit again when you like", 130


def main() -> None:
    """Run the command line; every error becomes a message and an exit code."""
    try:
        from harness.cli.verbs import run

        code = run()
    except KeyboardInterrupt:  # before click is at work, or after it
        from harness.cli.output import conclude

        print(f"\n{STOPPED}", file=sys.stderr)  # on a line of its own, behind the terminal's ^C
        code = conclude(STOPPED_CODE, STOPPED)
    sys.exit(code)
