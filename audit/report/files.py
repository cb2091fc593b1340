"""Files that are whole or not there: written beside their place, then renamed."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from audit.errors import ReportError


@contextlib.contextmanager
def atomic(path: Path) -> Iterator[BinaryIO]:
    """A binary stream that becomes `path` when the block ends well, and leaves nothing behind when it doesn't.

    Raises:
        ReportError: the folder or disk refuses; the place is `path`.
    """
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb", buffering=1 << 18) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        _remove(temporary)
        raise ReportError(
            f"the report could not be written: {error.strerror or error}",
            file=str(path),
            suggestion="check the free space and the rights of the folder",
        ) from error
    except BaseException:
        _remove(temporary)
        raise


HTML_MARK = b'name="generator" content="fleetaudit'
JSON_MARK = b'"fleetaudit.dev/report/'
SARIF_MARK = b'"driver":{"name":"fleetaudit"'
JUNIT_MARK = b'<testsuite name="audit" tests="'
MARKDOWN_MARK = b"<!-- fleetaudit report -->"
METRICS_MARK = b"# Written by fleetaudit"
POLICY_REPORTS_MARK = b"# Reports of fleetaudit for kubectl apply"
CSV_MARK = b"group,finding,outcome,severity,rule,"
_MARKS = (
    ("report.html", HTML_MARK),
    ("findings-*.html", HTML_MARK),
    ("report.json", JSON_MARK),
    ("report.sarif", SARIF_MARK),
    ("report.junit.xml", JUNIT_MARK),
    ("report.md", MARKDOWN_MARK),
    ("findings.csv", CSV_MARK),
    ("fleetaudit.prom", METRICS_MARK),
    ("policy-reports.yaml", POLICY_REPORTS_MARK),
    ("openreports.yaml", POLICY_REPORTS_MARK),
)
"""Names of reports, and what is near the beginning of each that fleetaudit wrote."""
_NEAR = 3000
_SUFFIXES = frozenset(Path(name).suffix for name, _ in _MARKS)


def earlier_reports(folder: Path, pattern: str = "*") -> Iterator[Path]:
    """Reports of ours in a folder, whichever run wrote them. What others keep there under such a name is not ours."""
    for name, mark in _MARKS:
        for path in sorted(folder.glob(name)):
            if path.match(pattern) and is_marked(path, mark):
                yield path


def is_report(path: Path) -> bool:
    """Whether fleetaudit wrote a file, whatever it is called now."""
    return path.suffix in _SUFFIXES and any(is_marked(path, mark) for _, mark in _MARKS)


def is_marked(path: Path, mark: bytes) -> bool:
    """Whether a file begins like one that fleetaudit wrote."""
    try:
        with path.open("rb") as stream:
            return mark in stream.read(_NEAR)
    except OSError:
        return False


def _umask() -> int:
    # The mask can only be read by setting it; mkstemp's own 0600 would hide reports from the group.
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _remove(path: Path | None) -> None:
    if path is not None:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
