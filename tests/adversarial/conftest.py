"""Fixtures: the trace's warm process, in which every submission here is traced."""

from tests.trace.conftest import trace, warm_tracer  # noqa: F401
