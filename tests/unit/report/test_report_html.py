"""The HTML report: everything is there, every number has its rows, and nothing can run."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import msgspec
import pytest

from audit.errors import UsageError
from audit.model.assessment import HeldBack
from audit.model.gate import IncompleteCode, IncompleteReason
from audit.report.html import HtmlWriter
from audit.report.json_writer import JsonWriter, load_report
from audit.report.view_findings import BLOCK_CAP, MEMBER_CAP
from tests import builders as b
from tests.unit.report.pages import by_id, elements, html, tags, text, tree
from tests.unit.report.story import _found, story

SECTIONS = (
    "summary",
    "unseen",
    "verify",
    "matrix",
    "findings",
    "consistency",
    "gaps",
    "waivers",
    "statements",
    "controls",
    "checks",
    "rules",
    "provenance",
    "words",
)


def test_the_page_has_its_sections_and_no_others() -> None:
    root = tree(html(story()))
    sections = [node.get("id") for node in elements(root) if str(node.tag) == "section" and node.get("id")]
    assert sorted(sections) == sorted(SECTIONS)


def test_all_controls_have_a_cell_and_a_row() -> None:
    root = tree(html(story()))
    cells = [node for node in elements(root) if (node.get("class") or "").startswith("cell ")]
    rows = [
        node for node in elements(root) if str(node.tag) == "tr" and (node.get("id") or "").startswith("c-")
    ]
    assert len(cells) == len(rows) == 117
    assert [cell.get("href") for cell in cells] == [f"#{row.get('id')}" for row in rows]


def test_every_link_inside_the_page_leads_somewhere_and_ids_are_unique() -> None:
    root = tree(html(story()))
    ids = [node.get("id") for node in elements(root) if node.get("id")]
    assert len(ids) == len(set(ids))
    hrefs = [node.get("href") or "" for node in elements(root) if node.get("href") is not None]
    hrefs += [node.get("{http://www.w3.org/1999/xlink}href") or "" for node in elements(root)]
    inside = {href for href in hrefs if href.startswith("#")}
    assert inside
    assert {href[1:] for href in inside} <= set(ids)
    assert not [href for href in hrefs if href == "#"]


def test_nothing_runs_and_the_policy_names_the_one_style() -> None:
    page = html(story())
    root = tree(page)
    assert tags(root)["script"] == tags(root)["link"] == tags(root)["img"] == tags(root)["iframe"] == 0
    assert tags(root)["style"] == 1
    for node in elements(root):
        assert "style" not in node.attrib
        assert not [name for name in node.attrib if str(name).lower().startswith("on")]
    (style,) = (node for node in elements(root) if str(node.tag) == "style")
    digest = base64.b64encode(hashlib.sha256(text(style).encode()).digest()).decode()
    (policy,) = (
        node.get("content") for node in elements(root) if node.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def test_the_headline_is_the_fraction_and_its_truncated_percent() -> None:
    result = b.result(scores=(b.score(strict=b.fraction(2, 3), high=b.fraction(2, 3)),))
    summary = text(by_id(tree(html(result)), "summary"))
    assert "2/3" in summary
    assert "66.6 %" in summary
    assert "66.7" not in summary


def test_each_framework_names_what_holds_it_back_and_the_parts_sum() -> None:
    result = story()
    summary = text(by_id(tree(html(result)), "summary"))
    for score in result.scores:
        held = score.held_back
        parts = msgspec.structs.astuple(held)
        assert sum(parts) == score.strict.denominator - score.strict.numerator
        assert f"{held.failing} failing · {held.waived} waived" in summary
        assert f"{held.no_check} no check built" in summary


def test_nothing_over_nothing_is_not_stated() -> None:
    none = b.fraction(0, 0)
    score = b.score(
        satisfied=0,
        not_applicable=1,
        strict=none,
        high=none,
        with_waivers=none,
        evidence_coverage=none,
        technical_only=none,
        attested=none,
        held_back=HeldBack(),
        functions=(),
        cluster_strict={},
    )
    page = html(
        b.result(
            scores=(score,),
            complete=False,
            incomplete_reasons=(IncompleteReason(code=IncompleteCode.NO_MATCH),),
        )
    )
    summary = text(by_id(tree(page), "summary"))
    assert "not stated" in summary
    assert "100 %" not in summary
    assert "100.0" not in summary
    assert "incomplete: no rule matched any object" in summary
    assert "May not be called compliant" in summary


def test_the_box_of_what_was_not_looked_at_is_always_there() -> None:
    whole = by_id(tree(html(b.result())), "unseen")
    assert (
        "Nothing: every one of 1 file, 1 cluster and 1 rule asked for was looked at, and 1 of 1 pair answered."
        in text(whole)
    )
    holes = text(by_id(tree(html(story())), "unseen"))
    assert "eu-central-05/charts/gateway" in holes
    assert "Tolerated by allow_gaps" in holes
    assert "18 of NIST AI RMF" in holes
    assert "model/weights-pinned" in holes


def test_a_critical_finding_forbids_the_word_even_when_the_ratio_is_full() -> None:
    critical = b.group(b.finding(severity=b.Severity.CRITICAL))
    summary = text(by_id(tree(html(b.result([critical]))), "summary"))
    assert "May not be called compliant: 1 critical finding group is open" in summary
    assert critical.id in summary


def test_groups_show_place_path_seen_expected_and_fix() -> None:
    findings = by_id(tree(html(story())), "findings")
    told = text(findings)
    assert "eu-central-05/kyc/vllm.yaml:21" in told
    assert "spec.template.spec.containers[0].securityContext.privileged" in told
    removed = [text(node) for node in findings.iter("del")]
    added = [text(node) for node in findings.iter("ins")]
    assert "-  privileged: true" in removed
    assert "+  privileged: false" in added


def test_errors_and_warnings_stand_apart() -> None:
    findings = by_id(tree(html(story())), "findings")
    captions = [text(node) for node in findings.iter("caption")]
    counts = story().group_source.counts()
    serious = counts.open["critical"] + counts.open["high"]
    lesser = sum(counts.open.values()) - serious
    assert captions == [
        f"Critical and high, {serious} open groups",
        f"Medium, low and info, {lesser} open groups",
        f"Errors: could not be evaluated, {counts.errors} group",
        f"Warnings: answered, unscored, decide nothing, {counts.warns} group",
    ]


def test_members_are_capped_and_the_group_says_so() -> None:
    many = b.group(*(b.finding(subject=b.subject(f"web-{n}")) for n in range(MEMBER_CAP + 30)))
    findings = by_id(tree(html(b.result([many]))), "findings")
    (places,) = (node for node in findings.iter("ul") if node.get("class") == "places")
    assert len(list(places)) == MEMBER_CAP - 1, "the first stands above"
    assert "30 more are not shown here; report.json has them all" in text(findings)


def test_after_many_blocks_critical_and_high_go_on_as_lines() -> None:
    groups = [
        b.group(b.finding(subject=b.subject(f"web-{n}", owner_name=f"web-{n}"))) for n in range(BLOCK_CAP + 3)
    ]
    findings = by_id(tree(html(b.result(groups))), "findings")
    captions = [text(node) for node in findings.iter("caption")]
    assert captions == ["Critical and high, 503 open groups", "Critical and high, one line each"]
    assert tags(findings)["tbody"] == BLOCK_CAP + 1


def test_a_large_report_splits_and_links_across_its_files(tmp_path: Path) -> None:
    groups = b.display_order(
        [b.group(_found(n % 8, f"app{n}", number=n), id=f"G-{n:08x}") for n in range(400)]
    )
    result = story(listed=groups)
    paths = HtmlWriter(size_limit=150_000).write(result, tmp_path)
    assert [path.name for path in paths][:2] == ["report.html", "findings-1.html"]
    assert len(paths) > 2
    roots = {path.name: tree(path.read_text(encoding="utf-8")) for path in paths}
    ids = {name: {node.get("id") for node in elements(root)} for name, root in roots.items()}
    shown = [group.id.lower() for group in groups]
    everywhere = [node for found in ids.values() for node in found if (node or "").startswith("g-")]
    assert sorted(everywhere) == sorted(shown)
    for name, root in roots.items():
        for node in elements(root):
            file, hash_mark, anchor = (node.get("href") or "").partition("#")
            if hash_mark:
                assert anchor in ids[file or name], node.get("href")
    assert all(path.stat().st_size < 300_000 for path in paths[1:])
    again = HtmlWriter(size_limit=None).write(result, tmp_path)
    assert [path.name for path in again] == ["report.html"]
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"], "stale side files are gone"


def test_a_loaded_report_renders_to_the_same_bytes(tmp_path: Path) -> None:
    result = story()
    (page,) = HtmlWriter().write(result, tmp_path / "a")
    (data,) = JsonWriter().write(result, tmp_path / "a")
    (again,) = HtmlWriter().write(load_report(data), tmp_path / "b")
    assert page.read_bytes() == again.read_bytes()


def test_a_result_without_anything_still_makes_a_page() -> None:
    empty = b.result(
        scores=(),
        controls=(),
        rules=(),
        mappings=(),
        checks=(),
        complete=False,
        incomplete_reasons=(IncompleteReason(code=IncompleteCode.NO_RULE),),
        record=b.record(inputs=(), engines=(), clusters=(), state_time="", started="", finished=""),
    )
    summary = text(by_id(tree(html(empty)), "summary"))
    assert "no rule was loaded" in summary


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(UsageError, match="xx"):
        HtmlWriter("xx")


def test_words_that_promise_too_much_are_not_used() -> None:
    told = text(tree(html(story()))).lower()
    for word in ("certified", "nist compliant", "all good", "attestation"):
        assert word not in told
