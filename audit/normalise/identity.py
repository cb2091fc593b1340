"""A read document becomes a subject: identity, owner, place. Pure."""

from __future__ import annotations

import re

from audit.model.subject import SubjectRef
from audit.native.events import DocumentRead
from audit.ports import CollectedObject

# A ReplicaSet is named after its Deployment plus a pod-template hash; the alphabet leaves out vowels
# (k8s.io/apimachinery/pkg/util/rand). A Job of a CronJob ends in the scheduled time in minutes.
_TEMPLATE_HASH = re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{5,10}$")
_SCHEDULED_MINUTE = re.compile(r"-\d{7,10}$")

# Groups that kinds have left: the API server served one object under both names until it dropped the old one (1.16,
# 1.22). What still carries the old name is asked what its successor is asked.
# Source: Kubernetes, "Deprecated API Migration Guide".
SUCCESSORS = {
    ("extensions", "DaemonSet"): "apps",
    ("extensions", "Deployment"): "apps",
    ("extensions", "ReplicaSet"): "apps",
    ("extensions", "Ingress"): "networking.k8s.io",
    ("extensions", "NetworkPolicy"): "networking.k8s.io",
}
"""The group that a kind went to, by (old group, kind)."""


def normalise_document(document: DocumentRead, cluster: str, source: str) -> CollectedObject:
    """The object of one document of one cluster; `source` is the file as people know it."""
    name = document.name or (f"{document.generate_name}*" if document.generate_name else "")
    owner_kind, owner_name = top_owner(document.kind, name, document.owner_kind, document.owner_name)
    return CollectedObject(
        ref=SubjectRef(
            cluster=cluster,
            group=SUCCESSORS.get((document.group, document.kind), document.group),
            version=document.version,
            kind=document.kind,
            namespace=document.namespace,
            name=name,
            source=source,
            document=document.document,
            item=document.item,
            line=document.line,
            digest=document.digest,
            owner_kind=owner_kind,
            owner_name=owner_name,
        ),
        raw=document.raw,
        duplicates=document.duplicates,
        faults=document.faults,
        redactions=document.redactions,
        projection=document.projection,
        controller=(document.owner_kind, document.owner_name) if document.owner_kind else None,
    )


def top_owner(kind: str, name: str, controller_kind: str, controller_name: str) -> tuple[str, str]:
    """(kind, name) that findings are grouped by: the controller where there is one, without generated suffixes."""
    if not controller_kind:
        return kind, name
    if controller_kind == "ReplicaSet" and (match := _TEMPLATE_HASH.search(controller_name)):
        return "Deployment", controller_name[: match.start()]
    if controller_kind == "Job" and (match := _SCHEDULED_MINUTE.search(controller_name)):
        return "CronJob", controller_name[: match.start()]
    return controller_kind, controller_name
