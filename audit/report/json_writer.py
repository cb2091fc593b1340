"""``report.json``: everything, streamed, the same bytes for the same result; and the way back."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from audit.errors import ReportError
from audit.model.canonical import canonical_json
from audit.model.result import AssessmentResult, EncodedGroupSource, GroupSource
from audit.report import schema
from audit.report.document import SCHEMA_NAME, ReportDocument, head, plain, to_result
from audit.report.files import atomic

_VOLATILE = {"state_time": "", "started": "", "finished": "", "result_sha256": ""}


def chunks(result: AssessmentResult) -> Iterator[bytes]:
    """The file piece by piece: one line for each key, one for each group. Keys keep the document's order."""
    yield from _head_chunks(plain(head(result)))
    separator = b"\n"
    for line in _group_lines(result.group_source):
        yield separator + line
        separator = b",\n"
    yield b"\n]\n}\n"


def _group_lines(source: GroupSource) -> Iterator[bytes]:
    if isinstance(source, EncodedGroupSource):
        return source.encoded_groups()
    return map(canonical_json, source.groups())


def _head_chunks(data: dict[str, object]) -> Iterator[bytes]:
    yield b"{\n"
    for key, content in data.items():
        if key != "groups":
            yield canonical_json(key) + b": " + canonical_json(content) + b",\n"
    yield b'"groups": ['


def result_digest(result: AssessmentResult) -> str:
    """sha256 of the file as it would be without wall-clock times and without this digest: equal inputs, equal digest."""
    digest = hashlib.sha256()
    for chunk in lasting_chunks(result):
        digest.update(chunk)
    return digest.hexdigest()


def lasting_chunks(result: AssessmentResult) -> Iterator[bytes]:
    """What `result_digest` is over: the file as it would be at any time."""
    record = msgspec.structs.replace(result.record, **_VOLATILE)
    return chunks(msgspec.structs.replace(result, record=record))


def seal(result: AssessmentResult) -> AssessmentResult:
    """The result with `record.result_sha256` filled; unchanged when it is already there."""
    if result.record.result_sha256:
        return result
    record = msgspec.structs.replace(result.record, result_sha256=result_digest(result))
    return msgspec.structs.replace(result, record=record)


class JsonWriter:
    """Writes ``report.json``."""

    name = "json"
    file_name = "report.json"

    def write(self, result: AssessmentResult, folder: Path) -> list[Path]:
        """Write the file atomically; its head is checked against the published schema first.

        Raises:
            ReportError: not writable, or against the schema.
        """
        path = folder / self.file_name
        sealed = seal(result)
        schema.check(plain(head(sealed)), str(path))
        with atomic(path) as stream:
            stream.writelines(chunks(sealed))
        return [path]

    def render_to(self, result: AssessmentResult, stream: BinaryIO) -> None:
        """Write the same bytes to an open stream."""
        stream.writelines(chunks(seal(result)))


def load_report(path: Path) -> AssessmentResult:
    """Read a ``report.json`` back.

    Raises:
        ReportError: unreadable, not a report of this version, or tampered with (its digest doesn't match).
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ReportError(f"cannot read the report: {error.strerror}", file=str(path)) from error
    try:
        document = msgspec.json.decode(raw, type=ReportDocument)
    except msgspec.MsgspecError as error:
        raise ReportError(
            f"not a {SCHEMA_NAME} report: {error}", file=str(path), suggestion="give the report.json of a run"
        ) from error
    result = to_result(document)
    if document.record.result_sha256 != result_digest(result):
        raise ReportError(
            "the content does not match its own result_sha256",
            file=str(path),
            suggestion="the file was changed after it was written; run the audit again",
        )
    return result
