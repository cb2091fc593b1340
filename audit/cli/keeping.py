"""Appends a finished result to the history. The reports are written before, and whatever goes wrong here leaves them alone."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from audit.cli.exits import ExitCode
from audit.config.schema import Config
from audit.errors import HistoryError
from audit.history.address import Address, parse_address
from audit.history.extra import require_extra
from audit.history.model import Retention
from audit.model.result import AssessmentResult

if TYPE_CHECKING:
    from audit.history.model import Link


class Keeping(msgspec.Struct, frozen=True, kw_only=True):
    """Where results are kept, and for how long."""

    address: Address
    retention: Retention

    @classmethod
    def of(cls, config: Config) -> Keeping | None:
        """As configured; None when no history is kept.

        Raises:
            UsageError: the address can't be used, or what a history needs is not installed.
        """
        if config.history.url is None:
            return None
        address = parse_address(config.history.url)
        require_extra(address)
        return cls(address=address, retention=retention_of(config))

    def append(
        self,
        result: AssessmentResult,
        population: BinaryIO | None,
        code: ExitCode,
        now: dt.datetime,
        *,
        once: bool = False,
    ) -> tuple[Link, bool]:
        """Append a result.

        Args:
            result: finished, sealed or not.
            population: its open population file.
            code: what the run ends with.
            now: aware.
            once: not when the same run is there already.

        Returns:
            The run in the chain, and whether it was appended now.

        Raises:
            HistoryError: it was not appended.
        """
        from audit.history.database.writing import append
        from audit.history.entries import entry_of
        from audit.history.packed import packed_population, packed_report
        from audit.report.json_writer import seal

        sealed = seal(result)
        if population is None and sealed.record.population_sha256:
            raise HistoryError(
                "the population file of the result can't be read",
                file=sealed.record.population_file,
                suggestion="it stands beside the JSON report that the run wrote",
            )
        with ExitStack() as stack:
            try:
                files = [stack.enter_context(packed_report(sealed))]
                if population is not None:
                    files.append(packed_population(population, sealed.record.population_sha256))
                entry = entry_of(sealed, int(code))
                return append(self.address, entry, files, self.retention, now, once=once)
            except OSError as error:
                raise HistoryError(
                    f"the result cannot be packed for the history: {error.strerror or error}",
                    file=self.address.shown,
                ) from None


def retention_of(config: Config) -> Retention:
    """How long details are kept."""
    return Retention(keep_runs=config.history.keep_runs, keep_days=config.history.keep_days)


@contextlib.contextmanager
def held_open(folder: Path, result: AssessmentResult) -> Iterator[BinaryIO | None]:
    """The population file in `folder`, opened before it is moved: another run may put its own in that place."""
    if not result.record.population_file:
        yield None
        return
    with ExitStack() as stack:
        try:
            stream = stack.enter_context((folder / result.record.population_file).open("rb"))
        except OSError:
            stream = None  # `append` says so, when everything else is done
        yield stream
