"""What a policy object means: the part of it that decides, in one form however it was written, stored or served."""

from __future__ import annotations

import copy
import hashlib
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from audit.consistency.defaults import without_defaults
from audit.consistency.kinds import KYVERNO, RBAC, TEMPLATE, family_of
from audit.model.canonical import canonical_json

Form = dict[str, Any]

_DECIDING_LABELS = ("rbac.authorization.k8s.io/aggregate-to-",)
_DECIDING_ANNOTATIONS = (
    "pod-policies.kyverno.io/autogen-controllers",
    "policies.kyverno.io/scored",
    "istio.io/dry-run",
)
_AUTOGEN = "pod-policies.kyverno.io/autogen-controllers"
_ALL_CONTROLLERS = frozenset(
    {"CronJob", "DaemonSet", "Deployment", "Job", "ReplicaSet", "ReplicationController", "StatefulSet"}
)
_GENERATED = ("autogen-cronjob-", "autogen-")
_NEVER = ("apiVersion", "kind", "metadata", "status")

_EVERY_LIST_A_SET = ("rbac", "network", "istio", "linkerd", "cilium")
_ORDERED = frozenset(
    {"policy.networking.k8s.io/AdminNetworkPolicy", "policy.networking.k8s.io/BaselineAdminNetworkPolicy"}
)
"""The first rule that matches wins."""
_SETS = frozenset(
    {
        "all",
        "any",
        "apiGroups",
        "apiVersions",
        "clusterRoles",
        "enforcementPoints",
        "exceptions",
        "excludeResourceRules",
        "excludedNamespaces",
        "failureActionOverrides",
        "kinds",
        "matchConditions",
        "matchExpressions",
        "names",
        "namespaces",
        "operations",
        "policyRefs",
        "processes",
        "resourceNames",
        "resourceRules",
        "resources",
        "roles",
        "ruleNames",
        "scopedEnforcementActions",
        "subjects",
        "validationActions",
        "values",
    }
)
"""Lists of which the order says nothing, of the kinds that have ordered ones too."""
_AUTHORED = frozenset(
    {"pattern", "anyPattern", "parameters", "openAPIV3Schema", "patchStrategicMerge", "data", "assign"}
)
"""Below these an author writes data of any shape: nothing in there is sorted."""
_MOST_GRANTS = 20_000
"""Single rights that a role is taken apart into; one with more is compared as it is written."""

_ACTIONS = {"enforce": "Enforce", "audit": "Audit"}


def form_of(document: dict[str, Any], key: str) -> Form:
    """The deciding part of a policy.

    Args:
        document: the object as read; it is left as it is.
        key: its kind key.
    """
    form = {name: copy.deepcopy(value) for name, value in document.items() if name not in _NEVER}
    form = _without_nulls(form)
    if key in (f"{RBAC}/Role", f"{RBAC}/ClusterRole"):
        form = _role(form)
    elif key in (f"{RBAC}/RoleBinding", f"{RBAC}/ClusterRoleBinding"):
        _binding(form)
    elif key in (f"{KYVERNO}/ClusterPolicy", f"{KYVERNO}/Policy"):
        _kyverno(form)
    elif key == TEMPLATE:
        _template(form)
    form = _sorted(form, every=family_of(key) in _EVERY_LIST_A_SET and key not in _ORDERED)
    # Afterwards, so that a default that is a list is known in any order.
    without_defaults(form, key)
    metadata = _metadata(document)
    return {**form, **({"metadata": metadata} if metadata else {})}


def digest_of(form: Form, key: str) -> str:
    """sha256 (hex) over the kind key and the canonical JSON of a form."""
    return hashlib.sha256(canonical_json([key, form])).hexdigest()


def mapping_in(node: Any, *path: str) -> dict[str, Any]:
    """The mapping at a path; an empty one when something else, or nothing, is there."""
    for step in path:
        node = node.get(step) if isinstance(node, dict) else None
    return node if isinstance(node, dict) else {}


def mappings_in(node: Any, *path: str) -> list[dict[str, Any]]:
    """The mappings of the list at a path."""
    found = mapping_in(node, *path[:-1]).get(path[-1]) if path else node
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def texts_in(node: Any, *path: str) -> list[str]:
    """The texts of the list at a path."""
    found = mapping_in(node, *path[:-1]).get(path[-1]) if path else node
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []


def _metadata(document: dict[str, Any]) -> dict[str, Any]:
    """Labels and annotations that something reads to decide. Titles, owners and releases decide nothing."""
    metadata = mapping_in(document, "metadata")
    labels = {
        name: value
        for name, value in mapping_in(metadata, "labels").items()
        if name.startswith(_DECIDING_LABELS) and value == "true"
    }
    annotations = {
        name: value
        for name, value in mapping_in(metadata, "annotations").items()
        if name in _DECIDING_ANNOTATIONS
    }
    if (named := annotations.get(_AUTOGEN)) is not None:
        controllers = frozenset(str(named).split(","))
        if controllers in (_ALL_CONTROLLERS, {"all"}):
            del annotations[_AUTOGEN]
        else:
            annotations[_AUTOGEN] = ",".join(sorted(controllers))
    return {name: value for name, value in (("annotations", annotations), ("labels", labels)) if value}


