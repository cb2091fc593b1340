"""What a rule needs besides its subject, what no offline run can give it, and why its verdict could differ.

Found by reading the policy's text, before anything runs: the CLI itself panics on some of these, and answers
others with an empty list that looks like the truth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from audit.library.kyverno.documents import list_of, mapping_of, text_of, texts_of
from audit.model.api_resources import built_in_kind, built_in_plural, guess_plural, is_namespaced
from audit.model.kyverno import Caveat, ObjectNeed, OutsideNeed
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
    r"\bresource\.(?P<verb>Get|List)\(\s*(?P<q>[\"'])(?P<version>[^\"']*)(?P=q)\s*,"
    r"\s*(?P<p>[\"'])(?P<plural>[^\"']*)(?P=p)\s*,\s*(?P<namespace>\"\"|'')?"
)
_CEL_NETWORK = re.compile(r"\bhttp\.(Get|Post|Client)\b")
_CEL_GLOBAL = re.compile(r"\bglobalContext\.Get\(")


_CONFIG_MAP = ObjectNeed(group="", version="v1", kind="ConfigMap", plural="configmaps", whole_cluster=False)


class Needs(msgspec.Struct, frozen=True, kw_only=True):
    """What one rule asks of its surroundings."""

    outside: tuple[OutsideNeed, ...] = ()
    caveats: tuple[Caveat, ...] = ()
    reads: frozenset[str] = frozenset()

    @property
    def objects(self) -> list[ObjectNeed]:
        """Objects that must be collected."""
        return [need.objects for need in self.outside if need.objects is not None]


def needs_of_classic(rule: dict[str, Any], global_entries: Mapping[str, dict[str, Any]]) -> Needs:
    """Needs of a rule of a ClusterPolicy or Policy.

    Args:
        rule: as written.
        global_entries: specs of the GlobalContextEntries that were loaded, by name.
    """
    validate = mapping_of(rule.get("validate"))
    outside = [
        need for entry in _context_entries(rule) if (need := _entry(entry, global_entries)) is not None
    ]
    outside += _parameters(mapping_of(validate.get("cel")))
    if validate.get("manifests"):
        text = "checks signatures of manifests, which needs the transparency log"
        outside.append(OutsideNeed(code=NEEDS_NETWORK, text=text))
    if rule.get("verifyImages"):
        outside.append(OutsideNeed(code=NEEDS_NETWORK, text="verifies images, which needs a registry"))
    text = msgspec.json.encode(rule).decode()
    filters = [
        mapping_of(entry) for part in ("match", "exclude") for entry in _filters(mapping_of(rule.get(part)))
    ]
    selects_user = any(entry.get(key) for entry in filters for key in ("subjects", "roles", "clusterRoles"))
    selects_operation = any(mapping_of(entry.get("resources")).get("operations") for entry in filters)
    return Needs(
        outside=tuple(outside),
        caveats=_caveats(text, user=selects_user, operation=selects_operation),
        reads=frozenset(_WORD.findall(text)),
    )


def needs_of_cel(spec: dict[str, Any]) -> Needs:
    """Needs of a policy written in CEL."""
    text = msgspec.json.encode(spec).decode().replace('\\"', '"')
    outside = []
    if _CEL_NETWORK.search(text):
        outside.append(OutsideNeed(code=NEEDS_NETWORK, text="calls a service"))
    if _CEL_GLOBAL.search(text):
        reason = "reads a global context entry, which the CLI takes for empty"
        outside.append(OutsideNeed(code=NEEDS_GLOBAL_CONTEXT, text=reason))
    calls = list(_LITERAL_CALL.finditer(text))
    if len(calls) != len(_RESOURCE_CALL.findall(text)):
        outside.append(OutsideNeed(code=NEEDS_API_SERVER, text="reads objects whose kind is computed"))
    outside += [_cel_call(call) for call in calls]
    outside += _parameters(spec)
    operations = {
        operation
        for entry in list_of(mapping_of(spec.get("matchConstraints")).get("resourceRules"))
        for operation in texts_of(mapping_of(entry).get("operations"))
    }
    return Needs(
        outside=tuple(outside),
        caveats=_caveats(text, user=False, operation=operations.isdisjoint({"CREATE", "*"})),
        reads=frozenset(_WORD.findall(text)),
    )


def _cel_call(call: re.Match[str]) -> OutsideNeed:
    group, _, version = call["version"].rpartition("/")
    plural = call["plural"]
    kind = built_in_kind(group, plural)
    if kind is None:
        return OutsideNeed(code=NEEDS_API_SERVER, text=f"reads {plural}.{group}, which the CLI can't offline")
    whole = call["namespace"] is not None
    if whole and call["verb"] == "List" and is_namespaced(kind_key(group, kind)):
        # Offline the CLI finds nothing then, and says nothing.
        text = f"lists {plural} over all namespaces, which the CLI can't offline"
        return OutsideNeed(code=NEEDS_API_SERVER, text=text)
    need = ObjectNeed(group=group, version=version, kind=kind, plural=plural, whole_cluster=False)
    return OutsideNeed(objects=need)


def _parameters(spec: dict[str, Any]) -> list[OutsideNeed]:
    """Objects of the parameter kind of a policy in CEL."""
    kind = mapping_of(spec.get("paramKind"))
    name = text_of(kind.get("kind"))
    if not name:
        return []
    group, _, version = text_of(kind.get("apiVersion")).rpartition("/")
    plural = built_in_plural(kind_key(group, name)) or guess_plural(name)
    need = ObjectNeed(group=group, version=version, kind=name, plural=plural, whole_cluster=False)
    return [OutsideNeed(objects=need)]


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


def _entry(entry: dict[str, Any], global_entries: Mapping[str, dict[str, Any]]) -> OutsideNeed | None:
    name = text_of(entry.get("name"))
    if isinstance(entry.get("apiCall"), dict):
        return _api_call(name, entry["apiCall"])
    if isinstance(entry.get("imageRegistry"), dict):
        # The CLI leaves such a variable out, and `||` then yields the fallback as if it were the truth.
        return OutsideNeed(variable=name, code=NEEDS_NETWORK, text="reads image metadata from a registry")
    if isinstance(entry.get("configMap"), dict):
        return OutsideNeed(variable=name, objects=_CONFIG_MAP)
    if isinstance(entry.get("globalReference"), dict):
        return _global(name, text_of(entry["globalReference"].get("name")), global_entries)
    return None


def _global(variable: str, name: str, global_entries: Mapping[str, dict[str, Any]]) -> OutsideNeed:
    source = mapping_of(mapping_of(global_entries.get(name)).get("kubernetesResource"))
    plural = text_of(source.get("resource"))
    group, version = text_of(source.get("group")), text_of(source.get("version"))
    kind = built_in_kind(group, plural)
    if kind is None:
        text = f"reads the global context entry {name}, which is not at hand offline"
        return OutsideNeed(variable=variable, code=NEEDS_GLOBAL_CONTEXT, text=text)
    need = ObjectNeed(
        group=group, version=version, kind=kind, plural=plural, whole_cluster=not source.get("namespace")
    )
    return OutsideNeed(variable=variable, objects=need, entry=name)


def _api_call(variable: str, call: dict[str, Any]) -> OutsideNeed:
    if call.get("service"):
        return OutsideNeed(variable=variable, code=NEEDS_NETWORK, text="calls a service")
    url = text_of(call.get("urlPath"))
    need = object_need(url)
    if need is None or text_of(call.get("method")) not in ("", "GET"):
        text = f"asks the API server for {url or 'something'}"
        return OutsideNeed(variable=variable, code=NEEDS_API_SERVER, text=text)
    return OutsideNeed(variable=variable, objects=need)


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
