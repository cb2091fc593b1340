"""What a server calls its own kinds can't pass for what only fleetaudit's readers may state."""

from __future__ import annotations

import pytest

from audit.collect.cluster.kinds import Served, ServedKind
from audit.collect.cluster.wanted import wanted_of
from audit.model.subject import CLUSTER_GROUP, EVERY_KIND, EVIDENCE_GROUP


def served(group: str, kind: str) -> ServedKind:
    return ServedKind(group=group, version="v1", kind=kind, plural=f"{kind.lower()}s", namespaced=True)


@pytest.mark.parametrize("group", [EVIDENCE_GROUP, CLUSTER_GROUP])
@pytest.mark.parametrize("named", [True, False])
def test_kinds_under_our_groups_are_never_listed(group: str, *, named: bool) -> None:
    forged, real = served(group, "Signature"), served("apps", "Deployment")
    kinds = {forged.key, real.key} if named else {f"{group}/*", EVERY_KIND}
    wanted = wanted_of(Served(kinds=(forged, real), stale=()), kinds, cluster="a", secrets=False)
    assert wanted.kinds == (real,)


def test_a_group_that_only_ends_like_ours_is_listed() -> None:
    other = served(f"team.{CLUSTER_GROUP}", "Policy")
    wanted = wanted_of(Served(kinds=(other,), stale=()), {EVERY_KIND}, cluster="a", secrets=False)
    assert wanted.kinds == (other,)
