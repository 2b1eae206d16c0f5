"""`harness ci comment`: the answer to a pull request, posted by a trusted workflow."""

from __future__ import annotations

import os
from pathlib import Path

import click

from harness.cli.ci.log import Log
from harness.cli.ci.records_option import records_option
from harness.cli.output import print_json
from harness.engine.workspace import find_workspace
from harness.errors import UsageError

GATE = ".github/workflows/submission.yml"


@click.command()
@click.option("--event", type=click.Path(path_type=Path), envvar="GITHUB_EVENT_PATH", required=True, help="Its file.")
@records_option
@click.option("--bot", default="github-actions[bot]", show_default=True, help="The login that the token writes as.")
@click.option("--json", "as_json", is_flag=True, help="Print what was posted as JSON.")
def command(event: Path, branch: str, bot: str, as_json: bool) -> int:
    """Answer the pull request that a finished run of the gate was for: a comment and a check.

    Runs in a checkout of the default branch, with a token that may write (GITHUB_TOKEN). It reads the pull request anew
    through GitHub's API, takes the run's report for hostile, and runs nothing of the author's.
    """
    from harness.ci.answer import make_answer, post_answer
    from harness.ci.api_commits import find_pull_request
    from harness.ci.event import finished_run, load_event
    from harness.ci.github import GitHub
    from harness.ci.held_names import load_held

    root, log = find_workspace(Path.cwd()).root, Log(quiet=as_json)
    run = finished_run(load_event(event))
    token = os.environ.get("GITHUB_TOKEN")
    if not token:
        raise UsageError("GITHUB_TOKEN is not set: the answer is posted with it")
    api = GitHub(os.environ.get("GITHUB_API_URL", "https://api.github.com"), run.repository, token)
    ours = run.workflow == GATE and run.event == "pull_request"
    pull_request = find_pull_request(api, run) if ours else None
    answer = None
    if pull_request:
        answer = make_answer(api, run, pull_request, root, load_held(root, branch, token))
    if pull_request is None or answer is None:  # another workflow of that name, or a pull request that has moved on
        log.say(f"nothing to answer: run {run.run_id} is not the gate's for an open pull request's last commit")
    else:
        post_answer(api, run, pull_request, answer, bot)
        log.say(f"#{pull_request.number}: {answer.title}")
    if as_json:
        posted = answer is not None and pull_request is not None
        print_json({"posted": posted, "pull_request": pull_request.number if pull_request else None,
                    "good": answer.good if answer else None, "title": answer.title if answer else None})  # fmt: skip
    return 0
