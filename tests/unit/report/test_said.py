"""What several engines said, and caveats, reach every reader: escaped, in words, and nowhere where there are none."""

from __future__ import annotations

import io
import json
from pathlib import Path

import msgspec
import pytest

from audit.cli.explain_finding import finding_in_result
from audit.model.finding import Outcome, Said
from audit.model.result import AssessmentResult
from audit.model.rule import Severity
from audit.report.html import HtmlWriter
from audit.report.json_writer import JsonWriter, load_report
from tests import builders as b

HOSTILE = 'kyverno:x/<img src=x onerror=alert(1)>"\u202e'
SAID = (
    Said(rule="pod/privileged", outcome=Outcome.PASS),
    Said(rule=HOSTILE, outcome=Outcome.FAIL, text="<b>root</b>", accepted_by="ns/e"),
)


def result(severity: Severity, **changes: object) -> AssessmentResult:
    one = b.finding(severity=severity, **changes)
    two = b.finding(severity=severity, subject=b.subject("other"), **(changes and {"said": SAID[:1]}))
    return b.result([b.group(one, two, severity=severity)])


def page(shown: AssessmentResult, lang: str = "en") -> str:
    stream = io.BytesIO()
    HtmlWriter(lang).render_to(shown, stream)
    return stream.getvalue().decode()


@pytest.mark.parametrize("severity", [Severity.CRITICAL, Severity.LOW])
def test_the_page_shows_both_answers_and_caveats_escaped(severity: Severity) -> None:
    text = page(result(severity, said=SAID, caveats=("redacted", "<i>own</i>")))
    assert "pod/privileged: passes; kyverno:x/&lt;img" in text
    assert "<img src=x" not in text
    assert "<i>own</i>" not in text
    assert "&lt;i&gt;own&lt;/i&gt;" in text
    assert "a value was taken out as a secret before the rule could see it" in text


def test_the_page_speaks_chinese() -> None:
    text = page(result(Severity.CRITICAL, said=SAID, caveats=("redacted",)), "zh-CN")
    assert "pod/privileged: 通过" in text
    assert "有值在规则看到之前已作为机密移除" in text


@pytest.mark.parametrize("severity", [Severity.CRITICAL, Severity.LOW])
def test_where_one_rule_was_asked_nothing_is_said(severity: Severity) -> None:
    text = page(result(severity))
    assert "<dt>Engines</dt>" not in text
    assert "<dt>Caveats</dt>" not in text


def test_json_keeps_all_of_it(tmp_path: Path) -> None:
    shown = result(Severity.HIGH, said=SAID, caveats=("namespace_assumed",))
    (path,) = JsonWriter().write(shown, tmp_path)
    member = json.loads(path.read_text(encoding="utf-8"))["groups"][0]["members"][0]
    assert member["caveats"] == ["namespace_assumed"]
    assert [one["outcome"] for one in member["said"]] == ["pass", "fail"]
    (group,) = load_report(path).group_source.groups()
    assert group.members[0].said == SAID


def test_explaining_a_finding_tells_what_each_engine_said() -> None:
    shown = result(Severity.HIGH, said=SAID, caveats=("large_integer",))
    (group,) = shown.group_source.groups()
    told = finding_in_result(group.id, shown)
    assert told is not None
    sections = {section.label: section for section in told.sections}
    assert "Engines" in sections
    assert "accepted by ns/e" in str(sections["Engines"])
    assert "2^53" in str(sections["Caveats"])


def test_a_folded_rule_is_not_called_vacuous() -> None:
    alone = b.rule_state("kyverno:a/b")
    folded = msgspec.structs.replace(alone, twin_of="pod/privileged")
    assert page(b.result([], rules=(alone,))).count("vacuous</span>") == 1
    text = page(b.result([], rules=(folded,)))
    assert text.count("vacuous</span>") == 0
    assert "asks the same as pod/privileged, and is part of its pairs" in text
