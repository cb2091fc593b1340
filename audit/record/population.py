"""The population file: every pair of the run, passes included, because auditors ask for the passes.

``population.csv.gz``: UTF-8, gzip, one row a pair in evaluation order. The recorded sha256 is that of the
uncompressed text (``gzip -dc population.csv.gz | sha256sum``), so that it does not depend on the compressor.
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import zlib
from pathlib import Path
from typing import BinaryIO

import msgspec

from audit.errors import ReportError
from audit.harmless import FORMULA_STARTS, reversibly_escaped, unescaped
from audit.model.finding import PairAnswer
from audit.model.subject import SubjectRef


class PairRow(msgspec.Struct, frozen=True):
    """One pair as the file has it; its fields are the columns."""

    rule: str
    cluster: str
    kind: str
    namespace: str
    name: str
    source: str
    document: str
    item: str
    digest: str
    outcome: str
    reason: str
    waiver: str

    @property
    def identity(self) -> tuple[str, ...]:
        """Everything that says which pair it is; what came of it is not part of that."""
        return (
            self.rule,
            self.cluster,
            self.kind,
            self.namespace,
            self.name,
            self.source,
            self.document,
            self.item,
        )

    @property
    def title(self) -> str:
        """``Deployment shop/api``."""
        where = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind.rpartition('/')[2]} {where}{self.name}"


COLUMNS = PairRow.__struct_fields__
FILE_NAME = "population.csv.gz"
_FLUSH_BYTES = 1 << 20
_GZIP = 31  # zlib's window bits for a gzip stream; its header carries no name and no time
_NEEDS_QUOTES = frozenset(',"')
# An apostrophe makes a formula text. One that was there gets another, so that `original` finds what the text was.
_QUOTED_STARTS = (*FORMULA_STARTS, "'")


class PopulationWriter:
    """Streams pairs into ``population.csv.gz`` below `folder`; the file appears complete, or not at all."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        # A name of its own: another run may be writing to the same folder.
        self._partial = folder / f".{self.path.name}.{secrets.token_hex(6)}.part"
        self._digest = hashlib.sha256()
        self._rows: list[str] = []
        self._rule_cells: dict[str, str] = {}
        self._size = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # Unbuffered: only whole megabytes are written, and a failed write leaves nothing to flush later.
            self._raw: BinaryIO = self._partial.open("xb", buffering=0)
        except OSError as error:
            raise _unwritable(self.path, error) from error
        self._gzip = zlib.compressobj(level=1, wbits=_GZIP)
        self._append(",".join(COLUMNS) + "\n")

    def add(self, ref: SubjectRef, answers: list[tuple[PairAnswer, str]]) -> None:
        """Rows of one subject: each answer with the id of the waiver that accepts it, if any."""
        subject = ",".join(
            cell(text)
            for text in (
                ref.cluster,
                ref.kind_key,
                ref.namespace,
                ref.name,
                ref.source,
                str(ref.document),
                ref.item,
                ref.digest,
            )
        )
        self._append(
            "".join(
                f"{self._rule(answer.rule)},{subject},{answer.outcome.value},{cell(answer.reason) if answer.reason else ''},"
                f"{cell(waiver) if waiver else ''}\n"
                for answer, waiver in answers
            )
        )

    def _rule(self, name: str) -> str:
        """A policy of somebody else's names its rules; each is looked at once."""
        shown = self._rule_cells.get(name)
        if shown is None:
            shown = self._rule_cells[name] = cell(name)
        return shown

    def finish(self) -> str:
        """Close the file, put it in place and return its sha256 (hex, of the uncompressed text)."""
        try:
            self._flush()
            self._raw.write(self._gzip.flush())
            self._raw.close()
            self._partial.replace(self.path)
        except OSError as error:
            self.discard()
            raise _unwritable(self.path, error) from error
        return self._digest.hexdigest()

    def discard(self) -> None:
        """Leave nothing behind."""
        # Closing flushes, which fails again on a full disk; the file goes anyway.
        with contextlib.suppress(OSError):
            self._raw.close()
        self._partial.unlink(missing_ok=True)

    def _append(self, text: str) -> None:
        self._rows.append(text)
        self._size += len(text)
        if self._size >= _FLUSH_BYTES:
            self._flush()

    def _flush(self) -> None:
        data = "".join(self._rows).encode()
        self._rows.clear()
        self._size = 0
        self._digest.update(data)
        try:
            self._raw.write(self._gzip.compress(data))
        except OSError as error:
            self.discard()
            raise _unwritable(self.path, error) from error


def cell(text: str) -> str:
    """One CSV cell: formulas and control characters neutralised, quoted where the syntax needs it."""
    if not text:
        return ""
    text = neutral(text)
    if _NEEDS_QUOTES.isdisjoint(text):
        return text
    return '"' + text.replace('"', '""') + '"'


def neutral(text: str) -> str:
    """The text as a spreadsheet or a terminal may see it."""
    shown = reversibly_escaped(text)
    return f"'{shown}" if text.startswith(_QUOTED_STARTS) else shown


def original(text: str) -> str:
    """What `neutral` was given."""
    return unescaped(text.removeprefix("'"))


def _unwritable(path: Path, error: OSError) -> ReportError:
    return ReportError(
        f"the population file can't be written: {error.strerror}",
        file=str(path),
        suggestion="choose another folder with --output, or free some space",
    )
