"""What an API server, or an engine, fills in where an author says nothing: with or without it, a policy is the same.

Sources: pkg/apis/*/v1/defaults.go of Kubernetes, and the defaults in the custom resource definitions of Kyverno 1.19
(read by a test where they are at hand), Gatekeeper 3.20 and Linkerd 2.18. A path ends in what is left out when it has the
value; ``[]`` goes through a list, ``*`` through every key.
"""

from __future__ import annotations

from typing import Any

from audit.consistency.kinds import ADMISSION, CEL, CONSTRAINTS, ISTIO, KYVERNO, LINKERD, RBAC, TEMPLATE

Defaults = tuple[tuple[str, Any], ...]


def _match_resources(at: str) -> Defaults:
    """Of MatchResources (admissionregistration.k8s.io/v1)."""
    return (
        (f"{at}.matchPolicy", "Equivalent"),
        (f"{at}.namespaceSelector", {}),
        (f"{at}.objectSelector", {}),
        (f"{at}.resourceRules[].scope", "*"),
        (f"{at}.excludeResourceRules[].scope", "*"),
        (f"{at}.resourceRules[].resourceNames", []),
        (f"{at}.excludeResourceRules[].resourceNames", []),
        (f"{at}.excludeResourceRules", []),
    )


_VERIFY = "spec.rules[].verifyImages[]"
_SIGNATURES = (
    "spec.rules[].validate.manifests.attestors[].entries[]",
    f"{_VERIFY}.attestors[].entries[]",
    f"{_VERIFY}.attestations[].attestors[].entries[]",
)
_KYVERNO: Defaults = (
    ("spec.admission", True),
    ("spec.background", True),
    ("spec.emitWarning", False),
    ("spec.applyRules", "All"),
    ("spec.useServerSideApply", False),
    ("spec.generateExisting", False),
    ("spec.rules[].skipBackgroundRequests", True),
    ("spec.rules[].validate.allowExistingViolations", True),
    ("spec.rules[].validate.cel.generate", False),
    *(
        (f"spec.rules[].{place}context[].apiCall.method", "GET")
        for place in (
            "",
            "generate.foreach[].",
            "mutate.foreach[].",
            "mutate.targets[].",
            "validate.foreach[].",
        )
    ),
    *(
        (f"{place}.{key}", "sha256")
        for place in _SIGNATURES
        for key in ("signatureAlgorithm", "keys.signatureAlgorithm")
    ),
    *((f"{_VERIFY}.{key}", True) for key in ("mutateDigest", "required", "useCache", "verifyDigest")),
)
_CEL: Defaults = (
    ("spec.failurePolicy", "Fail"),
    ("spec.evaluation.mode", "Kubernetes"),
    ("spec.evaluation.admission.enabled", True),
    ("spec.evaluation.background.enabled", True),
    ("spec.evaluation.mutateExisting.enabled", False),
    ("spec.evaluation.generateExisting.enabled", False),
    ("spec.evaluation.orphanDownstreamOnPolicyDelete.enabled", False),
    ("spec.evaluation.synchronize.enabled", False),
    ("spec.evaluation.skipBackgroundRequests", True),
    ("spec.generate[].template.interpolate", "none"),
    ("spec.validationConfigurations.mutateDigest", True),
    ("spec.validationConfigurations.required", True),
    ("spec.validationConfigurations.verifyDigest", True),
    ("spec.validationConfigurations", {}),
    ("spec.attestors[].cosign.source.PullSecrets[].name", ""),
    *_match_resources("spec.matchConstraints"),
)
_MADE_BY_RULES: Defaults = (("spec.validationActions", ["Deny"]),)
_KINDS: dict[str, Defaults] = {
    f"{KYVERNO}/ClusterPolicy": _KYVERNO,
    f"{KYVERNO}/Policy": _KYVERNO,
    f"{KYVERNO}/CleanupPolicy": (("spec.context[].apiCall.method", "GET"),),
    f"{KYVERNO}/ClusterCleanupPolicy": (("spec.context[].apiCall.method", "GET"),),
    **{
        f"{CEL}/{prefix}{kind}": (*_CEL, *(_MADE_BY_RULES if "Validating" in kind else ()))
        for prefix in ("", "Namespaced")
        for kind in (
            "ValidatingPolicy",
            "ImageValidatingPolicy",
            "MutatingPolicy",
            "GeneratingPolicy",
            "DeletingPolicy",
        )
    },
    f"{CEL}/PolicyException": (("spec.reportResult", "skip"),),
    TEMPLATE: (("spec.crd.spec.validation.legacySchema", False),),
    **{
        f"{ADMISSION}/{kind}AdmissionPolicy": (
            ("spec.failurePolicy", "Fail"),
            ("spec.reinvocationPolicy", "Never"),
            *_match_resources("spec.matchConstraints"),
        )
        for kind in ("Validating", "Mutating")
    },
    **{
        f"{ADMISSION}/{kind}AdmissionPolicyBinding": (
            *_match_resources("spec.matchResources"),
            ("spec.matchResources.resourceRules", []),
        )
        for kind in ("Validating", "Mutating")
    },
    "networking.k8s.io/NetworkPolicy": (
        ("spec.podSelector", {}),
        ("spec.ingress", []),
        ("spec.egress", []),
        ("spec.ingress[].from", []),
        ("spec.ingress[].ports", []),
        ("spec.egress[].to", []),
        ("spec.egress[].ports", []),
        ("spec.ingress[].from[].ipBlock.except", []),
        ("spec.egress[].to[].ipBlock.except", []),
        ("spec.ingress[].ports[].protocol", "TCP"),
        ("spec.egress[].ports[].protocol", "TCP"),
    ),
    f"{RBAC}/RoleBinding": (("roleRef.apiGroup", RBAC),),
    f"{RBAC}/ClusterRoleBinding": (("roleRef.apiGroup", RBAC),),
    f"{ISTIO}/AuthorizationPolicy": (("spec.action", "ALLOW"),),
    f"{LINKERD}/Server": (("spec.accessPolicy", "deny"), ("spec.proxyProtocol", "unknown")),
}
_CONSTRAINT: Defaults = (
    ("spec.enforcementAction", "deny"),
    ("spec.match.scope", "*"),
    ("spec.match.source", "All"),
    ("spec.match.namespaceSelector", {}),
    ("spec.match.labelSelector", {}),
    ("spec.match.namespaces", []),
    ("spec.match.excludedNamespaces", []),
    ("spec.parameters", {}),
)


def defaults_of(key: str) -> Defaults:
    """The defaults of a kind."""
    if key.startswith(f"{CONSTRAINTS}/"):
        return _CONSTRAINT
    return _KINDS.get(key, ())


def without_defaults(document: dict[str, Any], key: str) -> None:
    """Leave out, in place, what would be filled in anyway, and the mappings that nothing is left of."""
    for path, value in defaults_of(key):
        _leave_out(document, _segments(path), value)


def _segments(path: str) -> list[str]:
    return path.replace("[]", ".[]").split(".")


def _leave_out(node: Any, path: list[str], value: Any) -> None:
    first, rest = path[0], path[1:]
    if first == "[]":
        for item in node if isinstance(node, list) else ():
            _leave_out(item, rest, value)
        return
    if not isinstance(node, dict) or first not in node:
        return
    child = node[first]
    if not rest:
        # 1 is no True, and both are no "1".
        if type(child) is type(value) and child == value:
            del node[first]
        return
    _leave_out(child, rest, value)
    if child == {} and isinstance(child, dict):
        del node[first]
