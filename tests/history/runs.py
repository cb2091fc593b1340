"""Results to append, and appending them as the command does."""

from __future__ import annotations

import datetime as dt
import gzip
import hashlib
import io
from typing import Any

import msgspec

from audit.cli.exits import ExitCode
from audit.cli.keeping import Keeping
from audit.history.address import parse_address
from audit.history.model import Link, Retention
from audit.model.finding import FindingGroup
from audit.model.result import AssessmentResult
from audit.record.population import COLUMNS
from audit.report.json_writer import seal
from tests import builders as b

NOW = dt.datetime(2026, 12, 1, 12, tzinfo=dt.UTC)
POPULATION = ",".join(COLUMNS).encode() + b"\n"


def day(number: int) -> str:
    """A moment of the year 2026, as a result has it."""
    return (dt.datetime(2026, 1, 1, tzinfo=dt.UTC) + dt.timedelta(days=number)).strftime("%Y-%m-%dT%H:%M:%SZ")


def result(
    number: int = 0, *groups: FindingGroup, population: bytes = POPULATION, **changes: Any
) -> AssessmentResult:
    """A result judged on a day."""
    record = b.record(state_time=day(number), population_sha256=hashlib.sha256(population).hexdigest())
    record_changes = {key: changes.pop(key) for key in list(changes) if key in type(record).__struct_fields__}
    return b.result(groups, record=msgspec.structs.replace(record, **record_changes), **changes)


def append(
    url: str,
    what: AssessmentResult,
    *,
    population: bytes = POPULATION,
    retention: Retention | None = None,
    now: dt.datetime = NOW,
    once: bool = False,
) -> Link:
    """Append a result."""
    keeping = Keeping(address=parse_address(url), retention=retention or Retention())
    stream = io.BytesIO(gzip.compress(population))
    return keeping.append(what, stream, ExitCode.MET, now, once=once)[0]


def sealed_bytes(what: AssessmentResult) -> bytes:
    """The ``report.json`` of a result."""
    from audit.report.json_writer import chunks

    return b"".join(chunks(seal(what)))
