"""The shipped mappings are honest and sound; those of users are checked as strictly."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from audit.errors import ContentError
from audit.library.mappings import Mappings, load_mappings
from audit.library.shipped import shipped_controls
from audit.model.control import EvidenceKind, Strength
from tests.shared_data import CHECKOUT
from tests.unit.library_controls.content import all_errors, context, rule_ids, shipped, written

HEAD = """\
framework: nist-ai-rmf
edition: "1.0"
author: Risk Office
date: 2026-12-01
mappings:
"""
ROW = "  - {control: MEASURE 2.7, rule: network/ingress-tls, strength: decides, rationale: Why., limits: Not all.}\n"


def load(folder: Path, *texts: str) -> Mappings:
    """The shipped mappings with user files on top."""
    users = [written(folder, text, f"user-{number}.yaml") for number, text in enumerate(texts)]
    return load_mappings(shipped_controls().mappings, context(), user_paths=users)


# --- shipped ---------------------------------------------------------------------------------------------------------


def test_a_deciding_rule_asks_one_of_the_controls_own_checks() -> None:
    controls = {(c.id, item.id): item for c in shipped().catalogs for item in c.controls}
    rules_of = {check.id: set(check.rules) for check in shipped().checks}
    for entry in shipped().mappings.entries:
        if entry.strength is Strength.DECIDES:
            control = controls[entry.framework, entry.control]
            asked = set().union(*(rules_of[check] for check in control.checks))
            assert entry.rule in asked, (
                f"{entry.rule} decides {entry.control} without a check of its evidence"
            )
            assert control.evidence_kind is not EvidenceKind.ATTESTATION


def test_every_link_carries_its_reasons() -> None:
    entries = shipped().mappings.entries
    for entry in entries:
        assert len(entry.rationale.split()) >= 6, entry
        assert len(entry.limits.split()) >= 4, entry
        assert entry.author == "fleetaudit maintainers"
        assert entry.date >= dt.date(2026, 11, 1)
    assert len({(e.framework, e.control, e.rule) for e in entries}) == len(entries)


def test_rules_that_only_warn_decide_nothing() -> None:
    deciding = {entry.rule for entry in shipped().mappings.entries if entry.strength is Strength.DECIDES}
    for rule in sorted(deciding):
        file = CHECKOUT / "rego" / rule.replace("-", "_") / f"{rule.partition('/')[2].replace('-', '_')}.rego"
        assert "warn_only: true" not in file.read_text(encoding="utf-8"), rule


def test_every_rule_has_a_topic_so_that_the_meaning_check_can_work() -> None:
    assert [rule for rule in sorted(rule_ids()) if not context().meanings.topics_of(rule)] == []


def test_automatic_controls_are_decided_only_by_what_is_at_their_heart() -> None:
    """Golden: a longer list means that more is claimed, and has to be argued for in review."""
    kinds = {(c.id, i.id): i.evidence_kind for c in shipped().catalogs for i in c.controls}
    decided = {
        entry.control
        for entry in shipped().mappings.entries
        if entry.strength is Strength.DECIDES and kinds[entry.framework, entry.control] is EvidenceKind.AUTO
    }
    assert decided == {
        "MANAGE 3.1",
        "MANAGE 3.2",
        "MAP 4.1",
        "MEASURE 2.4",
        "MEASURE 2.7",
        "LFAI-CI-01",
        "LFAI-MOF-03",
        "LFAI-PRV-02",
        "LFAI-PRV-04",
        "LFAI-SBOM-01",
        "LFAI-SBOM-02",
        "LFAI-SBOM-03",
        "LFAI-SBOM-04",
        "LFAI-SBOM-05",
        "LFAI-SBOM-06",
        "LFAI-SCD-08",
        "LFAI-SIG-01",
        "LFAI-SIG-02",
        "LFAI-S2C-01",
        "LFAI-SCC-02",
        "LFAI-TAI-01",
        "LFAI-TAI-08",
    }


def test_digests_name_the_framework() -> None:
    assert sorted(shipped().mappings.digests) == ["lfai", "nist-ai-rmf"]
    assert {entry.file for entry in shipped().mappings.entries} == {
        "controls/mappings/lfai.yaml",
        "controls/mappings/nist-ai-rmf.yaml",
    }


# --- the user's ------------------------------------------------------------------------------------------------------


def test_a_users_file_adds_and_replaces(tmp_path: Path) -> None:
    key = ("MEASURE 2.7", "network/ingress-tls")
    before = {(e.control, e.rule): e for e in shipped().mappings.entries if e.framework == "nist-ai-rmf"}
    assert before[key].strength is Strength.SUPPORTS
    found = load(tmp_path, HEAD + ROW)
    after = {(e.control, e.rule): e for e in found.entries if e.framework == "nist-ai-rmf"}
    assert (after[key].strength, after[key].author) == (Strength.DECIDES, "Risk Office")
    assert len(found.entries) == len(shipped().mappings.entries)
    added = load(tmp_path, HEAD + ROW.replace("network/ingress-tls", "gpu/queue-named"))
    assert len(added.entries) == len(shipped().mappings.entries) + 1
    assert added.digests["nist-ai-rmf"] != shipped().mappings.digests["nist-ai-rmf"]


def test_the_last_file_wins_and_a_row_may_carry_its_own_author_and_date(tmp_path: Path) -> None:
    own = ROW.replace("limits: Not all.", "limits: Not all., author: A. Second, date: 2026-12-24")
    found = load(tmp_path, HEAD + ROW, HEAD + own)
    (entry,) = [
        e
        for e in found.entries
        if (e.control, e.rule) == ("MEASURE 2.7", "network/ingress-tls") and e.framework == "nist-ai-rmf"
    ]
    assert (entry.author, entry.date) == ("A. Second", dt.date(2026, 12, 24))


def test_entries_stand_in_catalog_order(tmp_path: Path) -> None:
    order = {(c.id, item.id): n for c in shipped().catalogs for n, item in enumerate(c.controls)}
    entries = load(tmp_path, HEAD + ROW).entries
    ranks = [
        (entry.framework != "nist-ai-rmf", order[entry.framework, entry.control], entry.rule)
        for entry in entries
    ]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("nist-ai-rmf", "nist-ai-rfm", 'did you mean "nist-ai-rmf"?'),
        ('"1.0"', '"2.0"', "written for edition 2.0, but edition 1.0 is loaded"),
        ("author: Risk Office\n", "", "'author' is missing"),
        ("date: 2026-12-01\n", "", "'date' is missing"),
        ("date: 2026-12-01", "date: 2026-02-30", "no day of the calendar"),
        ("date: 2026-12-01", "date: 20261201", "quotes"),
        ("MEASURE 2.7", "MAP 2.4", "nist-ai-rmf has no control MAP 2.4"),
        ("network/ingress-tls", "network/ingres-tls", 'did you mean "network/ingress-tls"?'),
        ("rationale: Why., ", "", "'rationale' is missing"),
        ("rationale: Why.", 'rationale: " "', "may not be empty"),
        (", limits: Not all.", "", "'limits' is missing"),
        ("decides", "decide", 'did you mean "decides"?'),
        ("strength", "strenght", 'did you mean "strength"?'),
        ("network/ingress-tls", "image/pull-policy", "only warns, so it cannot decide"),
        ("MEASURE 2.7", "MEASURE 4.1", "only people can decide MEASURE 4.1"),
        ("rule: network/ingress-tls", "rules: []", "either a rule or a list"),
        ("mappings:", "mapings:", 'did you mean "mappings"?'),
    ],
)
def test_a_mistake_stops_with_file_line_and_key(tmp_path: Path, old: str, new: str, words: str) -> None:
    text = HEAD + ROW
    assert old in text
    with pytest.raises(ContentError) as caught:
        load(tmp_path, text.replace(old, new))
    assert any(words in error for error in all_errors(caught)), all_errors(caught)
    assert caught.value.file == str(tmp_path / "user-0.yaml")
    assert caught.value.line is not None


def test_the_line_is_that_of_the_row(tmp_path: Path) -> None:
    wrong = ROW.replace("MEASURE 2.7", "MEASURE 2.77")
    with pytest.raises(ContentError) as caught:
        load(tmp_path, HEAD + ROW + wrong + wrong.replace("ingress-tls", "gateway-tls"))
    assert [(error.line, error.key) for error in (caught.value, *caught.value.others)] == [
        (7, "mappings.1.control"),
        (8, "mappings.2.control"),
    ]


def test_one_link_twice_in_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match=r"mapped to MEASURE 2\.7 twice"):
        load(tmp_path, HEAD + ROW + ROW)


def test_an_empty_list_is_a_file_without_links(tmp_path: Path) -> None:
    assert load(tmp_path, HEAD).entries == shipped().mappings.entries


# --- wrong meanings --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "control", "belongs"),
    [
        ("image/registry-allowed", "GOVERN 1.7", "GOVERN 6.1"),
        ("image/digest-pinned", "MAP 3.5", "MAP 4.1"),
        ("model/weights-pinned", "MAP 3.5", "MAP 4.1"),
        ("pod/privileged", "MEASURE 2.5", "MEASURE 2.7"),
        ("rbac/wildcard-verbs", "MEASURE 2.5", "MEASURE 2.7"),
        ("policy/enforce-mode", "MEASURE 2.9", "MANAGE 1.3"),
        ("resources/memory-limit", "MEASURE 2.9", "MANAGE 1.3"),
        ("observability/alert-rules-present", "MANAGE 2.2", "MEASURE 2.4"),
        ("model/serving-monitored", "MANAGE 2.2", "MEASURE 2.4"),
        ("image/registry-allowed", "GOVERN 4.1", "GOVERN 6.1"),
        ("image/registry-allowed", "GOVERN 4.2", "GOVERN 6.1"),
        ("image/registry-allowed", "GOVERN 4.3", "GOVERN 6.1"),
    ],
)
@pytest.mark.parametrize("strength", ["decides", "supports"])
def test_the_known_confusions_are_refused(
    tmp_path: Path, rule: str, control: str, belongs: str, strength: str
) -> None:
    row = (
        ROW.replace("MEASURE 2.7", control).replace("network/ingress-tls", rule).replace("decides", strength)
    )
    with pytest.raises(ContentError) as caught:
        load(tmp_path, HEAD + row)
    assert any(f"{control} does not: " in error and belongs in error for error in all_errors(caught))


def test_a_file_can_state_the_topics_of_its_own_rules(tmp_path: Path) -> None:
    ours = context().meanings
    assert not ours.topics_of("acme/four-eyes")
    text = HEAD.replace("mappings:", "topics: {acme: [human_oversight]}\nmappings:")
    row = ROW.replace("MEASURE 2.7", "GOVERN 6.1").replace("decides", "supports")
    known = context()
    with_rule = type(known)(
        catalogs=known.catalogs,
        checks=known.checks,
        meanings=ours,
        rule_ids={*rule_ids(), "acme/four-eyes"},
    )
    path = written(tmp_path, text + row.replace("network/ingress-tls", "acme/four-eyes"))
    with pytest.raises(ContentError, match=r"speaks of human oversight, and GOVERN 6\.1 does not"):
        load_mappings((), with_rule, user_paths=[path])


@pytest.mark.parametrize(
    ("topics", "words"),
    [
        ("{image: [security]}", "are known already"),
        ("{pod/privileged: []}", "are known already"),
        ("{acme: [securty]}", 'did you mean "security"?'),
        ("{acme: security}", "each with a list of words"),
    ],
)
def test_topics_cannot_be_used_to_slip_past_the_check(tmp_path: Path, topics: str, words: str) -> None:
    with pytest.raises(ContentError) as caught:
        load(tmp_path, HEAD.replace("mappings:", f"topics: {topics}\nmappings:") + ROW)
    assert words in str(caught.value)
