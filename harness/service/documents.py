"""The API's answers, as types: what its OpenAPI document describes, and clients may rely on."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from harness.service.job import DONE, Job, iso
from harness.service.waiting import Wait

POLL_S = (2.0, 15.0)
"""How soon to ask again: at least, at most."""


class Progress(BaseModel):
    """How far a running stage is."""

    stage: str
    text: str = ""
    done: int = 0
    total: int = 0


class SubmissionState(BaseModel):
    """A submission on its way. `record` is the path of its record, once there is one."""

    id: str
    team: str
    problem: str
    target: str
    division: str
    suite: str
    submitted: str
    stage: str = Field(description="build (trace, assemble, check) or replay (on a GPU)")
    state: str = Field(description="queued, leased, running or done")
    attempt: int = Field(description="2 if a fault of ours made the stage begin again")
    position: int = Field(description="in the queue of its stage; 0 once it is under way")
    estimate_s: float | None = Field(description="until it is done, if that can be said")
    progress: Progress | None = None
    verdict: str | None = None
    record: str | None = None
    poll_after_s: float = Field(description="ask again after this long")


class SeasonState(BaseModel):
    """The season as the server has it now."""

    name: str
    title: str
    phase: str = Field(description="before, open or closed")
    opens: str | None
    closes: str | None
    code_visible: str
    targets: list[str]
    divisions: list[str]
    problems: dict[str, dict[str, Any]] = Field(description="by name: title, version, points, suites")
    frozen: dict[str, str] = Field(description="problems that take nothing for now, and why; '' for all")
    now: str


class Who(BaseModel):
    """Whose token it is."""

    role: str
    team: str
    name: str
    token: str


class Posted(BaseModel):
    """A record that a team has posted, where it is, and why organisers have ruled its program out, if they have."""

    id: str
    verified: bool
    record: str
    disqualified: str | None = None


class FileContent(BaseModel):
    """One file of a submission, in base64."""

    name: str
    content: str


class ActDocument(BaseModel):
    """A line of the organisers' log."""

    id: int
    at: str
    actor: str
    act: str
    subject: str
    reason: str
    details: dict[str, Any]


def describe_job(job: Job, wait: Wait) -> SubmissionState:
    """Return the state of a job."""
    done = job.state == DONE
    least_s, most_s = POLL_S
    soon_s = least_s if wait.estimate_s is None else min(max(wait.estimate_s / 4, least_s), most_s)
    return SubmissionState(
        id=job.id,
        team=job.team,
        problem=job.problem,
        target=job.target,
        division=job.division,
        suite=job.suite,
        submitted=iso(job.submitted_s),
        stage=job.stage,
        state=job.state,
        attempt=1 + job.faults,
        position=wait.position,
        estimate_s=None if wait.estimate_s is None else round(wait.estimate_s, 1),
        progress=Progress(**job.progress) if job.progress else None,
        verdict=job.verdict,
        record=f"/api/v1/records/{job.id}" if done else None,
        poll_after_s=0.0 if done else round(soon_s, 1),
    )
