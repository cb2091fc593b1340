"""Explanations: everything a person needs, never more than 25 lines."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from audit.cli.explain_control import control_in_library, control_in_result
from audit.cli.explain_finding import finding_in_result, place_of
from audit.cli.explain_rule import rule_in_library, rule_in_result
from audit.cli.explanation import MOST_LINES, Explanation, listed, prose
from audit.cli.screen import Screen
from audit.errors import UsageError
from audit.model.control import CheckState
from audit.model.finding import Outcome
from audit.model.result import AssessmentResult
from audit.report.json_writer import JsonWriter
from tests import builders as b
from tests.unit.cli.terminal import run
from tests.unit.report.story import story


@pytest.fixture(scope="module")
def result() -> AssessmentResult:
    return story()


@pytest.fixture(scope="module")
def folder(result: AssessmentResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("explain")
    JsonWriter().write(result, place / "out")
    return place


def printed(page: Explanation | None) -> str:
    assert page is not None
    stream = io.StringIO()
    page.print(Screen(stream))
    return stream.getvalue()


def test_every_page_of_a_result_fits(result: AssessmentResult) -> None:
    pages = [finding_in_result(group.id, result) for group in result.group_source.groups()]
    pages += [rule_in_result(state.rule.id, result) for state in result.rules]
    pages += [control_in_result(f"{row.framework}:{row.id}", result) for row in result.controls]
    assert len(pages) > 120
    for page in pages:
        assert 3 <= len(printed(page).splitlines()) <= MOST_LINES


def test_a_finding_is_explained_with_everything(result: AssessmentResult) -> None:
    group = next(iter(result.group_source.groups()))
    text = printed(finding_in_result(group.id, result))
    member = group.members[0]
    rule = next(state.rule for state in result.rules if state.rule.id == group.rule)
    assert text.startswith(f"{group.id}  {group.rule}  {group.severity.value} fail\n")
    for part in (
        f"At        {place_of(member)}\n",
        f"Path      {member.violation.path_text}\n",
        "Seen      true\n",
        "Expected  false\n",
        group.owner,
        rule.title,
        rule.description,
        rule.remediation,
        rule.fix.splitlines()[0],
        "Controls  nist-ai-rmf: ",
    ):
        assert part in text


def test_a_finding_is_found_by_the_beginning_of_its_id(result: AssessmentResult) -> None:
    group = next(iter(result.group_source.groups()))
    assert group.id in printed(finding_in_result(group.id[:6], result))
    assert finding_in_result("pod/privileged", result) is None
    with pytest.raises(UsageError, match="no finding") as caught:
        finding_in_result("G-zzzzzzzz", result)
    assert caught.value.suggestion
    one, two = b.group(b.finding(), id="G-aaaa1111"), b.group(b.finding(), id="G-aaaa2222")
    with pytest.raises(UsageError, match="several") as caught:
        finding_in_result("G-aaaa", b.result([one, two]))
    assert "G-aaaa1111 or G-aaaa2222" in (caught.value.suggestion or "")


def test_absent_fields_waivers_and_errors_are_said() -> None:
    absent = b.group(
        b.finding(violation=b.violation(seen=None, expected="RuntimeDefault"), waiver="W-001"), waived=1
    )
    text = printed(finding_in_result(absent.id, b.result([absent], waivers=(b.waiver_state(),))))
    assert "Seen      nothing (the field is absent)" in text
    assert "Expected  RuntimeDefault" in text
    assert "Waived    W-001 by " in text
    error = b.group(
        b.finding(
            outcome=Outcome.ERROR, error="timeout", violation=b.violation(path=(), message="5 s are over")
        ),
        outcome=Outcome.ERROR,
    )
    text = printed(finding_in_result(error.id, b.result([error])))
    assert "Message   timeout: 5 s are over" in text
    assert "undecided" in text
    assert "Seen" not in text


def test_hostile_text_stays_on_its_line() -> None:
    nasty = b.group(
        b.finding(
            subject=b.subject("a\x1b[2J\nGate  MET"),
            violation=b.violation(seen="x\r\n\x1b]0;t\x07" * 500, message="\u202e" * 5000),
            place=b.place(file="a\nb.yaml"),
        )
    )
    text = printed(finding_in_result(nasty.id, b.result([nasty])))
    assert len(text.splitlines()) <= MOST_LINES
    assert all(line.isprintable() for line in text.splitlines())
    assert max(len(line) for line in text.splitlines()) < 700


def test_a_rule_without_a_result_is_explained_from_the_library() -> None:
    rule = b.rule(fix="\n".join(f"line{n}: x" for n in range(60)), description="word " * 600)
    text = printed(rule_in_library(rule, [b.mapping()]))
    assert len(text.splitlines()) == MOST_LINES
    assert "more" in text
    assert "nist-ai-rmf: MEASURE 2.7 (decides)" in text
    assert "Pairs" not in text


def test_a_rule_that_was_not_asked_says_so(result: AssessmentResult) -> None:
    assert "due:" in printed(rule_in_result("pod/privileged", result))
    deselected = b.result(rules=(b.rule_state(selected=False),))
    assert "not asked in this run" in printed(rule_in_result("pod/privileged", deselected))
    assert rule_in_result("no/rule", result) is None


def test_a_control_is_found_however_it_is_typed(result: AssessmentResult) -> None:
    pages = {
        printed(control_in_result(name, result)) for name in ("MEASURE 2.7", "measure-2.7", "MEASURE_2.7")
    }
    pages.add(printed(control_in_result("nist-ai-rmf:MEASURE 2.7", result)))
    assert len(pages) == 1
    assert "Status    " in pages.pop()
    assert control_in_result("MEASURE 9.9", result) is None
    assert control_in_result("lfai:MEASURE 2.7", result) is None
    twice = b.result(controls=(b.control_row(), b.control_row(framework="other")))
    with pytest.raises(UsageError, match="several frameworks"):
        control_in_result("MEASURE 2.7", twice)


def test_a_control_without_a_result_says_what_is_missing() -> None:
    class Content:
        mappings = (b.mapping(),)
        checks = (
            b.check("one"),
            b.check("two", state=CheckState.PLANNED, rules=(), reason="needs a cluster"),
        )

    text = printed(control_in_library("nist-ai-rmf", b.control(checks=("one", "two", "three")), Content()))
    assert "pod/privileged (decides)" in text
    assert "two: planned (needs a cluster)" in text
    assert "three: unlisted" in text
    assert "no result yet" in text


def test_pages_give_way_from_the_end() -> None:
    page = Explanation(
        headline="h",
        sections=(
            listed("A", [str(n) for n in range(30)], least=10),
            prose("B", ""),
            listed("C", [str(n) for n in range(30)], least=3),
        ),
    )
    lines = page.lines()
    assert len(lines) == MOST_LINES - 1
    assert [name for name, _ in lines if name] == ["A", "C"]
    assert lines[-1][1].endswith("... 27 more")


def test_the_command_finds_the_last_result(folder: Path, result: AssessmentResult) -> None:
    group = next(iter(result.group_source.groups()))
    (folder / "foreign").mkdir()
    (folder / "foreign" / "report.json").write_text("{}", encoding="utf-8")
    done = run("explain", group.id, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "note: as found in out/report.json\n")
    assert done.stdout.startswith(group.id)
    named = run("explain", group.id, "--result", "out", cwd=folder.parent / folder.name)
    assert (named.stdout, named.stderr) == (done.stdout, "")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("G-zzzzzzzz",), "no finding"),
        (("pod/priviledged",), "did you mean pod/privileged?"),
        (("MEASURE 2.99",), "did you mean MEASURE"),
        (("G-11112222", "--result", "nowhere"), "no such result"),
        (("pod/privileged", "--result", "nowhere"), "no such result"),
    ],
)
def test_what_is_not_there_ends_with_2(folder: Path, arguments: tuple[str, ...], part: str) -> None:
    done = run("explain", *arguments, cwd=folder)
    assert done.returncode == 2
    assert part in done.stderr
    assert done.stdout == ""


def test_a_finding_without_any_result_says_what_to_do(tmp_path: Path) -> None:
    done = run("explain", "G-12345678", cwd=tmp_path)
    assert done.returncode == 2
    assert "fleetaudit-report/report.json" in done.stderr
    assert "--result" in done.stderr


def test_a_report_that_was_changed_is_refused(folder: Path, tmp_path: Path) -> None:
    text = (folder / "out" / "report.json").read_text(encoding="utf-8")
    (tmp_path / "report.json").write_text(text.replace('"not_satisfied"', '"satisfied"', 1), encoding="utf-8")
    done = run("explain", "pod/privileged", "--result", "report.json", cwd=tmp_path)
    assert done.returncode == 2
    assert "report.json: " in done.stderr
    (tmp_path / "report.json").write_text("{}", encoding="utf-8")
    assert run("explain", "pod/privileged", "--result", "report.json", cwd=tmp_path).returncode == 2
