"""The output folder holds the files of one run: made in a folder inside it, and put in place together.

So a reader never finds the report of one run beside the population of another: not while a run works, not when it is
killed, and not when two of them share the folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from audit.cli.results import REPORT_NAME
from audit.errors import ReportError
from audit.report.files import earlier_reports

_PREFIX = ".fleetaudit-"


class OutputFolder:
    """A context manager: entering it makes `staging`, leaving it removes that.

    Args:
        folder: where the files will be.

    Raises:
        ReportError: nothing can be written there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.staging = folder
        """Where the files of this run are made; on the same file system, so that moving them is one step each."""
        self._held: int | None = None

    def __enter__(self) -> Self:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with _locked(self._folder):
                self._remove_abandoned()
                self.staging = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=self._folder))
                self._held = _lock(self.staging)
        except OSError as error:
            raise self._unwritable(error) from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self.staging, ignore_errors=True)
        if self._held is not None:
            os.close(self._held)
        if isinstance(error, ReportError):
            error.file = self.shown(error.file)

    def shown(self, file: str | None) -> str | None:
        """A file of `staging` by the name it was to get."""
        if file is None or not Path(file).is_relative_to(self.staging):
            return file
        return str(self._folder / Path(file).relative_to(self.staging))

    def publish(self, made: Iterable[Path]) -> list[Path]:
        """Put these files of `staging` in place; reports that an earlier run left go.

        Raises:
            ReportError: one of them cannot be moved.
        """
        # The JSON report leads to the others: it goes first and comes last.
        ordered = sorted(made, key=lambda path: path.name == REPORT_NAME)
        try:
            with _locked(self._folder):
                old = sorted(earlier_reports(self._folder), key=lambda path: path.name != REPORT_NAME)
                for path in old:
                    path.unlink()
                for path in ordered:
                    path.replace(self._folder / path.name)
        except OSError as error:
            raise self._unwritable(error) from None
        return [self._folder / path.name for path in ordered]

    def _remove_abandoned(self) -> None:
        """What a killed run left. A run that still works holds its folder."""
        for path in self._folder.glob(f"{_PREFIX}*"):
            held = _lock(path, wait=False)
            if held is not None:
                shutil.rmtree(path, ignore_errors=True)
                os.close(held)

    def _unwritable(self, error: OSError) -> ReportError:
        return ReportError(
            f"the reports cannot be written: {error.strerror or error}",
            file=str(self._folder),
            suggestion="name another folder with --output",
        )


def _lock(folder: Path, *, wait: bool = True) -> int | None:
    """Hold a folder against other runs, until the number returned is closed; None where that can't be had."""
    handle = None
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        # Some network file systems know no locks; there, two runs at once need two folders.
        if handle is not None:
            os.close(handle)
        return None
    return handle


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    handle = _lock(folder)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)
