"""What a service says when it does not do what was asked, as an error for the person who asked.

The service's words are shown as its own, inert and cut; what to know here (whose token, when to try again) is added.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from harness.client.address import Address
from harness.client.errors import AnswerError, RefusalError, UnavailableError
from harness.client.tokens import Token
from harness.errors import HarnessError
from harness.text import clean

PREFIX = "urn:helion-harness:"
MAX_TEXT = 600
NO_ROUTE = "nothing is here"
"""What a service says of an address that none of its answers has."""
MOST_WAIT_S = 7 * 86400.0


def read_refusal(
    status: int, headers: Mapping[str, str], document: Any, address: Address, token: Token | None
) -> HarnessError:
    """Return the error that an answer other than success comes to.

    Args:
        status: of HTTP.
        headers: of the answer.
        document: its body, None where that is no JSON.
        address: who answered.
        token: what was sent to it.
    """
    if 300 <= status < 400:
        told = f"{address.name} sends on to {clean(headers.get('Location', 'nowhere'))[:200]!r}"
        return AnswerError(f"{told}, which is not followed: give the address where the service itself is")
    kind, detail = _read_problem(document)
    retry_s = _read_wait_s(headers)
    if status in (408, 502, 503, 504):
        told = detail or "it cannot answer now: try again in a moment"
        return UnavailableError(f"{address.name}: {told}", retry_after_s=retry_s)
    if status >= 500:
        told = detail or f"it failed (HTTP {status})"
        return UnavailableError(f"{address.name}: {told}: tell the organisers", passing=False)
    if not detail:
        told = f"what {address.name} answers (HTTP {status}) is not what a harness service does"
        return AnswerError(f"{told}: is {address.url} the address of one?")
    message = f"{address.name}: {detail}"
    if detail == NO_ROUTE:
        root = address.url.partition("://")[0] + "://" + address.name
        message += f" (give the service's own address, such as {root}, and not that of one of its pages)"
    if status == 401 and token is not None:
        message += f" (the token is the one of {token.place})"
    if retry_s is not None:
        message += f". Try again {_when(retry_s)}"
    return RefusalError(message, status, kind)


def _read_problem(document: Any) -> tuple[str, str]:
    """Return a problem document's kind and detail; empty where it is none."""
    if not isinstance(document, dict):
        return "", ""
    kind, detail = document.get("type"), document.get("detail")
    if not isinstance(kind, str) or not kind.startswith(PREFIX) or not isinstance(detail, str):
        return "", ""
    return clean(kind.removeprefix(PREFIX))[:60], clean(detail)[:MAX_TEXT]


def _read_wait_s(headers: Mapping[str, str]) -> float | None:
    told = headers.get("Retry-After", "")
    return min(float(told), MOST_WAIT_S) if told.isascii() and told.isdigit() and len(told) < 10 else None


def _when(wait_s: float) -> str:
    at = datetime.now().astimezone() + timedelta(seconds=wait_s)
    duration = f"{wait_s:.0f} s" if wait_s < 120 else f"{wait_s / 60:.0f} minutes"
    return f"in {duration}, at {at:%H:%M:%S}" if wait_s < 43200 else f"on {at:%Y-%m-%d at %H:%M}"
