"""The API for teams: submit, ask how far it is, read records and code, post what one's own machine has made.

A team sees its own code and errors; of others' it sees what the season shows. What a team posts from its own machine is
kept apart from what the service has built and replayed, and ranks nowhere.
"""

from __future__ import annotations

import asyncio
import base64
from typing import Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool

from harness.service.accepting import Asked
from harness.service.documents import FileContent, Posted, SubmissionState, Who, describe_job
from harness.service.entries import find_ruling
from harness.service.errors import RefusedError
from harness.service.http import MAYBE_TOKEN, TOKEN, Service, problem_answers, read_body, service_of
from harness.service.job import Job, load_job
from harness.service.posting import post_record
from harness.service.reading import list_records, load_record, load_source, load_unverified
from harness.service.received import parse_received
from harness.service.teams import identify
from harness.store.record import Record, encode_record

router = APIRouter(prefix="/api/v1")

MAX_LISTED = 100
SMALL_BYTES = 32 << 10
JSON = "application/json"

_SUBMISSION = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["format", "problem", "files"],
                    "additionalProperties": False,
                    "properties": {
                        "format": {"const": 1},
                        "problem": {"type": "string"},
                        "problem_version": {"type": "string", "description": "the one that the team has"},
                        "target": {"type": "string", "description": "the season's first by default"},
                        "division": {"type": "string"},
                        "suite": {"type": "string"},
                        "files": {
                            "type": "object",
                            "description": "contents in base64, by relative name; submission.py is one of them",
                            "additionalProperties": {"type": "string", "contentEncoding": "base64"},
                        },
                    },
                }
            }
        },
    },
    "parameters": [
        {
            "name": "Idempotency-Key",
            "in": "header",
            "required": True,
            "description": "new for each submission; the same one again gets the first one's answer",
            "schema": {"type": "string", "pattern": "^[A-Za-z0-9_.-]{8,72}$"},
        }
    ],
    "security": [{"token": []}],
}

_RECORD = {
    "requestBody": {
        "required": True,
        "description": "a record as `harness show --json` prints it",
        "content": {"application/json": {"schema": {"type": "object", "required": ["format", "id", "team"]}}},
    }
}


@router.get("/whoami", dependencies=[TOKEN], responses=problem_answers(401, 503))
def whoami(request: Request) -> Who:
    """Say whose token this is."""
    holder = service_of(request).identify(request)
    return Who(role=holder.role, team=holder.team, name=holder.name, token=holder.token)


@router.post(
    "/submissions",
    status_code=202,
    responses={
        200: {"description": "this key was seen before: the answer to its submission", "model": SubmissionState},
        **problem_answers(400, 401, 403, 408, 409, 413, 422, 429, 503),
    },
    response_model=SubmissionState,
    openapi_extra=_SUBMISSION,
)
async def post_submission(request: Request) -> Response:
    """Take a submission. When this is answered it is on the disk, and will be evaluated."""
    service = service_of(request)
    holder = await service.recognise(request)
    if not holder.team:
        raise RefusedError(403, "teams-only", "an organiser's token submits nothing: use a team's")
    if service.closing:
        raise RefusedError(503, "closing", "the service is being restarted: try again", retry_after_s=5)
    body = await read_body(request)
    key = request.headers.get("idempotency-key")
    asked = await _read(holder.team, body, key, service.now_s())
    accepted = await asyncio.wrap_future(service.intake.take(asked, holder.token))
    headers = {"Location": f"/api/v1/submissions/{accepted.job.id}"}
    if accepted.new:
        state = describe_job(accepted.job, service.watch.wait_of_new(accepted.job, accepted.nth))
        return Response(state.model_dump_json(), 202, headers, JSON)
    state = await run_in_threadpool(_describe, service, accepted.job)
    return Response(state.model_dump_json(), 200, headers, JSON)


@router.get("/submissions/{submission_id}", responses=problem_answers(404, 503))
def get_submission(request: Request, submission_id: str) -> SubmissionState:
    """Say how far a submission is."""
    service = service_of(request)
    with service.database.read() as connection:
        job = _want_job(load_job(connection, submission_id))
        return describe_job(job, service.watch.wait_of(connection, job, service.now_s()))


