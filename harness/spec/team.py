"""Who is who: `submissions/<team>/team.yml` names a team's people, and two teams' names must not look alike.

Owns the form of the file and the folding of names. Whose pull request may change what is for `ci`; on one's own machine
nobody needs the file. A team.yml may come from anybody: it is parsed as data, and little of it is taken.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator

from harness.errors import SpecError
from harness.spec.constraints import matching
from harness.spec.document import Strict, load_document, parse_document

TEAM_FILE = "team.yml"
MAX_TEAM_FILE_BYTES = 4 << 10

RESERVED = (
    "starter", "local", "harness", "admin", "organiser", "organizer", "maintainer", "baseline", "reference", "eager",
    "compile", "floor",
)  # fmt: skip
"""Names that boards and the harness use for themselves, or that would claim to be somebody."""

MAX_DESCRIBED = 4
"""As many odd letters of one name are described."""

# As GitHub has them; a bot's ends with "[bot]" and is nobody's team.
_LOGIN = matching(r"[A-Za-z0-9](?:[-_]?[A-Za-z0-9])*-?", "a GitHub login is letters and digits, single - or _ between")
Login = Annotated[str, Field(max_length=39), _LOGIN]

# What looks like a letter, after case folding: the part of Unicode's confusables (UTS 39) that a board could meet, and
# digits as people write them for letters. A 1 is an l here, and an i too in `look_alike`.
_LOOKS = {
    "a": "4\u0430\u03b1\u0251", "b": "8\u044c\u03b2", "c": "\u0441\u03f2", "d": "\u0501", "e": "3\u0435\u03b5",
    "g": "\u0261", "h": "\u04bb", "i": "\u0456\u03b9\u0131\u0269", "j": "\u0458", "k": "\u043a\u03ba",
    "l": "1|!\u217c\u01c0", "m": "\u043c", "n": "\u043f\u03b7\u0578", "o": "0\u043e\u03bf\u03c3\u0585",
    "p": "\u0440\u03c1", "q": "\u051b", "r": "\u0433", "s": "5$\u0455", "t": "7\u0442\u03c4", "u": "\u03c5\u057d",
    "v": "\u03bd\u0475", "w": "\u051d\u03c9", "x": "\u0445\u03c7", "y": "\u0443\u03b3", "-": "_. ",
}  # fmt: skip
_LOOK_ALIKES = {ord(other): letter for letter, others in _LOOKS.items() for other in others}
_PAIRS = (("rn", "m"), ("vv", "w"), ("cl", "d"))


class _Logins(Strict):
    """GitHub logins, compared without their case."""

    logins: tuple[Login, ...] = Field(min_length=1, max_length=20)

    @field_validator("logins")
    @classmethod
    def _each_once(cls, logins: tuple[str, ...]) -> tuple[str, ...]:
        folded = [login.casefold() for login in logins]
        if twice := [login for login in folded if folded.count(login) > 1]:
            raise ValueError(f"{twice[0]} stands twice")
        return logins

    def has(self, login: str) -> bool:
        """Tell whether a login is one of these."""
        return login.casefold() in {own.casefold() for own in self.logins}


class Team(_Logins):
    """A team: its people by their GitHub logins, and how it wants to be called in full."""

    title: str = Field("", max_length=80)


class Maintainers(_Logins):
    """The people who may change anything by pull request."""


def load_team(root: Path, team: str) -> Team | None:
    """Return what `submissions/<team>/team.yml` says, None if there is no such file.

    Raises:
        SpecError: it is not of the documented form.
    """
    path = root / "submissions" / team / TEAM_FILE
    return load_document(path, Team) if path.is_file() else None


def parse_team(content: bytes, path: str) -> Team:
    """Return what a team.yml of anybody's says.

    Args:
        content: of the file.
        path: what errors call it.

    Raises:
        SpecError: too large, not text, or not of the documented form.
    """
    if len(content) > MAX_TEAM_FILE_BYTES:
        raise SpecError(f"{path}: has {len(content):,} bytes; {MAX_TEAM_FILE_BYTES:,} are allowed")
    try:
        return parse_document(content.decode("utf-8"), path, Team)
    except UnicodeDecodeError:
        raise SpecError(f"{path}: not UTF-8 text") from None


def team_document(login: str) -> str:
    """Return a team.yml for a team of one."""
    return f'# Who may change this team\'s submissions by pull request: GitHub logins.\nlogins: ["{login}"]\n'


def fold_name(name: str) -> str:
    """Return what is left of a name when case, accents, width and look-alike characters are taken away."""
    return _fold(name, _LOOK_ALIKES)


def look_alike(one: str, other: str) -> bool:
    """Tell whether two names could be taken for each other."""
    if fold_name(one) == fold_name(other):
        return True
    ones = {**_LOOK_ALIKES, ord("1"): "1"}  # each of them is an l or an i, as the other name has it
    folded, others = _fold(one, ones), _fold(other, ones)
    return len(folded) == len(others) and all(
        a == b or ("1" in (a, b) and {a, b} <= set("1il")) for a, b in zip(folded, others, strict=True)
    )


def describe_letters(name: str) -> str:
    """Name the characters of a name that are not ASCII, with the letters that they look like; "" if there are none."""
    odd = [c for c in dict.fromkeys(name) if not c.isascii() and unicodedata.category(c) != "Cs"]
    told = [_describe_letter(c) for c in odd[:MAX_DESCRIBED]] + (["more"] if len(odd) > MAX_DESCRIBED else [])
    return " and ".join(told)


def find_name_fault(name: str, others: Iterable[str]) -> str | None:
    """Return why a new team cannot have this name, None if it can: it is kept, or looks like another team's.

    Args:
        name: of the form that names have.
        others: the teams that there are.
    """
    if kept := next((word for word in RESERVED if look_alike(name, word)), None):
        like = f"looks like {kept!r}, which" if kept != name else ""
        return f"the name {name!r} {like} is kept for the harness's own use: choose another".replace("  ", " ")
    if other := next((other for other in others if other != name and look_alike(name, other)), None):
        return f"the name {name!r} looks like that of team {other!r}: choose another"
    return None


def _fold(name: str, looks: Mapping[int, str]) -> str:
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    plain = "".join(c for c in plain if not unicodedata.combining(c) and unicodedata.category(c) != "Cf")
    plain = re.sub(r"-+", "-", plain.translate(looks))
    for pair, letter in _PAIRS:
        plain = plain.replace(pair, letter)
    return plain.strip("-")


def _describe_letter(character: str) -> str:
    called = f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()
    like = fold_name(character)
    return f"{called}, which looks like {like!r}" if re.fullmatch("[a-z0-9-]", like) else called
