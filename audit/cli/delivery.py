"""Brings reports where they are wanted: into a folder, or one of them to standard output."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from audit.cli.folder import OutputFolder
from audit.cli.screen import abandon
from audit.cli.streams import is_closed
from audit.config.schema import Config
from audit.errors import AuditError, ReportError
from audit.model.result import AssessmentResult

STDOUT = "-"


def check_writable(folder: Path) -> None:
    """Create the output folder and try it.

    Raises:
        ReportError: nothing can be written there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ReportError(
            f"the reports cannot be written: {error.strerror or error}",
            file=str(folder),
            suggestion="name another folder with --output",
        ) from None


def write_reports(
    result: AssessmentResult, config: Config, place: OutputFolder
) -> tuple[list[Path], list[AuditError]]:
    """Write every format asked for and put them in place with the population; the first file of each, and what failed.

    A format that cannot be written costs only itself: the others are of the same run, and whole.
    """
    from audit import wiring

    made: list[Path] = []
    heads: list[str] = []
    errors: list[AuditError] = []
    for writer in wiring.writers(list(config.output.formats), config.output.lang):
        try:
            files = writer.write(result, place.staging)
        except (ReportError, OSError) as error:
            errors.append(_failed(writer.name, error, place))
        else:
            made += files
            heads.append(files[0].name)
    if result.record.population_file:
        made.append(place.staging / result.record.population_file)
        heads.append(result.record.population_file)
    try:
        placed = {path.name: path for path in place.publish(made)}
    except ReportError as error:
        return [], [*errors, error]
    return [placed[name] for name in heads], errors


def _failed(format_name: str, error: ReportError | OSError, place: OutputFolder) -> AuditError:
    if isinstance(error, ReportError):
        error.file = place.shown(error.file)
        return error
    return ReportError(
        f"the {format_name} report cannot be written: {error.strerror or error}",
        file=place.shown(error.filename),
    )


def render(result: AssessmentResult, formats: tuple[str, ...], lang: str, folder: Path) -> list[Path]:
    """Write a result that was loaded from a file; the first file of each format.

    Raises:
        ReportError: a report cannot be written. Formats written before it stay.
    """
    from audit import wiring

    check_writable(folder)
    written: list[Path] = []
    for writer in wiring.writers(list(formats), lang):
        try:
            written += writer.write(result, folder)[:1]
        except OSError as error:
            raise ReportError(
                f"the {writer.name} report cannot be written: {error.strerror or error}",
                file=error.filename or str(folder),
            ) from None
    return written


def print_to_stdout(result: AssessmentResult, config: Config) -> None:
    """Render one format and copy it to standard output, byte for byte.

    Raises:
        ReportError: it cannot be rendered, or standard output is full or closed.
    """
    copy_to_stdout(result, config.output.formats, config.output.lang)


def copy_to_stdout(result: AssessmentResult, formats: tuple[str, ...], lang: str) -> None:
    """Like `print_to_stdout`, for a result that was loaded from a file."""
    from audit import wiring

    writer = wiring.writers(list(formats), lang)[0]
    if is_closed(sys.stdout):
        raise ReportError("standard output is closed, and the report was to go there")
    # Rendered whole before the first byte is printed: a pipeline must not take half a report for one.
    with tempfile.TemporaryFile(prefix="fleetaudit-") as rendered:
        try:
            writer.render_to(result, rendered)
        except OSError as error:
            reason = error.strerror or os.strerror(error.errno or 0)
            raise ReportError(f"the {writer.name} report cannot be rendered: {reason}") from None
        rendered.seek(0)
        try:
            sys.stdout.flush()
            shutil.copyfileobj(rendered, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            abandon(sys.stdout)
            raise ReportError("the reader of standard output went away before the report ended") from None
        except OSError as error:
            reason = error.strerror or os.strerror(error.errno or 0)
            raise ReportError(f"the report cannot be printed: {reason}") from None
