"""The shipped catalogs, held against what is known of the frameworks, and against themselves."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from audit.errors import ConfigError, ContentError
from audit.library.catalogs import load_catalogs, resolve_profile
from audit.model.control import Catalog, EvidenceKind, ProfileName
from tests.shared_data import shared_dir
from tests.unit.library_controls.content import all_errors, shipped, written

CHECK_WORD = re.compile(r"(?<![\w.])[a-z][a-z0-9]*\.[a-z][a-z0-9-]*")


def catalog(name: str) -> Catalog:
    return next(item for item in shipped().catalogs if item.id == name)


def test_the_ai_rmf_has_its_72_outcomes() -> None:
    rmf = catalog("nist-ai-rmf")
    assert len(rmf.controls) == 72
    assert Counter(item.function for item in rmf.controls) == {
        "GOVERN": 19,
        "MAP": 18,
        "MEASURE": 22,
        "MANAGE": 13,
    }
    categories = Counter(item.id.rpartition(".")[0] for item in rmf.controls)
    assert list(categories.values()) == [7, 3, 2, 3, 2, 2, 6, 3, 5, 2, 2, 3, 13, 3, 3, 4, 4, 2, 3]
    kinds = Counter(item.evidence_kind for item in rmf.controls)
    assert kinds == {EvidenceKind.AUTO: 7, EvidenceKind.PARTIAL: 43, EvidenceKind.ATTESTATION: 22}
    assert rmf.functions == ("GOVERN", "MAP", "MEASURE", "MANAGE")
    assert (rmf.edition, "AI 100-1" in rmf.source) == ("1.0", True)


def test_the_lfai_list_has_its_45_and_says_whose_it_is() -> None:
    lfai = catalog("lfai")
    assert len(lfai.controls) == 45
    assert "composed by" in lfai.source
    assert all(item.source and item.source != lfai.source for item in lfai.controls), "each names its origin"
    kinds = Counter(item.evidence_kind for item in lfai.controls)
    assert kinds == {EvidenceKind.AUTO: 34, EvidenceKind.PARTIAL: 9, EvidenceKind.ATTESTATION: 2}


def test_the_ids_that_wrong_copies_invent_are_not_there() -> None:
    ids = {item.id for item in catalog("nist-ai-rmf").controls}
    assert not ids & {"MAP 2.4", "GOVERN 1.8", "MEASURE 2.14", "MANAGE 4.4", "GOVERN 7.1", "MAP 1.7"}
    assert len(ids) == 72


def test_frameworks_come_in_their_stated_order() -> None:
    assert [item.id for item in shipped().catalogs] == ["nist-ai-rmf", "lfai"]


@pytest.mark.parametrize("name", ["nist-ai-rmf", "lfai"])
def test_words_are_whole_sentences_and_each_its_own(name: str) -> None:
    controls = catalog(name).controls
    for item in controls:
        assert item.description.endswith("."), item.id
        assert item.description.count(". ") == 0, f"{item.id}: one sentence"
        assert not item.title.endswith("."), item.id
    for words in ([item.title for item in controls], [item.description for item in controls]):
        assert max(Counter(words).values()) == 1


@pytest.mark.parametrize(
    ("name", "file"), [("nist-ai-rmf", "ai-rmf-controls.tsv"), ("lfai", "lfai-controls.tsv")]
)
def test_ids_kinds_and_checks_agree_with_the_shared_lists(name: str, file: str) -> None:
    with shared_dir("facts", file).open(encoding="utf-8", newline="") as source:
        rows = list(csv.DictReader(source, delimiter="\t", quoting=csv.QUOTE_NONE))
    controls = {item.id: item for item in catalog(name).controls}
    assert list(controls) == [row["id"] for row in rows]
    for row in rows:
        item = controls[row["id"]]
        named = set(CHECK_WORD.findall(row["evidence checks"]))
        assert named <= set(item.checks), item.id
        if "automatable" in row:
            assert item.evidence_kind.value == row["automatable"], item.id
            assert item.title.casefold() != row["title"].casefold(), f"{item.id}: in our own words"


MINIMAL = """\
id: small
title: Small
edition: "1"
source: ours
order: 9
kinds: {auto: 2}
functions:
  - id: FIRST
    counts: {FIRST 1: 2}
    controls:
      - {id: FIRST 1.1, title: One, description: It is one., evidence_kind: auto, checks: [a.one]}
      - {id: FIRST 1.2, title: Two, description: It is two., evidence_kind: auto, checks: [a.two]}
