"""What a server is told: its database, its limits. Everything has a default, so that nothing need be configured.

A database's URL may hold a password, so it comes from the environment and is never shown whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from harness.errors import UsageError
from harness.submission import MAX_FOLDER_BYTES

DATABASE = "HARNESS_DATABASE_URL"
DEFAULT_FILE = "service.sqlite"


@dataclass(frozen=True)
class Limits:
    """What one team may ask for, and how long a stage may take.

    Attributes:
        pending: submissions of a team that are not done yet.
        per_hour: submissions of a team in an hour; posted records are counted apart, with the same limit.
        body_bytes: the largest request.
        body_s: how long a request may take to arrive.
        queue_s, build_s, replay_s: after these a submission is given up: our fault, counted against nobody.
        lease_s: how long a worker may be silent before its work is given to another.
    """

    pending: int = 10
    per_hour: int = 60
    body_bytes: int = MAX_FOLDER_BYTES * 4 // 3 + (64 << 10)
    body_s: float = 30.0
    queue_s: float = 24 * 3600.0
    build_s: float = 2700.0
    replay_s: float = 3600.0
    lease_s: float = 30.0

    def stage_s(self, stage: str) -> float:
        """Return how long a stage may take."""
        return self.build_s if stage == "build" else self.replay_s


@dataclass(frozen=True)
class Settings:
    """What a server works with.

    Attributes:
        root: the repository: problems, shapes.yaml, and the state beside them.
        database_url: of SQLAlchemy.
    """

    root: Path
    database_url: str
    limits: Limits = field(default_factory=Limits)


def load_settings(root: Path, state: Path, environ: Mapping[str, str]) -> Settings:
    """Return the settings of an environment: `HARNESS_DATABASE_URL`, and `HARNESS_` with a limit's name in capitals.

    Args:
        root: the repository.
        state: the folder that the default database is put in.
        environ: variables by name.

    Raises:
        UsageError: a limit is not a positive number, or the path of a SQLite file is not a whole one.
    """
    url = environ.get(DATABASE) or f"sqlite:///{state.absolute() / DEFAULT_FILE}"
    _refuse_relative(url)
    return Settings(root, _with_driver(url), _load_limits(environ))


def _with_driver(url: str) -> str:
    """Name the PostgreSQL driver that the service installs, where a URL names none."""
    scheme, found, rest = url.partition("://")
    return f"postgresql+psycopg://{rest}" if found and scheme in ("postgres", "postgresql") else url


def _refuse_relative(url: str) -> None:
    """Refuse a SQLite file that is another one in another folder."""
    scheme, _, path = url.partition(":///")
    if scheme.startswith("sqlite") and path and not path.startswith(("/", ":memory:")):
        told = f"{DATABASE}: {path[:200]!r} would be another file in every folder: write the whole path, four slashes"
        raise UsageError(f"{told}: sqlite:///{Path(path).absolute()}")


def _load_limits(environ: Mapping[str, str]) -> Limits:
    given: dict[str, int | float] = {}
    for limit in fields(Limits):
        name = f"HARNESS_{limit.name.upper()}"
        if (text := environ.get(name)) is not None:
            kind = int if limit.type == "int" else float
            try:
                given[limit.name] = kind(text)
            except ValueError:
                raise UsageError(f"{name} should be a number, not {text[:40]!r}") from None
            if not given[limit.name] > 0:
                raise UsageError(f"{name} should be above zero, not {text[:40]!r}")
    return Limits(**given)  # type: ignore[arg-type]
