"""One rule for the moment something ends, whatever the machine's zone."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from audit.model.expiry import expiry_of
from tests.shared_data import shared_dir


@pytest.mark.parametrize(
    ("written", "end"),
    [
        ("2026-03-29", "2026-03-30T00:00:00+00:00"),
        (dt.date(2026, 3, 29), "2026-03-30T00:00:00+00:00"),
        ("2026-03-29T02:30:00+02:00", "2026-03-29T00:30:00+00:00"),
        ("2026-03-29 02:30 +0200", "2026-03-29T00:30:00+00:00"),
        ("2026-03-29T00:30:00Z", "2026-03-29T00:30:00+00:00"),
        (dt.datetime(2026, 3, 29, 1, tzinfo=dt.UTC), "2026-03-29T01:00:00+00:00"),
        ("2028-02-29", "2028-03-01T00:00:00+00:00"),
    ],
)
def test_moments(written: object, end: str) -> None:
    assert expiry_of(written).isoformat() == end


def test_the_last_day_of_the_calendar_means_never() -> None:
    assert expiry_of("9999-12-31") > dt.datetime(9999, 12, 31, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("2026-02-29", "not in the calendar"),
        ("2026-03-29T02:30:00", "zone"),
        (dt.datetime(2026, 3, 29), "zone"),  # noqa: DTZ001 - what a YAML reader makes of it
        ("end of March", "write a date"),
        ("29.03.2026", "write a date"),
        ("٢٠٢٦-٠٣-٢٩", "write a date"),
        ("", "write a date"),
        (None, "write a date"),
        (20260329, "write a date"),
        (True, "write a date"),
        ("2026-03-29T25:00:00Z", "not in the calendar"),
    ],
)
def test_refused(written: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        expiry_of(written)


@pytest.mark.corpora
def test_the_shared_table_holds() -> None:
    folder = shared_dir("cases", "41-waiver-expiry-and-time-zones")
    rows = yaml.safe_load((folder / "waivers.yaml").read_text(encoding="utf-8"))
    expected = json.loads((folder / "expect.json").read_text(encoding="utf-8"))
    ends: dict[str, dt.datetime | None] = {}
    refused = []
    for row in rows:
        try:
            ends[row["id"]] = expiry_of(row["expires"]) if "expires" in row else None
        except ValueError:
            refused.append(row["id"])
    assert refused == expected["refused_at_load"]
    for moment, lists in expected["at"].items():
        now = dt.datetime.fromisoformat(moment)
        active = [name for name, end in ends.items() if end is None or now < end]
        assert active == lists["active"]
        if "expired" in lists:
            assert sorted(set(ends) - set(active)) == sorted(lists["expired"])


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Los_Angeles", "UTC"])
def test_the_machines_zone_changes_nothing(zone: str) -> None:
    code = "from audit.model.expiry import expiry_of; print(expiry_of('2026-03-29').isoformat())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"TZ": zone},
        cwd=Path(__file__).resolve().parents[3],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "2026-03-30T00:00:00+00:00\n"
