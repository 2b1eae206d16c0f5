"""GitHub's REST API, as much of it as an answer to a pull request needs.

The server is believed in what it says of hashes and logins; what it passes on (names of files, contents of blobs, an
artifact's bytes) is the author's. No answer is read beyond a limit, and the token goes to the API alone: where an
artifact lies elsewhere, it is fetched without.
"""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import requests

from harness.errors import HarnessError
from harness.strict_json import parse_strict

API_VERSION = "2022-11-28"
PER_PAGE = 100
MAX_PAGES = 40
MAX_ANSWER_BYTES = 16 << 20
TIMEOUT_S = 30
ATTEMPTS = 3
POLLS = 5

T = TypeVar("T")


class GitHubError(HarnessError):
    """GitHub did not answer as its documentation says."""


class NotFoundError(GitHubError):
    """There is no such thing, or the token may not see it."""


class GitHub:
    """A repository through the API."""

    def __init__(self, url: str, repository: str, token: str, *, wait_s: float = 2.0) -> None:
        """Take where the API is ("https://api.github.com"), "owner/name", and a token for it."""
        self._url = url.rstrip("/")
        self._place = f"{self._url}/repos/{repository}"
        self._wait_s = wait_s
        self._session = requests.Session()
        self._session.trust_env = False  # a netrc or a proxy's password is nothing that belongs into this job
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": API_VERSION,
            "User-Agent": "helion-harness",
        }

    def get(self, path: str, **parameters: str | int) -> Any:
        """Return one document, trying again where the server has trouble."""
        return self._retry(lambda: self._send("GET", path, parameters=parameters))

    def get_settled(self, path: str, settled: Callable[[Any], bool]) -> Any:
        """Return one document that GitHub may still be working on: it is asked for again a few times until settled."""
        for poll in range(1, POLLS):
            document = self.get(path)
            if settled(document):
                return document
            time.sleep(self._wait_s * poll)
        return self.get(path)

    def list(self, path: str, key: str | None = None, **parameters: str | int) -> Iterator[Any]:
        """Return the items of a listing, page by page.

        Args:
            path: below the repository.
            key: where a page holds its items; a page is a list by default.
            parameters: of the query.
        """
        for page in range(1, MAX_PAGES + 1):
            document = self.get(path, per_page=PER_PAGE, page=page, **parameters)
            items = document.get(key) if key and isinstance(document, dict) else document
            if not isinstance(items, list):
                raise GitHubError(f"GET {path}: not a listing")
            yield from items
            if len(items) < PER_PAGE:
                return
        raise GitHubError(f"GET {path}: more than {MAX_PAGES} pages")

    def post(self, path: str, document: Mapping[str, Any]) -> Any:
        """Make something new and return it. It is never tried twice: it may be there already."""
        return self._write("POST", path, document)

    def patch(self, path: str, document: Mapping[str, Any]) -> Any:
        """Change something and return it."""
        return self._write("PATCH", path, document)

    def blob(self, sha: str, max_bytes: int) -> bytes:
        """Return the content of a blob.

        Raises:
            GitHubError: it is larger than allowed, or not as documented.
        """
        document = self.get(f"git/blobs/{sha}")
        size = document.get("size") if isinstance(document, dict) else None
        if not isinstance(size, int) or size > max_bytes or document.get("encoding") != "base64":
            raise GitHubError(f"blob {sha[:12]}: not one of at most {max_bytes} bytes")
        try:
            return base64.b64decode(str(document.get("content")))
        except binascii.Error:
            raise GitHubError(f"blob {sha[:12]}: not in base64") from None

    def download(self, path: str, max_bytes: int) -> bytes:
        """Return a file that the API leads to, perhaps elsewhere: the token stays here then.

        Tried again where there is trouble, as `get` is.

        Raises:
            GitHubError: it is larger than allowed, or there are too many turns.
        """
        return self._retry(lambda: self._fetch(path, max_bytes))

    def _fetch(self, path: str, max_bytes: int) -> bytes:
        answer = self._open("GET", f"{self._place}/{path}", self._headers)
        if answer.is_redirect:
            target = answer.headers["location"]
            if not target.startswith("https://") and self._url.startswith("https://"):
                raise GitHubError("a download that does not lead to https")
            answer = self._open("GET", target, {"User-Agent": self._headers["User-Agent"]})
        if _is_trouble(answer):
            raise _TroubleError(f"GET {path}: {answer.status_code}")
        if answer.status_code != 200:
            raise GitHubError(f"GET {path}: {answer.status_code}")
        return _read(answer, max_bytes)

    def _retry(self, ask: Callable[[], T]) -> T:
        """Return what a request gives that changes nothing, trying again where there is trouble."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return ask()
            except _TroubleError as error:
                if attempt == ATTEMPTS:
                    raise GitHubError(str(error)) from None
                time.sleep(self._wait_s * attempt)
        raise AssertionError

    def _write(self, method: str, path: str, document: Mapping[str, Any]) -> Any:
        try:
            return self._send(method, path, document=document)
        except _TroubleError as error:
            raise GitHubError(str(error)) from None

    def _send(
        self,
        method: str,
        path: str,
        *,
        parameters: Mapping[str, str | int] | None = None,
        document: Mapping[str, Any] | None = None,
    ) -> Any:
        answer = self._open(method, f"{self._place}/{path}", self._headers, parameters, document)
        content = _read(answer, MAX_ANSWER_BYTES)
        if answer.status_code == 404:
            raise NotFoundError(f"{method} {path}: not found")
        if _is_trouble(answer):
            raise _TroubleError(f"{method} {path}: {answer.status_code}")
        if not 200 <= answer.status_code < 300:
            said = content[:300].decode("utf-8", "replace")
            raise GitHubError(f"{method} {path}: {answer.status_code} {said}")
        try:
            return parse_strict(content.decode("utf-8"))
        except ValueError:
            raise GitHubError(f"{method} {path}: the answer is not JSON") from None

    def _open(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        parameters: Mapping[str, str | int] | None = None,
        document: Mapping[str, Any] | None = None,
    ) -> requests.Response:
        try:
            return self._session.request(
                method,
                url,
                headers=dict(headers),
                params=dict(parameters or {}),
                json=document,
                timeout=TIMEOUT_S,
                stream=True,
                allow_redirects=False,
            )
        except requests.RequestException as error:
            raise _TroubleError(f"{method} {self._url}: {type(error).__name__}") from None


class _TroubleError(HarnessError):
    """The server or the way to it has trouble: it may pass."""


def _is_trouble(answer: requests.Response) -> bool:
    return answer.status_code >= 500 or answer.status_code == 429


def _read(answer: requests.Response, max_bytes: int) -> bytes:
    content = b""
    try:
        for chunk in answer.iter_content(1 << 16):
            content += chunk
            if len(content) > max_bytes:
                raise GitHubError(f"an answer of more than {max_bytes >> 10} KiB")
    except requests.RequestException as error:
        raise _TroubleError(f"reading an answer: {type(error).__name__}") from None
    finally:
        answer.close()
    return content
