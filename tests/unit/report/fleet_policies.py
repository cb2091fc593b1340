"""A fleet whose policies differ in every way there is, with any text for what its owners wrote."""

from __future__ import annotations

from audit.model.consistency import (
    ClusterPolicies,
    ConsistencyState,
    DistributionClaim,
    EngineCell,
    EngineRow,
    EngineState,
    IgnoredPolicies,
    PolicyCell,
    PolicyChange,
    PolicyConsistency,
    PolicyRow,
    UnseenKinds,
)

State = ConsistencyState
_CHANGES = (
    ("weakened", "Enforce", "Audit"),
    ("widened", "", "kube-system"),
    ("widened", "Pod", ""),
    ("stricter", "Ignore", "Fail"),
    ("differs", "a", "b"),
)
_CELLS = tuple(state for state in State if state not in (State.SAME, State.NOT_DUE))


def fleet_policies(text: str = "", clusters: tuple[str, ...] = ("east", "west", "edge")) -> PolicyConsistency:
    """Every state, reason and change.

    Args:
        text: in place of every name that somebody chose.
        clusters: the first two differ in one policy each; the last one in none.
    """
    rows = []
    for number, state in enumerate(_CELLS):
        changes = tuple(
            PolicyChange(
                kind=kind,  # type: ignore[arg-type]  # one of the words above
                place=text or "rule signed",
                reference=reference and (text or reference),
                here=here and (text or here),
            )
            for kind, reference, here in _CHANGES
        )
        compared = state in (State.WEAKENED, State.WIDENED, State.OTHER_VERSION)
        cell = PolicyCell(
            cluster=clusters[number % 2],
            state=state,
            reason="forbidden" if state is State.NOT_COMPARABLE else "",
            changes=changes if compared else (),
            more=number if compared else 0,
        )
        rows.append(
            PolicyRow(
                family="kyverno",
                group="kyverno.io",
                kind=text or "ClusterPolicy",
                namespace=text,
                name=text or f"policy-{number}",
                against="baseline",
                cells=(cell,),
                rest=State.NOT_DUE if state is State.EXTRA else State.SAME,
                rest_clusters=len(clusters) - 1,
            )
        )
    return PolicyConsistency(
        baseline=text or "policies/",
        clusters=tuple(_sum(name, rows) for name in clusters),
        rows=tuple(rows),
        engines=(
            EngineRow(
                name="kyverno",
                newest=text or "v1.19.1",
                cells=tuple(
                    EngineCell(
                        cluster=clusters[number % len(clusters)],
                        state=state,
                        version=text or "v1.9.0",
                        reason="no_version" if state is EngineState.UNKNOWN else "",
                    )
                    for number, state in enumerate(EngineState)
                ),
            ),
        ),
        claims=(
            DistributionClaim(
                source="karmada",
                hub=text or "hub",
                stated_by=text or "ClusterResourceBinding signed",
                cluster=clusters[0],
                policy=text or "ClusterPolicy policy-2",
                says="applied",
                shows=State.MISSING,
                agrees=False,
            ),
        ),
        ignored=(IgnoredPolicies(what=text or "RoleBinding", reason=text or "made by the cloud", count=3),),
        unseen=(
            UnseenKinds(reason="forbidden", kinds=("kyverno.io/ClusterPolicy",), clusters=clusters[:1]),
            UnseenKinds(reason="not_reached", kinds=("*/*",), clusters=clusters[1:2]),
        ),
        built_in=74,
        gaps=1,
    )


def _sum(cluster: str, rows: list[PolicyRow]) -> ClusterPolicies:
    states = [row.state_on(cluster) for row in rows]
    return ClusterPolicies(
        cluster=cluster,
        kind="snapshot" if cluster else "missing",
        reached=True,
        same=states.count(State.SAME),
        differing=sum(1 for state in states if state.differs),
        not_comparable=states.count(State.NOT_COMPARABLE),
        role_bindings=12,
        engines=0,
        collected_at="2026-12-31T01:00:00Z",
    )
