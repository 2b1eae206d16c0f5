"""The pages: what a browser asks for, answered with the templates that the static site has too.

Everybody may read them and nobody is asked who they are, so they show what everybody may see: no code until the season
shows it. No page has a script or a form, none asks another host for anything, and the answers' headers say so to the
browser. A page that has not changed is not sent again (`ETag`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.concurrency import run_in_threadpool

from harness.board.export import board_csv, board_json
from harness.errors import HarnessError
from harness.service.drawing import Drawn
from harness.service.filling import Filling
from harness.service.filling_live import fill_acts, fill_queue, list_notices
from harness.service.http import Service, answer_http, service_of
from harness.service.keeping import Boards
from harness.service.rules import Rules
from harness.site.links import Links
from harness.site.loading import describe_season
from harness.site.problem import ProblemText, ProblemView, read_problem_text
from harness.site.rendering import (
    CONTENT_SECURITY_POLICY,
    Site,
    View,
    read_stylesheet,
    render_message,
)
from harness.spec import Problem

HTML = "text/html; charset=utf-8"

SECURITY_HEADERS = {
    "Content-Security-Policy": f"{CONTENT_SECURITY_POLICY}; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

_LAST_PAGE = 100_000


@dataclass(frozen=True)
class Told:
    """What a page says that has one thing to say."""

    title: str
    text: str
    status: int


NOT_FOUND = Told(
    "Not found",
    "Nothing is at this address. A record has a page from its submission on, and a team from its first.",
    404,
)


def add_pages(app: FastAPI) -> None:
    """Add the pages to an app, and what a browser gets elsewhere. What they keep between requests is theirs."""
    router = APIRouter(include_in_schema=False)
    pages = _Pages()
    routes: dict[str, Callable[..., Response]] = {
        "/": pages.season,
        "/style.css": pages.stylesheet,
        "/boards/{page}.csv": pages.board_as_csv,
        "/boards/{page}.json": pages.board_as_json,
        "/boards/{page}": pages.board,
        "/boards/{page}/{number}": pages.board,
        "/records/{record_id}": pages.record,
        "/teams/{team}": pages.team,
        "/teams/{team}/{number}": pages.team,
        "/problems/{name}": pages.problem,
        "/queue": pages.queue,
        "/queue/{number}": pages.queue,
        "/acts": pages.acts,
        "/acts/{number}": pages.acts,
    }
    for path, endpoint in routes.items():
        router.add_api_route(path, endpoint, methods=["GET", "HEAD"], response_class=Response)
    app.include_router(router)

    async def answer_nowhere(request: Request, error: Exception) -> Response:
        if _wants_page(request):
            with suppress(HarnessError):
                return await run_in_threadpool(pages.nowhere, request)
        return await answer_http(request, error)

    app.add_exception_handler(404, answer_nowhere)


class _Pages:
    """The endpoints. Each answers from one state of the database."""

    def __init__(self) -> None:
        self._boards = Boards()
        self._drawn = Drawn()
        self._texts: dict[str, tuple[tuple[object, ...], ProblemText]] = {}

    def nowhere(self, request: Request) -> Response:
        return self._answer(request, lambda _: NOT_FOUND)

    def season(self, request: Request) -> Response:
        return self._answer(request, lambda filling: filling.season())

    def stylesheet(self, request: Request) -> Response:
        return _send(request, read_stylesheet(), "text/css; charset=utf-8", "max-age=3600")

    def board(self, request: Request, page: str, number: str = "1") -> Response:
        def fill(filling: Filling) -> View | None:
            key = filling.find_board(page)
            return filling.board(key, _number(number)) if key is not None else None

        return self._answer(request, fill)

    def board_as_csv(self, request: Request, page: str) -> Response:
        return self._board_as(request, page, "text/csv; charset=utf-8")

    def board_as_json(self, request: Request, page: str) -> Response:
        return self._board_as(request, page, "application/json")

    def record(self, request: Request, record_id: str) -> Response:
        return self._answer(request, lambda filling: filling.record(record_id))

    def team(self, request: Request, team: str, number: str = "1") -> Response:
        return self._answer(request, lambda filling: filling.team(team, _number(number)))

    def problem(self, request: Request, name: str) -> Response:
        service = service_of(request)

        def fill(filling: Filling) -> View | Told | None:
            if name not in filling.rules.problems:
                return None
            if name in service.rules_file.faults:
                return _tell_fault(filling.rules.problems[name])
            text = self._problem_text(service.settings.root, name, filling.rules)
            return ProblemView(text, filling.cards_of(name), list_notices(filling.connection, name))

        return self._answer(request, fill)

    def _problem_text(self, root: Path, name: str, rules: Rules) -> ProblemText:
        """Return a problem's texts, read again when its files have changed."""
        problem = rules.problems[name]
        files = (problem.folder / "README.md", root / "submissions" / "starter" / name / "submission.py")
        stamp = (problem.version, *rules.season.targets, *map(_changed_ns, files))
        kept = self._texts.get(name)
        if kept is None or kept[0] != stamp:
            kept = self._texts[name] = (stamp, read_problem_text(root, problem, list(rules.targets.values())))
        return kept[1]

    def queue(self, request: Request, number: str = "1") -> Response:
        return self._answer(
            request, lambda filling: fill_queue(filling.connection, _number(number) or 1, filling.now_s)
        )

    def acts(self, request: Request, number: str = "1") -> Response:
        return self._answer(request, lambda filling: fill_acts(filling.connection, _number(number)))

    def _answer(self, request: Request, fill: Callable[[Filling], View | Told | None]) -> Response:
        """Fill a view and send its page, or one that says why there is none."""
        service = service_of(request)
        nowhere = "\0" in request.url.path  # PostgreSQL takes no text with one, and nothing has such a name
        with service.database.read() as connection:
            rules = service.rules_file.current(connection)
            now_s = service.now_s()
            filling = Filling(connection, rules, self._boards, now_s, with_code=rules.shows_code(now_s))
            view = (None if nowhere else fill(filling)) or NOT_FOUND
        site = _site(request, rules, now_s)
        if isinstance(view, Told):
            return _send(request, render_message(view.title, view.text, site), HTML, status=view.status)
        return _send(request, self._drawn.draw(request.url.path, view, site), HTML)

    def _board_as(self, request: Request, page: str, kind: str) -> Response:
        service: Service = service_of(request)
        with service.database.read() as connection:
            rules = service.rules_file.current(connection)
            filling = Filling(connection, rules, self._boards, service.now_s(), with_code=False)
            key = filling.find_board(page)
            board = filling.whole_board(key) if key is not None else None
        if board is None:
            return _send(request, "there is no such board\n", "text/plain; charset=utf-8", status=404)
        return _send(request, board_json(board) if kind == "application/json" else board_csv(board), kind)


