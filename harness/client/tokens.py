"""A team's token: from a file that only its owner can read, or from the keyring. Never from an argument or an address.

Tokens are kept by server, so that none is ever sent to another one. The first of these that is there counts: the file
that HARNESS_TOKEN_FILE names, the server's file in the user's configuration folder, the keyring.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.client.address import Address
from harness.errors import UsageError

VARIABLE = "HARNESS_TOKEN_FILE"
FOLDER = "helion-harness"
KEYRING = "helion-harness"
MAX_BYTES = 4096

_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{8,400}")


@dataclass(frozen=True)
class Token:
    """A token, and where it came from (for messages; the token itself is in none)."""

    text: str = field(repr=False)
    place: str


def find_token(address: Address, environ: Mapping[str, str] = os.environ) -> Token:
    """Return the token for a server.

    Raises:
        UsageError: there is none, or its file can be read by others or holds something else.
    """
    if named := environ.get(VARIABLE):
        return _read(Path(named).expanduser())
    path = token_file(address, environ)
    if path.exists():
        return _read(path)
    if (found := _ask_keyring(address.name)) is not None:
        return _checked(found, "the keyring")
    raise UsageError(
        f"there is no token for {address.name}. Put the one that the organisers gave you into {path}:\n"
        f"  mkdir -p {path.parent} && (umask 077; cat > {path})\n"
        f"or name a file of yours in {VARIABLE}, or: keyring set {KEYRING} {address.name}"
    )


def token_file(address: Address, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the file that a server's token is in by default."""
    configured = environ.get("XDG_CONFIG_HOME")
    home = Path(configured) if configured else Path("~/.config").expanduser()
    return home / FOLDER / f"{address.name}.token"


def _read(path: Path) -> Token:
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if stat.S_IMODE(mode) & 0o077:
                raise UsageError(f"others can read the token in {path}: chmod 600 {path}")
            content = file.read(MAX_BYTES)
    except OSError as error:
        raise UsageError(f"cannot read the token in {path}: {error.strerror}") from None
    return _checked(content.decode("ascii", errors="replace"), str(path))


def _checked(text: str, place: str) -> Token:
    if len(text.split()) > 1:
        raise UsageError(f"{place} holds no token, but more than one word: keep the one that begins with hel_, alone")
    if not _TOKEN.fullmatch(text.strip()):
        raise UsageError(f"{place} holds no token: it is one word, as the organisers gave it (hel_...)")
    return Token(text.strip(), place)


def _ask_keyring(name: str) -> str | None:
    """Return what the keyring has for a server, None where there is no keyring or nothing in it."""
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return None
    try:
        return keyring.get_password(KEYRING, name)
    except KeyringError:
        return None
