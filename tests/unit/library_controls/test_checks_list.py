"""The list of checks names exactly what the catalogs name, and keeps its own words."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from audit.errors import ContentError
from audit.library.catalogs import load_catalogs
from audit.library.checks import load_checks
from audit.model.control import CheckState
from tests.shared_data import shared_dir
from tests.unit.library_controls.content import all_errors, rule_ids, shipped, written
from tests.unit.library_controls.test_catalog_files import CHECK_WORD, MINIMAL


def test_every_id_of_the_shared_lists_is_listed() -> None:
    listed = {check.id for check in shipped().checks}
    for file in ("ai-rmf-controls.tsv", "lfai-controls.tsv"):
        with shared_dir("facts", file).open(encoding="utf-8", newline="") as source:
            for row in csv.DictReader(source, delimiter="\t", quoting=csv.QUOTE_NONE):
                assert set(CHECK_WORD.findall(row["evidence checks"])) <= listed, row["id"]


def test_every_listed_id_is_named_by_a_control_and_the_other_way_round() -> None:
    named = {check for item in shipped().catalogs for control in item.controls for check in control.checks}
    assert {check.id for check in shipped().checks} == named


def test_each_says_what_became_of_it() -> None:
    for check in shipped().checks:
        assert len(check.reason.split()) >= 5, check.id
        assert bool(check.rules) == (check.state is CheckState.BUILT and not check.id.startswith("att.")), (
            check.id
        )
    assert {check.state for check in shipped().checks} == set(CheckState)


GOOD = """\
checks:
  - {id: a.one, state: built, rules: [pod/privileged], reason: Asked.}
  - {id: a.two, state: planned, reason: Later.}
"""


def load(tmp_path: Path, text: str) -> None:
    catalogs = load_catalogs([written(tmp_path, MINIMAL, "catalog.yaml")])
    load_checks(written(tmp_path, text, "checks.yaml"), catalogs, rule_ids())


def test_a_small_list_loads(tmp_path: Path) -> None:
    load(tmp_path, GOOD)
    load(tmp_path, "checks:\n  - {ids: [a.one, a.two], state: planned, reason: Later.}\n")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("id: a.two", "id: a.tow", "no catalog names the check a.tow"),
        ("id: a.two", "id: a.tow", "FIRST 1.2 names the check a.two, which is not listed"),
        ("id: a.two", "id: a.one", "listed twice"),
        ("pod/privileged", "pod/priviledged", 'did you mean "pod/privileged"?'),
        (", rules: [pod/privileged]", "", "names the rules that ask it"),
        ("planned, ", "planned, rules: [pod/privileged], ", "planned has no rules"),
        ("planned", "planed", 'did you mean "planned"?'),
        ("Later.", '""', "may not be empty"),
        ("id: a.two, ", "", "either an id or a list"),
    ],
)
def test_a_wrong_list_stops(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in GOOD
    with pytest.raises(ContentError) as caught:
        load(tmp_path, GOOD.replace(old, new))
    assert any(words in error for error in all_errors(caught)), all_errors(caught)
