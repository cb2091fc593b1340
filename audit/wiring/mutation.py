"""Which modules and tests belong to a rule, for finding out how good the tests are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from audit.config.check import rule_matches
from audit.config.schema import Config
from audit.errors import UsageError
from audit.library.library import Library
from audit.library.scores import Measured, digest_of_tests, read_scores, scores_file
from audit.model.rule import Rule
from audit.resources import content_dir
from audit.testing.mutation import RuleScore, RuleUnderTest, score
from audit.wiring.cores import jobs

_LIBRARY = re.compile(r"^package lib\.", re.MULTILINE)


def mutation_scores(config: Config, library: Library, patterns: Sequence[str]) -> Iterator[RuleScore]:
    """Scores of the rules that the patterns name; of all of the project's own form without any.

    Raises:
        UsageError: a pattern names no rule.
        ContentError: a rule's tests fail before any fault is planted.
    """
    for pattern in patterns:
        if not any(rule_matches(pattern, rule.id) for rule in library.rule_set.rules):
            raise UsageError(
                f"no rule of Rego is called {pattern}", suggestion="`fleetaudit rules` lists them"
            )
    chosen = [
        rule
        for rule in library.rule_set.rules
        if not patterns or any(rule_matches(pattern, rule.id) for pattern in patterns)
    ]
    yield from _scores(config, library, chosen)


def shipped_scores(config: Config, library: Library) -> Iterator[tuple[str, Measured]]:
    """The score of every shipped rule of Rego by its id: the recorded one where it still holds, else measured now.

    Raises:
        ContentError: the record can't be read, or a rule's tests fail before any fault is planted.
    """
    known = read_scores(scores_file()) if scores_file().exists() else {}
    shipped = [rule for rule in library.rule_set.rules if rule.builtin]
    stale = [rule for rule in shipped if rule.id not in known or not holds(known[rule.id], rule)]
    yield from ((rule.id, known[rule.id]) for rule in shipped if rule not in stale)
    for rule, found in zip(stale, _scores(config, library, stale), strict=True):
        yield (
            rule.id,
            Measured(
                rule_sha256=rule.digest, tests_sha256=digest_of_tests(_tests_of(rule)), score=found.score
            ),
        )


def holds(measured: Measured, rule: Rule) -> bool:
    """Whether rule and tests are what they were when they were measured."""
    return (measured.rule_sha256, measured.tests_sha256) == (rule.digest, digest_of_tests(_tests_of(rule)))


def _scores(config: Config, library: Library, rules: Sequence[Rule]) -> Iterator[RuleScore]:
    modules = library.rule_set.modules
    shared = {label: text for label, text in modules.items() if _LIBRARY.search(text)} | _helpers()
    data = msgspec.json.encode(library.rule_set.data)
    under_test = [
        RuleUnderTest(
            rule=rule.id, file=rule.file, text=modules[rule.file], tests=_tests_of(rule), shared=shared
        )
        for rule in rules
    ]
    return score(under_test, data, jobs=jobs(config))


def _helpers() -> dict[str, str]:
    """What the tests of shipped rules import."""
    folder = content_dir("rego") / "lib"
    return {
        f"rego/lib/{file.name}": file.read_text(encoding="utf-8")
        for file in sorted(folder.glob("*_test.rego"))
    }


def _tests_of(rule: Rule) -> dict[str, str]:
    """Test files beside the rule."""
    path = content_dir("rego").parent / rule.file if rule.builtin else Path(rule.file)
    return {
        f"{rule.file.rpartition('/')[0]}/{file.name}": file.read_text(encoding="utf-8")
        for file in sorted(path.parent.glob("*_test.rego"))
    }
