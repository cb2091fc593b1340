"""Kinds a rule is asked about, from Kyverno's kind selectors and from admission resource rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from audit.library.kyverno.documents import list_of, mapping_of, texts_of
from audit.model.api_resources import built_in_kind
from audit.model.kind_selector import parse_kind_selector
from audit.model.kyverno import PolicyFamily, RuleVariant
from audit.model.subject import kind_key


def kinds_in(block: dict[str, Any]) -> tuple[str, ...]:
    """Kind selectors of a match or exclude block, as Kyverno's ``GetKinds`` collects them."""
    found: list[str] = list(texts_of(mapping_of(block.get("resources")).get("kinds")))
    for part in ("all", "any"):
        for entry in list_of(block.get(part)):
            found += texts_of(mapping_of(mapping_of(entry).get("resources")).get("kinds"))
    return tuple(found)


def rule_kinds(family: PolicyFamily, variants: Iterable[RuleVariant]) -> tuple[str, ...]:
    """Sorted entries for `Rule.kinds`; empty when some variant can match any kind."""
    found: set[str] = set()
    for variant in variants:
        entries = _classic(variant) if family is PolicyFamily.CLASSIC else _constraints(variant.match)
        if entries is None:
            return ()
        found |= entries
    return tuple(sorted(found))


def _classic(variant: RuleVariant) -> set[str] | None:
    found: set[str] = set()
    for block in _blocks(variant.match):
        selectors = texts_of(mapping_of(block.get("resources")).get("kinds"))
        if not selectors:
            return None
        for selector in selectors:
            group, _, kind, sub = parse_kind_selector(selector)
            if sub not in ("", "*"):
                found.add(f"{kind}/{sub}")  # never stored, so no object has this kind
                continue
            if any(sign in kind for sign in "*?"):
                if kind == "*" and group not in ("*", "") and not any(sign in group for sign in "*?"):
                    found.add(f"{group}/*")
                    continue
                return None
            any_group = any(sign in group for sign in "*?")
            found.add(f"*/{kind}" if any_group else kind_key(group, kind))
    return found


def _blocks(match: dict[str, Any]) -> list[dict[str, Any]]:
    """The alternatives of a match block; of ``all``, the first that names kinds decides."""
    if list_of(match.get("any")):
        return [mapping_of(entry) for entry in match["any"]]
    entries = [mapping_of(entry) for entry in list_of(match.get("all"))]
    if entries:
        naming = [entry for entry in entries if mapping_of(entry.get("resources")).get("kinds")]
        return naming[:1] or entries[:1]
    return [match]


def _constraints(constraints: dict[str, Any]) -> set[str] | None:
    found: set[str] = set()
    rules = list_of(constraints.get("resourceRules"))
    if not rules:
        return None
    for rule in (mapping_of(entry) for entry in rules):
        for group in texts_of(rule.get("apiGroups")):
            for resource in texts_of(rule.get("resources")):
                plural, _, sub = resource.partition("/")
                if sub not in ("", "*"):
                    found.add(f"{plural}/{sub}")
                    continue
                if group == "*":
                    return None
                found.add(_entry(group, plural))
    return found


def _entry(group: str, plural: str) -> str:
    kind = built_in_kind(group, plural)
    # A plural nobody knows may belong to any kind of the group; the engine asks Kyverno's own matching then.
    return kind_key(group, kind) if kind is not None else f"{group}/*"
