"""The first form: records, and what the database says of itself."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make both tables, and the indexes that boards and histories read by."""
    op.create_table(
        "records",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("team", sa.String(200), nullable=False),
        sa.Column("problem", sa.String(200), nullable=False),
        sa.Column("target", sa.String(64), nullable=False),
        sa.Column("division", sa.String(16), nullable=False),
        sa.Column("season", sa.String(64), nullable=False),
        sa.Column("setting", sa.String(16), nullable=False),
        sa.Column("verdict", sa.String(40)),
        sa.Column("standing", sa.String(16), nullable=False),
        sa.Column("score_us", sa.Float),
        sa.Column("source_sha256", sa.String(64), nullable=False),
        sa.Column("normalised_source_sha256", sa.String(64), nullable=False),
        sa.Column("artifact_key", sa.String(128)),
        sa.Column("owner_pid", sa.Integer, nullable=False),
        sa.Column("owner_host", sa.String(255), nullable=False),
        sa.Column("owner_boot", sa.String(64), nullable=False),
        sa.Column("owner_namespace", sa.String(64), nullable=False),
        sa.Column("owner_start", sa.Integer, nullable=False),
        # Not JSONB, which would put the axes of a shape into an order of its own.
        sa.Column("document", sa.JSON(), nullable=False),
    )
    board = ["problem", "target", "division", "standing", "setting", "team", "score_us", "id"]
    op.create_index("records_board", "records", board)
    op.create_index("records_team", "records", ["team", "problem", "target", "id"])
    op.create_index("records_problem", "records", ["problem", "target", "id"])
    op.create_index("records_state", "records", ["state"])
    op.create_table(
        "store_facts",
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("value", sa.String(200), nullable=False),
    )
