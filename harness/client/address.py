"""Where a service is: https everywhere, plain http on this machine only, and nothing secret in it."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from harness.errors import UsageError
from harness.text import clean

_FORM = "an address is https://HOST, or http://localhost:PORT for a service on this machine"
_HOST = re.compile(r"[A-Za-z0-9.:-]{1,253}")
_PATH = re.compile(r"[A-Za-z0-9._~/-]{0,200}")


@dataclass(frozen=True)
class Address:
    """A service's address.

    Attributes:
        url: without a slash at its end.
        name: host and port: what it is called in messages, and what tokens are kept under.
        local: it is on this machine.
    """

    url: str
    name: str
    local: bool


def parse_address(text: str) -> Address:
    """Return the address that a text gives.

    Raises:
        UsageError: it is none, holds a secret, or would send a token in the clear.
    """
    try:
        parts, port = urlsplit(text.strip()), urlsplit(text.strip()).port
    except ValueError:
        raise UsageError(f"{_shown(text)} is not an address: {_FORM}") from None
    if "@" in parts.netloc:
        told = "leave what comes before @ out of the address: addresses end up in logs and histories"
        raise UsageError(f"{told}; a token belongs in a file (README: Submit to a service)")
    if parts.query or parts.fragment:
        raise UsageError(f"leave what follows ? or # out of the address: {_FORM}")
    if parts.scheme not in ("http", "https") or not _is_plain(parts):
        raise UsageError(f"{_shown(text)} is not an address: {_FORM}")
    host = parts.hostname or ""
    bracketed = f"[{host}]" if ":" in host else host
    name = f"{bracketed}:{port}" if port is not None else bracketed
    local = _is_local(host)
    if parts.scheme == "http" and not local:
        told = "everybody on the way could read your token, and change what you are shown"
        raise UsageError(f"http://{name} is not encrypted: {told}. Use https://{name}")
    return Address(f"{parts.scheme}://{name}{parts.path.rstrip('/')}", name, local)


def _is_plain(parts: SplitResult) -> bool:
    return bool(parts.hostname and _HOST.fullmatch(parts.hostname) and _PATH.fullmatch(parts.path))


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _shown(text: str) -> str:
    return repr(clean(text)[:80])
