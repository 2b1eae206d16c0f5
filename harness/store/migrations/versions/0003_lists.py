"""Indexes for lists of very many records: of a board, of a team on a board, of a program's runs."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Replace those that leave out the division; add one of programs."""
    op.drop_index("records_team", "records")
    op.drop_index("records_problem", "records")
    op.create_index("records_team", "records", ["team", "problem", "target", "division", "id"])
    op.create_index("records_problem", "records", ["problem", "target", "division", "id"])
    op.create_index("records_program", "records", ["team", "program"])
