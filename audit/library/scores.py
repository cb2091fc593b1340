"""How good the tests of the shipped rules are, as somebody measured it: ``rego/mutation_scores.json``.

Planting faults takes minutes, so it is done when a rule or its tests change (``make scores``) and never while auditing. A
score counts only for the very lines that were measured.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from audit.errors import ContentError
from audit.model.rule import MutationScore, Rule
from audit.resources import content_dir

FILE = "mutation_scores.json"


class Measured(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule's score, and what it was measured on."""

    rule_sha256: str
    """Of the rule's source."""
    tests_sha256: str
    """Of the tests beside it; not of the library that both import, or a change there would ask for everything again."""
    score: MutationScore


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    mutation_scores: dict[str, Measured]


def scores_file() -> Path:
    """Where the shipped scores are."""
    return content_dir("rego") / FILE


def read_scores(path: Path) -> dict[str, Measured]:
    """Measured scores by rule id.

    Raises:
        ContentError: not readable, or not of this form.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=_File).mutation_scores
    except (OSError, msgspec.MsgspecError) as error:
        raise ContentError(f"cannot be read: {error}", file=f"rego/{path.name}") from error


def written(scores: Mapping[str, Measured]) -> bytes:
    """The file's content, one line a rule."""
    rows = ",\n".join(
        f"{msgspec.json.encode(rule).decode()}: {msgspec.json.encode(scores[rule], order='deterministic').decode()}"
        for rule in sorted(scores)
    )
    return f'{{"mutation_scores": {{\n{rows}\n}}}}\n'.encode()


def digest_of_tests(tests: Mapping[str, str]) -> str:
    """Digest of the test files of one rule, by label."""
    digest = hashlib.sha256()
    for label in sorted(tests):
        digest.update(hashlib.sha256(tests[label].encode()).digest())
    return digest.hexdigest()


def with_scores(rules: Iterable[Rule], scores: Mapping[str, Measured]) -> tuple[Rule, ...]:
    """The rules, each with its score if these very lines were measured."""

    def scored(rule: Rule) -> Rule:
        found = scores.get(rule.id)
        if found is None or not rule.builtin or found.rule_sha256 != rule.digest:
            return rule
        return msgspec.structs.replace(rule, mutation=found.score)

    return tuple(map(scored, rules))
