"""Runs in a chain, their ratios, their details, and blobs."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "head",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_head"),
        comment="One row: the end of the chain, so that a cut is seen.",
    )
    op.create_table("run", *_run_columns(), sa.PrimaryKeyConstraint("number", name="pk_run"))
    op.create_index("ix_run_title_state_time", "run", ["title", "state_time"])
    for name in ("ratio", "cluster_ratio"):
        _of_a_run(
            name,
            *_texts("framework", "title", "profile", "part", "measure"),
            sa.Column("numerator", sa.Integer(), nullable=False),
            sa.Column("denominator", sa.Integer(), nullable=False),
        )
    _of_a_run(
        "control",
        *_texts("framework", "control", "status", "reason"),
        sa.Column("in_profile", sa.Boolean(), nullable=False),
        sa.Column("held_back", sa.Integer(), nullable=False),
    )
    _of_a_run(
        "finding_group",
        *_texts("id", "rule", "severity", "status", "owner", "container", "path", "clusters"),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("waived", sa.BigInteger(), nullable=False),
    )
    op.create_index("ix_finding_group_id", "finding_group", ["id"])
    op.create_table(
        "record",
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("run", name="pk_record"),
        sa.ForeignKeyConstraint(["run"], ["run.number"], name="fk_record_run"),
    )
    op.create_table(
        "blob",
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name="pk_blob"),
        comment="Gzip files by the sha256 of what is in them, so that equal ones are kept once.",
    )
    op.create_table(
        "blob_chunk",
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", "number", name="pk_blob_chunk"),
        sa.ForeignKeyConstraint(["sha256"], ["blob.sha256"], name="fk_blob_chunk_sha256"),
    )
    op.execute("INSERT INTO head (id, number, digest) VALUES (1, 0, '')")


def _run_columns() -> list[sa.Column[Any]]:
    numbers = (
        "clusters reached objects rules pairs_due pairs_answered gaps "
        "open_critical open_high open_medium open_low open_info waived_groups error_groups"
    )
    digests = "scope rules catalogs mappings profile result population ratios details"
    return [
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("previous", sa.String(64), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        *_texts("appended_at", "pruned_at", "title", "state_time", "started", "finished", "fleetaudit"),
        sa.Column("exit_code", sa.Integer(), nullable=False),
        sa.Column("complete", sa.Boolean(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in numbers.split()),
        *(sa.Column(f"{name}_sha256", sa.String(64), nullable=False) for name in digests.split()),
    ]


def _texts(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _of_a_run(name: str, *columns: sa.Column[Any]) -> None:
    op.create_table(
        name,
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        *columns,
        sa.PrimaryKeyConstraint("run", "position", name=f"pk_{name}"),
        sa.ForeignKeyConstraint(["run"], ["run.number"], name=f"fk_{name}_run"),
    )
