"""How hard a policy acts, and how much it lets through: what makes one form weaker or wider than another."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from audit.consistency.form import Form, mapping_in, mappings_in, texts_in
from audit.consistency.kinds import ADMISSION, CEL, CILIUM, CONSTRAINTS, ISTIO, KYVERNO, LINKERD, RBAC
from audit.model.canonical import canonical_json

Atom = tuple[str, ...]
"""One thing, taken apart into fields: where it stands, then what it names. ``*`` in a field is all of that field."""

_MOST = 5_000
"""Atoms of one block; a longer one is one atom as a whole."""
_ANY = "*"


class Lever(msgspec.Struct, frozen=True):
    """A setting of which the values have an order."""

    rank: int
    """Higher acts harder."""
    word: str


class Strength(msgspec.Struct, frozen=True, kw_only=True):
    """What is compared of a policy when it isn't the same."""

    levers: dict[str, Lever]
    """By place."""
    lets: frozenset[Atom]
    """What it lets through or grants: one more is wider."""
    covers: frozenset[Atom]
    """What it speaks of: one less is wider."""
    rules: frozenset[str] = frozenset()
    """Where atoms stand that belong to one rule of it: what a rule lets through is nothing to a form without that rule."""

    def speaks_of(self, atom: Atom, rules: frozenset[str]) -> bool:
        """Whether an atom of a form with these rules could stand here too."""
        return rule_of(atom) not in rules or rule_of(atom) in self.rules


class _Found:
    """A strength in the making."""

    def __init__(self) -> None:
        self.levers: dict[str, Lever] = {}
        self.lets: set[Atom] = set()
        self.covers: set[Atom] = set()
        self.rules: set[str] = set()


def strength_of(form: Form, key: str) -> Strength:
    """Take a form apart.

    Args:
        form: from `form_of`.
        key: kind key.
    """
    group, _, kind = key.rpartition("/")
    found = _Found()
    read = _READERS.get(key) or _READERS.get(f"{group}/*")
    if read is not None:
        read(form, kind, found)
    return Strength(
        levers=found.levers,
        lets=frozenset(found.lets),
        covers=frozenset(found.covers),
        rules=frozenset(found.rules),
    )


_FAILURE = {"Fail": 1, "Ignore": 0}
_CLASSIC = {"Enforce": 1, "Audit": 0}
_ACTIONS = {"Deny": 3, "Warn": 2, "Audit": 1}
_ENFORCEMENT = {"deny": 2, "warn": 1, "dryrun": 0}
_MTLS = {"STRICT": 2, "PERMISSIVE": 1, "DISABLE": 0}
_AUTHORIZATION = {"CUSTOM": 1, "DENY": 1, "ALLOW": 1, "AUDIT": 0}
_LINKERD = {
    "deny": 3,
    "cluster-authenticated": 2,
    "all-authenticated": 1,
    "cluster-unauthenticated": 1,
    "all-unauthenticated": 0,
    "audit": 0,
}
_NOT_FOUND = {"Deny": 1, "Allow": 0}


def _one_of(found: _Found, place: str, value: Any, ranks: dict[str, int]) -> None:
    """A value that nobody knows has no rank, and so is neither weaker nor harder."""
    if isinstance(value, str) and value in ranks:
        found.levers[place] = Lever(ranks[value], value)


def _classic(form: Form, _kind: str, found: _Found) -> None:
    spec = mapping_in(form, "spec")
    _one_of(found, "spec.failurePolicy", spec.get("failurePolicy", "Fail"), _FAILURE)
    for name in ("admission", "background"):
        value = spec.get(name, True)
        if isinstance(value, bool):
            found.levers[f"spec.{name}"] = Lever(int(value), str(value).lower())
    for rule in mappings_in(spec, "rules"):
        place = f"rule {rule.get('name', '')}"
        found.rules.add(place)
        blocks = [
            *([mapping_in(rule, "validate")] if rule.get("validate") else []),
            *mappings_in(rule, "verifyImages"),
        ]
        for index, block in enumerate(blocks):
            at = f"{place}, failureAction{f' {index + 1}' if len(blocks) > 1 else ''}"
            _one_of(found, at, block.get("failureAction"), _CLASSIC)
            for override in mappings_in(block, "failureActionOverrides"):
                if override.get("action") == "Audit":
                    names = texts_in(override, "namespaces")
                    selector = (
                        _text(override.get("namespaceSelector")) if "namespaceSelector" in override else ""
                    )
                    found.lets |= {(f"{place}, only audited", name, selector) for name in names or [_ANY]}
        found.lets |= _kyverno_filters(f"{place}, exclude", mapping_in(rule, "exclude"))
        found.covers |= _kyverno_filters(f"{place}, match", mapping_in(rule, "match"))
        found.lets |= {
            (f"{place}, precondition", _text(item)) for item in _conditions(rule.get("preconditions"))
        }


