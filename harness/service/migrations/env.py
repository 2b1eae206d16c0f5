"""Alembic's entry point. It works on the connection that `form.prepare` hands over, in that one's transaction."""

from __future__ import annotations

from alembic import context

from harness.service.form import VERSIONS
from harness.service.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSIONS,
    render_as_batch=True,  # SQLite cannot alter most things in place; batch mode copies the table instead
)
with context.begin_transaction():
    context.run_migrations()
