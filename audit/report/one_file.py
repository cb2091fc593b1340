"""What most report formats have in common: one file, whole or not there."""

from __future__ import annotations

import abc
from pathlib import Path
from typing import BinaryIO, ClassVar

from audit.model.result import AssessmentResult
from audit.report.files import atomic


class OneFileWriter(abc.ABC):
    """A `ReportWriter` of one file, whose stream says everything."""

    name: ClassVar[str]
    """Of the format."""
    file_name: ClassVar[str]

    def write(self, result: AssessmentResult, folder: Path) -> list[Path]:
        """Write the file atomically.

        Raises:
            ReportError: not writable.
        """
        path = folder / self.file_name
        with atomic(path) as stream:
            self.render_to(result, stream)
        return [path]

    @abc.abstractmethod
    def render_to(self, result: AssessmentResult, stream: BinaryIO) -> None:
        """Write the same bytes to an open stream."""
