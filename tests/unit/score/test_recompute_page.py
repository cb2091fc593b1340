"""The formulas page keeps its word: its code gives the printed headline, on exported results."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from audit.model.assessment import Reason
from audit.model.control import ProfileName
from audit.score.held_back import PART_OF
from tests.shared_data import CHECKOUT
from tests.unit.score.recomputed import PARTS, recomputed
from tests.unit.score.test_worked_trap import trap_result

PAGE = (CHECKOUT / "docs" / "report.md").read_text(encoding="utf-8")


def exported(profile: str = "full", *, pairs_due: int = 1) -> dict[str, Any]:
    rows, score = trap_result(profile, pairs_due=pairs_due)
    record = {"denominator": {"pairs_due": pairs_due}}
    return msgspec.json.decode(msgspec.json.encode({"controls": rows, "scores": [score], "record": record}))


@pytest.mark.parametrize("profile", ["technical", "full"])
def test_every_number_of_the_worked_trap_is_recomputed(profile: str) -> None:
    report = exported(profile)
    numbers = recomputed(report["controls"], "trap")
    assert numbers == {name: report["scores"][0][name] for name in numbers}


@pytest.mark.parametrize(("profile", "pairs_due"), [("technical", 1), ("full", 1), ("full", 0)])
def test_the_code_on_the_page_gives_the_headline(profile: str, pairs_due: int) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    scope: dict[str, Any] = {}
    exec(code, scope)  # the page's own words are what is tested
    report = exported(profile, pairs_due=pairs_due)
    strict = report["scores"][0]["strict"]
    assert scope["strict_ratios"](report) == {"trap": (strict["numerator"], strict["denominator"])}


def test_the_page_names_every_reason_part_and_field() -> None:
    for reason in Reason:
        assert f"`{reason.value}`" in PAGE, reason
    for part in ("failing", "waived", *PARTS):
        assert f"`{part}`" in PAGE, part
    report = exported()
    ratios = [
        name
        for name, value in report["scores"][0].items()
        if isinstance(value, dict) and "numerator" in value
    ]
    for name in (*ratios, "cluster_strict"):
        assert f"`{name}`" in PAGE, name
    for kind in ("fix_rule", "statements", "close_gap", "build_check"):
        assert f"`{kind}`" in PAGE
    for profile in ProfileName:
        assert profile is ProfileName.CUSTOM or f"`{profile.value}`" in PAGE


def test_the_page_and_the_code_sort_reasons_alike() -> None:
    assert {reason.value: part for reason, part in PART_OF.items()} == {
        reason: part for part, reasons in PARTS.items() for reason in reasons
    }
    for part, reasons in PARTS.items():
        if part.startswith("no_"):
            line = next(line for line in PAGE.splitlines() if line.startswith(f"| `{part}` | indeterminate:"))
            assert set(re.findall(r"`(\w+)`", line)) == {part, *reasons}


def test_a_changed_status_is_noticed() -> None:
    """The recomputation can fail: it is not the same code."""
    report = exported()
    changed = replace_status(report, "satisfied")
    assert recomputed(changed["controls"], "trap")["strict"] != report["scores"][0]["strict"]


def replace_status(report: dict[str, Any], status: str) -> dict[str, Any]:
    rows = [dict(row) for row in report["controls"]]
    failing = next(row for row in rows if row["fleet"]["status"] != status)
    failing["fleet"] = {**failing["fleet"], "status": status}
    return {**report, "controls": rows}
