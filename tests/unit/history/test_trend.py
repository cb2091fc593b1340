"""Series over runs: order, missing numbers, and breaks where two neighbours were not counted over the same things."""

from __future__ import annotations

import io
import json

import pytest

from audit.cli.screen import Screen
from audit.cli.trend_page import COLUMNS, TrendPage
from audit.history.model import Ratio
from audit.history.trend import COUNTS, count_series, in_time, ratio_series, scope_series
from tests.history.runs import day
from tests.unit.history.links import chain, run


def ratio(numerator: int, denominator: int = 50, framework: str = "nist-ai-rmf", part: str = "") -> Ratio:
    return Ratio(
        framework=framework,
        title=framework.upper(),
        profile="technical",
        part=part,
        measure="strict",
        numerator=numerator,
        denominator=denominator,
    )


LINKS = chain(
    [
        run(state_time=day(0)),
        run(state_time=day(1)),
        run(state_time=day(2), scope_sha256="other", rules_sha256="other"),
        run(state_time=day(3), scope_sha256="other", rules_sha256="other"),
    ]
)


def test_the_line_breaks_where_the_denominator_is_another() -> None:
    (series,) = ratio_series(
        "strict", LINKS, {1: [ratio(10)], 2: [ratio(11)], 3: [ratio(30)], 4: [ratio(31)]}
    )
    assert [point.differs for point in series.points] == [(), (), ("scope", "rules"), ()]
    assert [point.numerator for point in series.points] == [10, 11, 30, 31]


@pytest.mark.parametrize("name", ["scope", "rules", "catalogs", "mappings", "profile"])
def test_each_part_of_the_basis_breaks_it(name: str) -> None:
    links = chain([run(), run(**{f"{name}_sha256": "other"})])
    assert count_series("open", links).points[1].differs == (name,)
    assert scope_series(links).points[1].differs == (name,)


def test_a_run_without_the_number_stays_in_its_place() -> None:
    found = ratio_series("strict", LINKS, {1: [ratio(10)], 4: [ratio(31), ratio(1, 43, "lfai")]})
    assert [(one.framework, [point.numerator for point in one.points]) for one in found] == [
        ("lfai", [None, None, None, 1]),
        ("nist-ai-rmf", [10, None, None, 31]),
    ]


def test_the_order_is_that_of_judging() -> None:
    links = chain([run(state_time=day(5)), run(state_time=day(1)), run(state_time=day(3), title="other")])
    assert [item.number for item in in_time(links, links[0].run.title)] == [2, 1]


@pytest.mark.parametrize("measure", COUNTS)
def test_counts(measure: str) -> None:
    fields = {
        "open": "open_low",
        "open-critical": "open_critical",
        "open-high": "open_high",
        "waived": "waived_groups",
        "errors": "error_groups",
        "pairs": "pairs_answered",
    }
    zero = dict.fromkeys(("open_critical", "open_high", "open_medium", "open_low", "open_info"), 0)
    links = chain([run(**(zero | {fields.get(measure, measure): 7}))])
    assert count_series(measure, links).points[0].numerator == 7


def shown(page: TrendPage, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    screen = Screen(stream, color=False)
    page.show(screen)
    stream.flush()
    return raw.getvalue().decode(encoding)


def test_a_table_with_bars() -> None:
    page = TrendPage(
        ratio_series("strict", LINKS, {1: [ratio(0)], 2: [ratio(25)], 3: [ratio(0, 0)], 4: [ratio(50)]})
    )
    lines = shown(page, "ascii").splitlines()
    assert lines[0] == "NIST-AI-RMF, strict, bars from 0 to 100 %"
    assert lines[1] == "  1  2026-01-01T00:00:00Z  0/50 (0.0 %)"
    assert lines[2] == "  2  2026-01-02T00:00:00Z  25/50 (50.0 %)    ###############"
    assert lines[3] == "    -- other scope, rules: not comparable --"
    assert lines[4] == "  3  2026-01-03T00:00:00Z  not stated (0/0)"
    assert lines[5] == "  4  2026-01-04T00:00:00Z  50/50 (100.0 %)   ##############################"
    assert lines[6].startswith("first 0/50 (0.0 %), last 50/50 (100.0 %); the line breaks 1 time:")
    assert "█" * 30 in shown(page)


def test_counts_say_their_scale() -> None:
    links = chain([run(objects=100), run(objects=200, complete=False)])
    lines = shown(TrendPage([count_series("objects", links)]), "ascii").splitlines()
    assert lines[0] == "objects, bars from 0 to 200"
    assert lines[1].endswith("100  ###############")
    assert lines[2].endswith("200  ##############################  incomplete")


def test_data_says_what_can_be_compared() -> None:
    page = TrendPage([scope_series(LINKS)])
    (series,) = json.loads(json.dumps(page.plain()))
    assert [point["comparable"] for point in series["points"]] == [None, True, False, True]
    assert series["points"][2]["differs"] == ["scope", "rules"]
    stream = io.StringIO()
    page.csv(Screen(stream, color=False))
    rows = [line.split(",") for line in stream.getvalue().splitlines()]
    assert tuple(rows[0]) == COLUMNS
    assert [row[-2:] for row in rows[1:]] == [["", ""], ["true", ""], ["false", "scope rules"], ["true", ""]]
