"""Kinds that every Kubernetes API server knows: plural names and scope. Facts of the API, no behaviour.

From the API discovery of Kubernetes 1.34 (groups and kinds are stable since); aggregated APIs are left out.
"""

from __future__ import annotations

_NAMESPACED = """
bindings Binding, configmaps ConfigMap, endpoints Endpoints, events Event, limitranges LimitRange,
persistentvolumeclaims PersistentVolumeClaim, pods Pod, podtemplates PodTemplate,
replicationcontrollers ReplicationController, resourcequotas ResourceQuota, secrets Secret, services Service,
serviceaccounts ServiceAccount,
controllerrevisions apps/ControllerRevision, daemonsets apps/DaemonSet, deployments apps/Deployment,
replicasets apps/ReplicaSet, statefulsets apps/StatefulSet,
localsubjectaccessreviews authorization.k8s.io/LocalSubjectAccessReview,
horizontalpodautoscalers autoscaling/HorizontalPodAutoscaler,
cronjobs batch/CronJob, jobs batch/Job, leases coordination.k8s.io/Lease,
endpointslices discovery.k8s.io/EndpointSlice, events events.k8s.io/Event,
ingresses networking.k8s.io/Ingress, networkpolicies networking.k8s.io/NetworkPolicy,
poddisruptionbudgets policy/PodDisruptionBudget,
roles rbac.authorization.k8s.io/Role, rolebindings rbac.authorization.k8s.io/RoleBinding,
resourceclaims resource.k8s.io/ResourceClaim, resourceclaimtemplates resource.k8s.io/ResourceClaimTemplate,
csistoragecapacities storage.k8s.io/CSIStorageCapacity
"""

_CLUSTER_SCOPED = """
componentstatuses ComponentStatus, namespaces Namespace, nodes Node, persistentvolumes PersistentVolume,
mutatingwebhookconfigurations admissionregistration.k8s.io/MutatingWebhookConfiguration,
validatingadmissionpolicies admissionregistration.k8s.io/ValidatingAdmissionPolicy,
validatingadmissionpolicybindings admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding,
validatingwebhookconfigurations admissionregistration.k8s.io/ValidatingWebhookConfiguration,
customresourcedefinitions apiextensions.k8s.io/CustomResourceDefinition,
apiservices apiregistration.k8s.io/APIService,
selfsubjectreviews authentication.k8s.io/SelfSubjectReview, tokenreviews authentication.k8s.io/TokenReview,
selfsubjectaccessreviews authorization.k8s.io/SelfSubjectAccessReview,
selfsubjectrulesreviews authorization.k8s.io/SelfSubjectRulesReview,
subjectaccessreviews authorization.k8s.io/SubjectAccessReview,
certificatesigningrequests certificates.k8s.io/CertificateSigningRequest,
flowschemas flowcontrol.apiserver.k8s.io/FlowSchema,
prioritylevelconfigurations flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration,
ipaddresses networking.k8s.io/IPAddress, ingressclasses networking.k8s.io/IngressClass,
servicecidrs networking.k8s.io/ServiceCIDR, runtimeclasses node.k8s.io/RuntimeClass,
clusterroles rbac.authorization.k8s.io/ClusterRole, clusterrolebindings rbac.authorization.k8s.io/ClusterRoleBinding,
deviceclasses resource.k8s.io/DeviceClass, resourceslices resource.k8s.io/ResourceSlice,
priorityclasses scheduling.k8s.io/PriorityClass, csidrivers storage.k8s.io/CSIDriver, csinodes storage.k8s.io/CSINode,
storageclasses storage.k8s.io/StorageClass, volumeattachments storage.k8s.io/VolumeAttachment,
volumeattributesclasses storage.k8s.io/VolumeAttributesClass
"""


def _table(text: str, *, namespaced: bool) -> dict[str, tuple[str, bool]]:
    pairs = (entry.split() for entry in text.replace("\n", " ").split(","))
    return {kind_key: (plural, namespaced) for plural, kind_key in pairs}


_BY_KIND = _table(_NAMESPACED, namespaced=True) | _table(_CLUSTER_SCOPED, namespaced=False)
_BY_PLURAL: dict[tuple[str, str], str] = {
    (key.rpartition("/")[0], plural): key.rpartition("/")[2] for key, (plural, _) in _BY_KIND.items()
}
BUILT_IN_GROUPS = frozenset(key.rpartition("/")[0] for key in _BY_KIND)


def built_in_kinds() -> dict[str, tuple[str, bool]]:
    """Kind key to (plural, whether it is namespaced), for every built-in kind."""
    return dict(_BY_KIND)


def built_in_plural(kind_key: str) -> str | None:
    """``deployments`` for ``apps/Deployment``; None for kinds the API server does not bring along."""
    entry = _BY_KIND.get(kind_key)
    return entry[0] if entry else None


def built_in_kind(group: str, plural: str) -> str | None:
    """``Deployment`` for ``apps`` and ``deployments``; None when not built in."""
    return _BY_PLURAL.get((group, plural))


def is_namespaced(kind_key: str) -> bool | None:
    """Scope of a built-in kind; None for others."""
    entry = _BY_KIND.get(kind_key)
    return entry[1] if entry else None


def guess_plural(kind: str) -> str:
    """The plural Kubernetes' own clients guess for a kind: lower case with ``s``, ``es`` or ``ies``."""
    singular = kind.lower()
    if not singular or singular.endswith("endpoints"):
        return singular
    if singular.endswith("s"):
        return singular + "es"
    if singular.endswith("y"):
        return singular[:-1] + "ies"
    return singular + "s"
