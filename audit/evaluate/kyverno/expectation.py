"""Expected rows: which variants of which rules must answer for an object. Remembered where only the kind decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audit.evaluate.kyverno.labels import Tri
from audit.evaluate.kyverno.request import Request
from audit.evaluate.kyverno.selection import is_selected, list_in
from audit.evaluate.kyverno.subjects import Subject
from audit.evaluate.kyverno.surroundings import Surroundings
from audit.model.kyverno import KyvernoPolicy, KyvernoRule, PolicyFamily, RuleVariant

Expected = list[tuple[RuleVariant, Tri]]
_KIND_ONLY_RULE_KEYS = frozenset({"apiGroups", "apiVersions", "resources", "operations"})


class Expectations:
    """Expectations on one cluster.

    Args:
        request: what the user says about the simulated request.
        surroundings: namespaces and their labels.
    """

    def __init__(self, request: Request, surroundings: Surroundings) -> None:
        self._request = request
        self._surroundings = surroundings
        self._given_labels = request.namespace_labels()
        self._kind_only: dict[int, bool] = {}
        self._by_kind: dict[tuple[int, str, str, str], Expected] = {}

    def of(self, subject: Subject, policy: KyvernoPolicy, rule: KyvernoRule) -> Expected:
        """Variants that can concern the object's kind, each with whether it must give a row."""
        facts = subject.facts
        assert facts is not None  # noqa: S101  # asked only for objects that can be handed over
        kind_only = self._kind_only.get(id(rule))
        if kind_only is None:
            kind_only = self._kind_only[id(rule)] = self._decided_by_kind(policy, rule)
        if not kind_only:
            return self._compute(subject, policy, rule)
        key = (id(rule), facts.group, facts.version, facts.kind)
        expected = self._by_kind.get(key)
        if expected is None:
            expected = self._by_kind[key] = self._compute(subject, policy, rule)
        return expected

    def _compute(self, subject: Subject, policy: KyvernoPolicy, rule: KyvernoRule) -> Expected:
        facts = subject.facts
        assert facts is not None  # noqa: S101  # as above
        if policy.family is PolicyFamily.CLASSIC:
            asker = self._request.asker(policy.name, facts.name)
        else:
            asker = self._request.cel_asker()
        labels = self._labels(facts.namespace)
        return [
            (variant, is_selected(policy, variant, facts, labels, asker))
            for variant in rule.variants
            if not variant.kinds or facts.kind in variant.kinds
        ]

    def _labels(self, namespace: str) -> Mapping[str, str] | None:
        """Collected labels, else those of the user's values file, else unknown."""
        labels = self._surroundings.labels_of(namespace)
        return labels if labels is not None else self._given_labels.get(namespace)

    def _decided_by_kind(self, policy: KyvernoPolicy, rule: KyvernoRule) -> bool:
        if policy.namespace or self._request.values:
            return False
        if policy.family is PolicyFamily.CLASSIC:
            blocks = [block for variant in rule.variants for block in (variant.match, variant.exclude)]
            return all(_names_kinds_only(block) for block in blocks)
        return all(
            _constrains_kinds_only(block)
            for variant in rule.variants
            for block in (variant.match, variant.exclude)
        )


def _names_kinds_only(block: Mapping[str, Any]) -> bool:
    entries = [block, *list_in(block, "any"), *list_in(block, "all")]
    return all(
        isinstance(entry, Mapping)
        and entry.keys() <= {"any", "all", "resources"}
        and isinstance(resources := entry.get("resources") or {}, Mapping)
        and resources.keys() <= {"kinds", "operations"}
        for entry in entries
    )


def _constrains_kinds_only(constraints: Mapping[str, Any]) -> bool:
    if any(constraints.get(key) for key in ("namespaceSelector", "objectSelector", "excludeResourceRules")):
        return False
    return all(
        isinstance(rule, Mapping) and {key for key, value in rule.items() if value} <= _KIND_ONLY_RULE_KEYS
        for rule in list_in(constraints, "resourceRules")
    )
