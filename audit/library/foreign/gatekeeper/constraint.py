"""Constraints: their match block, parameters and enforcement action, refused where Gatekeeper refuses them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from audit.errors import ContentError
from audit.library.foreign.gatekeeper.schema import problems, with_defaults
from audit.library.foreign.gatekeeper.template import Template
from audit.library.kyverno.documents import PolicyDocument, list_of, mapping_of, text_of
from audit.model.subject import kind_key

GROUP = "constraints.gatekeeper.sh"
_VERSIONS = frozenset({"v1beta1", "v1alpha1"})
_ACTIONS = {"deny": False, "warn": True, "dryrun": True}
"""Action to whether it only warns."""
_SCOPED = "scoped"
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?\Z")
_WILDCARD = re.compile(r"\*?[-:a-z0-9]*\*?\Z")
_SPEC = frozenset({"match", "parameters", "enforcementAction", "scopedEnforcementActions"})
_SOURCES = frozenset({"All", "Generated", "Original"})
_SCOPES = frozenset({"*", "Cluster", "Namespaced"})
_MATCH = {
    "kinds": list,
    "scope": str,
    "namespaces": list,
    "excludedNamespaces": list,
    "labelSelector": dict,
    "namespaceSelector": dict,
    "name": str,
    "source": str,
}


class Constraint(msgspec.Struct, frozen=True, kw_only=True):
    """One constraint that its template takes."""

    kind: str
    name: str
    document: PolicyDocument
    match: dict[str, Any]
    parameters: dict[str, Any]
    action: str
    """As people say it, for example ``dryrun`` or ``scoped: deny at audit.gatekeeper.sh``."""
    warn_only: bool

    @property
    def key(self) -> str:
        """``Kind/name``."""
        return f"{self.kind}/{self.name}"

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kind keys it matches, ``*/Kind`` for any group, ``group/*`` for any kind; empty means every kind."""
        found: set[str] = set()
        for entry in list_of(self.match.get("kinds")):
            groups = list_of(entry.get("apiGroups")) or ["*"]
            for kind in list_of(entry.get("kinds")) or ["*"]:
                for group in ["*"] if "*" in groups else groups:
                    if kind == "*" and group == "*":
                        return ()
                    found.add(f"/{kind}" if kind == "*" and not group else kind_key(group, kind))
        return tuple(sorted(found))

    @property
    def needs_namespaces(self) -> bool:
        """Whether labels of Namespaces decide what it matches."""
        return bool(self.match.get("namespaceSelector"))

    @property
    def never_matches(self) -> bool:
        """It asks for objects that an audit never has."""
        return self.match.get("source") == "Generated"


def read_constraint(document: PolicyDocument, template: Template) -> Constraint:
    """Read one constraint.

    Raises:
        ContentError: the API server or Gatekeeper would refuse it.
    """
    group, _, version = document.api_version.rpartition("/")
    if group != GROUP or version not in _VERSIONS:
        raise document.error(f"constraints have no apiVersion {document.api_version}", key="apiVersion")
    if not _NAME.match(document.name):
        raise document.error(f"{document.name!r} is no name of a constraint", key="metadata.name")
    _known_keys(document, document.spec, _SPEC, "spec")
    match = document.spec.get("match")
    if match is not None and not isinstance(match, dict):
        raise document.error("must be a mapping", key="spec.match")
    checked = {key: value for key, value in mapping_of(match).items() if value is not None}
    _check_match(document, checked)
    # Defaults reach into parameters that are there; like the API server, nobody makes them up where they are left out.
    whole = {"properties": {"parameters": template.schema}}
    filled = with_defaults(dict(document.spec), whole).get("parameters")
    filled = {} if filled is None else filled
    wrong = problems(filled, template.schema, legacy=template.legacy)
    if wrong:
        raise document.error("; ".join(wrong[:5]), key="spec.parameters")
    action, warn_only = _action(document)
    return Constraint(
        kind=document.kind,
        name=document.name,
        document=document,
        match=checked,
        parameters=mapping_of(filled),
        action=action,
        warn_only=warn_only,
    )


