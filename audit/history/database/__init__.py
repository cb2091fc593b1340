"""The history in SQLite or PostgreSQL. Only this package imports SQLAlchemy and Alembic, the extra ``history``."""
