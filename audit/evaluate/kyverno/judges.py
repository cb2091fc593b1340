"""Who judges Kyverno policies on this machine: the CLI, the batch child with the CLI as its reference, or it alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from audit.errors import EngineError
from audit.evaluate.kyverno.batch.program import find_batch
from audit.evaluate.kyverno.batch.runs import BatchRuns
from audit.evaluate.kyverno.binary import KyvernoCli, find_kyverno
from audit.evaluate.kyverno.request import Request
from audit.evaluate.kyverno.run import CliRuns, Effort, Runs
from audit.model.gap import Notice
from audit.native.binary import Program, said_by

Batch = Literal["auto", "off", "required"]
BATCH_UNUSED = "kyverno_batch_unused"


class Judges(msgspec.Struct, frozen=True, kw_only=True):
    """What was found; at least one of the two."""

    cli: KyvernoCli | None
    batch: Program | None
    name: str
    """For messages: which Kyverno it is."""
    missing: str = ""
    """Why there is no CLI."""
    notices: tuple[Notice, ...] = ()


def find_judges(cli: str | None, batch: Batch) -> Judges:
    """The CLI and, where it is wanted, the batch child.

    Args:
        cli: path of the CLI; found when not given.
        batch: whether the batch child is wanted.

    Raises:
        EngineError: nothing can judge, or what is required is missing.
    """
    program, notices = _batch(batch)
    try:
        found = find_kyverno(cli)
    except EngineError as error:
        if program is None:
            raise
        version = said_by(program).kyverno
        return Judges(cli=None, batch=program, name=f"Kyverno is {version}", missing=error.message)
    name = f"the Kyverno CLI is {found.version}"
    if program is None:
        return Judges(cli=found, batch=None, name=name, notices=notices)
    version = said_by(program).kyverno
    if version == found.version:
        return Judges(cli=found, batch=program, name=name)
    message = f"the batch child holds Kyverno {version}, {name}: they can't be compared"
    if batch == "required":
        raise EngineError(message, suggestion=f"install the Kyverno CLI {version}")
    unused = _unused(f"{message}, and the CLI judges alone")
    return Judges(cli=found, batch=None, name=name, notices=(unused,))


def start_runs(
    judges: Judges,
    folder: Path,
    request: Request,
    effort: Effort,
    global_context: Mapping[str, bytes],
    *,
    jobs: int,
    compare_every: int,
) -> Runs:
    """Runs below a folder.

    Raises:
        EngineError: the batch child does not run.
        OSError: files can't be written.
    """
    cli = CliRuns(judges.cli, folder, request, effort, global_context) if judges.cli else None
    if judges.batch is not None:
        return BatchRuns(
            judges.batch,
            cli,
            folder,
            request,
            effort,
            jobs=jobs,
            compare_every=compare_every,
            missing=judges.missing,
        )
    assert cli is not None  # noqa: S101  # one of the two was found
    return cli


def usable_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _batch(wanted: Batch) -> tuple[Program | None, tuple[Notice, ...]]:
    """The child when it is wanted and runs; one that is there and does not run is told."""
    if wanted == "off":
        return None, ()
    program = None
    try:
        program = find_batch()
        said_by(program)
    except EngineError as error:
        if wanted == "required":
            raise
        return None, () if program is None else (_unused(error.message),)
    return program, ()


def _unused(message: str) -> Notice:
    return Notice(source="kyverno", code=BATCH_UNUSED, message=message)