def _check_match(document: PolicyDocument, match: Mapping[str, Any]) -> None:
    _known_keys(document, match, frozenset(_MATCH), "spec.match")
    for key, value in match.items():
        if not isinstance(value, _MATCH[key]):
            raise document.error(f"must be a {_WORDS[_MATCH[key]]}", key=f"spec.match.{key}")
    for index, entry in enumerate(list_of(match.get("kinds"))):
        place = f"spec.match.kinds[{index}]"
        if not isinstance(entry, dict):
            raise document.error("must be a mapping", key=place)
        _known_keys(document, entry, frozenset({"apiGroups", "kinds"}), place)
        for key, value in entry.items():
            _texts(document, value, f"{place}.{key}")
    for key in ("namespaces", "excludedNamespaces"):
        for text in _texts(document, match.get(key), f"spec.match.{key}"):
            _wildcard(document, text, f"spec.match.{key}")
    _wildcard(document, text_of(match.get("name")), "spec.match.name")
    for key in ("labelSelector", "namespaceSelector"):
        if key in match:
            _check_selector(document, match[key], f"spec.match.{key}")
    if match.get("source", "All") not in _SOURCES:
        raise document.error(f"must be one of {', '.join(sorted(_SOURCES))}", key="spec.match.source")
    if match.get("scope", "*") not in _SCOPES:
        raise document.error(
            f"{match['scope']} is no scope, so every object would match",
            key="spec.match.scope",
            suggestion="write Cluster, Namespaced or *",
        )


_WORDS = {list: "list", str: "text", dict: "mapping"}


def _known_keys(
    document: PolicyDocument, value: Mapping[str, Any], known: frozenset[str], place: str
) -> None:
    import difflib  # noqa: PLC0415  # only when something is already wrong

    for key in value:
        if key not in known:
            close = difflib.get_close_matches(str(key), sorted(known), n=1)
            raise document.error(
                "no such field",
                key=f"{place}.{key}",
                suggestion=f"did you mean {close[0]}?" if close else "",
            )


def _texts(document: PolicyDocument, value: Any, place: str) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise document.error("must be a list of texts", key=place)
    return value


def _wildcard(document: PolicyDocument, text: str, place: str) -> None:
    if not _WILDCARD.match(text):
        raise document.error(f"{text!r} is no name, and a * stands only at its beginning or end", key=place)


def _check_selector(document: PolicyDocument, selector: Mapping[str, Any], place: str) -> None:
    _known_keys(document, selector, frozenset({"matchLabels", "matchExpressions"}), place)
    labels = selector.get("matchLabels")
    if labels is not None and not (
        isinstance(labels, dict) and all(isinstance(value, str) for value in labels.values())
    ):
        raise document.error("must be a mapping of texts", key=f"{place}.matchLabels")
    for index, entry in enumerate(list_of(selector.get("matchExpressions"))):
        where = f"{place}.matchExpressions[{index}]"
        if not isinstance(entry, dict) or not text_of(entry.get("key")):
            raise document.error("needs a key", key=where)
        _known_keys(document, entry, frozenset({"key", "operator", "values"}), where)
        values = _texts(document, entry.get("values"), f"{where}.values")
        operator = entry.get("operator")
        if operator in ("In", "NotIn") and values:
            continue
        if operator in ("Exists", "DoesNotExist") and not values:
            continue
        raise document.error(f"operator {operator} does not go with {len(values)} values", key=where)


def _action(document: PolicyDocument) -> tuple[str, bool]:
    action = document.spec.get("enforcementAction")
    if action is None:
        return "deny", False
    if action in _ACTIONS:
        return str(action), _ACTIONS[action]
    if action != _SCOPED:
        known = ", ".join([*_ACTIONS, _SCOPED])
        raise document.error(f"{action} is none of {known}", key="spec.enforcementAction")
    return _scoped(document)


def _scoped(document: PolicyDocument) -> tuple[str, bool]:
    """The strictest action at any point: what admission refuses is a failure, even where the audit is quiet."""
    place = "spec.scopedEnforcementActions"
    said: dict[str, list[str]] = {}
    for entry in list_of(document.spec.get("scopedEnforcementActions")):
        scoped = mapping_of(entry)
        points = [
            text_of(mapping_of(point).get("name")) for point in list_of(scoped.get("enforcementPoints"))
        ]
        action = text_of(scoped.get("action"))
        if action not in _ACTIONS:
            raise document.error(f"{action or 'nothing'} is none of {', '.join(_ACTIONS)}", key=place)
        if points:
            said.setdefault(action, []).extend(points)
    if not said:
        raise document.error("names no action with an enforcement point, so it is never enforced", key=place)
    text = ", ".join(f"{action} at {' and '.join(points)}" for action, points in sorted(said.items()))
    return f"scoped: {text}", all(_ACTIONS[action] for action in said)


def wrong_constraint(document: PolicyDocument, known: list[str]) -> ContentError:
    """A constraint whose kind no template defines."""
    import difflib  # noqa: PLC0415  # only when something is already wrong

    close = difflib.get_close_matches(document.kind, known, n=1)
    return document.error(
        f"no ConstraintTemplate defines the kind {document.kind}",
        key="kind",
        suggestion=f"did you mean {close[0]}?" if close else "",
    )
