"""Which kinds are policies, which engine acts on them, and what else tells of them."""

from __future__ import annotations

from audit.model.subject import kind_key

KYVERNO, CEL = "kyverno.io", "policies.kyverno.io"
CONSTRAINTS, TEMPLATES = "constraints.gatekeeper.sh", "templates.gatekeeper.sh"
MUTATIONS = "mutations.gatekeeper.sh"
RBAC, ADMISSION = "rbac.authorization.k8s.io", "admissionregistration.k8s.io"
ISTIO, LINKERD, CILIUM = "security.istio.io", "policy.linkerd.io", "cilium.io"

TEMPLATE = f"{TEMPLATES}/ConstraintTemplate"
DEPLOYMENT = "apps/Deployment"
BINDINGS = (f"{RBAC}/ClusterRoleBinding", f"{RBAC}/RoleBinding")

_NAMED: dict[str, tuple[str, tuple[str, ...]]] = {
    RBAC: ("rbac", ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")),
    KYVERNO: (
        "kyverno",
        ("ClusterPolicy", "Policy", "PolicyException", "CleanupPolicy", "ClusterCleanupPolicy"),
    ),
    CEL: (
        "kyverno",
        (
            "ValidatingPolicy",
            "ImageValidatingPolicy",
            "MutatingPolicy",
            "GeneratingPolicy",
            "DeletingPolicy",
            "NamespacedValidatingPolicy",
            "NamespacedImageValidatingPolicy",
            "NamespacedMutatingPolicy",
            "NamespacedGeneratingPolicy",
            "NamespacedDeletingPolicy",
            "PolicyException",
        ),
    ),
    TEMPLATES: ("gatekeeper", ("ConstraintTemplate",)),
    "config.gatekeeper.sh": ("gatekeeper", ("Config",)),
    ADMISSION: (
        "admission",
        (
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
        ),
    ),
    "networking.k8s.io": ("network", ("NetworkPolicy",)),
    "policy.networking.k8s.io": ("network", ("AdminNetworkPolicy", "BaselineAdminNetworkPolicy")),
    ISTIO: ("istio", ("AuthorizationPolicy", "PeerAuthentication", "RequestAuthentication")),
    LINKERD: (
        "linkerd",
        (
            "Server",
            "ServerAuthorization",
            "AuthorizationPolicy",
            "MeshTLSAuthentication",
            "NetworkAuthentication",
        ),
    ),
    CILIUM: ("cilium", ("CiliumNetworkPolicy", "CiliumClusterwideNetworkPolicy")),
}
_WHOLE = {CONSTRAINTS: "gatekeeper", MUTATIONS: "gatekeeper"}
"""Groups of which every kind is a policy, whatever it is called."""
_FAMILIES = {kind_key(group, kind): family for group, (family, kinds) in _NAMED.items() for kind in kinds}
_CLUSTER_SCOPED = frozenset(
    {
        *(f"{RBAC}/{kind}" for kind in ("ClusterRole", "ClusterRoleBinding")),
        *(f"{KYVERNO}/{kind}" for kind in ("ClusterPolicy", "ClusterCleanupPolicy")),
        *(key for key in _FAMILIES if key.startswith((f"{ADMISSION}/", "policy.networking.k8s.io/"))),
        *(
            key
            for key in _FAMILIES
            if key.startswith(f"{CEL}/") and "Namespaced" not in key and not key.endswith("/PolicyException")
        ),
        TEMPLATE,
        f"{CILIUM}/CiliumClusterwideNetworkPolicy",
    }
)

DISTRIBUTION = (
    "work.karmada.io/ResourceBinding",
    "work.karmada.io/ClusterResourceBinding",
    "policy.karmada.io/PropagationPolicy",
    "policy.karmada.io/ClusterPropagationPolicy",
    "policy.open-cluster-management.io/Policy",
)
"""Kinds in which other systems say what they gave to whom."""

WANTED: tuple[str, ...] = tuple(
    sorted((*_FAMILIES, *(f"{group}/*" for group in _WHOLE), DEPLOYMENT, *DISTRIBUTION))
)
"""Kinds that a cluster is asked for, to compare it."""


POLICIES: tuple[str, ...] = tuple(sorted((*_FAMILIES, *(f"{group}/*" for group in _WHOLE))))
"""Those of `WANTED` that are policies."""


def family_of(key: str) -> str:
    """The family of a kind that is a policy; empty for every other kind."""
    return _FAMILIES.get(key) or _WHOLE.get(key.rpartition("/")[0], "")


def is_watched(key: str) -> bool:
    """Whether the comparison looks at objects of this kind."""
    return bool(family_of(key)) or key == DEPLOYMENT or key in DISTRIBUTION


def namespace_of(key: str, namespace: str) -> str:
    """Where an object is once it is applied: what names no namespace goes to ``default``, unless its kind has none."""
    whole = key in _CLUSTER_SCOPED or key.rpartition("/")[0] in _WHOLE
    return "" if whole else namespace or "default"