def _without_nulls(node: Any) -> Any:
    """A null key is one that was not written."""
    if isinstance(node, dict):
        return {name: _without_nulls(child) for name, child in node.items() if child is not None}
    if isinstance(node, list):
        return [_without_nulls(item) for item in node]
    return node


def _sorted(node: Any, *, every: bool, name: str = "") -> Any:
    if isinstance(node, dict):
        return {
            key: child if key in _AUTHORED and not every else _sorted(child, every=every, name=key)
            for key, child in node.items()
        }
    if not isinstance(node, list):
        return node
    items = [_sorted(item, every=every) for item in node]
    return as_set(items) if every or name in _SETS else items


def as_set(items: Iterable[Any]) -> list[Any]:
    """Sorted by canonical JSON, each once."""
    found = {canonical_json(item): item for item in items}
    return [found[key] for key in sorted(found)]


def _role(form: Form) -> Form:
    """A role is the rights that it grants, however they are put into rules. Aggregated rules are the server's."""
    if "aggregationRule" in form:
        return {"aggregationRule": form["aggregationRule"]}
    rules = mappings_in(form, "rules")
    grants: list[list[str]] = []
    for rule in rules:
        for grant in _grants(rule):
            grants.append(grant)
            if len(grants) > _MOST_GRANTS:
                return {"rules": rules}
    return {"grants": grants}


def _grants(rule: dict[str, Any]) -> Iterator[list[str]]:
    verbs = texts_in(rule, "verbs")
    for verb, url in itertools.product(verbs, texts_in(rule, "nonResourceURLs")):
        yield [verb, "url", url]
    parts = (
        verbs,
        texts_in(rule, "apiGroups"),
        texts_in(rule, "resources"),
        texts_in(rule, "resourceNames") or ["*"],
    )
    for verb, group, resource, name in itertools.product(*parts):
        yield [verb, group, resource, name]


def _binding(form: Form) -> None:
    for subject in mappings_in(form, "subjects"):
        usual = "" if subject.get("kind") == "ServiceAccount" else RBAC
        if subject.get("apiGroup") == usual:
            del subject["apiGroup"]


def _template(form: Form) -> None:
    """How a block of YAML ends is no part of a program."""
    for target in mappings_in(form, "spec", "targets"):
        if isinstance(target.get("rego"), str):
            target["rego"] = target["rego"].rstrip()


def _kyverno(form: Form) -> None:
    """Each rule with the action that holds for it, match blocks in one form, generated rules left out."""
    spec = mapping_in(form, "spec")
    if not spec:
        return
    names = {name for rule in mappings_in(spec, "rules") if isinstance(name := rule.get("name"), str)}
    if isinstance(spec.get("rules"), list):
        spec["rules"] = [rule for rule in spec["rules"] if not _is_generated(rule, names)]
    usual = _action(spec.pop("validationFailureAction", None)) or "Audit"
    overrides = spec.pop("validationFailureActionOverrides", None)
    hook = mapping_in(spec, "webhookConfiguration")
    policy = hook.pop("failurePolicy", None) or spec.pop("failurePolicy", None) or "Fail"
    spec.pop("failurePolicy", None)
    seconds = hook.pop("timeoutSeconds", None) or spec.pop("webhookTimeoutSeconds", None)
    spec.pop("webhookTimeoutSeconds", None)
    if policy != "Fail":
        spec["failurePolicy"] = policy
    if seconds not in (None, 10):
        spec["webhookTimeoutSeconds"] = seconds
    if not hook:
        spec.pop("webhookConfiguration", None)
    for rule in mappings_in(spec, "rules"):
        for block in [
            *([rule["validate"]] if isinstance(rule.get("validate"), dict) else []),
            *mappings_in(rule, "verifyImages"),
        ]:
            block["failureAction"] = _action(block.get("failureAction")) or usual
            given = block.get("failureActionOverrides") or overrides
            block.pop("failureActionOverrides", None)
            if given and isinstance(given, list):
                block["failureActionOverrides"] = [
                    {**item, "action": _action(item.get("action"))} if isinstance(item, dict) else item
                    for item in given
                ]
        for name in ("match", "exclude"):
            if isinstance(rule.get(name), dict):
                rule[name] = _filters(rule[name])
                if not rule[name]:
                    del rule[name]


def _is_generated(rule: Any, names: set[str]) -> bool:
    name = rule.get("name") if isinstance(rule, dict) else None
    return isinstance(name, str) and any(
        name.startswith(prefix) and name.removeprefix(prefix) in names for prefix in _GENERATED
    )


def _action(value: Any) -> Any:
    """Kyverno takes an action in lower case too, which is how it was written first."""
    return _ACTIONS.get(value, value) if isinstance(value, str) else value


def _filters(block: dict[str, Any]) -> dict[str, Any]:
    """One filter is one filter, whether it stands alone, under ``any`` or under ``all``."""
    plain = {
        name: child for name, child in block.items() if name not in ("any", "all") and child not in ({}, [])
    }
    parts: dict[str, Any] = {name: block[name] for name in ("any", "all") if block.get(name)}
    if plain and not parts:
        return {"any": [plain]}
    if not plain and list(parts) == ["all"] and isinstance(parts["all"], list) and len(parts["all"]) == 1:
        return {"any": parts["all"]}
    return {**plain, **parts}
