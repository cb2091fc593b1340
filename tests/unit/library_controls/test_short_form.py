"""The short form: an id, its pillar, and the check that looks at it."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.errors import ContentError
from audit.library.mappings import Mappings, load_mappings
from tests.unit.library_controls.content import all_errors, context, written


def load(folder: Path, text: str) -> Mappings:
    return load_mappings((), context(), user_paths=[written(folder, text)])


def test_pillar_places_and_subcategory_names_a_check(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        """\
        CVE-2026-12345: {pillar: Manage, category: MANAGE 3, subcategory: sbom.vuln}
        image/digest-pinned: {pillar: TAI, category: pinning, subcategory: image.digest}
        CVE-2026-99999: {pillar: MEASURE, category: anything, subcategory: sbom.vuln}
        """,
    )
    assert [(link.id, link.framework, link.pillar, link.controls) for link in found.short] == [
        ("CVE-2026-12345", "nist-ai-rmf", "MANAGE", ("MANAGE 3.1",)),
        ("image/digest-pinned", "lfai", "TAI", ("LFAI-TAI-01",)),
        ("CVE-2026-99999", "nist-ai-rmf", "MEASURE", ("MEASURE 2.7",)),
    ]
    assert found.short[0].line == 1
    assert found.entries == ()
    assert found.notices == ()
    assert list(found.digests) == ["short"]


def test_a_category_narrows_to_its_controls(tmp_path: Path) -> None:
    text = "CVE-2026-1111: {{pillar: MAP, category: {}, subcategory: doc.model-card}}\n"
    for category, controls in (
        ("MAP 2", ("MAP 2.1", "MAP 2.2")),
        ("MAP 2.2", ("MAP 2.2",)),
        ("people", ("MAP 1.1", "MAP 2.1", "MAP 2.2")),
    ):
        assert load(tmp_path, text.format(category)).short[0].controls == controls


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (
            "image/mutable-tg: {pillar: MANAGE, category: x, subcategory: sbom.vuln}",
            "nor the id of a loaded rule",
        ),
        ("CVE-26-1: {pillar: MANAGE, category: x, subcategory: sbom.vuln}", "neither a CVE id"),
        (
            "CVE-2026-1111: {pillar: MANAGE, category: x, subcategory: sbom.vulns}",
            "no check is called sbom.vulns",
        ),
        (
            "CVE-2026-1111: {pillar: GOVERN, category: x, subcategory: sbom.vuln}",
            "no control of GOVERN names",
        ),
        (
            "CVE-2026-1111: {pillar: MANAGE, category: x, subcategory: 'rm -rf /'}",
            "no check is called rm -rf /",
        ),
    ],
)
def test_what_nobody_knows_is_listed_not_fatal(tmp_path: Path, entry: str, words: str) -> None:
    found = load(tmp_path, entry + "\n")
    (notice,) = found.notices
    assert words in notice.message
    assert (notice.code, notice.line, notice.source) == ("unmapped", 1, str(tmp_path / "authored.yaml"))
    assert found.short[0].controls == ()


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("CVE-2026-1111: {pillar: MANGE, category: x, subcategory: sbom.vuln}", 'did you mean "MANAGE"?'),
        ("CVE-2026-1111: {pillar: MANAGE, subcategory: sbom.vuln}", "'category' is missing"),
        ("CVE-2026-1111: {pillar: MANAGE, category: x, check: sbom.vuln}", "unknown key"),
        ("CVE-2026-1111: MANAGE", "expected keys and values"),
        (
            "CVE-2026-1111: {pillar: MEASURE, category: x, subcategory: ci.eval-attestation}",
            "validity and reliability",
        ),
    ],
)
def test_what_is_ill_formed_or_means_something_else_stops(tmp_path: Path, entry: str, words: str) -> None:
    with pytest.raises(ContentError) as caught:
        load(tmp_path, entry + "\n")
    assert any(words in error for error in all_errors(caught)), all_errors(caught)
