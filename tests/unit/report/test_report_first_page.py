"""The first page tells all of it: how many more, what was left out and why, and each cluster."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

import msgspec
import pytest

from audit.model.finding import FindingGroup
from audit.model.result import AssessmentResult
from audit.report.html_findings import OPEN_BLOCKS
from tests import builders as b
from tests.unit.report.pages import by_id, elements, html, text, tree
from tests.unit.report.story import story


def groups(critical: int, high: int) -> list[FindingGroup]:
    found = []
    for severity, number in ((b.Severity.CRITICAL, critical), (b.Severity.HIGH, high)):
        for n in range(number):
            name = f"{severity.value}-{n}"
            finding = b.finding(severity=severity, subject=b.subject(name, owner_name=name))
            found.append(b.group(finding, id=f"G-{len(found):08x}", severity=severity))
    return list(b.display_order(tuple(found)))


@pytest.mark.parametrize("critical", [1, 3, 4, 30])
def test_the_verdict_says_how_many_critical_groups_it_does_not_name(critical: int) -> None:
    root = tree(html(b.result(groups(critical, 0))))
    (line,) = (node for node in elements(root) if "verdict__line" in str(node.get("class")).split())
    named = [node for node in line.iter("a") if str(node.get("href")).startswith("#g-")]
    more = [text(node) for node in line.iter("a") if node.get("href") == "#findings"]
    assert len(named) == min(critical, 3)
    assert more == ([f"and {critical - 3} more"] if critical > 3 else [])


@pytest.mark.parametrize(
    ("critical", "high", "opened"),
    [
        (2, 3, {"critical", "high"}),
        (0, OPEN_BLOCKS, {"high"}),
        (0, OPEN_BLOCKS + 1, set()),
        (OPEN_BLOCKS, 1, {"critical"}),
        (OPEN_BLOCKS + 1, 0, set()),
    ],
)
def test_critical_and_high_groups_are_open_while_they_are_few(
    critical: int, high: int, opened: set[str]
) -> None:
    findings = by_id(tree(html(b.result(groups(critical, high)))), "findings")
    bodies = [node for node in findings.iter("tbody") if node.get("class") == "g"]
    assert len(bodies) == critical + high
    found = set()
    for body in bodies:
        (severity,) = re.findall(r"critical|high", text(next(body.iter("td"))))
        if next(body.iter("details")).get("open") is not None:
            found.add(severity)
    assert found == opened


LEFT_OUT = (
    b.notice(source="k8s", code="gitignored", message="3 ignored by .gitignore: a, b, c", count=3),
    b.notice(source="k8s", code="excluded", message="2 left out by --exclude: d, e", count=2),
    b.notice(source="k8s", code="not_included", message="1 not matched by --include: f", count=1),
)


def with_notices(*notices: b.Notice, excluded: int) -> AssessmentResult:
    record = b.record(denominator=b.denominator(excluded=excluded))
    return b.result(notices=notices, record=record)


def test_what_the_owner_left_out_has_its_own_heading_with_count_and_reason() -> None:
    other = b.notice(source="k8s/v.yaml", code="not_an_object", message="no kind")
    root = tree(html(with_notices(*LEFT_OUT, other, excluded=10)))
    box = by_id(root, "unseen")
    entries = {text(next(div.iter("dt"))): text(next(div.iter("dd"))) for div in box.iter("div")}
    assert entries["Left out of scope"] == (
        "2 files by --exclude or scope.exclude, 3 files by .gitignore, 1 file that --include does not name, "
        "4 objects by a selector of scope.exclude"
    )
    assert entries["Read, but no object"] == "1 no Kubernetes object"
    gaps = by_id(root, "gaps")
    assert "Left out of scope" in [text(node) for node in gaps.iter("h3")]
    assert by_id(gaps, "left-out") is not None
    notices = text(by_id(root, "notices"))
    assert "no kind" in notices
    for notice in LEFT_OUT:
        assert notice.message in text(gaps)
        assert notice.message not in notices


def test_files_that_are_none_to_read_are_neither_read_nor_left_out() -> None:
    passed = [b.notice(code=code, count=2) for code in ("other_type", "version_control", "own_output")]
    box = by_id(tree(html(with_notices(*passed, excluded=4))), "unseen")
    entries = {text(next(div.iter("dt"))): text(next(div.iter("dd"))) for div in box.iter("div")}
    assert entries == {
        "Passed over, no manifest": "2 of another type, 2 written by fleetaudit, "
        "2 of version control or dependencies"
    }


def test_evidence_that_counts_for_less_than_it_says_has_its_own_heading() -> None:
    notices = (
        b.notice(source="trivy.json", code="set_aside", message="3 findings were set aside", count=3),
        b.notice(source="a.vex", code="vex_author_unlisted", message="2 statements of <b>Ann</b>", count=2),
        b.notice(source="empty.yaml", code="empty_file", message="nothing stands in the file"),
    )
    root = tree(html(with_notices(*notices, excluded=0)))
    box = by_id(root, "unseen")
    entries = {text(next(div.iter("dt"))): text(next(div.iter("dd"))) for div in box.iter("div")}
    assert entries == {
        "Evidence with reservations": "3 set aside by whoever made the file, "
        "2 VEX statements by authors that are not listed",
        "Read, but no object": "1 empty",
    }
    told = text(by_id(root, "notices"))
    assert "3 findings were set aside" in told
    assert "2 statements of <b>Ann</b>" in told


def test_without_anything_left_out_there_is_no_such_heading() -> None:
    root = tree(html(b.result()))
    assert "Left out of scope" not in text(root)
    assert "Nothing: " in text(by_id(root, "unseen"))


@pytest.mark.parametrize("missed", ["gap", "cluster", "rule"])
def test_nothing_is_only_said_when_nothing_was_missed(missed: str) -> None:
    changes: dict[str, object] = {
        "gap": {"gaps": (b.gap(),)},
        "cluster": {
            "record": b.record(
                clusters=tuple(
                    msgspec.structs.replace(cluster, reached=False) for cluster in b.record().clusters
                )
            )
        },
        "rule": {"rules": (b.rule_state(selected=False),)},
    }[missed]
    assert "Nothing: " not in text(by_id(tree(html(b.result(**changes))), "unseen"))


def drawn(figure: Element, name: str) -> list[Element]:
    return [node for node in elements(figure) if str(node.tag).endswith(f"}}{name}")]


def test_several_clusters_are_dots_with_the_fleet_as_a_line() -> None:
    result = story()
    pictures = [score for score in result.scores if len(score.cluster_strict) > 1]
    assert pictures
    figures = list(by_id(tree(html(result)), "clusters").iter("figure"))
    assert len(figures) == len(pictures)
    for figure, score in zip(figures, pictures, strict=True):
        dots = drawn(figure, "circle")
        assert len(dots) == sum(1 for value in score.cluster_strict.values() if value.denominator)
        unreached = {cluster.name for cluster in result.record.clusters if not cluster.reached}
        hollow = sum(node.get("class") == "dot-open" for node in dots)
        assert hollow == len(unreached & set(score.cluster_strict))
        assert all(0 <= float(str(node.get("cx")).rstrip("%")) <= 100 for node in dots)
        (picture,) = drawn(figure, "svg")
        assert picture.get("role") == "img"
        strict = score.strict
        assert f"fleet {strict.numerator}/{strict.denominator}" in str(picture.get("aria-label"))


def test_one_cluster_is_no_picture() -> None:
    assert not [node for node in elements(tree(html(b.result()))) if node.get("id") == "clusters"]


def test_a_thousand_clusters_stay_inside_the_picture() -> None:
    shares = {f"c{n:04}": b.fraction(n % 7, 48) for n in range(1000)}
    score = b.score(cluster_strict=shares, strict=b.fraction(0, 48))
    (figure,) = by_id(tree(html(b.result(scores=(score,)))), "clusters").iter("figure")
    (picture,) = drawn(figure, "svg")
    height = float(str(picture.get("height")))
    assert height < 250
    assert all(0 < float(str(node.get("cy"))) < height for node in drawn(figure, "circle"))
    assert len(drawn(figure, "circle")) == 1000
