"""Gates and completeness are codes and numbers; every report says them in its own language."""

from __future__ import annotations

import io
import json
import re

import pytest
from rich.console import Console

from audit.model.gate import Gate, GateReason, IncompleteCode, IncompleteReason
from audit.model.result import AssessmentResult
from audit.model.rule import Severity
from audit.report.console import render
from audit.report.json_writer import JsonWriter
from audit.report.markdown import MarkdownWriter
from audit.report.texts import Texts
from audit.report.view_verdict import gate_detail, incomplete_text
from tests import builders as b
from tests.unit.report.pages import by_id, html, text, tree

ENGLISH, CHINESE = Texts(), Texts("zh-CN")


def gates() -> list[Gate]:
    """One of every reason."""
    return [
        b.gate(
            condition="fail-on high",
            met=None,
            reason=reason,
            severity=Severity.HIGH,
            open={"critical": 2, "high": 31},
            number=1204,
            fraction=b.fraction(11, 32),
        )
        for reason in GateReason
    ]


def reasons() -> list[IncompleteReason]:
    """One of every code."""
    return [
        IncompleteReason(code=code, number=17, of=1204, gate="min-ratio lfai=0.2") for code in IncompleteCode
    ]


def result() -> AssessmentResult:
    return b.result(gates=tuple(gates()), complete=False, incomplete_reasons=tuple(reasons()))


def english(told: str) -> list[str]:
    """Words of Latin letters, but for options and settings, which are written as people must write them."""
    return re.findall(
        r"[A-Za-z]+", re.sub(r"min-ratio lfai=0.2|allow_gaps|Kubernetes|fail-on high", "", told)
    )


@pytest.mark.parametrize("gate", gates(), ids=lambda gate: gate.reason.value)
def test_a_gate_is_told_in_both_languages(gate: Gate) -> None:
    told, translated = gate_detail(gate, ENGLISH), gate_detail(gate, CHINESE)
    assert told
    assert "{" not in told + translated
    assert english(translated) == []
    assert re.findall(r"[\d,]+\d|\d", translated) == re.findall(r"[\d,]+\d|\d", told)


@pytest.mark.parametrize("reason", reasons(), ids=lambda reason: reason.code.value)
def test_a_reason_is_told_in_both_languages(reason: IncompleteReason) -> None:
    told, translated = incomplete_text(reason, ENGLISH), incomplete_text(reason, CHINESE)
    assert english(told)
    assert "{" not in told + translated
    assert english(translated) == []
    assert sorted(re.findall(r"\d+", translated)) == sorted(re.findall(r"\d+", told))


def test_every_report_for_people_says_all_of_it_in_its_language() -> None:
    console, markdown = io.StringIO(), io.BytesIO()
    render(result(), Console(file=console, width=2000), language="zh-CN")
    MarkdownWriter("zh-CN").render_to(result(), markdown)
    page = text(by_id(tree(html(result(), "zh-CN")), "summary"))
    comment = re.sub(r"\\(.)", r"\1", markdown.getvalue().decode())
    for gate in gates():
        told = gate_detail(gate, CHINESE)
        assert told in console.getvalue()
        assert told in page
        assert told in comment
    for number, reason in enumerate(reasons()):
        told = incomplete_text(reason, CHINESE)
        assert told in console.getvalue()
        assert told in page
        assert told in comment or number >= 5, "a comment names the first five"


def test_the_json_report_holds_codes_and_numbers() -> None:
    stream = io.BytesIO()
    JsonWriter().render_to(result(), stream)
    report = json.loads(stream.getvalue())
    assert [gate["reason"] for gate in report["gates"]] == [reason.value for reason in GateReason]
    assert report["gates"][0]["fraction"] == {"numerator": 11, "denominator": 32, "percent": "34.3"}
    assert [reason["code"] for reason in report["incomplete_reasons"]] == [c.value for c in IncompleteCode]
