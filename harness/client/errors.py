"""What can go wrong between here and a service, and whether it is worth trying again."""

from __future__ import annotations

from harness.errors import HarnessError, UsageError


class UnavailableError(HarnessError):
    """The service cannot be reached, or cannot answer now.

    Attributes:
        passing: it may well be over in a moment.
        retry_after_s: when the service said to try again, None if it did not.
    """

    def __init__(self, message: str, *, passing: bool = True, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.passing, self.retry_after_s = passing, retry_after_s


class AnswerError(HarnessError):
    """What answers is no harness service, or one that this version does not understand."""


class RefusalError(UsageError):
    """The service answered that it does not do what was asked.

    Attributes:
        status: of HTTP.
        kind: the service's code for the reason, "" where it gave none.
    """

    def __init__(self, message: str, status: int, kind: str) -> None:
        super().__init__(message)
        self.status, self.kind = status, kind
