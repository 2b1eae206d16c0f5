"""Alembic's folder for the service's tables."""
