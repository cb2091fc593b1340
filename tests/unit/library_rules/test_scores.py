"""Recorded scores of rules' tests: what is shipped is current, and a score stands only with the lines it was measured on."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from audit.config.schema import Config
from audit.errors import ContentError
from audit.library.scores import Measured, digest_of_tests, read_scores, scores_file, with_scores, written
from audit.model.rule import MutationScore
from audit.wiring import load_library
from audit.wiring.mutation import holds
from tests import builders as b

SCORE = MutationScore(tests=3, planted=8, noticed=7)


def measured(**changes: str) -> Measured:
    fields = {"rule_sha256": b.rule().digest, "tests_sha256": "0" * 64} | changes
    return Measured(**fields, score=SCORE)


def test_every_shipped_rule_has_a_score_of_its_own_lines_and_tests() -> None:
    rules = {rule.id: rule for rule in load_library(Config()).rule_set.rules}
    scores = read_scores(scores_file())
    stale = [
        rule
        for rule in sorted(rules | scores)
        if not (rule in scores and rule in rules and holds(scores[rule], rules[rule]))
    ]
    assert stale == [], "run `make scores`"
    weak = {rule: found.score for rule, found in scores.items() if (found.score.share or 0) < 0.5}
    assert weak == {}, "its tests miss more than half of the planted faults"


def test_the_file_is_written_as_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "scores.json"
    for scores in ({}, {"pod/privileged": measured()}, {"b/b": measured(), "a/a": measured()}):
        file.write_bytes(written(scores))
        assert read_scores(file) == scores
    assert file.read_text().index("a/a") < file.read_text().index("b/b")
    assert scores_file().read_bytes() == written(read_scores(scores_file())), "nobody edits it by hand"


def test_a_file_of_another_form_is_told(tmp_path: Path) -> None:
    file = tmp_path / "scores.json"
    for text in ("", "{}", '{"mutation_scores": {"pod/x": {"tests": 1}}}'):
        file.write_text(text)
        with pytest.raises(ContentError, match="cannot be read"):
            read_scores(file)


def test_a_score_stands_only_with_the_lines_it_was_measured_on() -> None:
    rule = b.rule()
    assert with_scores([rule], {rule.id: measured()})[0].mutation == SCORE
    assert with_scores([rule], {rule.id: measured(rule_sha256="1" * 64)})[0].mutation is None
    assert with_scores([rule], {"pod/other": measured()})[0].mutation is None
    foreign = msgspec.structs.replace(rule, builtin=False)
    assert with_scores([foreign], {rule.id: measured()})[0].mutation is None


def test_other_tests_have_another_digest() -> None:
    texts = [{}, {"a": "x"}, {"a": "y"}, {"a": "x", "b": ""}, {"a": "x", "b": "y"}, {"a": "xy"}]
    assert len({digest_of_tests(text) for text in texts}) == len(texts)
