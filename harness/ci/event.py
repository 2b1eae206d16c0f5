"""The event that started a workflow, from the file that GitHub names in GITHUB_EVENT_PATH.

GitHub writes it, so what it says of logins, commits and repositories is believed; names of branches, titles and texts
in it are the author's: a branch's name is used to look it up and for nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.strict_json import parse_strict

MAX_EVENT_BYTES = 4 << 20


@dataclass(frozen=True)
class PullRequest:
    """What the gate needs of a pull request.

    Attributes:
        author: the login of whoever opened it.
        owner: the login of the base repository's owner.
        base, head: hashes of the base branch's and the pull request's last commits.
    """

    author: str
    owner: str
    base: str
    head: str


@dataclass(frozen=True)
class FinishedRun:
    """What the answer needs of the workflow run that it is an answer to.

    Attributes:
        repository: "owner/name", of the base.
        owner: the login of its owner.
        default_branch: of the base.
        run_id: of the gate's run.
        workflow: the path of the workflow that ran.
        event: what had started it.
        conclusion: how it ended, as GitHub says.
        head: the hash that it ran for.
        head_owner, head_branch: where that came from.
        page: the run's page.
    """

    repository: str
    owner: str
    default_branch: str
    run_id: int
    workflow: str
    event: str
    conclusion: str
    head: str
    head_owner: str
    head_branch: str
    page: str


@dataclass(frozen=True)
class Push:
    """A branch that moved: its last commit before and now."""

    before: str
    after: str


def load_event(path: Path) -> Any:
    """Return the event's document.

    Raises:
        UsageError: there is none, or it is no JSON.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_EVENT_BYTES + 1)
        if len(content) > MAX_EVENT_BYTES:
            raise UsageError(f"the event {path} has more than {MAX_EVENT_BYTES >> 20} MiB")
        return parse_strict(content.decode("utf-8"))
    except OSError as error:
        raise UsageError(f"the event {path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise UsageError(f"the event {path} is not JSON") from None


def pull_request(event: Any) -> PullRequest:
    """Return the pull request of a `pull_request` event.

    Raises:
        UsageError: the event is of another kind.
    """
    return PullRequest(
        author=_text(event, "pull_request", "user", "login"),
        owner=_text(event, "pull_request", "base", "repo", "owner", "login"),
        base=_text(event, "pull_request", "base", "sha"),
        head=_text(event, "pull_request", "head", "sha"),
    )


def finished_run(event: Any) -> FinishedRun:
    """Return the run of a `workflow_run` event.

    Raises:
        UsageError: the event is of another kind.
    """
    run_id = _find(event, ("workflow_run", "id"), int)
    return FinishedRun(
        repository=_text(event, "repository", "full_name"),
        owner=_text(event, "repository", "owner", "login"),
        default_branch=_text(event, "repository", "default_branch"),
        run_id=run_id,
        workflow=_text(event, "workflow_run", "path").partition("@")[0],
        event=_text(event, "workflow_run", "event"),
        conclusion=_text(event, "workflow_run", "conclusion"),
        head=_text(event, "workflow_run", "head_sha"),
        head_owner=_text(event, "workflow_run", "head_repository", "owner", "login"),
        head_branch=_text(event, "workflow_run", "head_branch"),
        page=_text(event, "workflow_run", "html_url"),
    )


def push(event: Any) -> Push:
    """Return the commits of a `push` event.

    Raises:
        UsageError: the event is of another kind.
    """
    return Push(_text(event, "before"), _text(event, "after"))


def _text(event: Any, *path: str) -> str:
    return str(_find(event, path, str))


def _find(event: Any, path: tuple[str, ...], kind: type) -> Any:
    value = event
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise UsageError(f"the event has no {'.'.join(path)}: it is of another kind than this verb needs")
    return value
