"""Alembic scripts: how the board database came to its form, revision by revision."""
