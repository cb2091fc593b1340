"""ClusterPolicy and Policy: rules that judge, without those that change or create."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from audit.library.kyverno.autogen import ANNOTATION, controllers_of, rules_of, variants_of
from audit.library.kyverno.documents import PolicyDocument, list_of, mapping_of, text_of, texts_of
from audit.library.kyverno.match_kinds import rule_kinds
from audit.library.kyverno.needs import Needs, context_needs, needs_of_classic
from audit.library.kyverno.shape import check_classic
from audit.library.kyverno.words import PolicyWords, digest_of, remedy, rule_id, words_of
from audit.model.kyverno import (
    Caveat,
    ImageReferences,
    KyvernoPolicy,
    KyvernoRule,
    PolicyFamily,
    RuleVariant,
)
from audit.model.rule import Rule

_DROPPED_METADATA = ("managedFields", "uid", "resourceVersion", "creationTimestamp", "generation", "selfLink")


def read_classic(document: PolicyDocument, global_entries: Mapping[str, dict[str, Any]]) -> KyvernoPolicy:
    """A classic policy.

    Raises:
        ContentError: it has no name, or a rule that can't be read or would never be asked.
    """
    if not document.name:
        raise document.error("the policy has no name", key="metadata.name")
    written = rules_of(document)
    if len(written) != len(list_of(document.spec.get("rules"))):
        raise document.error("each rule must be a mapping", key="spec.rules")
    for index, rule in enumerate(written):
        if not text_of(rule.get("name")):
            raise document.error(
                "the rule has no name that is text",
                key=f"spec.rules.{index}.name",
                suggestion="quote names such as n, y, on and off: YAML takes them for true and false",
            )
    check_classic(document)
    words = words_of(document)
    controllers = controllers_of(document)
    judging = [rule for rule in written if _judges(rule)]
    rules = [
        _rule(document, rule, words, variants_of(rule, controllers), needs_of_classic(rule, global_entries))
        for rule in judging
    ]
    handed = [_validating(rule) for rule in judging if rule.get("validate")]
    return KyvernoPolicy(
        family=PolicyFamily.CLASSIC,
        kind=document.kind,
        api_version=document.api_version,
        name=document.name,
        namespace=namespace_of(document),
        document=_document(document, handed, controllers) if handed else b"",
        rules=tuple(rules),
        apply_one=document.spec.get("applyRules") == "One",
        match_conditions=bool(_match_conditions(document.spec)),
        file=document.file,
        line=document.line,
    )


def namespace_of(document: PolicyDocument) -> str:
    """Where a namespaced policy lives: ``default`` when it does not say, as for kubectl."""
    if document.kind.startswith("Cluster"):
        return ""
    return document.namespace or "default"


def other_rules(document: PolicyDocument) -> int:
    """How many rules mutate or generate."""
    return sum(
        not _judges(rule) and bool(rule.get("mutate") or rule.get("generate")) for rule in rules_of(document)
    )


def _judges(rule: dict[str, Any]) -> bool:
    return bool(rule.get("validate") or rule.get("verifyImages"))


def _rule(
    document: PolicyDocument,
    rule: dict[str, Any],
    words: PolicyWords,
    variants: tuple[RuleVariant, ...],
    needs: Needs,
) -> KyvernoRule:
    name = text_of(rule["name"])
    several = len(rules_of(document)) > 1
    kinds = rule_kinds(PolicyFamily.CLASSIC, variants)
    caveats = [*needs.caveats]
    if document.spec.get("background") is False:
        caveats.append(Caveat.ADMISSION_ONLY)
    if document.spec.get("admission") is False:
        caveats.append(Caveat.NOT_ADMITTED)
    return KyvernoRule(
        rule=Rule(
            id=rule_id(document, name),
            engine="kyverno",
            title=f"{words.title}: {name}" if several else words.title,
            description=words.description,
            severity=words.severity,
            remediation=remedy(mapping_of(rule.get("validate")).get("message"), words),
            kinds=kinds,
            not_applicable="not_selected",
            warn_only=not words.scored,
            context=context_needs(needs.objects, namespaces=_uses_namespace_labels(rule), crds=False),
            package=f"{document.kind}/{document.name}",
            file=document.file,
            line=document.line,
            digest=digest_of(document, name),
            builtin=document.builtin,
            category=words.category,
            caveats=tuple(caveat.value for caveat in caveats),
        ),
        variants=variants,
        caveats=tuple(caveats),
        outside=needs.outside,
        images=tuple(_images(rule)),
        loops=bool(mapping_of(rule.get("validate")).get("foreach")),
        reads=needs.reads,
    )


def _uses_namespace_labels(rule: dict[str, Any]) -> bool:
    return any(
        mapping_of(mapping_of(entry).get("resources")).get("namespaceSelector") is not None
        for part in ("match", "exclude")
        for block in [mapping_of(rule.get(part))]
        for entry in [block, *list_of(block.get("any")), *list_of(block.get("all"))]
    )


def _images(rule: dict[str, Any]) -> list[ImageReferences]:
    found = []
    for entry in (mapping_of(item) for item in list_of(rule.get("verifyImages"))):
        globs = texts_of(entry.get("imageReferences")) or texts_of([entry.get("image")])
        found.append(
            ImageReferences(
                globs=globs,
                skip=texts_of(entry.get("skipImageReferences")),
                computed=bool(rule.get("imageExtractors")) or not globs,
            )
        )
    return found


def _match_conditions(spec: dict[str, Any]) -> list[Any]:
    return list_of(mapping_of(spec.get("webhookConfiguration")).get("matchConditions"))


def _validating(rule: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in rule.items() if key not in ("mutate", "generate", "verifyImages")}


def _document(document: PolicyDocument, rules: list[dict[str, Any]], controllers: tuple[str, ...]) -> bytes:
    metadata = {key: value for key, value in document.metadata.items() if key not in _DROPPED_METADATA}
    # Fixed, because it was computed from all rules and some are not handed over.
    made = [controller for controller in controllers if controller not in ("", "all", "none")]
    annotations = {**mapping_of(metadata.get("annotations")), ANNOTATION: ",".join(made) or "none"}
    metadata["annotations"] = {key: value for key, value in annotations.items() if isinstance(value, str)}
    if namespace := namespace_of(document):
        metadata["namespace"] = namespace
    # No status: one that says "a ValidatingAdmissionPolicy was generated" silences the rules.
    return msgspec.json.encode(
        {
            "apiVersion": document.api_version,
            "kind": document.kind,
            "metadata": metadata,
            "spec": {**document.spec, "rules": rules},
        }
    )
