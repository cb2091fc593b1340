"""What a rule needs besides its subject, what no offline run can give it, and why its verdict could differ.

Found by reading the policy's text, before anything runs: the CLI itself panics on some of these, and answers
others with an empty list that looks like the truth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from audit.library.kyverno.documents import list_of, mapping_of, text_of
from audit.model.api_resources import built_in_kind, is_namespaced
from audit.model.kyverno import Caveat, ObjectNeed
from audit.model.rule import ContextNeed
from audit.model.subject import kind_key

NEEDS_NETWORK = "needs_network"
NEEDS_API_SERVER = "needs_api_server"
NEEDS_GLOBAL_CONTEXT = "needs_global_context"

# Everything a context rule may look at in another object; the reader keeps apiVersion, kind and the rest of metadata.
_WHOLE = (
    "spec", "status", "data", "binaryData", "type", "rules", "aggregationRule", "subjects", "roleRef",
    "secrets", "imagePullSecrets", "automountServiceAccountToken", "webhooks", "subsets", "endpoints", "ports",
    "addressType", "provisioner", "parameters", "reclaimPolicy", "volumeBindingMode", "value", "globalDefault",
    "handler", "template", "metadata.ownerReferences", "metadata.generateName", "metadata.creationTimestamp",
)  # fmt: skip
_VARIABLE = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_USER = re.compile(
    r"request\.(userInfo|roles|clusterRoles)\b|\{\{\s*serviceAccountName(space)?\b|\bauthorizer\b"
)
_OPERATION = re.compile(r"request\.(operation|oldObject)\b|\boldObject\b")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_RESOURCE_CALL = re.compile(r"\bresource\.(Get|List|Post)\(")
_LITERAL_CALL = re.compile(
    r"\bresource\.(Get|List)\(\s*(?P<q>[\"'])(?P<version>[^\"']*)(?P=q)\s*,"
    r"\s*(?P<p>[\"'])(?P<plural>[^\"']*)(?P=p)\s*,\s*(?P<namespace>\"\"|'')?"
)
_CEL_NETWORK = re.compile(r"\bhttp\.(Get|Post|Client)\b")
_CEL_GLOBAL = re.compile(r"\bglobalContext\.Get\(")


_NOTHING = ("", "")
_CONFIG_MAP = ObjectNeed(group="", version="v1", kind="ConfigMap", plural="configmaps", whole_cluster=False)


class Needs(msgspec.Struct, frozen=True, kw_only=True):
    """What one rule asks of its surroundings."""

    objects: tuple[ObjectNeed, ...] = ()
    cannot_run: str = ""
    cannot_run_text: str = ""
    caveats: tuple[Caveat, ...] = ()
    reads: frozenset[str] = frozenset()


def needs_of_classic(rule: dict[str, Any], global_entries: dict[str, dict[str, Any]]) -> Needs:
    """Needs of a rule of a ClusterPolicy or Policy.

    Args:
        rule: as written.
        global_entries: specs of the GlobalContextEntries that were loaded, by name.
    """
    objects: dict[str, ObjectNeed] = {}
    problem = _NOTHING
    validate = mapping_of(rule.get("validate"))
    if validate.get("manifests"):
        problem = (NEEDS_NETWORK, "checks signatures of manifests, which needs the transparency log")
    for entry in _context_entries(rule):
        found, trouble = _entry(entry, global_entries)
        problem = problem if problem[0] else trouble
        objects |= {f"{need.group}/{need.version}/{need.plural}/{need.whole_cluster}": need for need in found}
    text = msgspec.json.encode(rule).decode()
    selects_user = any(
        mapping_of(block).get(key)
        for part in ("match", "exclude")
        for block in _filters(mapping_of(rule.get(part)))
        for key in ("subjects", "roles", "clusterRoles")
    )
    selects_operation = any(
        mapping_of(mapping_of(block).get("resources")).get("operations")
        for part in ("match", "exclude")
        for block in _filters(mapping_of(rule.get(part)))
    )
    return Needs(
        objects=tuple(objects[key] for key in sorted(objects)),
        cannot_run=problem[0],
        cannot_run_text=problem[1],
        caveats=_caveats(text, user=selects_user, operation=selects_operation),
        reads=frozenset(_WORD.findall(text)),
    )


def needs_of_cel(spec: dict[str, Any]) -> Needs:
    """Needs of a policy written in CEL."""
    text = msgspec.json.encode(spec).decode().replace('\\"', '"')
    objects: dict[str, ObjectNeed] = {}
    problem = _NOTHING
    if _CEL_NETWORK.search(text):
        problem = (NEEDS_NETWORK, "calls a service")
    elif _CEL_GLOBAL.search(text):
        problem = (NEEDS_GLOBAL_CONTEXT, "reads a global context entry, which the CLI takes for empty")
    calls = list(_LITERAL_CALL.finditer(text))
    if len(calls) != len(_RESOURCE_CALL.findall(text)):
        problem = problem if problem[0] else (NEEDS_API_SERVER, "reads objects whose kind is computed")
    for call in calls:
        group, _, version = call["version"].rpartition("/")
        kind = built_in_kind(group, call["plural"])
        whole = call["namespace"] is not None
        if kind is None or (whole and is_namespaced(kind_key(group, kind)) and call[1] == "List"):
            reason = (
                "lists objects of a kind over all namespaces" if kind else "reads objects of a custom kind"
            )
            problem = problem if problem[0] else (NEEDS_API_SERVER, f"{reason}, which the CLI can't offline")
        else:
            key = f"{group}/{version}/{call['plural']}"
            objects[key] = ObjectNeed(
                group=group, version=version, kind=kind, plural=call["plural"], whole_cluster=whole
            )
    operations = {
        operation
        for entry in list_of(mapping_of(spec.get("matchConstraints")).get("resourceRules"))
        for operation in list_of(mapping_of(entry).get("operations"))
    }
    return Needs(
        objects=tuple(objects[key] for key in sorted(objects)),
        cannot_run=problem[0],
        cannot_run_text=problem[1],
        caveats=_caveats(text, user=False, operation=operations.isdisjoint({"CREATE", "*"})),
        reads=frozenset(_WORD.findall(text)),
    )


def context_needs(objects: Iterable[ObjectNeed], *, namespaces: bool, crds: bool) -> tuple[ContextNeed, ...]:
    """What the first pass must collect for a rule.

    Args:
        objects: other objects it reads.
        namespaces: it looks at namespace labels.
        crds: it is asked about custom kinds, whose names and scope are in their definitions.
    """
    needs = {kind_key(need.group, need.kind): (need.group, need.kind) for need in objects}
    found = [
        ContextNeed(group=group, kinds=(kind,), fields=_WHOLE) for _, (group, kind) in sorted(needs.items())
    ]
    if namespaces and "Namespace" not in needs:
        found.append(ContextNeed(kinds=("Namespace",)))
    if crds:
        found.append(
            ContextNeed(group="apiextensions.k8s.io", kinds=("CustomResourceDefinition",), fields=("spec",))
        )
    return tuple(found)


def _caveats(text: str, *, user: bool, operation: bool) -> tuple[Caveat, ...]:
    found = []
    if user or _USER.search(text):
        found.append(Caveat.DEPENDS_ON_USER)
    if operation or _OPERATION.search(text):
        found.append(Caveat.DEPENDS_ON_OPERATION)
    return tuple(found)


def _filters(block: dict[str, Any]) -> list[Any]:
    return [block, *list_of(block.get("any")), *list_of(block.get("all"))]


def _context_entries(part: Any) -> Iterator[dict[str, Any]]:
    """Context entries of a rule and of its loops, however deep."""
    if isinstance(part, list):
        for item in part:
            yield from _context_entries(item)
    elif isinstance(part, dict):
        for entry in list_of(part.get("context")):
            if isinstance(entry, dict):
                yield entry
        for key in ("validate", "foreach"):
            yield from _context_entries(part.get(key))


def _entry(
    entry: dict[str, Any], global_entries: dict[str, dict[str, Any]]
) -> tuple[list[ObjectNeed], tuple[str, str]]:
    if isinstance(entry.get("apiCall"), dict):
        return _api_call(entry["apiCall"])
    if isinstance(entry.get("configMap"), dict):
        return [_CONFIG_MAP], _NOTHING
    if isinstance(entry.get("globalReference"), dict):
        name = text_of(entry["globalReference"].get("name"))
        return _global(name, global_entries.get(name))
    # Variables are local; a registry's data are refused visibly by the CLI, and only where they are used.
    return [], _NOTHING


def _global(name: str, spec: dict[str, Any] | None) -> tuple[list[ObjectNeed], tuple[str, str]]:
    source = mapping_of((spec or {}).get("kubernetesResource"))
    plural = text_of(source.get("resource"))
    group, version = text_of(source.get("group")), text_of(source.get("version"))
    kind = built_in_kind(group, plural)
    if kind is None:
        return [], (
            NEEDS_GLOBAL_CONTEXT,
            f"reads the global context entry {name}, which is not at hand offline",
        )
    need = ObjectNeed(
        group=group, version=version, kind=kind, plural=plural, whole_cluster=not source.get("namespace")
    )
    return [need], _NOTHING


def _api_call(call: dict[str, Any]) -> tuple[list[ObjectNeed], tuple[str, str]]:
    if call.get("service"):
        return [], (NEEDS_NETWORK, "calls a service")
    url = text_of(call.get("urlPath"))
    need = object_need(url)
    if need is None or text_of(call.get("method")) not in ("", "GET"):
        return [], (NEEDS_API_SERVER, f"asks the API server for {url or 'something'}")
    return [need], _NOTHING


def object_need(url: str) -> ObjectNeed | None:
    """The objects behind an API path such as ``/apis/apps/v1/namespaces/{{ns}}/deployments``; None when unclear."""
    path = _VARIABLE.sub("{}", url).partition("?")[0]
    parts = path.strip("/").split("/")
    match parts:
        case ["api", version, *rest]:
            group = ""
        case ["apis", group, version, *rest]:
            pass
        case _:
            return None
    in_namespace = False
    match rest:
        case ["namespaces", _, plural] | ["namespaces", _, plural, _]:
            in_namespace = True
        case [plural] | [plural, _]:
            pass
        case _:
            return None
    kind = built_in_kind(group, plural)
    if kind is None or "{}" in version:
        return None
    return ObjectNeed(
        group=group,
        version=version,
        kind=kind,
        plural=plural,
        whole_cluster=len(rest) == 1 and not in_namespace,
    )
