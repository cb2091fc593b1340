"""What each minor version of the Kyverno CLI can do, from its release notes and sources."""

from __future__ import annotations

import msgspec

from audit.model.kyverno import KyvernoPolicy, PolicyFamily

OLDEST = (1, 14)
"""The first version that prints a JSON report."""
TRIED = (1, 19)
"""The newest version this table was checked against; a newer one is taken to be like it."""


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """Features of one CLI."""

    minor: tuple[int, int]
    assumed: bool
    """The version is newer than the table."""

    @property
    def test_results(self) -> bool:
        """``kyverno test`` prints its rows as JSON."""
        return self.minor >= (1, 15)

    @property
    def namespaced_cel(self) -> bool:
        """NamespacedValidatingPolicy and its kin."""
        return self.minor >= (1, 16)

    @property
    def parameter_resources(self) -> bool:
        """Parameters of admission policies, and (from 1.19) objects that are seen but not judged."""
        return self.minor >= (1, 16)

    @property
    def cel_v1(self) -> bool:
        """``policies.kyverno.io/v1``."""
        return self.minor >= (1, 17)

    @property
    def crd_flag(self) -> str:
        """Option that takes a file of CustomResourceDefinitions; empty when there is none."""
        if self.minor >= (1, 19):
            return "--crd-paths"
        return ""  # 1.18's --crd-path reads one document only

    @property
    def offline_context(self) -> bool:
        """API calls and global context are answered from the objects handed over."""
        return self.minor >= (1, 19)

    @property
    def cel_beta(self) -> bool:
        """``policies.kyverno.io/v1beta1``."""
        return self.minor >= (1, 16)

    def lacks(self, policy: KyvernoPolicy) -> str:
        """What this CLI lacks for a policy, in words; empty when nothing."""
        group, _, version = policy.api_version.rpartition("/")
        wanted = ""
        if policy.family in (PolicyFamily.VALIDATING, PolicyFamily.IMAGE):
            if policy.kind.startswith("Namespaced") and not self.namespaced_cel:
                wanted = f"{policy.kind} needs 1.16"
            elif version == "v1" and not self.cel_v1:
                wanted = f"{policy.api_version} needs 1.17"
            elif version == "v1beta1" and not self.cel_beta:
                wanted = f"{policy.api_version} needs 1.16"
        elif policy.family is PolicyFamily.ADMISSION and version != "v1":
            wanted = f"only {group}/v1 is read by the CLI"
        return wanted

    def table(self) -> dict[str, str]:
        """For `fleetaudit doctor`: feature and yes or no."""
        features = {
            "ValidatingPolicy": True,
            "NamespacedValidatingPolicy": self.namespaced_cel,
            "policies.kyverno.io/v1": self.cel_v1,
            "parameters of admission policies": self.parameter_resources,
            "custom resource definitions": bool(self.crd_flag),
            "test suites": self.test_results,
            "API calls answered from collected objects": self.offline_context,
        }
        return {name: "yes" if there else "no" for name, there in features.items()}


def capabilities_of(version: tuple[int, int, int]) -> Capabilities | None:
    """The row for a version; None when it is too old."""
    minor = version[:2]
    if minor < OLDEST:
        return None
    return Capabilities(minor=min(minor, TRIED), assumed=minor > TRIED)
