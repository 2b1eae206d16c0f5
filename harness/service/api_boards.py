"""The API for everybody: the season, boards as JSON and CSV, standings, the queue, the log of organisers' acts."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy import Connection

from harness.board.export import board_csv, board_document, standings_document
from harness.board.places import Board
from harness.service.acts import list_acts
from harness.service.documents import ActDocument, SeasonState, SubmissionState, describe_job
from harness.service.entries import BoardKey
from harness.service.errors import RefusedError
from harness.service.http import Service, problem_answers, service_of
from harness.service.job import iso
from harness.service.organising import list_frozen
from harness.service.reading import list_boards, list_unverified, load_board, load_standings
from harness.service.rules import Rules
from harness.service.waiting import list_queue, observe
from harness.store.record import Record
from harness.target import target_names

router = APIRouter(prefix="/api/v1")

MAX_ACTS = 200


@router.get("/season", responses=problem_answers(503))
def get_season(request: Request) -> SeasonState:
    """Say which season runs, until when, and what it takes."""
    service = service_of(request)
    now_s = service.now_s()
    with service.database.read() as connection:
        rules = service.rules_file.current(connection)
        stopped = list_frozen(connection)
    season = rules.season
    return SeasonState(
        name=season.name,
        title=season.title,
        phase=rules.phase(now_s),
        opens=iso(season.opens.timestamp()) if season.opens else None,
        closes=iso(season.closes.timestamp()) if season.closes else None,
        code_visible=season.code_visible,
        targets=list(season.targets),
        divisions=list(season.divisions),
        problems={name: _describe_problem(rules, name) for name in rules.problems},
        frozen=stopped,
        now=iso(now_s),
    )


@router.get("/boards", responses=problem_answers(503))
def get_boards(request: Request) -> list[dict[str, str]]:
    """List the boards that something stands on."""
    with service_of(request).database.read() as connection:
        return [key.columns for key in list_boards(connection)]


@router.get(
    "/boards/{problem}/{target}/{division}.csv",
    response_class=Response,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}, **problem_answers(404, 503)},
)
def get_board_csv(request: Request, problem: str, target: str, division: str) -> Response:
    """Return a board as CSV for spreadsheets."""
    with service_of(request).database.read() as connection:
        board = _read_board(service_of(request), connection, BoardKey(problem, target, division))
    name = f"{board.problem}-{board.target}-{board.division}.csv"
    return Response(board_csv(board), 200, {"Content-Disposition": f'attachment; filename="{name}"'}, "text/csv")


@router.get("/boards/{problem}/{target}/{division}", responses=problem_answers(404, 503))
def get_board(request: Request, problem: str, target: str, division: str) -> dict[str, Any]:
    """Return a board: ranked entries, those without a place and why, and what teams posted unverified."""
    key = BoardKey(problem, target, division)
    with service_of(request).database.read() as connection:
        board = _read_board(service_of(request), connection, key)
        posted = list_unverified(connection, key)
    return {**board_document(board), "unverified": [_posted_in_short(record) for record in posted]}


@router.get("/standings/{target}/{division}", responses=problem_answers(404, 503))
def get_standings(request: Request, target: str, division: str) -> list[dict[str, Any]]:
    """Return the overall standings, by points."""
    service = service_of(request)
    with service.database.read() as connection:
        rules = service.rules_file.current(connection)
        if target not in rules.season.targets or division not in rules.season.divisions:
            raise RefusedError(404, "not-found", "the season has no such target or division")
        return standings_document(load_standings(connection, rules, target, division))


@router.get("/queue", responses=problem_answers(422, 503))
def get_queue(request: Request, limit: int = Query(100, ge=1, le=1000)) -> list[SubmissionState]:
    """Return what is under way and what waits: those under way first, then in the order of turns."""
    service = service_of(request)
    now_s = service.now_s()
    with service.database.read() as connection:
        pace = observe(connection, now_s)
        queue = list_queue(connection, pace, now_s, limit)
    return [describe_job(job, wait) for job, wait in queue]


@router.get("/acts", responses=problem_answers(422, 503))
def get_acts(
    request: Request, before: int | None = Query(None, ge=1, lt=1 << 31), limit: int = Query(50, ge=1, le=MAX_ACTS)
) -> list[ActDocument]:
    """Return the organisers' log, the newest first; `before` is the last number of the page before."""
    with service_of(request).database.read() as connection:
        found = list_acts(connection, before=before, limit=limit)
    return [
        ActDocument(
            id=act.id,
            at=iso(act.at_s),
            actor=act.actor,
            act=act.act,
            subject=act.subject,
            reason=act.reason,
            details=dict(act.details),
        )
        for act in found
    ]


def _read_board(service: Service, connection: Connection, key: BoardKey) -> Board:
    rules = service.rules_file.current(connection)
    known = key.target in target_names() and key.division in ("closed", "open")
    if not known or not (key.problem in rules.problems or key in list_boards(connection)):
        raise RefusedError(404, "not-found", "there is no such board: /api/v1/boards lists them")
    version = rules.problems[key.problem].version if key.problem in rules.problems else None
    return load_board(connection, key, version)


def _posted_in_short(record: Record) -> dict[str, Any]:
    names = ("id", "team", "created", "score_us")
    return {**{name: getattr(record, name) for name in names}, "verdict": record.kind, "verified": False}


def _describe_problem(rules: Rules, name: str) -> dict[str, Any]:
    entry, problem = rules.season.problems[name], rules.problems[name]
    return {
        "title": problem.title,
        "version": problem.version,
        "points": entry.points,
        "suites": list(entry.suites),
        "aliases": list(problem.aliases),
    }
