"""The section about policies: what it says, that its sums are right, and that it stays readable."""

from __future__ import annotations

import re

import msgspec
import pytest

from audit.model.consistency import ConsistencyState
from audit.report.texts import Texts
from audit.report.view_consistency import consistency
from tests import builders as b
from tests.unit.report.fleet_policies import fleet_policies
from tests.unit.report.pages import by_id, elements, html, text, tree

EN = Texts()


def test_every_state_has_a_word_beside_its_colour() -> None:
    root = tree(html(b.result(consistency=fleet_policies())))
    section = by_id(root, "consistency")
    cells = [node for node in elements(section) if (node.get("class") or "").startswith("h-")]
    words = {node.get("class"): set[str]() for node in cells}
    for node in cells:
        words[node.get("class")].add(text(node))
        assert text(node).strip()
    assert words["h-M"] == {"missing", "kind not served"}
    assert words["h-W"] == {"weakened", "widened"}
    assert words["h-T"] == {"extra", "other version"}
    assert words["h-U"] == {"not comparable"}
    assert words["h-P"] == {"same"}
    assert "listing it is forbidden" in text(section)
    assert "The member is believed." in text(section)
    assert "Enforce became Audit" in text(section)


def test_equal_clusters_are_one_row_and_the_sums_are_right() -> None:
    names = ("east", "west", *(f"edge-{number:03}" for number in range(300)))
    found = fleet_policies(clusters=names)
    view = consistency(found, "now", EN)
    assert view is not None
    assert [row.name for row in view.heat] == ["east", "west", "300 others"]
    total = sum(int(row.equal.partition("/")[0]) for row in view.heat)
    assert total == found.count(ConsistencyState.SAME)
    assert len(view.sums) == 42


def test_many_policies_fold_and_say_how_many_more_there_are() -> None:
    found = fleet_policies()
    rows = tuple(msgspec.structs.replace(found.rows[0], name=f"p{number}") for number in range(1_000))
    view = consistency(msgspec.structs.replace(found, rows=rows), "now", EN)
    assert view is not None
    assert (len(view.columns), view.more_columns) == (12, 988)
    assert (len(view.differences), view.more_differences) == (200, 800)
    page = html(b.result(consistency=msgspec.structs.replace(found, rows=rows)))
    assert len(page) < 1_000_000


def test_the_table_scrolls_in_a_region_with_a_name() -> None:
    root = tree(html(b.result(consistency=fleet_policies())))
    regions = [node for node in elements(by_id(root, "consistency")) if node.get("role") == "region"]
    assert len(regions) == 2
    assert all(node.get("aria-label") and node.get("tabindex") == "0" for node in regions)


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_without_a_comparison_there_is_no_section(language: str) -> None:
    page = html(b.result(), language)
    assert 'id="consistency"' not in page
    assert 'href="#consistency"' not in page


def test_in_chinese_nothing_of_ours_is_left_in_english() -> None:
    section = by_id(tree(html(b.result(consistency=fleet_policies()), "zh-CN")), "consistency")
    ours = {"weakened", "widened", "missing", "extra", "same", "other version", "not comparable", "stricter"}
    assert ours.isdisjoint(re.split(r"[\W]+", text(section)))
    assert "被削弱" in text(section)


def test_silence_is_not_told_as_agreement() -> None:
    found = fleet_policies()
    view = consistency(msgspec.structs.replace(found, rows=(), unseen=()), "now", EN)
    assert view is not None
    assert "No policy was seen" in view.none
    alike = (msgspec.structs.replace(found.rows[0], cells=(), rest_clusters=3),)
    view = consistency(msgspec.structs.replace(found, rows=alike), "now", EN)
    assert view is not None
    assert view.none == "No policy that was seen differs."
    assert "all kinds on west: the cluster was not reached" in view.unseen


def test_a_cluster_of_which_a_kind_was_not_seen_is_not_green() -> None:
    found = fleet_policies()
    alike = (msgspec.structs.replace(found.rows[0], cells=(), rest_clusters=3),)
    clusters = tuple(
        msgspec.structs.replace(one, differing=0, not_comparable=0, same=1) for one in found.clusters
    )
    clusters += (msgspec.structs.replace(clusters[2], cluster="far", engines=None),)
    view = consistency(msgspec.structs.replace(found, rows=alike, clusters=clusters), "now", EN)
    assert view is not None
    assert {one.name: one.code for one in view.sums} == {"east": "I", "west": "I", "edge": "S", "far": "I"}
