"""Fields that no Kubernetes object has where a policy looks for them: a condition on one never holds."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import NamedTuple

from audit.library.foreign.module import Graph, Node
from audit.library.foreign.resolve import object_fields
from audit.model.foreign import Shape

IN_METADATA = frozenset(
    {"name", "namespace", "labels", "annotations", "generateName", "ownerReferences", "finalizers", "uid"}
)
"""Fields of ``metadata`` that policies look for beside it."""
_ROOTS = """
apiVersion kind metadata spec status data stringData binaryData immutable type items rules roleRef
subjects  aggregationRule secrets imagePullSecrets automountServiceAccountToken webhooks template
subsets endpoints ports  addressType provisioner parameters reclaimPolicy mountOptions
allowVolumeExpansion volumeBindingMode  allowedTopologies handler overhead scheduling value
globalDefault preemptionPolicy description driverName  capacity maximumVolumeSize nodeTopology
storageClassName involvedObject message reason source count  firstTimestamp lastTimestamp eventTime
series action related reportingComponent reportingInstance regarding note  deprecatedCount
deprecatedSource deprecatedFirstTimestamp deprecatedLastTimestamp reportingController  revision
target conditions
"""
_KNOWN = frozenset(_ROOTS.split())


class Misplaced(NamedTuple):
    """A field at the root of objects that none has there."""

    file: str
    line: int
    field: str
    advice: str
    compared: tuple[str, ...]
    """Texts it is compared with."""


def misplaced(graph: Graph, root: Node, shape: Shape) -> Iterator[Misplaced]:
    """Fields that a rule reads at the root of objects and that no object has there, each once."""
    seen: set[str] = set()
    compared: dict[str, set[str]] = {}
    for _, reference in object_fields(graph, root, shape):
        if reference.compared:
            compared.setdefault(reference.path[0], set()).add(reference.compared)
    for owner, reference in object_fields(graph, root, shape):
        field = reference.path[0]
        if field in seen or field in _KNOWN or field == "*":
            continue
        if field in IN_METADATA:
            advice = f"metadata.{field} is meant"
        elif close := difflib.get_close_matches(field, sorted(_KNOWN), n=1, cutoff=0.8):
            advice = f"did you mean {close[0]}?"
        else:
            continue  # custom resources may have any field
        seen.add(field)
        texts = tuple(sorted(compared.get(field, ())))
        yield Misplaced(owner.file, owner.line(reference.line), field, advice, texts)
