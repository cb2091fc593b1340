"""Which rules must give a row for which object: Kyverno's match, exclude and match constraints, read ourselves.

The CLI leaves out a row for a rule that is not selected, and for much that goes wrong. Only an own reading of the
selection tells the two apart. Follows pkg/engine/utils/match.go and pkg/cel/matching of Kyverno 1.19.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from audit.evaluate.kyverno.facts import ObjectFacts
from audit.evaluate.kyverno.labels import Tri, all_of, any_of, negated, selects, selects_namespace, wildcard
from audit.model.kind_selector import parse_kind_selector
from audit.model.kyverno import KyvernoPolicy, PolicyFamily, RuleVariant

_SELECTORS = ("selector", "namespaceSelector")
"""Present, they speak even when they are empty."""


class Asker(msgspec.Struct, frozen=True, kw_only=True):
    """The request the CLI simulates."""

    operation: str = "CREATE"
    user: Mapping[str, Any] | None = None
    """RequestInfo given by the user; None means that selection by user is ignored, as the CLI does."""


def is_selected(
    policy: KyvernoPolicy,
    variant: RuleVariant,
    facts: ObjectFacts,
    namespace_labels: Mapping[str, str] | None,
    asker: Asker,
) -> Tri:
    """Whether a variant of a rule must give a row for an object; None when its namespace's labels are not known."""
    if policy.namespace and policy.namespace != facts.namespace:
        return False
    if variant.kinds and facts.kind not in variant.kinds:
        return False
    if policy.family is PolicyFamily.CLASSIC:
        matched = _block(variant.match, facts, namespace_labels, asker, excluding=False)
        if matched is False or not variant.exclude:
            return matched
        return all_of(
            (matched, negated(_block(variant.exclude, facts, namespace_labels, asker, excluding=True)))
        )
    verdicts = [constraints_match(variant.match, facts, namespace_labels, asker)]
    if policy.family is PolicyFamily.ADMISSION and variant.exclude:
        # For an admission policy `exclude` holds the binding's own matchResources, which must hold too.
        verdicts.append(constraints_match(variant.exclude, facts, namespace_labels, asker))
    return all_of(verdicts)


def _block(
    block: Mapping[str, Any],
    facts: ObjectFacts,
    namespace_labels: Mapping[str, str] | None,
    asker: Asker,
    *,
    excluding: bool,
) -> Tri:
    def holds(entry: Any) -> Tri:
        return _filter(entry, facts, namespace_labels, asker, excluding=excluding)

    if block.get("any"):
        return any_of(holds(entry) for entry in list_in(block, "any"))
    if block.get("all"):
        return all_of(holds(entry) for entry in list_in(block, "all"))
    return holds(block)


def list_in(block: Mapping[str, Any], key: str) -> list[Any]:
    """The list under a key; empty where something else stands (no such policy is loaded by the CLI)."""
    value = block.get(key)
    return value if isinstance(value, list) else []


def _filter(
    entry: Any,
    facts: ObjectFacts,
    namespace_labels: Mapping[str, str] | None,
    asker: Asker,
    *,
    excluding: bool,
) -> Tri:
    if not isinstance(entry, Mapping):
        return False
    resources = entry.get("resources")
    resources = resources if isinstance(resources, Mapping) else {}
    users = {key: found for key in ("roles", "clusterRoles", "subjects") if (found := list_in(entry, key))}
    if asker.user is None and not excluding:
        users = {}
    says = any(value not in (None, "", [], {}) for value in resources.values())
    if not users and not says and not any(resources.get(key) is not None for key in _SELECTORS):
        # An empty description selects nothing; it excludes nothing either.
        return False
    return all_of((*_resources(resources, facts, namespace_labels, asker), *_users(users, asker)))


def _resources(
    resources: Mapping[str, Any],
    facts: ObjectFacts,
    namespace_labels: Mapping[str, str] | None,
    asker: Asker,
) -> list[Tri]:
    name = facts.name or facts.generate_name
    verdicts: list[Tri] = []
    if operations := list_in(resources, "operations"):
        verdicts.append(asker.operation in operations)
    if kinds := list_in(resources, "kinds"):
        verdicts.append(any(kind_matches(kind, facts) for kind in kinds))
    if single := resources.get("name"):
        verdicts.append(wildcard(str(single), name))
    if names := list_in(resources, "names"):
        verdicts.append(any(wildcard(str(pattern), name) for pattern in names))
    if namespaces := list_in(resources, "namespaces"):
        where = facts.name if facts.kind == "Namespace" else facts.namespace
        verdicts.append(any(wildcard(str(pattern), where) for pattern in namespaces))
    if isinstance(annotations := resources.get("annotations"), Mapping) and annotations:
        verdicts.append(
            all(
                any(wildcard(key, k) and wildcard(str(value), v) for k, v in facts.annotations.items())
                for key, value in annotations.items()
            )
        )
    if (selector := resources.get("selector")) is not None:
        verdicts.append(selects(selector, facts.labels, wildcards=True))
    if (selector := resources.get("namespaceSelector")) is not None:
        verdicts.append(_namespace(selector, facts, namespace_labels))
    return verdicts