@router.get(
    "/submissions/{submission_id}/files", responses=problem_answers(401, 403, 404, 503), openapi_extra=MAYBE_TOKEN
)
def get_files(request: Request, submission_id: str) -> list[FileContent]:
    """Return a submission's code: to its team, to organisers, and to everybody when the season shows code."""
    service = service_of(request)
    holder = service.identify_anybody(request)
    rules = service.rules()
    with service.database.read() as connection:
        job = _want_job(load_job(connection, submission_id))
        if not service.may_see_code(holder, job.team, rules):
            when = {"never": "never", "after_close": "once the season has closed"}[rules.season.code_visible]
            raise RefusedError(403, "code-hidden", f"other teams' code is shown {when}")
        files = load_source(connection, job)
    return [FileContent(name=name, content=base64.b64encode(content).decode()) for name, content in files]


@router.get("/records/{record_id}", responses=problem_answers(401, 404, 503), openapi_extra=MAYBE_TOKEN)
def get_record(request: Request, record_id: str) -> dict[str, Any]:
    """Return a record; without its team's code to those who may not see it."""
    service = service_of(request)
    holder = service.identify_anybody(request)
    rules = service.rules()
    with service.database.read() as connection:
        record = load_record(connection, record_id, with_code=True)
        if record is None:
            return _unverified(connection, record_id)
        if not service.may_see_code(holder, record.team, rules):
            record = load_record(connection, record_id, with_code=False)
            assert record is not None
        ruling = find_ruling(connection, record.team, record.program)
    return {**encode_record(record), "verified": True, "disqualified": ruling}


@router.get("/records", responses=problem_answers(422, 503))
def get_records(
    request: Request,
    problem: str | None = None,
    team: str | None = None,
    target: str | None = None,
    division: str | None = None,
    before: str | None = None,
    limit: int = Query(20, ge=1, le=MAX_LISTED),
) -> list[dict[str, Any]]:
    """List records in short, the newest first; `before` is the last id of the page before."""
    narrowed = {"problem": problem, "team": team, "target": target, "division": division, "before": before}
    if any("\0" in value for value in narrowed.values() if value):
        raise RefusedError(422, "malformed", "a name holds no NUL")
    with service_of(request).database.read() as connection:
        return [_in_short(record) for record in list_records(connection, **narrowed, limit=limit)]


@router.post(
    "/records",
    status_code=201,
    responses={
        201: {"description": "it is kept, or was before", "model": Posted},
        **problem_answers(400, 401, 403, 408, 413, 422, 429, 503),
    },
    dependencies=[TOKEN],
    openapi_extra=_RECORD,
)
async def post_unverified(request: Request) -> JSONResponse:
    """Keep a record that a team's own machine has made: listed as unverified, never ranked."""
    service = service_of(request)
    await run_in_threadpool(service.identify, request)
    body = await read_body(request)
    posted = await run_in_threadpool(_post, request, body)
    return JSONResponse(posted.model_dump(), 201, {"Location": posted.record})


async def _read(team: str, body: bytes, key: str | None, came_s: float) -> Asked:
    """Read a submission: a large one in a thread, lest everybody waits; a small one costs less than a thread does."""

    def read() -> Asked:
        return Asked.of(team, parse_received(body), key, came_s)

    return read() if len(body) <= SMALL_BYTES else await run_in_threadpool(read)


def _describe(service: Service, job: Job) -> SubmissionState:
    with service.database.read() as connection:
        return describe_job(job, service.watch.wait_of(connection, job, service.now_s()))


def _post(request: Request, body: bytes) -> Posted:
    """Keep a record, if whoever sent it still may: a body can be long on its way."""
    service = service_of(request)
    with service.database.write() as connection:
        now_s = service.now_s()
        holder = identify(connection, request.headers.get("authorization"), now_s)
        rules = service.rules_file.current(connection)
        name = post_record(connection, holder, body, rules, service.settings.limits, now_s)
        ruling = _unverified(connection, name)["disqualified"]
    return Posted(id=name, verified=False, record=f"/api/v1/records/{name}", disqualified=ruling)


def _want_job(job: Job | None) -> Job:
    if job is None:
        raise RefusedError(404, "not-found", "there is no such submission")
    return job


def _unverified(connection: Connection, record_id: str) -> dict[str, Any]:
    if (record := load_unverified(connection, record_id)) is None:
        raise RefusedError(404, "not-found", "there is no such record; one is there once its submission is done")
    # The team is the token's; the program is what the record says of itself, and decides nothing but this note.
    ruling = find_ruling(connection, record.team, record.program)
    return {**encode_record(record), "verified": False, "disqualified": ruling}


def _in_short(record: Record) -> dict[str, Any]:
    names = ("id", "state", "created", "team", "problem", "target", "division", "season", "ranked", "score_us")
    return {**{name: getattr(record, name) for name in names}, "verdict": record.kind}
