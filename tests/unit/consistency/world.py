"""Small fleets in memory: objects as they were read, compared."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from audit.consistency.book import PolicyBook
from audit.consistency.compare import compare
from audit.consistency.expectation import ClusterTraits, Expectation
from audit.model.consistency import ConsistencyState, PolicyConsistency
from audit.model.gap import Gap
from audit.model.subject import SubjectRef
from audit.ports import CollectedObject

Document = dict[str, Any]


def read(text: str) -> Document:
    """An object from YAML."""
    found: Document = yaml.safe_load(text)
    return found


def item(document: Document, cluster: str = "a", **more: Any) -> CollectedObject:
    """An object as the reader hands it on."""
    raw = json.dumps(document).encode()
    group, _, version = document["apiVersion"].rpartition("/")
    metadata = document["metadata"]
    ref = SubjectRef(
        cluster=cluster,
        group=group,
        version=version,
        kind=document["kind"],
        namespace=metadata.get("namespace", ""),
        name=metadata["name"],
        digest=hashlib.sha256(raw).hexdigest(),
    )
    return CollectedObject(ref=ref, raw=raw, **more)


def compared(
    clusters: Mapping[str, Iterable[Document | CollectedObject]],
    *,
    baseline: Iterable[Document] | None = None,
    gaps: Sequence[Gap] = (),
    asked: Mapping[str, Sequence[str]] | None = None,
    not_served: Mapping[str, Sequence[str]] | None = None,
    expectation: Expectation = Expectation(),  # noqa: B008 - frozen
    traits: Sequence[ClusterTraits] | None = None,
    unreached: Sequence[str] = (),
) -> PolicyConsistency:
    """Compare clusters by name."""
    book = PolicyBook()
    for name, documents in clusters.items():
        notes = book.cluster(name)
        for one in documents:
            notes.see(one if isinstance(one, CollectedObject) else item(one, name))
        notes.finish(
            [gap for gap in gaps if gap.cluster == name],
            reached=name not in unreached,
            asked=(asked or {}).get(name),
            not_served=(not_served or {}).get(name, ()),
        )
    if baseline is not None:
        expected = book.expect()
        for document in baseline:
            expected.see(item(document, ""))
        expected.finish([gap for gap in gaps if not gap.cluster], reached=True)
    return compare(book, traits or [ClusterTraits(name=name) for name in clusters], expectation)


def states(found: PolicyConsistency, title: str) -> dict[str, ConsistencyState]:
    """State of one policy on every cluster."""
    (row,) = (row for row in found.rows if row.title == title)
    return {one.cluster: row.state_on(one.cluster) for one in found.clusters}


KYVERNO = """
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: signed}
spec:
  validationFailureAction: Enforce
  rules:
  - name: signed
    match: {any: [{resources: {kinds: [Pod, Deployment]}}]}
    exclude: {any: [{resources: {namespaces: [kube-system]}}]}
    validate: {message: sign it, pattern: {metadata: {labels: {signed: "?*"}}}}
"""
CONSTRAINT = """
apiVersion: constraints.gatekeeper.sh/v1beta1
kind: K8sRequired
metadata: {name: owner}
spec:
  match: {kinds: [{apiGroups: [""], kinds: [Namespace]}], excludedNamespaces: [kube-system]}
  parameters: {labels: [owner, cost]}
"""
ADMISSION = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: replicas}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}
  validations: [{expression: object.spec.replicas <= 50}]
"""
BINDING = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: replicas}
spec: {policyName: replicas, validationActions: [Deny]}
"""
ROLE = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: team}
rules: [{apiGroups: ["", apps], resources: [pods, deployments], verbs: [get, list]}]
"""
ROLE_BINDING = """
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: team, namespace: ml}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: team}
subjects:
- {kind: User, name: jane, apiGroup: rbac.authorization.k8s.io}
- {kind: ServiceAccount, name: runner, namespace: ml}
"""
NETWORK = """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: deny, namespace: ml}
spec: {podSelector: {}, policyTypes: [Ingress, Egress], ingress: [{from: [{podSelector: {}}], ports: [{port: 80}]}]}
"""
PEER = """
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {name: default, namespace: istio-system}
spec: {mtls: {mode: STRICT}}
"""
EXCEPTION = """
apiVersion: kyverno.io/v2
kind: PolicyException
metadata: {name: legacy, namespace: kyverno}
spec:
  exceptions: [{policyName: signed, ruleNames: [signed]}]
  match: {any: [{resources: {kinds: [Pod], namespaces: [legacy]}}]}
"""
SERVER = """
apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata: {name: web, namespace: ml}
spec: {podSelector: {matchLabels: {app: web}}, port: http, accessPolicy: deny}
"""
CILIUM = """
apiVersion: cilium.io/v2
kind: CiliumNetworkPolicy
metadata: {name: web, namespace: ml}
spec: {endpointSelector: {matchLabels: {app: web}}, ingress: [{fromEndpoints: [{}]}], enableDefaultDeny: {ingress: true}}
"""
ALL = (KYVERNO, CONSTRAINT, ADMISSION, BINDING, ROLE, ROLE_BINDING, NETWORK, PEER, EXCEPTION, SERVER, CILIUM)
