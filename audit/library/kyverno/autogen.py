"""Which forms Kyverno makes of a Pod rule for pod controllers: a reading of its pkg/autogen/v1 (1.14 to 1.19 agree).

Only names and match blocks are needed here; the forms themselves are made, and judged, by the CLI.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from audit.library.kyverno.documents import PolicyDocument, list_of, mapping_of, text_of, texts_of
from audit.library.kyverno.match_kinds import kinds_in
from audit.model.kyverno import RuleVariant

ANNOTATION = "pod-policies.kyverno.io/autogen-controllers"
_CONTROLLERS = {
    "DaemonSet": "apps/v1/DaemonSet",
    "Deployment": "apps/v1/Deployment",
    "Job": "batch/v1/Job",
    "StatefulSet": "apps/v1/StatefulSet",
    "ReplicaSet": "apps/v1/ReplicaSet",
    "ReplicationController": "v1/ReplicationController",
    "CronJob": "batch/v1/CronJob",
}
_POD_KINDS = frozenset({*_CONTROLLERS, "Pod"})
_MAX_NAME = 63
_GENERATED_TYPES = ("pattern", "deny", "podSecurity", "anyPattern", "foreach", "cel")


def controllers_of(document: PolicyDocument) -> tuple[str, ...]:
    """Controllers for which rules are generated when an object is judged; empty when none are.

    The split is as literal as Kyverno's: ``Deployment, Job`` names Deployment and " Job".
    """
    if not can_autogen(rules_of(document)):
        return ()
    annotations = mapping_of(document.metadata.get("annotations"))
    if ANNOTATION not in annotations:
        return tuple(sorted(_CONTROLLERS))
    return tuple(sorted(set(text_of(annotations[ANNOTATION]).split(","))))


def rules_of(document: PolicyDocument) -> list[dict[str, Any]]:
    """The rules of a classic policy that are mappings."""
    return [rule for rule in list_of(document.spec.get("rules")) if isinstance(rule, dict)]


def can_autogen(rules: Iterable[dict[str, Any]]) -> bool:
    """Whether the policy as a whole may be carried over to controllers: one unfit rule forbids it for all."""
    needed = False
    for rule in rules:
        if rule.get("generate"):
            return False
        mutate = mapping_of(rule.get("mutate"))
        if mutate.get("patchesJson6902") or any(
            mapping_of(entry).get("patchesJson6902") for entry in list_of(mutate.get("foreach"))
        ):
            return False
        for block in (mapping_of(rule.get("match")), mapping_of(rule.get("exclude"))):
            for resources in _descriptions(block):
                if not _carries_over(resources):
                    return False
                needed = needed or not _POD_KINDS.isdisjoint(texts_of(resources.get("kinds")))
    return needed


def _descriptions(block: dict[str, Any]) -> list[dict[str, Any]]:
    found = [mapping_of(block.get("resources"))]
    for part in ("any", "all"):
        found += [mapping_of(mapping_of(entry).get("resources")) for entry in list_of(block.get(part))]
    return found


def _carries_over(resources: dict[str, Any]) -> bool:
    kinds = texts_of(resources.get("kinds"))
    return not (
        resources.get("name")
        or resources.get("names")
        or resources.get("selector") is not None
        or resources.get("annotations") is not None
        or (len(kinds) > 1 and _contains_pod(kinds))
    )


def _contains_pod(kinds: Sequence[str]) -> bool:
    for selector in kinds:
        last = selector.rpartition("/")[2]
        if last.partition(".")[0] == "Pod" or selector.startswith("Pod/") or "/Pod/" in selector:
            return True
    return False


def variants_of(rule: dict[str, Any], controllers: Sequence[str]) -> tuple[RuleVariant, ...]:
    """The rule as written, and the forms generated for `controllers`."""
    name = text_of(rule.get("name"))
    match = mapping_of(rule.get("match"))
    exclude = mapping_of(rule.get("exclude"))
    variants = [RuleVariant(row=name, match=match, exclude=exclude)]
    for controller in controllers:
        variants += _generated(rule, name, controller)
    return tuple(variants)


def _is_generated(rule: dict[str, Any]) -> bool:
    if text_of(rule.get("name")).startswith("autogen-"):
        return False
    excluded = kinds_in(mapping_of(rule.get("exclude")))
    if not _contains_pod(kinds_in(mapping_of(rule.get("match")))) or (
        excluded and not _contains_pod(excluded)
    ):
        return False
    validate = mapping_of(rule.get("validate"))
    return bool(rule.get("verifyImages")) or any(validate.get(kind) is not None for kind in _GENERATED_TYPES)


def _generated(rule: dict[str, Any], name: str, controller: str) -> list[RuleVariant]:
    if controller in ("", "none", "all") or not _is_generated(rule):
        return []
    kinds = [_CONTROLLERS.get(controller, "v1/Pod" if controller == "Pod" else controller)]
    match, exclude = (copy.deepcopy(mapping_of(rule.get(part))) for part in ("match", "exclude"))
    for block in (match, exclude):
        _retarget(block, kinds, only_pods=controller != "CronJob", always=block is match)
    prefix = "autogen-cronjob-" if controller == "CronJob" else "autogen-"
    row = f"{prefix}{name}"[:_MAX_NAME]
    return [RuleVariant(row=row, kinds=(controller,), match=match, exclude=exclude)]


def _retarget(block: dict[str, Any], kinds: list[str], *, only_pods: bool, always: bool) -> None:
    for part in ("any", "all"):
        entries = [entry for entry in list_of(block.get(part)) if isinstance(entry, dict)]
        if not entries:
            continue
        for entry in entries:
            resources = mapping_of(entry.get("resources"))
            if not only_pods or _contains_pod(texts_of(resources.get("kinds"))):
                entry["resources"] = {**resources, "kinds": kinds}
        return
    resources = mapping_of(block.get("resources"))
    if always or texts_of(resources.get("kinds")):
        block["resources"] = {**resources, "kinds": kinds}
