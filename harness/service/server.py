"""The server: the app with all its routes, and the process that serves it and keeps workers.

It takes no configuration file. TLS, and limits on how many connections one address may open, are the business of
whatever stands in front of it.
"""

from __future__ import annotations

import errno
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, PlainTextResponse
from sqlalchemy import text
from starlette.concurrency import run_in_threadpool

from harness import __version__
from harness.errors import HarnessError, UsageError
from harness.service import api, api_boards, api_organisers, form, logs
from harness.service.http import Guarded, Service, answer_errors, service_of
from harness.service.listening import PunctualProtocol
from harness.service.metrics import Metrics, Observed
from harness.service.pages import add_pages
from harness.service.settings import Settings
from harness.service.supervisor import Crew, Supervisor
from harness.store.database import LOCK_TIMEOUT_S, Database

CONNECTIONS = 40
"""As many as there are threads that answer."""

MOST_CONNECTIONS = 1000
GRACE_S = 10
BACKLOG = 512


def make_app(service: Service) -> FastAPI:
    """Return the app of a service, without workers."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.closing = True

    app = FastAPI(
        title="Helion harness: the leaderboard service",
        version=__version__,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # its pages would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,  # to an address made of the Host that the request names
        lifespan=lifespan,
    )
    app.state.service = service
    metrics = Metrics(service.database, service.rules_file)
    app.add_middleware(Guarded)
    app.add_middleware(Observed, metrics=metrics)
    answer_errors(app)
    for part in (api, api_boards, api_organisers):
        app.include_router(part.router)
    add_pages(app)
    _add_probes(app, metrics)
    return app


def make_config(service: Service) -> uvicorn.Config:
    """Return how uvicorn serves a service's app."""
    return uvicorn.Config(
        make_app(service),
        http=PunctualProtocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # nothing here is decided by where somebody says to come from
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=GRACE_S,
    )


def serve(settings: Settings, crew: Crew, host: str, port: int, ready: Callable[[str, Database], None]) -> None:
    """Serve until SIGTERM or SIGINT; then let workers give their jobs back.

    Args:
        settings: of the server.
        crew: its workers.
        host: where to listen.
        port: likewise; 0 is any that is free.
        ready: is told the address and the database, once it answers.

    Raises:
        StoreError: the database is out of reach, or not of this version's form.
        UsageError: somebody else listens there.
    """
    logs.configure()
    database = open_database(settings)
    try:
        service = Service(database, settings)
        service.rules()  # a season that cannot be read is told now
        _serve(service, Supervisor(database, settings, crew), host, port, ready)
    finally:
        database.close()


def _serve(
    service: Service, supervisor: Supervisor, host: str, port: int, ready: Callable[[str, Database], None]
) -> None:
    listening = _listen(host, port)
    supervisor.recover()

    def answering() -> None:
        ready(f"http://{host}:{listening.getsockname()[1]}", service.database)
        supervisor.start()

    server = _Server(make_config(service), answering)

    def stop(*_: object) -> None:
        server.should_exit = True

    # Until the server looks after signals itself. And it hands the one that stopped it on when it has stopped: workers
    # are to be stopped after it.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    try:
        server.run(sockets=[listening])
    finally:
        service.closing = True
        service.intake.close()
        supervisor.stop()


class _Server(uvicorn.Server):
    """uvicorn's, which says when it answers: what takes the machine's time (workers) is started after that."""

    def __init__(self, config: uvicorn.Config, answering: Callable[[], None]) -> None:
        super().__init__(config)
        self._answering = answering

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, then say so; unless it is being stopped already."""
        await super().startup(sockets)
        if self.started and not self.should_exit:
            await run_in_threadpool(self._answering)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, proto=socket.IPPROTO_TCP)  # else asyncio lets small parts of answers wait
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError as error:
        elsewhere = error.errno == errno.EADDRNOTAVAIL or isinstance(error, socket.gaierror)
        option = "--host, an address of this machine" if elsewhere else "--port"
        raise UsageError(f"cannot listen at {host} port {port}: {error.strerror}: choose another {option}") from None
    return listening


def open_database(settings: Settings, *, migrate: bool = False) -> Database:
    """Return the service's database, of this version's form.

    Raises:
        StoreError: it is out of reach, or of another form; the message says what to do.
    """
    database = Database(settings.database_url, LOCK_TIMEOUT_S, CONNECTIONS)
    try:
        form.prepare(database, migrate=migrate)
    except BaseException:
        database.close()
        raise
    return database


def _add_probes(app: FastAPI, metrics: Metrics) -> None:
    @app.get("/healthz", include_in_schema=False)
    async def healthz() -> PlainTextResponse:
        """Say that the process answers."""
        return PlainTextResponse("ok\n")

    @app.get("/readyz", include_in_schema=False)
    def readyz(request: Request) -> JSONResponse:
        """Say whether it can take submissions now."""
        service = service_of(request)
        try:
            started_s = time.perf_counter()
            with service.database.read() as connection:
                connection.execute(text("SELECT 1"))
                took_s = time.perf_counter() - started_s
                service.rules_file.current(connection)
            facts: dict[str, Any] = {"database_ms": round(1000 * took_s, 1)}
            facts |= {"problems_at_fault": faults} if (faults := sorted(service.rules_file.faults)) else {}
        except HarnessError:
            return JSONResponse({"ready": False, "why": "the database is out of reach"}, 503)
        if service.closing:
            return JSONResponse({"ready": False, "why": "it is being stopped"}, 503)
        if not service.intake.works:
            return JSONResponse({"ready": False, "why": "what takes submissions has ended: start it again"}, 503)
        return JSONResponse({"ready": True, **facts})

    @app.get("/metrics", include_in_schema=False)
    def prometheus() -> PlainTextResponse:
        """Return what Prometheus reads."""
        return PlainTextResponse(metrics.render(), media_type="text/plain; version=0.0.4")
