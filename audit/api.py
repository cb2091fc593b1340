"""fleetaudit as a library: the public names of the package, each usable without the command line.

Nothing is read from the environment, and no configuration file is used that was not named.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from audit import wiring
from audit.config.effective import effective_config
from audit.config.environment import Environment
from audit.config.fields import DEFAULT_FORMATS
from audit.config.overrides import Overrides
from audit.model.result import AssessmentResult
from audit.ports import Clock, ProgressSink, StopSignal


class _NoProgress:
    """A `ProgressSink` that says nothing."""

    def stage(self, name: str, total: int | None) -> None:
        """Ignored."""

    def advance(self, number: int = 1) -> None:
        """Ignored."""

    def note(self, text: str) -> None:
        """Ignored."""


@contextmanager
def audit_fleet(
    *paths: str | Path,
    config: str | Path | None = None,
    output: str | Path | None = None,
    clock: Clock | None = None,
    progress: ProgressSink | None = None,
    stop: StopSignal | None = None,
) -> Iterator[AssessmentResult]:
    """Audit manifests; the result's groups are readable inside the ``with`` block.

    Args:
        paths: files, folders or globs, together one cluster called ``manifests``.
        config: configuration file; without paths it says what is audited.
        output: folder that keeps the population file; a temporary one by default.
        clock: the moment that waivers and statements are judged at; now by default.
        progress: told how far the run is.
        stop: asked between objects; once set, the rest becomes a gap.

    Raises:
        AuditError: configuration or content is wrong, or an engine can't be started. What goes wrong with the audited
            files is a gap in the result instead. Groups that are asked for behind the block are a `UsageError`.
    """
    with ExitStack() as stack:
        folder = str(output) if output is not None else stack.enter_context(tempfile.TemporaryDirectory())
        overrides = Overrides(
            config=str(config) if config is not None else None,
            no_config=config is None,
            paths=tuple(str(path) for path in paths),
            folder=folder,
        )
        Path(folder).mkdir(parents=True, exist_ok=True)
        settings = effective_config(overrides, Environment(), Path())
        audit = stack.enter_context(
            wiring.build(settings, progress=progress or _NoProgress(), clock=clock or wiring.SystemClock())
        )
        yield audit.run(stop or threading.Event())


def write_reports(
    result: AssessmentResult, folder: str | Path, formats: Sequence[str] = DEFAULT_FORMATS, lang: str = "en"
) -> list[Path]:
    """Write a result in the formats named; the paths written, in that order.

    Args:
        result: from `audit_fleet`, inside its ``with`` block, or loaded from a JSON report.
        folder: created when missing.
        formats: of ``html``, ``json``, ``sarif``, ``junit``, ``markdown``, ``csv`` and ``prometheus``.
        lang: ``en`` or ``zh-CN``.

    Raises:
        KeyError: an unknown format.
        ReportError: a report can't be written.
        UsageError: the ``with`` block was left.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    return [path for writer in wiring.writers(list(formats), lang) for path in writer.write(result, place)]
