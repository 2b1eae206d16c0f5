"""What Prometheus reads at /metrics: requests as this process saw them, queue and workers as the database has them.

Labels are of a fixed, small set: routes by their pattern, never by what somebody put in an address.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.service.logs import tell
from harness.service.rules import RulesFile
from harness.service.waiting import count_waiting, observe
from harness.store.database import Database

BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 10)
QUIET = ("/healthz", "/readyz", "/metrics")
"""Addresses that machines ask all the time: counted, and not logged."""


class Metrics:
    """The metrics of one server."""

    def __init__(self, database: Database, rules_file: RulesFile) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_Queue(database, rules_file))
        labels = ("method", "route", "status")
        self.requests = Counter("harness_requests", "Requests answered.", labels, registry=self._registry)
        self.seconds = Histogram(
            "harness_request_seconds", "Time to answer.", ("route",), buckets=BUCKETS_S, registry=self._registry
        )

    def render(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self._registry)


class _Queue(Collector):
    def __init__(self, database: Database, rules_file: RulesFile) -> None:
        self._database, self._rules_file = database, rules_file

    def describe(self) -> Iterable[Metric]:
        """Say nothing beforehand: the database need not be asked to register this."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Return the queue, the workers and the problems of now."""
        with self._database.read() as connection:
            waiting, pace = count_waiting(connection), observe(connection, time.time())
            problems = self._rules_file.current(connection).problems
        queue = GaugeMetricFamily("harness_jobs", "Submissions that are not done.", labels=("stage", "state"))
        for (stage, state), count in sorted(waiting.items()):
            queue.add_metric((stage, state), count)
        workers = GaugeMetricFamily("harness_workers", "Workers that are alive.", labels=("stage",))
        for stage, count in sorted(pace.workers.items()):
            workers.add_metric((stage,), count)
        took = GaugeMetricFamily("harness_stage_seconds", "Median time of the last jobs.", labels=("stage",))
        for stage, duration_s in sorted(pace.durations_s.items()):
            took.add_metric((stage,), duration_s)
        faults = GaugeMetricFamily("harness_problem_at_fault", "1 for a problem at fault.", labels=("problem",))
        for name in problems:
            faults.add_metric((name,), name in self._rules_file.faults)
        return queue, workers, took, faults


class Observed:
    """An app whose requests are counted, timed and logged."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started_s, status = time.perf_counter(), 500

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, note)
        finally:
            self._note(scope, status, time.perf_counter() - started_s)

    def _note(self, scope: Scope, status: int, took_s: float) -> None:
        found = scope.get("route")
        route, method = getattr(found, "path", None) or "other", scope["method"]
        method = method if method in ("GET", "HEAD", "POST") else "other"
        self._metrics.requests.labels(method, route, str(status)).inc()
        self._metrics.seconds.labels(route).observe(took_s)
        if route not in QUIET:
            tell("request", method=method, route=route, status=status, ms=round(1000 * took_s, 1))