"""


def test_a_small_catalog_loads(tmp_path: Path) -> None:
    (found,) = load_catalogs([written(tmp_path, MINIMAL)])
    assert [item.id for item in found.controls] == ["FIRST 1.1", "FIRST 1.2"]
    assert found.controls[0].source == "ours"
    assert len(found.digest) == 64


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("FIRST 1: 2}", "FIRST 1: 3}", "FIRST 1 declares 3 controls, numbered from 1, but holds [1, 2]"),
        ("id: FIRST 1.2", "id: FIRST 1.3", "but holds [1, 3]"),
        ("id: FIRST 1.2", "id: FIRST 1.1", "FIRST 1.1 is defined 2 times"),
        ("id: FIRST 1.2", "id: FIRST 2.1", "FIRST 2 has no declared count"),
        ("id: FIRST 1.2", "id: first", "no control id"),
        ("kinds: {auto: 2}", "kinds: {auto: 1, partial: 1}", "declares 1 auto controls but holds 2"),
        ("kinds: {auto: 2}", "kinds: {automatic: 2}", "automatic"),
        (
            "evidence_kind: auto, checks: [a.two]",
            "evidence_kind: autom, checks: [a.two]",
            'did you mean "auto"?',
        ),
        ("title: Two", "titel: Two", 'did you mean "title"?'),
        ("title: Two, ", "", "'title' is missing"),
        ("title: Two", 'title: " "', "may not be empty"),
        ("title: Two", "title: 2", "put the value in quotes"),
        ("[a.two]", "[]", "names no check"),
        ("[a.two]", "[Two]", "no check id"),
        ("[a.two]", "[a.two, a.two]", "listed twice"),
        ('edition: "1"', "edition: 1.0", "put the value in quotes"),
        ("id: small", "id: Small One", "lower case"),
        ("order: 9\n", "", "'order' is missing"),
    ],
)
def test_a_wrong_catalog_stops_with_its_place(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in MINIMAL
    path = written(tmp_path, MINIMAL.replace(old, new))
    with pytest.raises(ContentError) as caught:
        load_catalogs([path])
    matching = [error for error in (caught.value, *caught.value.others) if words in str(error)]
    assert matching, all_errors(caught)
    assert matching[0].file == str(path)
    assert matching[0].line or matching[0].key


def test_one_framework_twice_is_refused(tmp_path: Path) -> None:
    files = [written(tmp_path, MINIMAL, "a.yaml"), written(tmp_path, MINIMAL, "b.yaml")]
    with pytest.raises(ContentError, match="defined twice"):
        load_catalogs(files)


def test_all_errors_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    text = MINIMAL.replace("title: Two, ", "").replace("title: One, ", "")
    with pytest.raises(ContentError) as caught:
        load_catalogs([written(tmp_path, text)])
    assert sum("'title' is missing" in error for error in all_errors(caught)) == 2


def test_profiles() -> None:
    catalogs = shipped().catalogs
    technical = resolve_profile("technical", catalogs)
    assert {name: len(ids) for name, ids in technical.controls.items()} == {"nist-ai-rmf": 50, "lfai": 43}
    full = resolve_profile("full", catalogs)
    assert {name: len(ids) for name, ids in full.controls.items()} == {"nist-ai-rmf": 72, "lfai": 45}
    own = resolve_profile({"nist-ai-rmf": ["MEASURE 2.7", "GOVERN 1.1"]}, catalogs)
    assert own.name is ProfileName.CUSTOM
    assert own.controls == {"nist-ai-rmf": ("GOVERN 1.1", "MEASURE 2.7"), "lfai": ()}


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ("tecnical", "unknown profile"),
        ("custom", "unknown profile"),
        ({"nist": ["MAP 1.1"]}, "unknown framework"),
        ({"nist-ai-rmf": ["MAP 2.4"]}, 'did you mean "MAP 2.3"?'),
        ({"nist-ai-rmf": ["MAP 2.3", "MAP 2.3"]}, "listed twice"),
    ],
)
def test_profiles_of_the_users_own_are_checked(choice: object, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve_profile(choice, shipped().catalogs, file="fleetaudit.yaml")  # type: ignore[arg-type]
    assert words in str(caught.value)
