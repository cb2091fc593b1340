"""What keeps a policy from ever judging: unknown fields, no rules, kinds that nothing can have.

The API server drops fields that it does not know, and Kyverno then asks what is left, which may be nothing. The
names of fields are those of the CRDs of Kyverno 1.19.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from audit.library.kinds import impossible_kind
from audit.library.kyverno.documents import PolicyDocument, list_of, mapping_of, texts_of
from audit.model.api_resources import BUILT_IN_GROUPS, built_in_kind, built_in_kinds
from audit.model.kind_selector import parse_kind_selector
from audit.model.kyverno import PolicyFamily
from audit.model.subject import kind_key

ACTIONS = ("validate", "verifyImages", "mutate", "generate")
"""Blocks of a rule that do something."""

_SPEC = frozenset(["admission", "applyRules", "background", "emitWarning", "failurePolicy", "generateExisting", "generateExistingOnPolicyUpdate", "mutateExistingOnPolicyUpdate", "rules", "schemaValidation", "useServerSideApply", "validationFailureAction", "validationFailureActionOverrides", "webhookConfiguration", "webhookTimeoutSeconds"])  # fmt: skip
_RULE = frozenset(["celPreconditions", "context", "exclude", "imageExtractors", "match", "name", "preconditions", "reportProperties", "skipBackgroundRequests"]) | frozenset(ACTIONS)  # fmt: skip
_FILTER = frozenset({"clusterRoles", "resources", "roles", "subjects"})
_MATCH = _FILTER | {"any", "all"}
_RESOURCES = frozenset(
    {"annotations", "kinds", "name", "names", "namespaceSelector", "namespaces", "operations", "selector"}
)
_VALIDATE = frozenset(["allowExistingViolations", "anyPattern", "assert", "cel", "deny", "failureAction", "failureActionOverrides", "foreach", "manifests", "message", "pattern", "podSecurity"])  # fmt: skip
_ADMISSION = frozenset(["auditAnnotations", "failurePolicy", "matchConditions", "matchConstraints", "paramKind", "validations", "variables"])  # fmt: skip
_VALIDATING = (_ADMISSION - {"paramKind"}) | {
    "autogen",
    "evaluation",
    "validationActions",
    "webhookConfiguration",
}
_CEL_SPECS = {
    PolicyFamily.ADMISSION: _ADMISSION,
    PolicyFamily.VALIDATING: _VALIDATING,
    PolicyFamily.IMAGE: _VALIDATING
    | {"attestations", "attestors", "credentials", "images", "matchImageReferences", "validationConfigurations"},
}  # fmt: skip
_CONSTRAINTS = frozenset(
    {"excludeResourceRules", "matchPolicy", "namespaceSelector", "objectSelector", "resourceRules"}
)
_RESOURCE_RULE = frozenset({"apiGroups", "apiVersions", "operations", "resourceNames", "resources", "scope"})
_LEGACY_GROUPS = frozenset({"extensions"})
_SAME = 0.87
"""Names this close to a built-in kind are a slip of the pen; those of custom kinds are further away."""


def check_classic(document: PolicyDocument) -> None:
    """Refuse a ClusterPolicy or Policy of which some part would never be asked.

    Raises:
        ContentError: it has no rules, a rule without an action, a field nobody knows or an impossible kind.
    """
    _known(document, document.spec, _SPEC, "spec")
    rules = list_of(document.spec.get("rules"))
    if not rules:
        raise document.error("the policy has no rules, so nothing is ever asked", key="spec.rules")
    for index, entry in enumerate(rules):
        rule = mapping_of(entry)
        place = f"spec.rules.{index}"
        _known(document, rule, _RULE, place)
        if not any(rule.get(action) for action in ACTIONS):
            raise document.error(
                f"the rule has none of {', '.join(ACTIONS)}, so it does nothing", key=f"{place}.validate"
            )
        _known(document, mapping_of(rule.get("validate")), _VALIDATE, f"{place}.validate")
        for part in ("match", "exclude"):
            _check_block(document, mapping_of(rule.get(part)), f"{place}.{part}", kinds=part == "match")


def check_cel(document: PolicyDocument, family: PolicyFamily) -> None:
    """Refuse a policy in CEL that has nothing to ask, or asks about what nothing can be.

    Raises:
        ContentError: it has no validations, a field nobody knows or constraints that match nothing.
    """
    spec = document.spec
    _known(document, spec, _CEL_SPECS[family], "spec")
    if not list_of(spec.get("validations")):
        raise document.error("without validations the policy asks nothing", key="spec.validations")
    constraints = mapping_of(spec.get("matchConstraints"))
    _known(document, constraints, _CONSTRAINTS, "spec.matchConstraints")
    for index, entry in enumerate(list_of(constraints.get("resourceRules"))):
        _check_resource_rule(document, mapping_of(entry), f"spec.matchConstraints.resourceRules.{index}")


def _known(document: PolicyDocument, value: Mapping[str, Any], known: Iterable[str], place: str) -> None:
    names = sorted(known)
    for key in value:
        if key not in names:
            close = difflib.get_close_matches(key, names, n=1)
            raise document.error(
                "no such field",
                key=f"{place}.{key}",
                suggestion=f"did you mean {close[0]}?" if close else "",
            )


def _check_block(document: PolicyDocument, block: Mapping[str, Any], place: str, *, kinds: bool) -> None:
    _known(document, block, _MATCH, place)
    filters = [(place, block)]
    for part in ("any", "all"):
        for index, entry in enumerate(list_of(block.get(part))):
            where = f"{place}.{part}.{index}"
            filters.append((where, mapping_of(entry)))
            _known(document, mapping_of(entry), _FILTER, where)
    for where, entry in filters:
        resources = mapping_of(entry.get("resources"))
        _known(document, resources, _RESOURCES, f"{where}.resources")
        for selector in texts_of(resources.get("kinds")) if kinds else ():
            _check_selector(document, selector, f"{where}.resources.kinds")


def _check_selector(document: PolicyDocument, selector: str, place: str) -> None:
    group, _, kind, sub = parse_kind_selector(selector)
    if sub not in ("", "*") or any(sign in kind for sign in "*?"):
        return  # what is below an object has kinds of its own, and patterns are not resolved here
    any_group = any(sign in group for sign in "*?")
    # A domain stands for groups that are not known: only the spelling is looked at then.
    wrong = impossible_kind("example.org" if any_group else group, kind)
    if kind[:1].isupper() and (any_group or group in BUILT_IN_GROUPS):
        # Kinds come and go between versions of Kubernetes, and custom ones have any name: only what is, or nearly
        # is, the name of a kind elsewhere is taken for a slip of the pen.
        wrong = _slip(group, kind, any_group=any_group)
    if wrong is not None:
        raise document.error(f"{selector}: {wrong[0]}", key=place, suggestion=wrong[1])


def _slip(group: str, kind: str, *, any_group: bool) -> tuple[str, str] | None:
    known = built_in_kinds()
    names = {key.rpartition("/")[2] for key in known}
    if kind_key(group, kind) in known or (any_group and kind in names):
        return None
    same = [name for name in (kind, kind.removesuffix("s")) if name in names]
    close = same[:1] or difflib.get_close_matches(kind, sorted(names), n=1, cutoff=_SAME)
    if not close:
        return None
    meant = " or ".join(sorted(key for key in known if key.rpartition("/")[2] == close[0]))
    if any_group:
        meant = f"{meant}? A kind of your own needs its group: group/version/{kind}"
        return f"Kubernetes has no kind {kind}", f"did you mean {meant}"
    return f"group {group or 'core'} has no kind {kind}", f"did you mean {meant}?"


def _check_resource_rule(document: PolicyDocument, rule: Mapping[str, Any], place: str) -> None:
    _known(document, rule, _RESOURCE_RULE, place)
    for key in ("apiGroups", "apiVersions", "operations", "resources"):
        if not texts_of(rule.get(key)):
            raise document.error(f"without {key} it matches nothing", key=f"{place}.{key}")
    groups, resources = texts_of(rule.get("apiGroups")), texts_of(rule.get("resources"))
    for group in groups:
        if group not in BUILT_IN_GROUPS | _LEGACY_GROUPS and group != "*" and "." not in group:
            raise document.error(
                f"there is no API group {group!r}",
                key=f"{place}.apiGroups",
                suggestion='the core group is written ""' if group in ("core", "v1") else _group_meant(group),
            )
    for resource in resources:
        plural, _, sub = resource.partition("/")
        if sub or "*" in plural:
            continue
        # Groups and resources are combined freely: a resource is wrong only when none of the groups has it.
        meant = _resource_meant(plural)
        if meant and all(
            group in BUILT_IN_GROUPS and built_in_kind(group, plural) is None for group in groups
        ):
            raise document.error(
                f"group {' or '.join(group or 'core' for group in groups)} has no resource {plural}",
                key=f"{place}.resources",
                suggestion=meant,
            )


def _group_meant(group: str) -> str:
    close = difflib.get_close_matches(group, sorted(BUILT_IN_GROUPS), n=1)
    return f"did you mean {close[0]}?" if close else "see kubectl api-resources"


def _resource_meant(plural: str) -> str:
    """What a resource that its group does not have was meant to be; empty where it may be one of another version."""
    groups: dict[str, list[str]] = {}
    for key, (known, _) in built_in_kinds().items():
        groups.setdefault(known, []).append(key.rpartition("/")[0] or "core")
    lower = plural.lower()
    found = [name for name in (lower, f"{lower}s") if name in groups] or difflib.get_close_matches(
        lower, sorted(groups), n=1, cutoff=_SAME
    )
    return f"did you mean {found[0]} of group {' or '.join(groups[found[0]])}?" if found else ""
