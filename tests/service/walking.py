"""Every address of the app, asked for in every role: found by the app's own routes, so that a new one is walked too."""

from __future__ import annotations

import base64
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import requests

WORDS = {
    "problem": ("scale",), "name": ("scale",), "target": ("b200",), "division": ("closed",),
    "page": ("scale-b200-closed",), "number": ("1",), "team": ("acme",),
}  # fmt: skip
"""What stands for each parameter; ids of records and submissions are the caller's."""

IDS = ("record_id", "submission_id")


@dataclass(frozen=True)
class Route:
    """One address, with parameters in braces, and a method that it takes."""

    method: str
    path: str

    def addresses(self, words: Mapping[str, Sequence[str]]) -> Iterator[str]:
        """Yield the address with every value of its parameters; one that is unknown here is a KeyError."""
        names = re.findall(r"\{(\w+)(?::\w+)?\}", self.path)
        for values in itertools.product(*(words[name] for name in names)):
            address = self.path
            for name, value in zip(names, values, strict=True):
                address = re.sub(rf"\{{{name}(:\w+)?\}}", lambda _, text=value: text, address)
            yield address


def list_routes(app: object) -> tuple[Route, ...]:
    """Return all routes of an app, those of its routers included."""
    found: list[Route] = []
    for route in app.routes:
        if (inner := getattr(route, "original_router", None)) is not None:
            found += list_routes(inner)
        else:
            found += [Route(method, route.path) for method in sorted(route.methods)]
    return tuple(found)


def walk(
    url: str, routes: Sequence[Route], words: Mapping[str, Sequence[str]], tokens: Mapping[str, str]
) -> Iterator[tuple[str, Route, str, requests.Response]]:
    """Ask for everything that only reads, as everybody; yield the role, the route, the address and the answer."""
    with requests.Session() as session:
        for route in routes:
            if route.method in ("GET", "HEAD"):
                for address, (role, token) in itertools.product(route.addresses(words), tokens.items()):
                    headers = {"Authorization": f"Bearer {token}"} if token else {}
                    answer = session.request(route.method, url + address, headers=headers, timeout=120)
                    yield role, route, address, answer


def forms_of(secret: str) -> tuple[str, ...]:
    """Return what a text looks like as it is, in base64 at any offset, in hex, escaped, reversed."""
    raw = secret.encode()
    cut = [base64.b64encode(b"\0" * offset + raw).decode()[2 * offset : -4].strip("=") for offset in range(3)]
    return (secret, *cut, raw.hex(), "".join(f"%{byte:02x}" for byte in raw), secret[::-1])


def holds(answer: requests.Response, secrets: Sequence[str]) -> bool:
    """Say whether an answer has one of some texts in it, or in its headers, however wrapped."""
    text = answer.text + "\n".join(f"{name}: {value}" for name, value in answer.headers.items())
    return any(form in text for secret in secrets for form in forms_of(secret))
