"""The service's first form: teams, queue, boards, and a log that nobody can change."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

# Not JSONB, which would put the axes of a shape into an order of its own.
_JSON = sa.JSON()

_REFUSE = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the log of acts is append-only'; END $$
"""


def upgrade() -> None:
    """Make all tables, and guard the log."""
    _make_people()
    _make_queue()
    _make_workers()
    _make_boards()
    _make_entries()
    _guard_log()


def _guard_log() -> None:
    """Let the database itself refuse to change or remove an act."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute(_REFUSE)
        for event, each in (("UPDATE OR DELETE", "ROW"), ("TRUNCATE", "STATEMENT")):
            name = f"acts_{event.split()[0].lower()}"
            op.execute(f"CREATE TRIGGER {name} BEFORE {event} ON acts FOR EACH {each} EXECUTE FUNCTION refuse_change()")
        return
    for event in ("UPDATE", "DELETE"):
        refusal = "SELECT RAISE(ABORT, 'the log of acts is append-only')"
        op.execute(f"CREATE TRIGGER acts_{event.lower()} BEFORE {event} ON acts BEGIN {refusal}; END")


def _make_people() -> None:
    """Teams, their tokens, and what organisers did."""
    op.create_table(
        "teams",
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("secret_sha256", sa.String(64), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("team", sa.String(40), nullable=False),
        sa.Column("holder", sa.String(80), nullable=False),
        sa.Column("created_s", sa.Float, nullable=False),
        sa.Column("expires_s", sa.Float, nullable=False),
        sa.Column("revoked_s", sa.Float),
    )
    op.create_index("tokens_team", "tokens", ["team"])
    op.create_table(
        "acts",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at_s", sa.Float, nullable=False),
        sa.Column("actor", sa.String(120), nullable=False),
        sa.Column("act", sa.String(40), nullable=False),
        sa.Column("subject", sa.String(200), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("details", _JSON, nullable=False),
    )
    op.create_index("acts_subject", "acts", ["act", "subject", "id"])
    op.create_table(
        "disqualified",
        sa.Column("team", sa.String(40), primary_key=True),
        sa.Column("program", sa.String(64), primary_key=True),
        sa.Column("record", sa.String(32), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("act", sa.Integer, nullable=False),
    )
    op.create_table(
        "frozen",
        sa.Column("problem", sa.String(200), primary_key=True),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("act", sa.Integer, nullable=False),
    )


def _make_queue() -> None:
    """What was submitted."""
    op.create_table(
        "sources",
        sa.Column("sha256", sa.String(64), primary_key=True),
        sa.Column("files", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("team", sa.String(40), nullable=False),
        sa.Column("problem", sa.String(200), nullable=False),
        sa.Column("target", sa.String(64), nullable=False),
        sa.Column("division", sa.String(16), nullable=False),
        sa.Column("suite", sa.String(64), nullable=False),
        sa.Column("season", sa.String(64), nullable=False),
        sa.Column("problem_version", sa.String(64), nullable=False),
        sa.Column("source_sha256", sa.String(64), nullable=False),
        sa.Column("idempotency_key", sa.String(80), nullable=False),
        sa.Column("request_sha256", sa.String(64), nullable=False),
        sa.Column("rerun_of", sa.String(32)),
        sa.Column("created_s", sa.Float, nullable=False),
        sa.Column("submitted_s", sa.Float, nullable=False),
        sa.Column("stage", sa.String(16), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("faults", sa.Integer, nullable=False),
        sa.Column("interruptions", sa.Integer, nullable=False),
        sa.Column("queued_s", sa.Float, nullable=False),
        sa.Column("worker", sa.String(40)),
        sa.Column("until_s", sa.Float),
        sa.Column("deadline_s", sa.Float),
        sa.Column("started_s", sa.Float),
        sa.Column("finished_s", sa.Float),
        sa.Column("build_s", sa.Float),
        sa.Column("replay_s", sa.Float),
        sa.Column("progress", _JSON),
        sa.Column("checked", _JSON),
        sa.Column("verdict", sa.String(40)),
        sa.UniqueConstraint("team", "idempotency_key", name="jobs_once"),
    )
    op.create_index("jobs_finished", "jobs", ["state", "finished_s"])
    op.create_index("jobs_team", "jobs", ["team", "created_s"])
    op.create_index("jobs_waiting", "jobs", ["state", "stage", "team", "id"])


def _make_workers() -> None:
    """Who works on it, and whose turn it is."""
    op.create_table(
        "workers",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("stage", sa.String(16), nullable=False),
        sa.Column("targets", sa.String(400), nullable=False),
        sa.Column("owner_pid", sa.Integer, nullable=False),
        sa.Column("owner_host", sa.String(255), nullable=False),
        sa.Column("owner_boot", sa.String(64), nullable=False),
        sa.Column("owner_namespace", sa.String(64), nullable=False),
        sa.Column("owner_start", sa.Integer, nullable=False),
        sa.Column("started_s", sa.Float, nullable=False),
        sa.Column("seen_s", sa.Float, nullable=False),
    )
    op.create_table(
        "turns",
        sa.Column("stage", sa.String(16), primary_key=True),
        sa.Column("team", sa.String(40), primary_key=True),
        sa.Column("served_s", sa.Float, nullable=False),
    )


def _make_boards() -> None:
    """What boards are read from, so that no page scans the records."""
    op.create_table(
        "boards",
        sa.Column("problem", sa.String(200), primary_key=True),
        sa.Column("target", sa.String(64), primary_key=True),
        sa.Column("division", sa.String(16), primary_key=True),
        sa.Column("setting", sa.String(16), nullable=False),
        sa.Column("setting_document", _JSON, nullable=False),
        sa.Column("setting_rank", sa.Integer, nullable=False),
        sa.Column("newest", sa.String(32), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
    )
    op.create_table(
        "programs",
        sa.Column("problem", sa.String(200), primary_key=True),
        sa.Column("target", sa.String(64), primary_key=True),
        sa.Column("division", sa.String(16), primary_key=True),
        sa.Column("setting", sa.String(16), primary_key=True),
        sa.Column("team", sa.String(200), primary_key=True),
        sa.Column("program", sa.String(64), primary_key=True),
        sa.Column("first", sa.String(32), nullable=False),
        sa.Column("score_us", sa.Float, nullable=False),
    )
    op.create_index(
        "programs_best", "programs", ["problem", "target", "division", "setting", "team", "score_us", "first"]
    )
    op.create_table(
        "firsts",
        sa.Column("problem", sa.String(200), primary_key=True),
        sa.Column("target", sa.String(64), primary_key=True),
        sa.Column("division", sa.String(16), primary_key=True),
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("record", sa.String(32), nullable=False),
        sa.Column("team", sa.String(200), nullable=False),
    )


def _make_entries() -> None:
    """What stands on boards, and beside them."""
    op.create_table(
        "entries",
        sa.Column("problem", sa.String(200), primary_key=True),
        sa.Column("target", sa.String(64), primary_key=True),
        sa.Column("division", sa.String(16), primary_key=True),
        sa.Column("setting", sa.String(16), primary_key=True),
        sa.Column("team", sa.String(200), primary_key=True),
        sa.Column("kind", sa.String(16), primary_key=True),
        sa.Column("record", sa.String(32), nullable=False),
        sa.Column("first", sa.String(32), nullable=False),
        sa.Column("runs", sa.Integer, nullable=False),
        sa.Column("stamp", sa.Integer, nullable=False),
        sa.Column("document", _JSON, nullable=False),
    )
    op.create_table(
        "milestones",
        sa.Column("problem", sa.String(200), primary_key=True),
        sa.Column("target", sa.String(64), primary_key=True),
        sa.Column("division", sa.String(16), primary_key=True),
        sa.Column("setting", sa.String(16), primary_key=True),
        sa.Column("record", sa.String(32), primary_key=True),
        sa.Column("team", sa.String(200), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("score_us", sa.Float, nullable=False),
    )
    op.create_table(
        "unverified",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("team", sa.String(40), nullable=False),
        sa.Column("problem", sa.String(200), nullable=False),
        sa.Column("target", sa.String(64), nullable=False),
        sa.Column("division", sa.String(16), nullable=False),
        sa.Column("created_s", sa.Float, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("document", _JSON, nullable=False),
        sa.UniqueConstraint("team", "digest", name="unverified_once"),
    )
    op.create_index("unverified_board", "unverified", ["problem", "target", "division", "id"])
