"""What every answer of the service has in common: who asks, how much they may send, and errors that say what to do.

Requests come from anybody. A body is read only after its sender is known, only up to a limit, and only for so long;
an error's answer holds nothing that was not written for it.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.errors import HarnessError, SpecError, UsageError
from harness.service.errors import RefusedError
from harness.service.intake import Intake
from harness.service.known import Known
from harness.service.logs import warn
from harness.service.rules import Rules, RulesFile
from harness.service.settings import Settings
from harness.service.teams import Holder, identify
from harness.service.waiting import Watch
from harness.store.database import Database
from harness.text import clean

PROBLEM = "application/problem+json"
BUSY_RETRY_S = 5.0

TOKEN = Security(HTTPBearer(scheme_name="token", description="a team's, or an organiser's", auto_error=False))
"""What the API's description says of who must say who they are. Whether they do is looked at by `identify` alone."""

MAYBE_TOKEN: dict[str, Any] = {"security": [{}, {"token": []}]}
"""What it says where somebody with a token sees more."""

_HTTP = {404: "nothing is here", 405: "this address does not do that"}


@dataclass
class Service:
    """What the routes work with.

    Attributes:
        closing: it is being stopped: nothing new is taken.
    """

    database: Database
    settings: Settings
    rules_file: RulesFile = field(init=False)
    watch: Watch = field(default_factory=Watch)
    intake: Intake = field(init=False)
    known: Known = field(default_factory=Known)
    closing: bool = False

    def __post_init__(self) -> None:
        self.rules_file = RulesFile(self.settings.root)
        limits = self.settings.limits
        self.intake = Intake(self.database, self.rules_file, limits, self.watch, lambda: self.now_s())

    def now_s(self) -> float:
        """Return the time."""
        return time.time()

    def rules(self) -> Rules:
        """Return the season of now."""
        with self.database.read() as connection:
            return self.rules_file.current(connection)

    def identify(self, request: Request) -> Holder:
        """Return who asks.

        Raises:
            RefusedError: they do not say, or not truly.
        """
        with self.database.read() as connection:
            return identify(connection, request.headers.get("authorization"), self.now_s())

    async def recognise(self, request: Request) -> Holder:
        """Return who asks, as of a few seconds ago: good enough to read what they send, and not to do it.

        Raises:
            RefusedError: they do not say, or not truly.
        """
        authorization = request.headers.get("authorization", "")
        if (holder := self.known.find(authorization)) is None:
            holder = await run_in_threadpool(self.identify, request)
            self.known.keep(authorization, holder)
        return holder

    def identify_anybody(self, request: Request) -> Holder | None:
        """Return who asks, None for somebody without a token; a wrong one is refused all the same."""
        return self.identify(request) if "authorization" in request.headers else None

    def want_organiser(self, request: Request) -> Holder:
        """Return the organiser who asks.

        Raises:
            RefusedError: it is none.
        """
        holder = self.identify(request)
        if not holder.organises:
            raise RefusedError(403, "organisers-only", "this is for organisers: your token is a team's")
        return holder

    def may_see_code(self, holder: Holder | None, team: str, rules: Rules) -> bool:
        """Say whether somebody may see a team's code: the team itself, organisers, everybody when the season says."""
        owns = holder is not None and (holder.organises or holder.team == team)
        return owns or rules.shows_code(self.now_s())


class Guarded:
    """An app whose every answer says that it is what it says, and is kept by nobody: pages say more, and otherwise."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def guard(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("X-Content-Type-Options", "nosniff")
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, guard)


def service_of(request: Request) -> Service:
    """Return what an app was made with."""
    service: Service = request.app.state.service
    return service


async def read_body(request: Request) -> bytes:
    """Return a request's body.

    Raises:
        RefusedError: it is too large, takes too long to arrive, or never does.
    """
    limits = service_of(request).settings.limits
    too_large = RefusedError(413, "too-large", f"the request is larger than {limits.body_bytes:,} bytes")
    if (told := request.headers.get("content-length", "")).isdigit() and int(told) > limits.body_bytes:
        raise too_large

    async def read() -> bytes:
        parts, size = [], 0
        async for part in request.stream():
            size += len(part)
            if size > limits.body_bytes:
                raise too_large
            parts.append(part)
        return b"".join(parts)

    try:
        return await asyncio.wait_for(read(), limits.body_s)
    except asyncio.TimeoutError:
        told = f"the request took longer than {limits.body_s:g} s to arrive: try again, over a better connection"
        raise RefusedError(408, "too-slow", told) from None
    except ClientDisconnect:  # nobody hears it; the log need not call it a bug
        raise RefusedError(400, "cut-short", "the request ended before all of it had come: try again") from None


def answer_errors(app: FastAPI) -> None:
    """Make every error of an app a problem document."""
    app.add_exception_handler(RefusedError, _answer_refusal)
    app.add_exception_handler(HarnessError, _answer_ours)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(HTTPException, answer_http)
    app.add_exception_handler(Exception, _answer_bug)


def problem(error: RefusedError) -> JSONResponse:
    """Return a refusal as an answer."""
    headers = {}
    if error.retry_after_s is not None:
        headers["Retry-After"] = str(max(1, round(error.retry_after_s)))
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse(error.document, error.status, headers, PROBLEM)


async def _answer_refusal(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RefusedError)
    return problem(error)


async def _answer_ours(_: Request, error: Exception) -> JSONResponse:
    """Answer for what is refused below the routes; what is our fault is logged, and worth another try."""
    if isinstance(error, UsageError) and not isinstance(error, SpecError):
        return problem(RefusedError(422, "refused", str(error)))
    warn("season is at fault" if isinstance(error, SpecError) else "database", error=error, why=str(error))
    told = "the service cannot do this at the moment; nothing is lost, try again"
    return problem(RefusedError(503, "unavailable", told, retry_after_s=BUSY_RETRY_S))


async def _answer_invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    faults = [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()[:5]]
    return problem(RefusedError(422, "malformed", clean("; ".join(faults))[:500]))


async def answer_http(request: Request, error: Exception) -> JSONResponse:
    """Answer for an address that is none, or does not do what was asked."""
    assert isinstance(error, HTTPException)
    kind = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "refused")
    answer = problem(RefusedError(error.status_code, kind, _HTTP.get(error.status_code, str(error.detail))))
    answer.headers.update(error.headers or {})
    if error.status_code == 405:
        answer.headers["Allow"] = ", ".join(_methods_of(request))
    return answer


def _methods_of(request: Request) -> list[str]:
    """Return what an address does: an error names the methods of one route only, and several may have the address."""
    asked = [{**request.scope, "method": method} for method in ("GET", "HEAD", "POST")]
    routes = request.app.routes
    return [scope["method"] for scope in asked if any(route.matches(scope)[0] is Match.FULL for route in routes)]


async def _answer_bug(_: Request, error: Exception) -> JSONResponse:
    warn("bug", error=error)
    told = "something of ours failed; it counts against nobody, and the organisers' log says where"
    return problem(RefusedError(500, "our-fault", told))


def problem_answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return what the API's description says of these answers."""
    schema = {
        "type": "object",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string", "description": "what is wrong, and what to do"},
        },
    }
    told = {"description": "refused: what is wrong, and what to do", "content": {PROBLEM: {"schema": schema}}}
    return dict.fromkeys(statuses, told)