def _conditions(block: Any) -> Iterator[Any]:
    """Each of them narrows what a rule speaks of; what stands under ``any`` does so together."""
    if isinstance(block, list):
        yield from block
    elif isinstance(block, dict):
        listed = block.get("all")
        yield from listed if isinstance(listed, list) else ()
        if block.get("any"):
            yield {"any": block["any"]}


def _kyverno_filters(place: str, block: Form) -> set[Atom]:
    """What the filters of a match or exclude block name, each combination by itself."""
    if list(block) == ["any"]:
        atoms: set[Atom] = set()
        for entry in mappings_in(block, "any"):
            atoms |= _kyverno_filter(place, entry)
        return atoms
    return {(place, _text(block))} if block else set()


def _kyverno_filter(place: str, entry: Form) -> set[Atom]:
    resources = mapping_in(entry, "resources")
    names = texts_in(resources, "names")
    if isinstance(resources.get("name"), str):
        names.append(resources["name"])
    known = {"kinds", "name", "names", "namespaces", "operations"}
    rest = {name: value for name, value in resources.items() if name not in known}
    rest |= {name: value for name, value in entry.items() if name != "resources"}
    lists = [texts_in(resources, name) or [_ANY] for name in ("kinds", "namespaces", "operations")]
    return _product(place, *lists, names or [_ANY], [_text(rest) if rest else _ANY])


def _exception(form: Form, _kind: str, found: _Found) -> None:
    spec = mapping_in(form, "spec")
    for entry in mappings_in(spec, "exceptions"):
        found.lets |= {
            ("exempt from", str(entry.get("policyName", "")), rule) for rule in texts_in(entry, "ruleNames")
        }
    for entry in mappings_in(spec, "policyRefs"):
        found.lets.add(("exempt from", str(entry.get("name", "")), _ANY))
    found.lets |= _kyverno_filters("exempt", mapping_in(spec, "match"))


def _admission(form: Form, kind: str, found: _Found) -> None:
    """ValidatingAdmissionPolicy, its binding, the mutating ones, and Kyverno's kinds of the same shape."""
    spec = mapping_in(form, "spec")
    binding = kind.endswith("Binding")
    if not binding:
        _one_of(found, "spec.failurePolicy", spec.get("failurePolicy", "Fail"), _FAILURE)
    if "Validating" in kind and (binding or kind != "ValidatingAdmissionPolicy"):
        actions = texts_in(spec, "validationActions") or ([] if binding else ["Deny"])
        rank = max((_ACTIONS.get(action, 0) for action in actions), default=0)
        found.levers["spec.validationActions"] = Lever(rank, ", ".join(actions))
    _one_of(
        found,
        "spec.paramRef.parameterNotFoundAction",
        mapping_in(spec, "paramRef").get("parameterNotFoundAction"),
        _NOT_FOUND,
    )
    for name in ("admission", "background"):
        value = mapping_in(spec, "evaluation", name).get("enabled", True)
        if kind.endswith("Policy") and not kind.endswith("AdmissionPolicy") and isinstance(value, bool):
            found.levers[f"spec.evaluation.{name}.enabled"] = Lever(int(value), str(value).lower())
    at = "matchResources" if binding else "matchConstraints"
    block = mapping_in(spec, at)
    rules = mappings_in(block, "resourceRules")
    for entry in rules or ([{}] if binding else []):
        found.covers |= _resource_rule(f"{at}.resourceRules", entry)
    for entry in mappings_in(block, "excludeResourceRules"):
        found.lets |= _resource_rule(f"{at}.excludeResourceRules", entry)
    for name in ("namespaceSelector", "objectSelector"):
        _selector(f"{at}.{name}", mapping_in(block, name), found)
    for entry in mappings_in(spec, "matchConditions"):
        found.lets.add(("matchConditions", _expression(entry)))
    for entry in mappings_in(spec, "validations"):
        found.covers.add(("validations", _expression(entry)))


