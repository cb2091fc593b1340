"""The error tree: each family says whose move it is.

    AuditError
    |-- UsageError        the command line asks for something impossible
    |-- ConfigError       fleetaudit.yaml is wrong: its author fixes it
    |-- ContentError      a rule, catalog, mapping, waiver or statement is wrong: its author fixes it
    |-- CollectionError   the outside world could not be read; usually becomes a gap instead
    |-- EngineError       an engine could not do its work; usually becomes error answers instead
    |-- ReportError       the result could not be written
    `-- HistoryError      the history could not be read or written

Every error knows its place (file, line, key) when there is one, and may carry a suggestion.
"""

from __future__ import annotations

from collections.abc import Sequence


class AuditError(Exception):
    """Root of everything this package raises on purpose.

    Args:
        message: one sentence, without the place.
        file: path of the file at fault, as the user knows it.
        line: 1-based line in that file.
        column: 1-based column in that line.
        key: dotted key inside a structured file, for example ``clusters.0.name``.
        suggestion: what to do about it, one sentence.
        others: further errors found in the same pass, so that a file is mended in one go.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        key: str | None = None,
        suggestion: str | None = None,
        others: Sequence[AuditError] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        self.key = key
        self.suggestion = suggestion
        self.others = tuple(others)

    @property
    def place(self) -> str:
        """``file:line:column`` with the parts that are known, or an empty string."""
        if self.file is None:
            return ""
        parts = [self.file]
        if self.line is not None:
            parts.append(str(self.line))
            if self.column is not None:
                parts.append(str(self.column))
        return ":".join(parts)

    def __str__(self) -> str:
        text = self.message
        if self.key:
            text = f"{self.key}: {text}"
        if self.place:
            text = f"{self.place}: {text}"
        if self.suggestion:
            text = f"{text} ({self.suggestion})"
        return text


class UsageError(AuditError):
    """The command line asks for something impossible."""


class ConfigError(AuditError):
    """The configuration file is wrong."""


class ContentError(AuditError):
    """Authored content (rule, catalog, mapping, waiver, statement) is wrong."""


class CollectionError(AuditError):
    """The outside world could not be read."""


class EngineError(AuditError):
    """An engine could not do its work."""


class ReportError(AuditError):
    """The result could not be written."""


class HistoryError(AuditError):
    """The history could not be read or written."""
