"""What ``fleetaudit.yaml`` may say of policies that are to be the same everywhere."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from audit.config.fields import PathText, Section, Text


class PolicySelector(Section, frozen=True, kw_only=True):
    """Policies by what they are. All keys given must match; * and ? are wildcards."""

    kind: Annotated[str, Meta(description="Kind, or group/Kind, for example kyverno.io/ClusterPolicy.")] = ""
    namespace: str = ""
    name: str = ""


class ExpectedPolicies(Section, frozen=True, kw_only=True):
    """Policies that are expected on some clusters, and on no others."""

    policies: Annotated[tuple[PolicySelector, ...], Meta(min_length=1)]
    clusters: Annotated[
        tuple[Text, ...], Meta(description="Names; * and ? are wildcards. All clusters by default.")
    ] = ()
    tier: Annotated[str, Meta(description="As registered; * and ? are wildcards.")] = ""
    region: Annotated[str, Meta(description="As registered; * and ? are wildcards.")] = ""


class IgnoredSelector(PolicySelector, frozen=True, kw_only=True):
    """Policies that are not compared, with the reason that the report prints."""

    reason: Text


class ConsistencyConfig(Section, frozen=True, kw_only=True):
    """Which policies are to be the same everywhere. With this section, running clusters are asked for all of them."""

    baseline: Annotated[
        PathText | None,
        Meta(
            description="What should be there: folder of manifests, snapshot, or "
            "git+https://HOST/REPOSITORY@COMMIT#FOLDER; without it, clusters are compared with each other."
        ),
    ] = None
    expected: Annotated[
        tuple[ExpectedPolicies, ...],
        Meta(description="Where which policies are expected, where that isn't everywhere."),
    ] = ()
    ignore: tuple[IgnoredSelector, ...] = ()