def _expression(entry: Form) -> str:
    value = entry.get("expression")
    return " ".join(value.split()) if isinstance(value, str) else _text(entry)


def _resource_rule(place: str, entry: Form) -> set[Atom]:
    lists = [
        texts_in(entry, name) or [_ANY]
        for name in ("apiGroups", "apiVersions", "operations", "resources", "resourceNames")
    ]
    scope = entry.get("scope", _ANY)
    return _product(place, *lists, [scope if isinstance(scope, str) else _text(scope)])


def _selector(place: str, selector: Form, found: _Found) -> None:
    """Each requirement narrows; one more value of In widens it again, one more of NotIn narrows it further."""
    for name, value in mapping_in(selector, "matchLabels").items():
        found.lets.add((place, name, "is not", str(value)))
    for entry in mappings_in(selector, "matchExpressions"):
        name, operator = str(entry.get("key", "")), str(entry.get("operator", ""))
        values = texts_in(entry, "values")
        if operator == "In":
            found.lets.add((place, name, "not in a list"))
            found.covers |= {(place, name, "in", value) for value in values}
        elif operator == "NotIn":
            found.lets |= {(place, name, "in", value) for value in values}
        else:
            found.lets.add((place, name, f"not {operator}"))


def _constraint(form: Form, _kind: str, found: _Found) -> None:
    spec = mapping_in(form, "spec")
    action = spec.get("enforcementAction", "deny")
    _one_of(found, "spec.enforcementAction", action, _ENFORCEMENT)
    if action == "scoped":
        for entry in mappings_in(spec, "scopedEnforcementActions"):
            for point in mappings_in(entry, "enforcementPoints"):
                place = f"spec.scopedEnforcementActions, {point.get('name', '')}"
                _one_of(found, place, entry.get("action"), _ENFORCEMENT)
    match = mapping_in(spec, "match")
    found.lets |= {("excludedNamespaces", name) for name in texts_in(match, "excludedNamespaces")}
    found.covers |= {("namespaces", name) for name in texts_in(match, "namespaces") or [_ANY]}
    for entry in mappings_in(match, "kinds") or [{}]:
        found.covers |= _product(
            "kinds", texts_in(entry, "apiGroups") or [_ANY], texts_in(entry, "kinds") or [_ANY]
        )
    found.covers.add(("scope", str(match.get("scope", _ANY))))
    for name in ("namespaceSelector", "labelSelector"):
        _selector(name, mapping_in(match, name), found)


def _istio(form: Form, kind: str, found: _Found) -> None:
    spec = mapping_in(form, "spec")
    if kind == "PeerAuthentication":
        _one_of(found, "spec.mtls.mode", mapping_in(spec, "mtls").get("mode"), _MTLS)
        for port, entry in mapping_in(spec, "portLevelMtls").items():
            _one_of(found, f"spec.portLevelMtls.{port}.mode", mapping_in(entry).get("mode"), _MTLS)
    elif kind == "AuthorizationPolicy":
        action = spec.get("action", "ALLOW")
        _one_of(found, "spec.action", action, _AUTHORIZATION)
        dry = str(mapping_in(form, "metadata", "annotations").get("istio.io/dry-run", "false")).lower()
        found.levers["istio.io/dry-run"] = Lever(int(dry != "true"), dry)
        rules = {("rules", _text(rule)) for rule in mappings_in(spec, "rules")}
        if action == "ALLOW":
            found.lets |= rules
        elif action == "DENY":
            found.covers |= rules
        # More labels mean fewer workloads.
        for name, value in mapping_in(spec, "selector", "matchLabels").items():
            found.lets.add(("selector", name, "is not", str(value)))


