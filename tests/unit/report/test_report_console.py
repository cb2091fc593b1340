"""The terminal summary."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from audit.model.assessment import HeldBack
from audit.model.result import AssessmentResult
from audit.report.console import render
from tests import builders as b
from tests.unit.report.story import story


def _told(result: AssessmentResult, *, width: int = 140, **options: Any) -> str:
    stream = io.StringIO()
    render(result, Console(file=stream, width=width), **options)
    return stream.getvalue()


def _line(told: str, term: str) -> str:
    return next(line.removeprefix(term).strip() for line in told.splitlines() if line.startswith(term))


def test_the_denominator_is_told() -> None:
    told = _told(story())
    assert _line(told, "Judged").startswith("40 objects from 21 files, 12 rules, ")
    assert _line(told, "Judged").endswith("pairs; 2 gaps")
    assert "1 object from 1 file, 1 rule, 1 pair; 0 gaps" in _told(b.result())


def test_objects_not_reached_are_not_called_judged() -> None:
    stopped = b.record(denominator=b.denominator(objects=679, objects_judged=120))
    assert _line(_told(b.result(record=stopped)), "Judged").startswith("120 of 679 objects from 1 file")


def test_each_gap_comes_with_its_remedy() -> None:
    told = _told(story())
    assert "not rendered: eu-central-05/charts/gateway: a Helm chart, and helm is not installed" in told
    assert "fix: install helm, or give the rendered manifests" in told
    assert "(tolerated by allow_gaps)" in told


def test_gaps_alike_share_a_line() -> None:
    told = _told(b.result(gaps=tuple(b.gap(source=f"f{n}.yaml", line=None) for n in range(40))))
    assert len([line for line in told.splitlines() if line.startswith("GAP")]) == 1
    assert "f0.yaml and 39 more" in told


def test_gate_and_completeness_are_two_lines() -> None:
    told = _told(story(), exit_code=3)
    assert _line(told, "Gate").startswith("FAILED")
    assert _line(told, "Audit") == "INCOMPLETE  1 gap not in allow_gaps; 1 pair could not be judged  (exit 3)"
    assert _line(_told(b.result()), "Audit") == "complete"
    assert _line(_told(b.result()), "Gate") == "none asked for"


def test_quiet_keeps_gate_and_completeness_only() -> None:
    told = _told(story(), quiet=True, paths=[Path("out/report.html")])
    assert [line.split()[0] for line in told.splitlines()] == ["Gate", "Gate", "Audit"]


def test_ratios_stand_as_fraction_then_percent_with_what_holds_them_back() -> None:
    told = _told(story())
    assert "NIST AI RMF, technical: 15/49 (30.6 %), range to 71.4 % (35/49), coverage 29/49" in told
    assert "held back by 10 failing, 4 waived, 10 statement, 5 no evidence, 5 no check built" in told
    assert "GOVERN" in told


def test_nothing_over_nothing_is_not_stated() -> None:
    none = b.fraction(0, 0)
    score = b.score(strict=none, high=none, evidence_coverage=none, held_back=HeldBack(), functions=())
    told = _told(b.result(scores=(score,)))
    assert "not stated (0/0)" in told
    assert "100.0" not in told


def test_the_report_path_and_the_next_command_are_told() -> None:
    told = _told(story(), paths=[Path("out/report.html"), Path("out/report.json")])
    assert _line(told, "Report") == "out/report.html"
    assert "fleetaudit explain G-" in told


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_it_fits_any_terminal_and_keeps_the_ids_whole(width: int) -> None:
    told = _told(story(), width=width)
    assert max(len(line) for line in told.splitlines()) <= width
    if width >= 60:
        first = next(iter(story().group_source.groups()))
        assert first.id in told


def test_colour_is_for_terminals() -> None:
    stream = io.StringIO()
    render(story(), Console(file=stream, width=120, force_terminal=True, color_system="standard"))
    assert "\x1b[" in stream.getvalue()
    assert "\x1b[" not in _told(story())
