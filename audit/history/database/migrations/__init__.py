"""Migrations of the history, read by Alembic. Up only: no older program shall find what it doesn't know."""
