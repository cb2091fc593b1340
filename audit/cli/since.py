"""Brings two runs of a history, or one of them and a report, into folders that can be compared."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from audit.cli.past import one_fleet, past, run_since
from audit.cli.results import load_result
from audit.errors import UsageError
from audit.history.model import Link
from audit.model.run import RunRecord


@contextlib.contextmanager
def fetched(
    since: str,
    newer: str | None,
    *,
    history: str | None,
    fleet: str | None,
    config: str | None,
    no_config: bool,
) -> Iterator[tuple[Path, Path, str]]:
    """Folders of the older and the newer run, and a line that says which two they are.

    Args:
        since: which run is the older one; see `run_since`.
        newer: report of the newer one, or its folder; None for the newest run of the history.
        history: where the history is, unless the surroundings say.
        fleet: title of the fleet; that of the newer report by default.
        config: configuration file.
        no_config: use none.

    Raises:
        UsageError: there is no such run.
        HistoryError: the history can't be read, or the run was pruned.
    """
    with tempfile.TemporaryDirectory(prefix="fleetaudit-") as name:
        folder = Path(name)
        # The history is left before anything is compared: on SQLite, whoever reads keeps writers waiting.
        with past(history, config, no_config=no_config) as stored:
            if newer is not None:
                loaded = load_result(Path(newer))
                runs = one_fleet(stored.links(), fleet or loaded.title)
                runs = _before(runs, loaded.record)
                after, told = Path(newer), f"the report of {loaded.record.state_time}"
            else:
                runs = one_fleet(stored.links(), fleet)
                if not runs:
                    raise UsageError(
                        "the history holds no run", suggestion="fleetaudit run --history begins one"
                    )
                newest = runs.pop()
                after, told = folder / "newer", f"run {newest.number} of {newest.run.state_time}"
                after.mkdir()
                stored.unpack(newest, after)
            older = run_since(runs, since)
            before = folder / "older"
            before.mkdir()
            stored.unpack(older, before)
        yield before, after, f"From run {older.number} of {older.run.state_time} to {told}"


def _before(runs: list[Link], record: RunRecord) -> list[Link]:
    """Runs before the one of this record, which may have been appended already; else those that were judged by then."""
    for place, run in enumerate(runs):
        if (run.run.result_sha256, run.run.state_time) == (record.result_sha256, record.state_time):
            return runs[:place]
    return [run for run in runs if run.run.state_time <= record.state_time]
