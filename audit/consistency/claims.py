"""What Karmada and Open Cluster Management say that they gave to whom: evidence, and never more than that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from audit.consistency.form import mapping_in, mappings_in
from audit.consistency.kinds import family_of, namespace_of
from audit.model.subject import kind_key

Says = Literal["applied", "not_applied", "unknown"]


class Stated(msgspec.Struct, frozen=True, kw_only=True):
    """One policy and one member, as a hub tells it."""

    source: Literal["karmada", "ocm"]
    stated_by: str
    """``Kind namespace/name``."""
    cluster: str
    key: str
    """Kind key of the policy."""
    namespace: str
    name: str
    says: Says


def claims_in(document: dict[str, Any], key: str) -> Iterator[Stated]:
    """The claims of one object of a hub about objects that are policies."""
    if key.endswith("ResourceBinding"):
        yield from _karmada_binding(document)
    elif key.endswith("PropagationPolicy"):
        yield from _karmada_policy(document)
    else:
        yield from _ocm(document)


def _title(document: dict[str, Any]) -> str:
    namespace = mapping_in(document, "metadata").get("namespace")
    where = f"{namespace}/" if namespace else ""
    return f"{document.get('kind', '')} {where}{mapping_in(document, 'metadata').get('name', '')}"


def _policy(api_version: Any, kind: Any, namespace: Any, name: Any) -> tuple[str, str, str] | None:
    """(key, namespace, name) of an object that is a policy; None of any other."""
    if not (isinstance(api_version, str) and isinstance(kind, str) and isinstance(name, str) and name):
        return None
    group = api_version.rpartition("/")[0]
    key = kind_key(group, kind)
    if not family_of(key):
        return None
    return key, namespace_of(key, namespace if isinstance(namespace, str) else ""), name


def _karmada_binding(document: dict[str, Any]) -> Iterator[Stated]:
    """Source: ResourceBindingSpec and AggregatedStatusItem of work.karmada.io/v1alpha2."""
    resource = mapping_in(document, "spec", "resource")
    policy = _policy(*(resource.get(name) for name in ("apiVersion", "kind", "namespace", "name")))
    if policy is None:
        return
    applied = {
        item["clusterName"]: item.get("applied") is True
        for item in mappings_in(document, "status", "aggregatedStatus")
        if isinstance(item.get("clusterName"), str)
    }
    scheduled = [item.get("name") for item in mappings_in(document, "spec", "clusters")]
    for cluster in dict.fromkeys([*scheduled, *applied]):
        if isinstance(cluster, str):
            says: Says = (
                "unknown" if cluster not in applied else "applied" if applied[cluster] else "not_applied"
            )
            yield _stated("karmada", document, cluster, policy, says)


def _karmada_policy(document: dict[str, Any]) -> Iterator[Stated]:
    """Names of clusters only: which ones labels and fields select, the hub alone knows."""
    clusters = mapping_in(document, "spec", "placement", "clusterAffinity").get("clusterNames")
    for selector in mappings_in(document, "spec", "resourceSelectors"):
        policy = _policy(*(selector.get(name) for name in ("apiVersion", "kind", "namespace", "name")))
        for cluster in clusters if policy and isinstance(clusters, list) else ():
            if isinstance(cluster, str) and policy:
                yield _stated("karmada", document, cluster, policy, "unknown")


_COMPLIANT: dict[Any, Says] = {"Compliant": "applied", "NonCompliant": "not_applied"}


def _ocm(document: dict[str, Any]) -> Iterator[Stated]:
    """A root policy's status, cluster by cluster, is said of each policy object that must be there.

    Source: PolicySpec and PolicyStatus of policy.open-cluster-management.io/v1, ConfigurationPolicySpec.
    """
    policies = list(dict.fromkeys(_ocm_policies(document)))
    for item in mappings_in(document, "status", "status"):
        cluster = item.get("clustername")
        if isinstance(cluster, str):
            compliant = item.get("compliant")
            says = _COMPLIANT.get(compliant, "unknown") if isinstance(compliant, str) else "unknown"
            for policy in policies:
                yield _stated("ocm", document, cluster, policy, says)


def _ocm_policies(document: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for template in mappings_in(document, "spec", "policy-templates"):
        definition = mapping_in(template, "objectDefinition")
        for nested in mappings_in(definition, "spec", "object-templates"):
            if str(nested.get("complianceType", "")).lower() in ("musthave", "mustonlyhave"):
                yield from _object(mapping_in(nested, "objectDefinition"))
        yield from _object(definition)


def _object(definition: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    metadata = mapping_in(definition, "metadata")
    policy = _policy(
        definition.get("apiVersion"), definition.get("kind"), metadata.get("namespace"), metadata.get("name")
    )
    if policy is not None:
        yield policy


def _stated(
    source: Literal["karmada", "ocm"],
    document: dict[str, Any],
    cluster: str,
    policy: tuple[str, str, str],
    says: Says,
) -> Stated:
    key, namespace, name = policy
    return Stated(
        source=source,
        stated_by=_title(document),
        cluster=cluster,
        key=key,
        namespace=namespace,
        name=name,
        says=says,
    )
