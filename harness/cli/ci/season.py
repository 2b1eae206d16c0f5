"""`harness ci season`: the step for pull requests that change problems or shapes.yaml."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.ci.log import Log, summarise
from harness.cli.output import print_json
from harness.engine.workspace import find_workspace
from harness.errors import SpecError, UsageError

if TYPE_CHECKING:
    from harness.ci.season_changes import ProblemChange, Setting


@click.command()
@click.option("--event", type=click.Path(path_type=Path), envvar="GITHUB_EVENT_PATH", help="The event's file.")
@click.option("--base", help="Elsewhere than on GitHub: the base branch's commit.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(event: Path | None, base: str | None, as_json: bool) -> int:
    """Check the problems that a pull request changes, qualify them, and say what would be scored anew.

    Runs in a checkout of the pull request's outcome, and runs its code: in a job without rights or secrets. Exits with
    1 if a problem is not fit.
    """
    from harness.ci.event import load_event, pull_request
    from harness.ci.git import GitCommits, run_git
    from harness.ci.markdown import render_season
    from harness.ci.season_changes import SEASON_FILE, changed_problems, changed_settings

    root, log = find_workspace(Path.cwd()).root, Log(quiet=as_json)
    if base is None and event is None:
        raise UsageError("compared with what? Give --base, or --event (GitHub names the file)")
    start = base or pull_request(load_event(Path(str(event)))).base
    changes = GitCommits(root, start, run_git(root, "rev-parse", "HEAD").decode().strip()).changes()
    settings: tuple[Setting, ...] = ()
    faults: list[str] = []
    with _checkout(root, start) as before:
        if any(change.path == SEASON_FILE for change in changes):
            try:
                settings = changed_settings(before, root)
            except SpecError as error:
                faults += str(error).replace(f"{root}/", "").splitlines()
        problems = changed_problems(changes, before, root)
    faults += [fault for problem in problems for fault in _find_faults(problem, root, log)]
    markdown = render_season(problems, settings, faults)
    summarise(markdown)
    log.say(markdown if faults or problems or settings else "no problem and no setting of the season changes")
    if as_json:
        print_json({"problems": [asdict(p) for p in problems], "settings": [asdict(s) for s in settings],
                    "faults": faults})  # fmt: skip
    return 1 if faults else 0


@contextmanager
def _checkout(root: Path, sha: str) -> Iterator[Path]:
    """Give a checkout of the base beside this one."""
    from harness.ci.git import run_git

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "base"
        run_git(root, "worktree", "add", "--quiet", "--detach", str(place), sha)
        try:
            yield place
        finally:
            run_git(root, "worktree", "remove", "--force", str(place))


def _find_faults(problem: ProblemChange, root: Path, log: Log) -> list[str]:
    """Return what is wrong with a problem as it is now; nothing if it goes away."""
    from harness.qualify.asked import NEVER_RANKS

    if not (root / "problems" / problem.name).is_dir():
        return []
    log.say(f"check-problem {problem.name}")
    checked = _harness(root, "check-problem", problem.name)
    faults = [
        f"{finding['file']}{':' + str(finding['line']) if finding['line'] else ''}: {finding['message']}"
        for finding in checked.get("findings", ())
        if finding["level"] == "error"
    ] or ([f"{problem.name}: {checked['error']}"] if "error" in checked else [])
    if faults:
        return faults
    log.say(f"qualify {problem.name}")
    qualified = _harness(root, "qualify", problem.name)
    if "error" in qualified:
        return [f"{problem.name}: {qualified['error']}"]
    if qualified["qualified"]:
        return []
    told = [
        f"{problem.name}, suite {suite['suite']}: {fault['message']}"
        for suite in qualified["suites"]
        if suite["standing"] != NEVER_RANKS
        for fault in suite["faults"]
    ] + [f"{problem.name}, as kernels: {fault['message']}" for fault in qualified["kernel_faults"]]
    return told or [f"{problem.name}: not qualified"]


def _harness(root: Path, *arguments: str) -> dict[str, Any]:
    """Run another verb and return its document."""
    done = subprocess.run([sys.executable, "-m", "harness", *arguments, "--json"], cwd=root, capture_output=True)
    try:
        document: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.decode("utf-8", "replace").strip()[-1000:]
        return {"error": f"harness {' '.join(arguments)} ended with {done.returncode}: {said}"}
    return document
