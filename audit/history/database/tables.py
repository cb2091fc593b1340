"""The tables, as the newest migration leaves them. A test compares the two on both databases."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

METADATA = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)
_DIGEST = String(64)


def _run_key() -> Column[int]:
    return Column("run", Integer, ForeignKey("run.number"), primary_key=True)


def _position() -> Column[int]:
    """Digests are over rows in order, and databases sort text in ways of their own."""
    return Column("position", Integer, primary_key=True, autoincrement=False)


def _ratio_columns() -> tuple[Column[str] | Column[int], ...]:
    return (
        Column("framework", Text, nullable=False),
        Column("title", Text, nullable=False),
        Column("profile", Text, nullable=False),
        Column("part", Text, nullable=False),
        Column("measure", Text, nullable=False),
        Column("numerator", Integer, nullable=False),
        Column("denominator", Integer, nullable=False),
    )


head = Table(
    "head",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("number", Integer, nullable=False),
    Column("digest", _DIGEST, nullable=False),
    comment="One row: the end of the chain, so that a cut is seen.",
)

run = Table(
    "run",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("previous", _DIGEST, nullable=False),
    Column("digest", _DIGEST, nullable=False),
    Column("appended_at", Text, nullable=False),
    Column("pruned_at", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("state_time", Text, nullable=False),
    Column("started", Text, nullable=False),
    Column("finished", Text, nullable=False),
    Column("fleetaudit", Text, nullable=False),
    Column("exit_code", Integer, nullable=False),
    Column("complete", Boolean, nullable=False),
    *(
        Column(name, BigInteger, nullable=False)
        for name in (
            "clusters",
            "reached",
            "objects",
            "rules",
            "pairs_due",
            "pairs_answered",
            "gaps",
            "open_critical",
            "open_high",
            "open_medium",
            "open_low",
            "open_info",
            "waived_groups",
            "error_groups",
        )
    ),
    *(
        Column(f"{name}_sha256", _DIGEST, nullable=False)
        for name in (
            "scope",
            "rules",
            "catalogs",
            "mappings",
            "profile",
            "result",
            "population",
            "ratios",
            "details",
        )
    ),
)
Index("ix_run_title_state_time", run.c.title, run.c.state_time)

ratio = Table("ratio", METADATA, _run_key(), _position(), *_ratio_columns())
cluster_ratio = Table("cluster_ratio", METADATA, _run_key(), _position(), *_ratio_columns())
control = Table(
    "control",
    METADATA,
    _run_key(),
    _position(),
    Column("framework", Text, nullable=False),
    Column("control", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("in_profile", Boolean, nullable=False),
    Column("held_back", Integer, nullable=False),
)
finding_group = Table(
    "finding_group",
    METADATA,
    _run_key(),
    _position(),
    Column("id", Text, nullable=False, index=True),
    Column("rule", Text, nullable=False),
    Column("severity", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("container", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("clusters", Text, nullable=False),
    Column("total", BigInteger, nullable=False),
    Column("waived", BigInteger, nullable=False),
)
record = Table(
    "record",
    METADATA,
    _run_key(),
    Column("document", Text, nullable=False),
)

blob = Table(
    "blob",
    METADATA,
    Column("sha256", _DIGEST, primary_key=True),
    Column("bytes", BigInteger, nullable=False),
    Column("chunks", Integer, nullable=False),
    comment="Gzip files by the sha256 of what is in them, so that equal ones are kept once.",
)
blob_chunk = Table(
    "blob_chunk",
    METADATA,
    Column("sha256", _DIGEST, ForeignKey("blob.sha256"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("content", LargeBinary, nullable=False),
)

DETAILS = (cluster_ratio, control, finding_group, record)
"""What pruning removes."""
