"""The service's tables, beside the store's table of records.

Records stay the store's: a finished job's record is a row of `records` with the job's id. How a database comes to this
form is `form`'s business.

Times are seconds since 1970 where they are compared, ISO text where they are shown.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()
_json = JSON()
"""Not JSONB: it would put the axes of a shape into an order of its own."""
_board = ("problem", "target", "division")


def _board_columns(*, primary_key: bool = False) -> list[Column[str]]:
    widths = {"problem": 200, "target": 64, "division": 16}
    return [Column(name, String(width), nullable=False, primary_key=primary_key) for name, width in widths.items()]


teams = Table(
    "teams",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("title", String(200), nullable=False),
    Column("created", String(32), nullable=False),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("secret_sha256", String(64), nullable=False),
    Column("role", String(16), nullable=False),
    Column("team", String(40), nullable=False),
    Column("holder", String(80), nullable=False),
    Column("created_s", Float, nullable=False),
    Column("expires_s", Float, nullable=False),
    Column("revoked_s", Float),
    Index("tokens_team", "team"),
)
"""`team` is empty for an organiser's; the secret itself is nowhere."""

sources = Table(
    "sources",
    metadata,
    Column("sha256", String(64), primary_key=True),
    Column("files", LargeBinary, nullable=False),
)
"""Submitted folders by their hash, each once: a compressed JSON object of names and base64."""

jobs = Table(
    "jobs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("team", String(40), nullable=False),
    *_board_columns(),
    Column("suite", String(64), nullable=False),
    Column("season", String(64), nullable=False),
    Column("problem_version", String(64), nullable=False),
    Column("source_sha256", String(64), nullable=False),
    Column("idempotency_key", String(80), nullable=False),
    Column("request_sha256", String(64), nullable=False),
    Column("rerun_of", String(32)),
    Column("created_s", Float, nullable=False),
    Column("submitted_s", Float, nullable=False),
    Column("stage", String(16), nullable=False),
    Column("state", String(16), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("faults", Integer, nullable=False),
    Column("interruptions", Integer, nullable=False),
    Column("queued_s", Float, nullable=False),
    Column("worker", String(40)),
    Column("until_s", Float),
    Column("deadline_s", Float),
    Column("started_s", Float),
    Column("finished_s", Float),
    Column("build_s", Float),
    Column("replay_s", Float),
    Column("progress", _json),
    Column("checked", _json),
    Column("verdict", String(40)),
    UniqueConstraint("team", "idempotency_key", name="jobs_once"),
    Index("jobs_waiting", "state", "stage", "team", "id"),
    Index("jobs_team", "team", "created_s"),
    Index("jobs_finished", "state", "finished_s"),
)
"""What was submitted and how far it is. `attempt` is the number of the newest lease: an older one writes nothing."""

workers = Table(
    "workers",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("stage", String(16), nullable=False),
    Column("targets", String(400), nullable=False),
    Column("owner_pid", Integer, nullable=False),
    Column("owner_host", String(255), nullable=False),
    Column("owner_boot", String(64), nullable=False),
    Column("owner_namespace", String(64), nullable=False),
    Column("owner_start", Integer, nullable=False),
    Column("started_s", Float, nullable=False),
    Column("seen_s", Float, nullable=False),
)

turns = Table(
    "turns",
    metadata,
    Column("stage", String(16), primary_key=True),
    Column("team", String(40), primary_key=True),
    Column("served_s", Float, nullable=False),
)
"""When each team was last served at each stage: the longest ago is next."""

acts = Table(
    "acts",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("at_s", Float, nullable=False),
    Column("actor", String(120), nullable=False),
    Column("act", String(40), nullable=False),
    Column("subject", String(200), nullable=False),
    Column("reason", Text, nullable=False),
    Column("details", _json, nullable=False),
    Index("acts_subject", "act", "subject", "id"),
)
"""What organisers did. The database itself refuses to change or remove a row."""

boards = Table(
    "boards",
    metadata,
    *_board_columns(primary_key=True),
    Column("setting", String(16), nullable=False),
    Column("setting_document", _json, nullable=False),
    Column("setting_rank", Integer, nullable=False),
    Column("newest", String(32), nullable=False),
    Column("version", Integer, nullable=False),
)
"""The setting that counts on each board, and a number that rises whenever the board may look different."""

programs = Table(
    "programs",
    metadata,
    *_board_columns(primary_key=True),
    Column("setting", String(16), primary_key=True),
    Column("team", String(200), primary_key=True),
    Column("program", String(64), primary_key=True),
    Column("first", String(32), nullable=False),
    Column("score_us", Float, nullable=False),
    Index("programs_best", *_board, "setting", "team", "score_us", "first"),
)
"""The pooled score of every ranked program of every team."""

firsts = Table(
    "firsts",
    metadata,
    *_board_columns(primary_key=True),
    Column("name", String(64), primary_key=True),
    Column("record", String(32), nullable=False),
    Column("team", String(200), nullable=False),
)
"""Who had a program, or a source, first on a board: by the hash of either."""

entries = Table(
    "entries",
    metadata,
    *_board_columns(primary_key=True),
    Column("setting", String(16), primary_key=True),
    Column("team", String(200), primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("record", String(32), nullable=False),
    Column("first", String(32), nullable=False),
    Column("runs", Integer, nullable=False),
    Column("stamp", Integer, nullable=False),
    Column("document", _json, nullable=False),
)
"""What a board shows of each team: its best program ("ranked"), its newest record without a place ("unranked").

`stamp` is the board's version when the entry was written.
"""

milestones = Table(
    "milestones",
    metadata,
    *_board_columns(primary_key=True),
    Column("setting", String(16), primary_key=True),
    Column("record", String(32), primary_key=True),
    Column("team", String(200), nullable=False),
    Column("created", String(32), nullable=False),
    Column("score_us", Float, nullable=False),
)
"""The records that were a board's fastest when they came: its history in a few rows."""

disqualified = Table(
    "disqualified",
    metadata,
    Column("team", String(40), primary_key=True),
    Column("program", String(64), primary_key=True),
    Column("record", String(32), nullable=False),
    Column("reason", Text, nullable=False),
    Column("act", Integer, nullable=False),
)
"""Programs that may not be ranked, whichever record they come in; an empty program stands for all of a team's."""

frozen = Table(
    "frozen",
    metadata,
    Column("problem", String(200), primary_key=True),
    Column("reason", Text, nullable=False),
    Column("act", Integer, nullable=False),
)
"""Problems that take and start nothing for now; an empty name stands for all of them."""

unverified = Table(
    "unverified",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("team", String(40), nullable=False),
    *_board_columns(),
    Column("created_s", Float, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("document", _json, nullable=False),
    UniqueConstraint("team", "digest", name="unverified_once"),
    Index("unverified_board", *_board, "id"),
)
"""Records that teams made on their own machines. They are in no query that ranks."""
