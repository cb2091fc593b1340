"""Policies made ready for one cluster: what can't be answered offline is taken out and named, the rest is handed over.

A rule whose context the CLI can't load must not reach it: it panics on some (a listing of a kind it never saw),
leaves the variable of others out, and then ``||`` yields the fallback as if it were the truth.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from audit.evaluate.kyverno.capabilities import Capabilities
from audit.evaluate.kyverno.handover import to_document
from audit.evaluate.kyverno.request import Request
from audit.evaluate.kyverno.surroundings import Surroundings
from audit.model.kyverno import KyvernoPolicy, KyvernoRule, OutsideNeed, PolicyFamily

CONTEXT_EMPTY = "context_empty"
NEEDS_NEWER_CLI = "needs_newer_cli"
WITNESS_PREFIX = "fleetaudit-looked-"

Block = tuple[str, str]
"""(error code, text)"""


class ReadyPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """A policy as it will be handed over on one cluster."""

    policy: KyvernoPolicy
    """With its final document and the rules left in it; an empty document is not handed over at all."""
    blocked: dict[str, Block]
    """Rules that can't be answered, by rule id."""
    witnesses: dict[str, str]
    """Companion rule by rule id, for rules that loop."""
    conditions: str = ""
    """Companion policy that passes where the policy's own match conditions hold, and is skipped where they don't."""
    rows: int
    """What the CLI counts as policy rules."""


def make_ready(
    policy: KyvernoPolicy, request: Request, capabilities: Capabilities, surroundings: Surroundings | None
) -> ReadyPolicy:
    """Take out what can't run, rewrite what can, add companions.

    Args:
        policy: as loaded.
        request: what the user gives values for.
        capabilities: of the CLI.
        surroundings: the cluster's; None for a trial, where every kind is taken to be there.
    """
    blocked: dict[str, Block] = {}
    for rule in policy.rules:
        mocked = request.mocked(policy.name, rule.variants[0].row)
        for need in rule.outside:
            block = None if need.variable in mocked else _block(need, policy, capabilities, surroundings)
            if block is not None:
                blocked.setdefault(rule.rule.id, block)
    left = [rule for rule in policy.rules if rule.rule.id not in blocked]
    if not policy.document or not left:
        bare = msgspec.structs.replace(policy, document=b"", rules=())
        return ReadyPolicy(policy=bare, blocked=blocked, witnesses={}, rows=0)
    if policy.family is not PolicyFamily.CLASSIC:
        return ReadyPolicy(policy=policy, blocked=blocked, witnesses={}, rows=1)
    document, witnesses = _classic_document(policy, left, request)
    rows = sum(_forms(rule) * (2 if rule.rule.id in witnesses else 1) for rule in left)
    rows += int(policy.match_conditions)
    return ReadyPolicy(
        policy=msgspec.structs.replace(policy, document=document, rules=tuple(left)),
        blocked=blocked,
        witnesses=witnesses,
        conditions=_conditions_name(policy) if policy.match_conditions else "",
        rows=rows,
    )


def _block(
    need: OutsideNeed, policy: KyvernoPolicy, capabilities: Capabilities, surroundings: Surroundings | None
) -> Block | None:
    if need.objects is None:
        return need.code, need.text
    if policy.family is not PolicyFamily.VALIDATING:
        if policy.family is PolicyFamily.CLASSIC and not capabilities.offline_context:
            return NEEDS_NEWER_CLI, "reads other objects, which needs the Kyverno CLI 1.19 or newer"
        if surroundings is not None and surroundings.unanswerable(need.objects):
            return CONTEXT_EMPTY, f"lists {need.objects.plural}, of which none was collected"
    return None


def _forms(rule: KyvernoRule) -> int:
    return len({variant.row for variant in rule.variants})


def _classic_document(
    policy: KyvernoPolicy, left: list[KyvernoRule], request: Request
) -> tuple[bytes, dict[str, str]]:
    document = msgspec.json.decode(policy.document)
    by_name = {rule.variants[0].row: rule for rule in left}
    witnesses: dict[str, str] = {}
    handed: list[dict[str, Any]] = []
    for index, written in enumerate(document["spec"]["rules"]):
        rule = by_name.get(written["name"])
        if rule is None:
            continue
        offline = _rewritten(written, request.mocked(policy.name, written["name"]))
        handed.append(offline)
        if rule.loops and not policy.apply_one:
            witnesses[rule.rule.id] = f"{WITNESS_PREFIX}{index}"
            handed.append(_witness(offline, witnesses[rule.rule.id]))
    spec = document["spec"]
    spec["rules"] = handed
    if not policy.match_conditions:
        return to_document(document), witnesses
    # The CLI panics on any policy with such conditions.
    webhook = dict(spec["webhookConfiguration"])
    companion = _conditions(_conditions_name(policy), webhook.pop("matchConditions"))
    spec["webhookConfiguration"] = webhook
    return to_document(document) + b"\n---\n" + to_document(companion), witnesses


def _conditions_name(policy: KyvernoPolicy) -> str:
    return f"fleetaudit-conditions-{policy.row_name.replace('/', '.')}"


def _conditions(name: str, conditions: Any) -> dict[str, Any]:
    rule = {
        "name": "conditions",
        "match": {"any": [{"resources": {"kinds": ["*"]}}]},
        "celPreconditions": conditions,
        "validate": {"message": "looked at", "cel": {"expressions": [{"expression": "true"}]}},
    }
    return {
        "apiVersion": "kyverno.io/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": name},
        "spec": {"background": False, "rules": [rule]},  # wildcards are refused otherwise
    }


def _rewritten(part: Any, mocked: frozenset[str]) -> Any:
    """Context entries, however deep, in a form that the CLI answers offline."""
    if isinstance(part, list):
        return [_rewritten(item, mocked) for item in part]
    if not isinstance(part, dict):
        return part
    changed = dict(part)
    if isinstance(part.get("context"), list):
        changed["context"] = [_entry(entry, mocked) for entry in part["context"]]
    for key in ("validate", "foreach"):
        if key in part:
            changed[key] = _rewritten(part[key], mocked)
    return changed


def _entry(entry: Any, mocked: frozenset[str]) -> Any:
    if not isinstance(entry, dict):
        return entry
    name = entry.get("name")
    if name in mocked and "variable" not in entry:
        # The user gives the value. Without --registry image data have no loader, so nothing overwrites it.
        return {"name": name, "imageRegistry": {"reference": "given-by-the-user"}}
    config_map = entry.get("configMap")
    if isinstance(config_map, Mapping):
        # No loader: the variable would be missing without a word. The same object by API call is found, or is an error.
        where = f"namespaces/{config_map.get('namespace') or 'default'}/configmaps/{config_map.get('name')}"
        return {"name": name, "apiCall": {"urlPath": f"/api/v1/{where}"}}
    return entry


def _witness(rule: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A rule that is selected as its model is and always passes: a loop over an empty list gives no row."""
    kept = ("match", "exclude", "context", "preconditions", "celPreconditions")
    return {
        "name": name,
        **{key: rule[key] for key in kept if key in rule},
        "validate": {
            "message": "looked at",
            "deny": {"conditions": {"all": [{"key": "looked", "operator": "Equals", "value": "at"}]}},
        },
    }