def _wants_page(request: Request) -> bool:
    """Say whether somebody who asks for an address that is none reads a page rather than JSON."""
    prefix = str(request.scope.get("root_path", "")).rstrip("/")
    inside = f"{request.scope['path'].removeprefix(prefix)}/".startswith("/api/")
    reads = "text/html" in request.headers.get("accept", "").lower()
    return reads and not inside and request.method in ("GET", "HEAD")


def _site(request: Request, rules: Rules, now_s: float) -> Site:
    prefix = str(request.scope.get("root_path", "")).rstrip("/")
    return Site(
        describe_season(rules.season, rules.problems, datetime.fromtimestamp(now_s, timezone.utc)),
        Links(f"{prefix}/", suffix="", home_page=""),
        problem_pages=frozenset(rules.problems),
        live=True,
    )


def _send(request: Request, text: str, kind: str, cache: str = "no-cache", status: int = 200) -> Response:
    body = text.encode("utf-8", "replace")
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {**SECURITY_HEADERS, "Cache-Control": cache, "ETag": tag}
    known = {part.strip().removeprefix("W/") for part in request.headers.get("if-none-match", "").split(",")}
    if status == 200 and tag in known:
        return Response(status_code=304, headers=headers)
    return Response(body, status, headers, kind)


def _number(text: str) -> int:
    """Return a page's number; 0, which no page has, for what is none."""
    return int(text) if text.isascii() and text.isdigit() and 0 < int(text[:9]) < _LAST_PAGE and text[0] != "0" else 0


def _changed_ns(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


def _tell_fault(problem: Problem) -> Told:
    """Say that a problem is at fault, without what the fault is: that is in the organisers' log."""
    told = f"{problem.name} is at fault at the moment, and the organisers have been told. Its boards and records stay."
    return Told(problem.title, told, 503)
