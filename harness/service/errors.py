"""A refusal: what the service answers instead of doing what was asked, in the form of a problem document (RFC 9457)."""

from __future__ import annotations

from typing import Any

from harness.errors import UsageError


class RefusedError(UsageError):
    """A request that the service does not carry out, and what to do about it.

    Attributes:
        status: of HTTP.
        kind: a stable code for machines.
        retry_after_s: when it is worth trying again, None if never.
        facts: further members of the problem document.
    """

    def __init__(
        self, status: int, kind: str, detail: str, *, retry_after_s: float | None = None, **facts: Any
    ) -> None:
        super().__init__(detail)
        self.status, self.kind, self.retry_after_s, self.facts = status, kind, retry_after_s, facts

    @property
    def document(self) -> dict[str, Any]:
        """The problem document."""
        about = {"type": f"urn:helion-harness:{self.kind}", "title": self.kind.replace("-", " "), "status": self.status}
        return {**about, "detail": str(self), **self.facts}