def _namespace(selector: Any, facts: ObjectFacts, namespace_labels: Mapping[str, str] | None) -> Tri:
    if facts.kind == "Namespace":
        return False
    if not facts.namespace:
        # The CLI has no labels for objects outside namespaces.
        return selects(selector, {}, wildcards=True)
    return selects_namespace(selector, facts.namespace, namespace_labels, wildcards=True)


def kind_matches(selector: Any, facts: ObjectFacts) -> bool:
    """Whether a kind selector names the object's kind; subresources are never audited."""
    if not isinstance(selector, str):
        return False
    group, version, kind, sub = parse_kind_selector(selector)
    return (
        wildcard(group, facts.group)
        and wildcard(version, facts.version)
        and wildcard(kind, facts.kind)
        and wildcard(sub, "")
    )


def _users(users: Mapping[str, Any], asker: Asker) -> list[Tri]:
    info = asker.user or {}
    who = info.get("userInfo")
    who = who if isinstance(who, Mapping) else {}
    verdicts: list[Tri] = [
        not set(users[key]).isdisjoint(info.get(key) or ())
        for key in ("roles", "clusterRoles")
        if key in users
    ]
    if "subjects" in users:
        verdicts.append(any(_is_subject(subject, who) for subject in users["subjects"]))
    return verdicts


def _is_subject(subject: Any, who: Mapping[str, Any]) -> bool:
    if not isinstance(subject, Mapping):
        return False
    name = str(subject.get("name", ""))
    username = str(who.get("username", ""))
    match subject.get("kind"):
        case "ServiceAccount":
            return wildcard(f"system:serviceaccount:{subject.get('namespace', '')}:{name}", username)
        case "Group":
            return any(wildcard(name, str(group)) for group in list_in(who, "groups"))
        case "User":
            return wildcard(name, username)
    return False


def constraints_match(
    constraints: Mapping[str, Any],
    facts: ObjectFacts,
    namespace_labels: Mapping[str, str] | None,
    asker: Asker,
) -> Tri:
    """Kubernetes' matchConstraints: selectors, excluded rules, resource rules."""
    verdicts: list[Tri] = [
        _constraint_namespace(constraints.get("namespaceSelector"), facts, namespace_labels)
    ]
    verdicts.append(selects(constraints.get("objectSelector"), facts.labels))
    excluded = _rules(constraints, "excludeResourceRules")
    verdicts.append(not any(_rule_matches(rule, facts, asker) for rule in excluded))
    rules = _rules(constraints, "resourceRules")
    verdicts.append(not rules or any(_rule_matches(rule, facts, asker) for rule in rules))
    return all_of(verdicts)


def _constraint_namespace(
    selector: Any, facts: ObjectFacts, namespace_labels: Mapping[str, str] | None
) -> Tri:
    if facts.is_namespace:
        return selects(selector, facts.labels)
    if not facts.namespace or not selector:
        return True
    return selects_namespace(selector, facts.namespace, namespace_labels)


def _rules(constraints: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    return [entry for entry in list_in(constraints, key) if isinstance(entry, Mapping)]


def _rule_matches(rule: Mapping[str, Any], facts: ObjectFacts, asker: Asker) -> bool:
    return (
        _listed(rule, "apiGroups", facts.group)
        and _listed(rule, "apiVersions", facts.version)
        and _listed(rule, "operations", asker.operation)
        and any(_resource(str(entry), facts.plural) for entry in list_in(rule, "resources"))
        and _scope(rule.get("scope"), facts)
        and _named(list_in(rule, "resourceNames"), facts)
    )


def _listed(rule: Mapping[str, Any], key: str, value: str) -> bool:
    return any(entry in ("*", value) for entry in list_in(rule, key))


def _resource(entry: str, plural: str) -> bool:
    resource, _, sub = entry.partition("/")
    return resource in ("*", plural) and sub in ("", "*")


def _scope(scope: Any, facts: ObjectFacts) -> bool:
    if scope == "Namespaced":
        return bool(facts.namespace) and not facts.is_namespace
    if scope == "Cluster":
        return not facts.namespace or facts.is_namespace
    return True


def _named(names: list[Any], facts: ObjectFacts) -> bool:
    if not names:
        return True
    if facts.name:
        return facts.name in names
    return any(facts.generate_name.startswith(str(name)) for name in names)