def _network(form: Form, _kind: str, found: _Found) -> None:
    spec = mapping_in(form, "spec")
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for rule in mappings_in(spec, direction):
            ends = [_text(peer) for peer in mappings_in(rule, peers)] or [_ANY]
            ports = [_text(port) for port in mappings_in(rule, "ports")] or [_ANY]
            found.lets |= _product(direction, ends, ports)
    types = texts_in(spec, "policyTypes") or ["Ingress", *(["Egress"] if spec.get("egress") else [])]
    found.covers |= {("policyTypes", name) for name in types}
    _selector("podSelector", mapping_in(spec, "podSelector"), found)


def _rights(form: Form, _kind: str, found: _Found) -> None:
    grants = form.get("grants")
    for grant in grants if isinstance(grants, list) else ():
        found.lets.add(("grants", *(str(part) for part in grant)))
    for subject in mappings_in(form, "subjects"):
        # A user called * is one user.
        parts = (str(subject.get(name, "")).replace("*", "\\*") for name in ("kind", "namespace", "name"))
        found.lets.add(("binds", *parts))


def _gatekeeper_config(form: Form, _kind: str, found: _Found) -> None:
    for entry in mappings_in(form, "spec", "match"):
        found.lets |= _product("exempt", texts_in(entry, "processes"), texts_in(entry, "excludedNamespaces"))


def _linkerd(form: Form, _kind: str, found: _Found) -> None:
    value = mapping_in(form, "spec").get("accessPolicy", "deny")
    _one_of(found, "spec.accessPolicy", value, _LINKERD)


def _cilium(form: Form, _kind: str, found: _Found) -> None:
    for index, rule in enumerate([mapping_in(form, "spec"), *mappings_in(form, "specs")]):
        for name, value in mapping_in(rule, "enableDefaultDeny").items():
            place = f"{'spec' if not index else f'specs[{index - 1}]'}.enableDefaultDeny.{name}"
            found.levers[place] = Lever(int(value is not False), str(value).lower())


_READERS: dict[str, Callable[[Form, str, _Found], None]] = {
    f"{RBAC}/*": _rights,
    f"{KYVERNO}/ClusterPolicy": _classic,
    f"{KYVERNO}/Policy": _classic,
    f"{KYVERNO}/PolicyException": _exception,
    f"{CEL}/PolicyException": _exception,
    f"{CEL}/*": _admission,
    f"{ADMISSION}/*": _admission,
    f"{CONSTRAINTS}/*": _constraint,
    "config.gatekeeper.sh/Config": _gatekeeper_config,
    f"{ISTIO}/*": _istio,
    f"{LINKERD}/Server": _linkerd,
    f"{CILIUM}/*": _cilium,
    "networking.k8s.io/NetworkPolicy": _network,
}


def _product(place: str, *lists: Iterable[str]) -> set[Atom]:
    parts = [list(part) for part in lists]
    size = 1
    for part in parts:
        size *= len(part)
    if size > _MOST:
        return {(place, _text(parts))}
    return {(place, *combination) for combination in itertools.product(*parts)}


def _text(value: Any) -> str:
    return canonical_json(value).decode()


def rule_of(atom: Atom) -> str:
    """The rule that an atom belongs to, as in `Strength.rules`; something else where it belongs to none."""
    return atom[0].rpartition(", ")[0]


def not_covered(atoms: Iterable[Atom], by: frozenset[Atom]) -> list[Atom]:
    """Those that no atom of `by` names or includes with a ``*``, sorted."""
    wide = [atom for atom in by if _ANY in atom[1:]]
    return sorted(
        atom for atom in atoms if atom not in by and not any(_includes(other, atom) for other in wide)
    )


def _includes(wide: Atom, atom: Atom) -> bool:
    return (
        len(wide) == len(atom)
        and wide[0] == atom[0]
        and all(part in (_ANY, other) for part, other in zip(wide[1:], atom[1:], strict=True))
    )
