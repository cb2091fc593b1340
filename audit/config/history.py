"""What ``fleetaudit.yaml`` may say of the history of results."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from audit.config.fields import PathText, Section

Count = Annotated[int, Meta(ge=1, le=1_000_000)]


class HistoryConfig(Section, frozen=True, kw_only=True):
    """Where results are kept, and for how long. Details of a run stay while one of the two keys still wants them."""

    url: Annotated[
        PathText | None,
        Meta(
            description="An SQLite file relative to this file, or postgresql://USER@HOST/DATABASE. A password belongs into "
            "FLEETAUDIT_HISTORY, PGPASSWORD or a password file, not here."
        ),
    ] = None
    keep_runs: Annotated[
        Count | None, Meta(description="Keep the details of so many of the newest runs of each fleet.")
    ] = None
    keep_days: Annotated[
        Count | None, Meta(description="Keep the details of runs that were judged in the last so many days.")
    ] = None
