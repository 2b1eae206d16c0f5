"""The gate's first step: from a pull request to what is to be checked, or to what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.ci.change import SUBMISSIONS, Commits, Fault
from harness.ci.examine import Entry, Proposal, check_contents, examine
from harness.ci.people import NOBODY, Author, Held
from harness.ci.report import MAX_CHECKS, MAX_FAULTS, Check, Report
from harness.spec import load_season


def inspect(commits: Commits, root: Path, author: Author, head: str, held: Held = NOBODY) -> tuple[Proposal, Report]:
    """Return what a pull request comes to, contents included, and the report that begins with it.

    Args:
        commits: the pull request.
        root: the base's checkout.
        author: whose it is.
        head: hash of its last commit.
        held: the names of teams that have records, and who holds them.
    """
    proposal = examine(commits, root, author, held)
    checks = list_checks(root, proposal.entries)
    faults = (*proposal.faults, *check_contents(commits, proposal))
    if len(checks) > MAX_CHECKS:
        message = f"{len(checks)} checks at once; {MAX_CHECKS} are allowed: make several pull requests of it"
        too_many = Fault("too_many_checks", SUBMISSIONS, message)
        faults = (*faults, too_many.shown_at([file.path for file in proposal.changed]))
    if len(faults) > MAX_FAULTS:
        more = Fault("more", "", f"and {len(faults) - MAX_FAULTS + 1} more")
        faults = (*faults[: MAX_FAULTS - 1], more)
    return proposal, Report(
        head=head,
        checks=() if faults else checks,
        removed=proposal.removed,
        faults=faults,
        standing=proposal.standing[:MAX_FAULTS],
    )


def list_checks(root: Path, entries: Sequence[Entry]) -> tuple[Check, ...]:
    """Return a check of every entry for every target of the season."""
    targets = load_season(root).targets
    return tuple(Check(entry.team, entry.problem, entry.folder, target) for entry in entries for target in targets)
