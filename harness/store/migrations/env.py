"""Alembic's entry point. It works on the connection that `schema.migrate` hands over, in that one's transaction."""

from __future__ import annotations

from alembic import context

from harness.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite cannot alter most things in place; batch mode copies the table instead.
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
