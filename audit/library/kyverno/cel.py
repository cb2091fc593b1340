"""Policies written in CEL: ValidatingPolicy, ImageValidatingPolicy and ValidatingAdmissionPolicy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from audit.library.kyverno.classic import namespace_of
from audit.library.kyverno.documents import PolicyDocument, list_of, mapping_of, text_of, texts_of
from audit.library.kyverno.match_kinds import rule_kinds
from audit.library.kyverno.needs import NEEDS_NETWORK, Needs, context_needs, needs_of_cel
from audit.library.kyverno.shape import check_cel
from audit.library.kyverno.words import digest_of, remedy, rule_id, words_of
from audit.model.api_resources import BUILT_IN_GROUPS
from audit.model.kyverno import (
    Caveat,
    ImageReferences,
    KyvernoPolicy,
    KyvernoRule,
    OutsideNeed,
    PolicyFamily,
    RuleVariant,
)
from audit.model.rule import Rule

_RULE_NAMES = {
    PolicyFamily.VALIDATING: "validate",
    PolicyFamily.IMAGE: "verify-images",
    PolicyFamily.ADMISSION: "admission",
}
_CONTROLLERS = {
    "daemonsets": ("apps", "v1"),
    "deployments": ("apps", "v1"),
    "replicasets": ("apps", "v1"),
    "statefulsets": ("apps", "v1"),
    "jobs": ("batch", "v1"),
    "cronjobs": ("batch", "v1"),
}


def read_cel(document: PolicyDocument, family: PolicyFamily) -> KyvernoPolicy:
    """A ValidatingPolicy or ImageValidatingPolicy.

    Raises:
        ContentError: it has no name or no match constraints, or would never judge.
    """
    _require(document)
    constraints = mapping_of(document.spec.get("matchConstraints"))
    if not constraints:
        raise document.error(
            "without matchConstraints Kyverno judges nothing by this policy", key="spec.matchConstraints"
        )
    variants = (RuleVariant(row="", match=constraints), *_generated(document.spec, constraints))
    check_cel(document, family)
    rule = _rule(document, document.spec, family, variants, extra=_process_caveats(document.spec))
    return KyvernoPolicy(
        family=family,
        kind=document.kind,
        api_version=document.api_version,
        name=document.name,
        namespace=namespace_of(document) if document.kind.startswith("Namespaced") else "",
        document=b"" if family is PolicyFamily.IMAGE else _document(document, document.name, document.spec),
        rules=(rule,),
        file=document.file,
        line=document.line,
    )


def read_admission(document: PolicyDocument, bindings: Sequence[PolicyDocument]) -> list[KyvernoPolicy]:
    """A ValidatingAdmissionPolicy: one copy for each binding, because the CLI keeps only the last binding's verdict.

    Raises:
        ContentError: it has no name, or would never judge.
    """
    _require(document)
    check_cel(document, PolicyFamily.ADMISSION)
    constraints = mapping_of(document.spec.get("matchConstraints"))
    unbound = () if bindings else (Caveat.UNBOUND,)
    copies = []
    for index, binding in enumerate(bindings or [None]):
        # The policy's own constraints are checked by the engine: with a binding the CLI looks at the binding's only.
        variant = RuleVariant(
            row=_copy_name(document.name, index),
            match=constraints,
            exclude=mapping_of(mapping_of(binding.spec if binding else {}).get("matchResources")),
        )
        rule = _rule(document, document.spec, PolicyFamily.ADMISSION, (variant,), extra=unbound)
        documents = [_document(document, variant.row, document.spec)]
        if binding is not None:
            documents.append(_document(binding, binding.name, {**binding.spec, "policyName": variant.row}))
        copies.append(
            KyvernoPolicy(
                family=PolicyFamily.ADMISSION,
                kind=document.kind,
                api_version=document.api_version,
                name=variant.row,
                document=b"\n---\n".join(documents),
                rules=(rule,),
                binding=binding.name if binding else "",
                file=document.file,
                line=document.line,
            )
        )
    return copies


def _copy_name(name: str, index: int) -> str:
    return name if index == 0 else f"{name}-binding-{index + 1}"


def _require(document: PolicyDocument) -> None:
    if not document.name:
        raise document.error("the policy has no name that is text", key="metadata.name")


def _rule(
    document: PolicyDocument,
    spec: dict[str, Any],
    family: PolicyFamily,
    variants: tuple[RuleVariant, ...],
    *,
    extra: Sequence[Caveat],
) -> KyvernoRule:
    words = words_of(document)
    needs = _needs(spec, family)
    images = _images(spec) if family is PolicyFamily.IMAGE else ()
    caveats = (*needs.caveats, *extra)
    validations = [mapping_of(entry) for entry in list_of(spec.get("validations"))]
    name = _RULE_NAMES[family]
    return KyvernoRule(
        rule=Rule(
            id=rule_id(document, name),
            engine="kyverno",
            title=words.title,
            description=words.description,
            severity=words.severity,
            remediation=remedy(validations[0].get("message") if len(validations) == 1 else "", words),
            kinds=rule_kinds(family, variants),
            not_applicable="not_selected",
            warn_only=not words.scored,
            context=context_needs(
                needs.objects, namespaces=_uses_namespaces(spec, variants), crds=_custom_kinds(variants)
            ),
            package=f"{document.kind}/{document.name}",
            file=document.file,
            line=document.line,
            digest=digest_of(document, name),
            builtin=document.builtin,
            category=words.category,
            caveats=tuple(caveat.value for caveat in caveats),
        ),
        variants=variants,
        caveats=caveats,
        outside=needs.outside,
        images=images,
        reads=needs.reads,
    )


def _needs(spec: dict[str, Any], family: PolicyFamily) -> Needs:
    needs = needs_of_cel(spec)
    if family is PolicyFamily.IMAGE:
        registry = OutsideNeed(code=NEEDS_NETWORK, text="verifies images, which needs a registry")
        return msgspec.structs.replace(needs, outside=(*needs.outside, registry))
    return needs


def _images(spec: dict[str, Any]) -> tuple[ImageReferences, ...]:
    entries = [mapping_of(entry) for entry in list_of(spec.get("matchImageReferences"))]
    globs = texts_of([entry.get("glob") for entry in entries])
    computed = len(globs) != len(entries) or not entries or bool(spec.get("images"))
    return (ImageReferences(globs=globs, computed=computed),)


def _uses_namespaces(spec: dict[str, Any], variants: Sequence[RuleVariant]) -> bool:
    selects = any(block.get("namespaceSelector") for v in variants for block in (v.match, v.exclude))
    return selects or "namespaceObject" in msgspec.json.encode(spec).decode()


def _custom_kinds(variants: Sequence[RuleVariant]) -> bool:
    groups = {
        group
        for variant in variants
        for entry in list_of(variant.match.get("resourceRules"))
        for group in texts_of(mapping_of(entry).get("apiGroups"))
    }
    return bool(groups - BUILT_IN_GROUPS - {"*"})


def _process_caveats(spec: dict[str, Any]) -> list[Caveat]:
    evaluation = mapping_of(spec.get("evaluation"))
    found = []
    if mapping_of(evaluation.get("background")).get("enabled") is False:
        found.append(Caveat.ADMISSION_ONLY)
    if mapping_of(evaluation.get("admission")).get("enabled") is False:
        found.append(Caveat.NOT_ADMITTED)
    return found


def _generated(spec: dict[str, Any], constraints: dict[str, Any]) -> list[RuleVariant]:
    """Forms for pod controllers, as Kyverno's pkg/cel/autogen makes them."""
    if not _is_pods_only(constraints):
        return []
    configured = mapping_of(mapping_of(spec.get("autogen")).get("podControllers")).get("controllers")
    names = sorted(_CONTROLLERS) if configured is None else sorted(set(texts_of(configured)))
    rule = constraints["resourceRules"][0]
    found = []
    for name in names:
        parts = name.split(".", 2)
        if name in _CONTROLLERS:
            group, version, plural = *_CONTROLLERS[name], name
        elif len(parts) == 3 and all(parts):  # resource.version.group
            plural, version, group = parts
        else:
            continue  # Kyverno ignores names it does not know
        generated = {
            "resourceRules": [
                {
                    "apiGroups": [group],
                    "apiVersions": [version],
                    "resources": [plural],
                    "operations": rule.get("operations"),
                }
            ]
        }
        if constraints.get("namespaceSelector") is not None:
            generated["namespaceSelector"] = constraints["namespaceSelector"]
        found.append(RuleVariant(row="", match=generated))
    return found


