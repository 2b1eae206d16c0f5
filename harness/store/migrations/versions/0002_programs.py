"""A column for what names a record's program; so far that was its source."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column, and name every program by its source, as its document does."""
    with op.batch_alter_table("records") as table:
        table.add_column(sa.Column("program", sa.String(64), nullable=False, server_default=""))
    op.execute("UPDATE records SET program = normalised_source_sha256")
    with op.batch_alter_table("records") as table:
        table.alter_column("program", server_default=None)
