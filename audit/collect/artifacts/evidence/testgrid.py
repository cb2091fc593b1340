"""TestGrid: summaries of dashboards, as the web serves them and as the protocol buffers read, and states of one tab."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

from audit.collect.artifacts.evidence.fields import list_at, mapping_of, mappings_at, text_at
from audit.collect.artifacts.evidence.result_file import ResultReader, named, number, objects_of
from audit.collect.artifacts.sbom.problems import FormatError

MAX_TABS = 2_000
_TAB = ("NOT_SET", "UNKNOWN", "PASS", "FAIL", "FLAKY", "STALE", "BROKEN", "PENDING", "ACCEPTABLE")
_WORDS = {"PASSING": "PASS", "FAILING": "FAIL", "": "NOT_SET"}
_CELL = {
    0: "none", 1: "pass", 2: "pass", 3: "pass", 4: "running", 5: "aborted", 6: "unknown", 7: "aborted", 8: "blocked",
    9: "fail", 10: "fail", 11: "fail", 12: "fail", 13: "flaky", 14: "unknown", 15: "pass",
}  # fmt: skip
"""TestStatus of the state: what a cell says."""


class TestGridReader(ResultReader):
    """Reads summaries and states."""

    __test__ = False  # its name begins like that of a test
    name = "TestGrid"
    kinds = frozenset({"TestGridSummary"})

    def fits(self, text: str) -> bool:
        """A summary has statuses of tabs, a state has columns and rows of results."""
        if not text.startswith("{"):
            return False
        if '"overall_status"' in text or '"overallStatus"' in text:
            return True
        return '"columns"' in text and '"started"' in text and ('"rows"' in text or '"results"' in text)

    def specs(self, data: bytes) -> Iterator[dict[str, Any]]:
        """One summary."""
        value = mapping_of(objects_of(data), "the document")
        if "columns" in value and "rows" in value:
            form, tabs = "state", [self._state(value)]
        else:
            form, tabs = "summary", list(self._summary(value))
        if not tabs:
            raise FormatError("no_tabs", "it holds no tab")
        counts: dict[str, int] = {}
        for tab in tabs:
            counts[tab["status"]] = counts.get(tab["status"], 0) + 1
        # The oldest result decides how old the summary is: one stale tab is not made fresh by its neighbours.
        times = [tab["last_run"]["value"] for tab in tabs]
        known = [tab["last_run"]["status"] == "known" for tab in tabs]
        yield {
            "form": form,
            "tool": {"name": "testgrid", "version": ""},
            "tabs": tabs[:MAX_TABS],
            "left_out": max(0, len(tabs) - MAX_TABS),
            "counts": counts,
            "created": self.created(min(times) if all(known) else None),
            "notices": [],
        }

    def _summary(self, value: dict[str, Any]) -> Iterator[dict[str, Any]]:
        key = next((key for key in ("tab_summaries", "tabSummaries") if key in value), None)
        rows = [("", one) for one in mappings_at(value, key)] if key else list(value.items())
        for name, one in rows:
            # A tab that can't be read is no tab less: one that fails would be gone.
            summary = mapping_of(one, "a tab")
            status = _either(summary, "overall_status", "overallStatus")
            failing = _either(summary, "failing_test_summaries", "failingTestSummaries", "tests")
            yield {
                "dashboard": text_at(summary, "dashboard_name") or text_at(summary, "dashboardName"),
                "tab": text_at(summary, "dashboard_tab_name")
                or text_at(summary, "dashboardTabName")
                or named(name),
                "status": _status(status),
                "stated": "" if status is None else named(str(status)),
                "alert": bool(summary.get("alert")),
                "failing": len(failing) if isinstance(failing, list) else 0,
                "last_run": self.created(_moment(_either(summary, "last_run_timestamp", "lastRunTimestamp"))),
                "last_update": self.created(
                    _moment(_either(summary, "last_update_timestamp", "lastUpdateTimestamp"))
                ),
            }

    def _state(self, value: dict[str, Any]) -> dict[str, Any]:
        columns, rows = mappings_at(value, "columns"), mappings_at(value, "rows")
        newest = columns[0] if columns else {}
        cells = [cell for cell in map(_newest_cell, rows) if cell != "none"]
        failing = cells.count("fail")
        return {
            "dashboard": "",
            "tab": text_at(value, "name") or text_at(newest, "name"),
            "status": _overall(cells),
            "stated": "",
            "alert": any(one.get("alert_info") or one.get("alertInfo") for one in rows),
            "failing": failing,
            "last_run": self.created(_moment(newest.get("started"))),
            "last_update": self.created(None),
        }


def _either(summary: dict[str, Any], *names: str) -> Any:
    return next((summary[name] for name in names if name in summary), None)


def _status(value: Any) -> str:
    """The status; a tab without one is one of which nothing is said."""
    if value is None:
        return "NOT_SET"
    if isinstance(value, int) and not isinstance(value, bool):
        return _TAB[value] if 0 <= value < len(_TAB) else "UNKNOWN"
    word = str(value).upper()
    word = _WORDS.get(word, word)
    return word if word in _TAB else "UNKNOWN"


def _newest_cell(row: dict[str, Any]) -> str:
    """The newest result of a test that is one: results are pairs of a status and how often it stands in a row.

    Raises:
        FormatError: they are none.
    """
    results = list_at(row, "results")
    if len(results) % 2 or not all(isinstance(one, int) and not isinstance(one, bool) for one in results):
        raise FormatError("wrong_type", "malformed: results of a row must be pairs of numbers")
    said = [_CELL.get(code, "unknown") for code in results[::2]]
    return next((cell for cell in said if cell != "none"), "none")


def _overall(cells: list[str]) -> str:
    if not cells:
        return "UNKNOWN"
    for cell, status in (("fail", "FAIL"), ("unknown", "UNKNOWN"), ("blocked", "BROKEN"), ("aborted", "BROKEN"),
                         ("flaky", "FLAKY"), ("running", "PENDING")):  # fmt: skip
        if cell in cells:
            return status
    return "PASS"


def _moment(value: Any) -> str | None:
    """Milliseconds or seconds since 1970, or text; zero is "never"."""
    if isinstance(value, str):
        if not value.isdecimal() or len(value) > 18:
            return value or None
        value = int(value)
    seconds = number(value)
    if not seconds or seconds <= 0:
        return None
    if seconds > 1e11:
        seconds /= 1000
    try:
        return dt.datetime.fromtimestamp(seconds, dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return str(value)
