"""One conversation with a service: requests, tried again where that is safe, and answers that are trusted in nothing.

A request is tried again when the service could not be reached or said that it cannot answer now: every request of this
client may be sent twice (reads, submissions with their idempotency key, records that the service knows by content).
Redirects are not followed: they would take a token to somewhere else. An answer is hostile until parsed: it is read up
to a limit, and has to be JSON of limited depth and plain numbers.
"""

from __future__ import annotations

import json
import math
import platform
import random
import time
from collections.abc import Callable, Mapping
from typing import Any

import requests
from requests.auth import AuthBase

from harness import __version__
from harness.client.address import Address
from harness.client.errors import AnswerError, UnavailableError
from harness.client.refusals import read_refusal
from harness.client.tokens import Token
from harness.strict_json import parse_strict

MAX_BYTES = 16 << 20
MAX_NESTED = 32
MAX_INTEGER = (1 << 63) - 1
"""Seeds of cases are as large."""

NOBODY = "nothing listens there"

TRIES = 5
FIRST_WAIT_S, MOST_WAIT_S = 0.5, 8.0
CONNECT_S, SILENCE_S = 10.0, 60.0
MOST_S = 300.0
"""How long an answer may take to arrive."""


class Connection:
    """A way to ask one service.

    Args:
        address: of the service.
        token: whose requests these are; None for what everybody may ask.
        sleep: waits.
    """

    def __init__(
        self, address: Address, token: Token | None = None, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.address = address
        self.token = token
        self.sleep = sleep
        self._session = requests.Session()
        # No proxy stands between this machine and itself. `_Bearer` keeps requests from looking into ~/.netrc.
        self._session.trust_env = not address.local
        self._session.headers["User-Agent"] = f"helion-harness/{__version__} Python/{platform.python_version()}"
        self._session.headers["Accept"] = "application/json"

    def get(self, path: str, *, tries: int = TRIES, **parameters: str | int) -> Any:
        """Return the document at a path.

        Raises:
            UnavailableError: it cannot be reached, however often that was tried.
            AnswerError: the answer cannot be understood.
            RefusalError: the service does not give it.
        """
        return self._ask("GET", path, tries, params=parameters)

    def post(self, path: str, document: Any, *, headers: Mapping[str, str] | None = None) -> Any:
        """Send a document to a path and return the answer; it has to be safe to send it twice.

        Raises:
            UnavailableError: it cannot be reached, however often that was tried.
            AnswerError: the answer cannot be understood.
            RefusalError: the service does not take it.
        """
        body = json.dumps(document).encode()
        return self._ask(
            "POST", path, TRIES, data=body, headers={"Content-Type": "application/json", **(headers or {})}
        )

    def _ask(self, method: str, path: str, tries: int, **options: Any) -> Any:
        for attempt in range(tries):
            try:
                return self._ask_once(method, path, **options)
            except UnavailableError as error:
                wait_s = min(FIRST_WAIT_S * 2**attempt, MOST_WAIT_S) * random.uniform(1, 1.5)  # noqa: S311  no secret
                wait_s = max(wait_s, error.retry_after_s or 0.0)
                if not error.passing or attempt + 1 == tries or wait_s > 2 * MOST_WAIT_S:
                    raise
                self.sleep(wait_s)
        raise AssertionError("a request is tried at least once")

    def _ask_once(self, method: str, path: str, **options: Any) -> Any:
        try:
            with self._session.request(
                method,
                f"{self.address.url}/api/v1{path}",
                auth=_Bearer(self.token),
                timeout=(CONNECT_S, SILENCE_S),
                allow_redirects=False,
                stream=True,
                **options,
            ) as response:
                content = self._read(response)
        except requests.RequestException as error:
            raise self._unreachable(error) from None
        document = _parse(content)
        if response.status_code // 100 != 2:
            raise read_refusal(response.status_code, response.headers, document, self.address, self.token)
        if document is None:
            raise AnswerError(
                f"what {self.address.name} answers is not what a harness service does: is {self.address.url} the "
                "address of one?"
            )
        return document

    def _read(self, response: requests.Response) -> bytes:
        parts, size, end_s = [], 0, time.monotonic() + MOST_S
        for part in response.iter_content(1 << 16):
            size += len(part)
            if size > MAX_BYTES:
                raise AnswerError(f"{self.address.name} answers with more than {MAX_BYTES >> 20} MiB: it was cut off")
            if time.monotonic() > end_s:
                raise UnavailableError(f"{self.address.name} takes more than {MOST_S:g} s to answer: try again later")
            parts.append(part)
        return b"".join(parts)

    def _unreachable(self, error: requests.RequestException) -> UnavailableError:
        name = self.address.name
        if isinstance(error, requests.exceptions.SSLError):
            told = f"{name} does not prove who it is (its certificate is not valid here): nothing was sent to it"
            return UnavailableError(
                f"{told}. Is the address right, and this machine's clock, or does it speak plain http?", passing=False
            )
        why = _describe(error)
        if self.address.local and why == NOBODY:
            return UnavailableError(f"cannot reach {name}: {why}. Is it running? `make serve` starts it")
        return UnavailableError(f"cannot reach {name}: {why}. Check the address and your connection, then try again")


class _Bearer(AuthBase):
    """Says whose request it is, in a header."""

    def __init__(self, token: Token | None) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token is not None:
            request.headers["Authorization"] = f"Bearer {self._token.text}"
        return request


def _describe(error: requests.RequestException) -> str:
    """Say why nothing came, in a few words of ours."""
    told = repr(error)
    for part, words in (
        ("NameResolution", "nobody knows this name"),
        ("Connection refused", NOBODY),
        ("ProxyError", "the proxy that your environment names does not let it through"),
        ("unreachable", "there is no way to it from here"),
        ("IncompleteRead", "the connection broke off"),
        ("RemoteDisconnected", "the connection broke off"),
        ("reset by peer", "the connection broke off"),
        ("Broken pipe", "the connection broke off"),
    ):
        if part in told:
            return words
    if isinstance(error, requests.Timeout) or "timed out" in told:
        return "it does not answer"
    return f"the connection failed ({type(error).__name__})"


def _parse(content: bytes) -> Any:
    """Return the object or list of an answer, None if it is anything else."""
    try:
        document = parse_strict(content.decode("utf-8"), parse_int=_integer, parse_float=_finite)
    except ValueError:
        return None
    return document if isinstance(document, (dict, list)) and _is_shallow(document) else None


def _integer(text: str) -> int:
    if len(text) > len(str(-MAX_INTEGER)) or abs(value := int(text)) > MAX_INTEGER:
        raise ValueError("a number is too large")
    return value


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError("a number is too large")
    return value


def _is_shallow(document: Any) -> bool:
    level = [document]
    for _ in range(MAX_NESTED):
        values = [value for item in level for value in (item.values() if isinstance(item, dict) else item)]
        level = [value for value in values if isinstance(value, (dict, list))]
    return not level
