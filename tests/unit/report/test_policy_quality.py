"""What the reports say of the policies themselves."""

from __future__ import annotations

import io
import json
from xml.etree.ElementTree import Element

from rich.console import Console

from audit.model.finding import Outcome
from audit.model.result import AssessmentResult
from audit.model.rule import MutationScore
from audit.model.tally import Tally
from audit.report.console import render
from audit.report.json_writer import JsonWriter
from tests import builders as b
from tests.unit.report.pages import by_id, html, text, tree


def result() -> AssessmentResult:
    """One rule that applies, one that skips everything, one that nothing was there for and that no control uses."""
    tally = Tally()
    for rule, outcome, number in (("pod/applies", Outcome.FAIL, 2), ("pod/skips", Outcome.SKIP, 5)):
        tally.add_due(rule, "east", number)
        tally.add(rule, "east", outcome, number=number)
    tally.add_due("pod/applies", "west", 1)
    tally.add("pod/applies", "west", Outcome.PASS)
    score = MutationScore(tests=4, planted=10, noticed=9)
    return b.result(
        rules=(
            b.rule_state("pod/applies", mutation=score),
            b.rule_state("pod/skips", mutation=MutationScore(tests=1, planted=3, noticed=3)),
            b.rule_state("pod/<idle>"),
        ),
        mappings=(b.mapping(rule="pod/applies"), b.mapping(rule="pod/skips")),
        controls=(b.control_row(), b.control_row("MAP 1.1")),
        tally=tally,
    )


def lines() -> dict[str, str]:
    """Term to text of the list over the table of rules."""
    (listed,) = [
        node for node in by_id(tree(html(result())), "rules").iter() if node.get("class") == "rows quality"
    ]
    return {text(row[0]): said(row[1]) for row in listed}


def said(cell: Element) -> str:
    """All text of a cell, its parts set apart."""
    return " | ".join(part.strip() for part in cell.itertext() if part.strip())


def test_the_page_says_what_rules_applied_to_and_which_ones_miss_a_control() -> None:
    told = lines()
    assert told["Applied"] == "1 of 3 rules asked gave a verdict on something"
    assert (
        told["Vacuous"] == "2 rules: asked, and nothing they apply to was there | pod/skips | , | pod/<idle>"
    )
    assert told["In no control"] == "1 rule that no control uses | pod/<idle>"
    assert told["Served by no rule"].endswith(
        "1 control that no rule serves, 0 of them for statements only | MAP 1.1"
    )
    assert told["Tests of rules"] == "12 of 13 planted faults noticed, in 2 rules; 1 rule not measured"


def test_each_rule_shows_what_it_applied_to_and_how_good_its_tests_are() -> None:
    root = tree(html(result()))
    cells = {
        cell.get("data-l"): " ".join(text(cell).split())
        for cell in by_id(root, "r-pod-applies")
        if cell.get("data-l")
    }
    assert (cells["due"], cells["applied"], cells["skip"], cells["faults noticed"]) == ("3", "3", "0", "9/10")
    idle = " ".join(text(by_id(root, "r-pod-idle")).split())
    assert "vacuous" in idle
    assert "in no control" in idle
    assert "not measured" in idle
    assert "4 tests notice 9 of 10 planted faults." in " ".join(text(by_id(root, "rules")).split())


def test_the_json_report_holds_it_and_it_can_be_recounted() -> None:
    stream = io.BytesIO()
    JsonWriter().render_to(result(), stream)
    report = json.loads(stream.getvalue())
    for use in report["quality"]["rules"]:
        rows = [row for row in report["tally"] if row["rule"] == use["rule"]]
        assert use["applied"] == sum(
            row["pairs"] for row in rows if row["outcome"] in {"pass", "fail", "warn"}
        )
        assert use["due"] == sum(row["pairs"] for row in report["due"] if row["rule"] == use["rule"])
    mapped = {(row["framework"], row["control"]) for row in report["mappings"]}
    assert [(row["framework"], row["control"]) for row in report["quality"]["unserved"]] == [
        (row["framework"], row["id"])
        for row in report["controls"]
        if (row["framework"], row["id"]) not in mapped
    ]
    assert report["rules"][0]["rule"]["mutation"] == {"tests": 4, "planted": 10, "noticed": 9}


def test_the_console_says_it_when_everything_is_wanted() -> None:
    stream = io.StringIO()
    render(result(), Console(file=stream, width=140), whole=True)
    told = stream.getvalue()
    assert "Rules     1 of 3 rules asked gave a verdict on something\n" in told
    assert "          12 of 13 planted faults noticed, in 2 rules; 1 rule not measured\n" in told
    short = io.StringIO()
    render(result(), Console(file=short, width=140))
    assert "planted" not in short.getvalue()