def _is_pods_only(constraints: dict[str, Any]) -> bool:
    selector = mapping_of(constraints.get("objectSelector"))
    rules = list_of(constraints.get("resourceRules"))
    if selector.get("matchLabels") or selector.get("matchExpressions") or len(rules) != 1:
        return False
    rule = mapping_of(rules[0])
    return (
        not list_of(constraints.get("excludeResourceRules"))
        and not list_of(rule.get("resourceNames"))
        and bool(list_of(rule.get("operations")))
        and list_of(rule.get("apiGroups")) == [""]
        and list_of(rule.get("apiVersions")) == ["v1"]
        and list_of(rule.get("resources")) == ["pods"]
    )


def _document(document: PolicyDocument, name: str, spec: dict[str, Any]) -> bytes:
    annotations = mapping_of(document.metadata.get("annotations"))
    metadata: dict[str, Any] = {
        "name": name,
        "annotations": {key: value for key, value in annotations.items() if isinstance(value, str)},
        "labels": mapping_of(document.metadata.get("labels")),
    }
    if text_of(document.kind).startswith("Namespaced"):
        metadata["namespace"] = namespace_of(document)
    return msgspec.json.encode(
        {"apiVersion": document.api_version, "kind": document.kind, "metadata": metadata, "spec": spec}
    )
