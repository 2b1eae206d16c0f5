"""The answer to a pull request: one comment that is kept up to date, and a check run on its commit.

Runs with a token that may write, on the default branch's code, and executes nothing of the author's. The pull request's
own run has left a report; it is believed in nothing that matters: which pull request it is, who opened it and what it
changes comes from the API and the base's checkout, and the report must be about just that. What remains of its word,
the verdicts, is shown escaped; an author who forges them gains a green tick that ranks nothing.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.ci.annotations import MAX_MARKS, Mark, list_marks
from harness.ci.api_commits import ApiCommits, OpenPullRequest
from harness.ci.archive import read_only_member
from harness.ci.event import FinishedRun
from harness.ci.examine import Proposal, examine
from harness.ci.gate import list_checks
from harness.ci.github import GitHub, GitHubError, NotFoundError
from harness.ci.markdown import code, plain_headline, render_markdown
from harness.ci.paths import CONTENT_FAULTS, shown
from harness.ci.people import NOBODY, Held, find_author
from harness.ci.report import MAX_FAULTS, MAX_REPORT_BYTES, REPORT, Report, ReportError, parse_report
from harness.text import clean

CHECK = "submission report"
MARKER = "<!-- helion-harness: submission report -->"
BOT = "github-actions[bot]"
ARTIFACT = "report"
GATES_FOLDER = ".github/"
MAX_TITLE = 200
MAX_MESSAGE = 4000

_FOOT = "What a run on a CPU found, as the pull request's own job tells it: a courtesy to its author, never a rank."


@dataclass(frozen=True)
class Answer:
    """What is to be said.

    Attributes:
        good: whether the check succeeds.
        title: a sentence.
        markdown: all of it.
        marks: messages on lines of files.
        comment: whether the pull request gets it as a comment too; the check it gets always, for it may be required.
    """

    good: bool
    title: str
    markdown: str
    marks: tuple[Mark, ...] = ()
    comment: bool = True


def make_answer(
    api: GitHub, run: FinishedRun, pull_request: OpenPullRequest, root: Path, held: Held = NOBODY
) -> Answer:
    """Return the answer to a pull request.

    Args:
        api: the repository.
        run: the gate's run, finished.
        pull_request: the one that it was for.
        root: a checkout of the default branch.
        held: the names of teams that have records, and who holds them.
    """
    author = find_author(root, pull_request.author, run.owner)
    try:
        proposal = examine(ApiCommits(api, pull_request), root, author, held)
    except NotFoundError:
        raise
    except GitHubError as error:  # more than can be listed, say: what cannot be looked at is not taken
        return _refuse(run, str(error))
    if proposal == Proposal():
        return replace(_answer(run, Report(pull_request.head)), comment=False)
    if proposal.faults:
        return _answer(run, _report_faults(api, run, proposal))
    try:
        report = _expect_about(read_report(api, run), run, proposal, root)
        return _answer(run, report)
    except ReportError as error:
        return _refuse(run, f"its report cannot be used: {error}")


def read_report(api: GitHub, run: FinishedRun) -> Report:
    """Return the report that a run left behind, read as hostile.

    Raises:
        ReportError: there is none, or it is not valid.
    """
    found = [  # a job that was run again may have left one each time
        item["id"]
        for item in api.list(f"actions/runs/{run.run_id}/artifacts", "artifacts", name=ARTIFACT)
        if isinstance(item, dict)
        and item.get("name") == ARTIFACT
        and item.get("expired") is False
        and isinstance(item.get("id"), int)
    ]
    if not found:
        raise ReportError("the run left none; its log says why")
    try:
        content = api.download(f"actions/artifacts/{max(found)}/zip", MAX_REPORT_BYTES)
    except GitHubError as error:
        raise ReportError(str(error)) from None
    return parse_report(read_only_member(content, REPORT, MAX_REPORT_BYTES))


def post_answer(api: GitHub, run: FinishedRun, pull_request: OpenPullRequest, answer: Answer, bot: str = BOT) -> None:
    """Put the check on the commit, and the comment into the pull request: in place of our last one if there is one.

    Args:
        api: the repository.
        run: the gate's run.
        pull_request: where to.
        answer: what to say.
        bot: the login that our token writes as; another's comment is never taken for ours.
    """
    api.post("check-runs", check_document(run, answer))
    if not answer.comment:
        return
    body = {"body": f"{MARKER}\n{answer.markdown}"}
    for comment in api.list(f"issues/{pull_request.number}/comments"):
        if _is_ours(comment, bot):
            api.patch(f"issues/comments/{comment['id']}", body)
            return
    api.post(f"issues/{pull_request.number}/comments", body)


def check_document(run: FinishedRun, answer: Answer) -> dict[str, Any]:
    """Return the check run to make. Never "neutral": GitHub takes that for a success where a check is required."""
    marks = [mark for mark in answer.marks if mark.path and shown(mark.path) == mark.path]
    return {
        "name": CHECK,
        "head_sha": run.head,
        "status": "completed",
        "conclusion": "success" if answer.good else "failure",
        "details_url": run.page,
        "output": {
            "title": answer.title[:MAX_TITLE],
            "summary": answer.markdown,
            "annotations": [_annotation(mark) for mark in marks[:MAX_MARKS]],
        },
    }


def _annotation(mark: Mark) -> dict[str, Any]:
    return {
        "path": mark.path,
        "start_line": mark.line,
        "end_line": mark.line,
        "annotation_level": "failure",
        "title": clean(mark.title)[:MAX_TITLE],
        "message": clean(mark.message, lines=True)[:MAX_MESSAGE] or mark.title,
    }


def _report_faults(api: GitHub, run: FinishedRun, proposal: Proposal) -> Report:
    """Return the faults of a proposal, and with them what the gate has found inside of files: all is told at once.

    A gate that the pull request itself has changed is not asked, and one that tells nothing takes nothing back.
    """
    faults = proposal.faults
    if not any(fault.path.startswith(GATES_FOLDER) for fault in faults):
        with contextlib.suppress(ReportError):
            report = read_report(api, run)
            faults += tuple(f for f in report.faults if report.head == run.head and f.reason in CONTENT_FAULTS)
    return Report(run.head, removed=proposal.removed, faults=faults[:MAX_FAULTS], standing=proposal.standing)


def _expect_about(report: Report, run: FinishedRun, proposal: Proposal, root: Path) -> Report:
    """Hold a report against what the API says that the pull request is; it is not asked what it removes."""
    if report.head != run.head:
        raise ReportError("it is about another commit")
    expected = list_checks(root, proposal.entries)
    if not report.faults and set(report.checks) != set(expected):
        raise ReportError("it is about other submissions or targets than the pull request's; update the branch")
    checks = () if report.faults else expected
    return replace(report, checks=checks, removed=proposal.removed, standing=proposal.standing)


def _answer(run: FinishedRun, report: Report) -> Answer:
    """Return what a report comes to; its word alone makes nothing good that GitHub says has failed."""
    markdown, title = render_markdown(report), plain_headline(report)
    good = report.good and run.conclusion == "success"
    if report.good and not good:
        title = "Not finished: the run itself did not succeed."
        markdown = f"**{title}** Its log says why.\n\n{markdown}"
    return Answer(good, title, f"{markdown}\n{_foot(run)}", list_marks(report))


def _refuse(run: FinishedRun, why: str) -> Answer:
    return Answer(False, "Not decided", f"**Not decided**: {code(why)}\n\n{_foot(run)}")


def _foot(run: FinishedRun) -> str:
    return f"<sub>{_FOOT} Commit {code(run.head[:12])}, [run]({run.page}).</sub>\n"


def _is_ours(comment: Any, bot: str) -> bool:
    if not isinstance(comment, dict) or not isinstance(comment.get("id"), int):
        return False
    user = comment.get("user")
    by_us = isinstance(user, dict) and user.get("login") == bot and user.get("type") == "Bot"
    return by_us and str(comment.get("body")).startswith(MARKER)
