"""The two files of a run that are kept whole: the sealed report and the population, each gzipped.

The report is kept without its wall-clock times: those are in the run's row. So its bytes have the digest that seals it,
two equal results are one file, and what comes out again is the ``report.json`` that the run wrote, to the byte.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import msgspec

from audit.errors import HistoryError
from audit.harmless import unescaped
from audit.history.model import RunRow
from audit.model.result import AssessmentResult
from audit.report.document import ReportDocument, to_result
from audit.report.json_writer import chunks, lasting_chunks

CHUNK = 1 << 20
"""Bytes of a gzipped file in one row."""
REPORT = "report.json"
_IN_MEMORY = 8 << 20


class Packed(msgspec.Struct, frozen=True, kw_only=True):
    """A gzipped file, ready to be stored."""

    sha256: str
    """Of what is in it."""
    stream: IO[bytes]
    size: int
    """Gzipped bytes."""

    def pieces(self) -> Iterator[bytes]:
        """The bytes, a row at a time."""
        self.stream.seek(0)
        while piece := self.stream.read(CHUNK):
            yield piece


@contextlib.contextmanager
def packed_report(result: AssessmentResult) -> Iterator[Packed]:
    """The sealed result as a file."""
    with tempfile.SpooledTemporaryFile(_IN_MEMORY, prefix="fleetaudit-") as spool:
        # No name and no time in its header: equal content, equal bytes.
        with gzip.GzipFile(filename="", fileobj=spool, mode="wb", compresslevel=6, mtime=0) as stream:
            for chunk in lasting_chunks(result):
                stream.write(chunk)
        yield _packed(spool, result.record.result_sha256)


def packed_population(source: IO[bytes], expected: str) -> Packed:
    """The population file, which is gzipped already.

    Args:
        source: an open ``population.csv.gz``.
        expected: the sha256 of its text that the run record has.

    Raises:
        HistoryError: it is the file of another run, or damaged.
    """
    if _digest_inside(source) != expected:
        raise HistoryError(
            "the population file is not the one of this result: its sha256 differs from the run record's",
            suggestion="keep both files of one run together",
        )
    return _packed(source, expected)


def sound(pieces: Iterable[bytes], sha256: str) -> bool:
    """Whether a stored file still has the digest it is kept under."""
    with tempfile.SpooledTemporaryFile(_IN_MEMORY, prefix="fleetaudit-") as spool:
        spool.writelines(pieces)
        return _digest_inside(spool) == sha256


def unpack_report(pieces: Iterable[bytes], path: Path, run: RunRow) -> None:
    """Write the ``report.json`` that the run wrote.

    Raises:
        HistoryError: what is stored is no report, or was changed.
    """
    try:
        document = msgspec.json.decode(gzip.decompress(b"".join(pieces)), type=ReportDocument)
    except (OSError, EOFError, zlib.error, msgspec.MsgspecError):
        raise HistoryError(
            "the stored report is damaged", suggestion="fleetaudit history verify tells what else is"
        ) from None
    result = to_result(document)
    record = msgspec.structs.replace(
        result.record,
        state_time=run.state_time,
        started=unescaped(run.started),
        finished=unescaped(run.finished),
        result_sha256=run.result_sha256,
    )
    with path.open("wb") as stream:
        stream.writelines(chunks(msgspec.structs.replace(result, record=record)))


def unpack_population(pieces: Iterable[bytes], path: Path) -> None:
    """Write the population file as it was."""
    with path.open("wb") as stream:
        stream.writelines(pieces)


def _packed(stream: IO[bytes], sha256: str) -> Packed:
    return Packed(sha256=sha256, stream=stream, size=stream.seek(0, 2))


def _digest_inside(stream: IO[bytes]) -> str:
    """sha256 of what a gzip file holds; empty when it is damaged."""
    digest = hashlib.sha256()
    stream.seek(0)
    try:
        with gzip.open(stream, "rb") as inside:
            while piece := inside.read(1 << 20):
                digest.update(piece)
    except (OSError, EOFError, zlib.error):
        return ""
    return digest.hexdigest()
