"""One realistic result for the writers: two clusters, all 117 controls, every kind of finding, gap and statement."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable
from itertools import cycle

import msgspec

from audit.model.acceptance import Claim
from audit.model.assessment import (
    ControlRow,
    ControlStatus,
    FrameworkScore,
    FunctionRow,
    HeldBack,
    NextStep,
    Reason,
)
from audit.model.control import CheckState, EvidenceKind, MappingEntry, ProfileName, Strength
from audit.model.finding import Finding, FindingGroup, Outcome
from audit.model.gap import GapKind
from audit.model.gate import GateReason, IncompleteCode, IncompleteReason
from audit.model.result import AssessmentResult
from audit.model.rule import Severity
from audit.model.run import ClusterRecord, EngineVersion, InputFile
from audit.model.tally import Tally
from tests import builders as b
from tests.unit.report.fleet_policies import fleet_policies

AI_RMF = {
    "GOVERN": (7, 3, 2, 3, 2, 2),
    "MAP": (6, 3, 5, 2, 2),
    "MEASURE": (3, 13, 3, 3),
    "MANAGE": (4, 4, 2, 3),
}
LFAI = {
    "SBOM": 7,
    "SIG": 2,
    "PRV": 4,
    "SCD": 8,
    "OSS": 3,
    "PRJ": 2,
    "CI": 3,
    "S2C": 3,
    "MOF": 3,
    "TAI": 8,
    "SCC": 2,
}
CLUSTERS = ("eu-central-05", "us-east-01")

RULES: tuple[tuple[str, str, Severity, str], ...] = (
    (
        "pod/privileged",
        "Containers are not privileged",
        Severity.CRITICAL,
        "securityContext:\n  privileged: false\n  allowPrivilegeEscalation: false\n",
    ),
    (
        "pod/host-path-volume",
        "Pods mount no host path",
        Severity.HIGH,
        "volumes:\n  - name: cache\n    ephemeral:\n      volumeClaimTemplate: {}\n",
    ),
    (
        "rbac/wildcard-verbs",
        "Roles name their verbs",
        Severity.HIGH,
        'rules:\n  - apiGroups: ["ray.io"]\n    resources: [rayclusters]\n    verbs: [get, list, watch]\n',
    ),
    (
        "network/namespace-default-deny",
        "Each namespace denies by default",
        Severity.HIGH,
        "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: default-deny}\nspec: {podSelector: {}, policyTypes: [Ingress, Egress]}\n",
    ),
    (
        "gpu/request-equals-limit",
        "GPU requests equal their limits",
        Severity.HIGH,
        "resources:\n  limits: {nvidia.com/gpu: 4}\n",
    ),
    (
        "image/mutable-tag",
        "Images are not addressed by a tag that moves",
        Severity.MEDIUM,
        "image: registry.example/vllm@sha256:<digest>\n",
    ),
    ("resources/memory-limit", "Containers have a memory limit", Severity.MEDIUM, ""),
    ("availability/readiness-probe", "Servers have a readiness probe", Severity.LOW, ""),
    ("observability/alert-rules-present", "The cluster has alert rules", Severity.LOW, ""),
    ("serviceaccount/exists", "The service account exists", Severity.MEDIUM, ""),
    ("model/weights-pinned", "Model weights are pinned by digest or revision", Severity.HIGH, ""),
    ("policy/enforce-mode", "Policies enforce and do not only report", Severity.HIGH, ""),
)


def _ids() -> list[tuple[str, str, str]]:
    found = []
    for function, categories in AI_RMF.items():
        for number, size in enumerate(categories, 1):
            found += [("nist-ai-rmf", function, f"{function} {number}.{item}") for item in range(1, size + 1)]
    for family, size in LFAI.items():
        found += [("lfai", family, f"LFAI-{family}-{item:02d}") for item in range(1, size + 1)]
    return found


S, F, W, U, N = (
    ControlStatus.SATISFIED,
    ControlStatus.NOT_SATISFIED,
    ControlStatus.WAIVED,
    ControlStatus.INDETERMINATE,
    ControlStatus.NOT_APPLICABLE,
)
_TURN = (
    (S, Reason.PASSED_PAIRS, ()),
    (S, Reason.STATEMENT_MET, (Reason.PASSED_PAIRS,)),
    (U, Reason.STATEMENT_OPEN, ()),
    (F, Reason.FAILED_PAIRS, ()),
    (S, Reason.STATEMENT_MET, ()),
    (U, Reason.NO_CHECK_BUILT, ()),
    (U, Reason.GAP, (Reason.STATEMENT_OPEN,)),
    (W, Reason.WAIVED_PAIRS, ()),
    (U, Reason.STATEMENT_EXPIRED, ()),
    (F, Reason.FAILED_PAIRS, (Reason.ERROR_PAIRS,)),
    (N, Reason.NO_SUBJECT, ()),
)


def control_rows() -> tuple[ControlRow, ...]:
    """All 117 controls, statuses dealt in turn."""
    turn = cycle(_TURN)
    kinds = cycle((EvidenceKind.PARTIAL, EvidenceKind.AUTO, EvidenceKind.PARTIAL, EvidenceKind.ATTESTATION))
    rules = cycle(RULES)
    rows = []
    for framework, function, name in _ids():
        kind = next(kinds)
        status, reason, more = next(turn)
        outside = kind is EvidenceKind.ATTESTATION
        if outside:
            status, reason, more = U, Reason.STATEMENT_OPEN, ()
        failed = 2 if status is F else 0
        waived = 2 if status is W else 0
        has_rule = not outside and reason not in {Reason.NO_CHECK_BUILT, Reason.NO_SUBJECT}
        first, second = next(rules)[0], next(rules)[0]
        evidence = (
            (
                b.evidence(first, due=12, passed=12 - failed - waived, failed=failed, waived=waived),
                b.evidence(second, decides=False, due=5, passed=4, failed=1),
            )
            if has_rule
            else ()
        )
        fleet = b.assessment(
            name,
            framework=framework,
            status=status,
            reason=reason,
            reasons=(reason, *more),
            evidence=evidence,
            statement="S-001" if reason is Reason.STATEMENT_MET else "",
            statement_text="Reviewed in the November risk meeting." if reason is Reason.STATEMENT_MET else "",
            contradicted=has_rule and status is S,
            technical_status=S if reason is Reason.STATEMENT_MET else status,
            in_profile=not outside,
            technical_scanned=has_rule,
            technical_complies=has_rule and status is not F,
            technical_by_waiver=status is W,
            gaps=(0,) if reason is Reason.GAP else (),
            held_back_clusters=CLUSTERS[:1] if status is F else CLUSTERS if status is not S else (),
        )
        members = tuple(
            msgspec.structs.replace(
                fleet,
                cluster=cluster,
                held_back_clusters=(),
                status=S if status is F and cluster == CLUSTERS[1] else status,
                reason=Reason.PASSED_PAIRS if status is F and cluster == CLUSTERS[1] else reason,
            )
            for cluster in CLUSTERS
        )
        rows.append(
            b.control_row(
                name,
                framework=framework,
                function=function,
                title=f"What {name} asks, in a few of our own words",
                evidence_kind=kind,
                fleet=fleet,
                members=members,
            )
        )
    return tuple(rows)


_HELD: dict[Reason, str] = {
    Reason.STATEMENT_OPEN: "statement_open",
    Reason.STATEMENT_EXPIRED: "statement_expired",
    Reason.GAP: "no_evidence",
    Reason.NO_CHECK_BUILT: "no_check",
    Reason.NO_DECIDING_RULE: "no_check",
}


def framework_score(framework: str, title: str, edition: str, rows: tuple[ControlRow, ...]) -> FrameworkScore:
    """The score of the dealt rows, by the formula."""
    own = [row for row in rows if row.framework == framework]
    inside = [row for row in own if row.fleet.in_profile]
    count = Counter(row.fleet.status for row in inside)
    p, f, w, i = count[S], count[F], count[W], count[U]
    whole = p + f + w + i
    held = Counter(_HELD[row.fleet.reason] for row in inside if row.fleet.status is U)
    stated = sum(1 for row in inside if row.fleet.status is S and row.fleet.statement)

    def function_row(name: str) -> FunctionRow:
        part = [row for row in inside if row.function == name]
        c = Counter(row.fleet.status for row in part)
        return FunctionRow(
            function=name,
            satisfied=c[S],
            failed=c[F],
            waived=c[W],
            indeterminate=c[U],
            not_applicable=c[N],
            scanned=sum(row.fleet.technical_scanned for row in part),
            complies=sum(row.fleet.technical_complies for row in part),
            by_waiver=sum(row.fleet.technical_by_waiver for row in part),
        )

    def of(test: Callable[[ControlRow], bool]) -> tuple[str, ...]:
        return tuple(row.id for row in inside if test(row))

    statements = of(lambda r: r.fleet.reason in {Reason.STATEMENT_OPEN, Reason.STATEMENT_EXPIRED})
    gaps = of(lambda r: bool(r.fleet.gaps))
    unbuilt = of(lambda r: r.fleet.reason is Reason.NO_CHECK_BUILT)
    failing = of(lambda r: r.fleet.status is F)
    return b.score(
        framework=framework,
        title=title,
        edition=edition,
        profile=ProfileName.TECHNICAL,
        catalog_total=len(own),
        in_profile=len(inside),
        satisfied=p,
        failed=f,
        waived=w,
        indeterminate=i,
        not_applicable=count[N],
        strict=b.fraction(p, whole),
        high=b.fraction(p + i, whole),
        with_waivers=b.fraction(p + w, whole),
        evidence_coverage=b.fraction(p + f + w, whole),
        technical_only=b.fraction(p - stated, whole),
        attested=b.fraction(stated, p),
        held_back=HeldBack(failing=f, waived=w, **held),
        functions=tuple(function_row(name) for name in dict.fromkeys(row.function for row in own)),
        next_steps=(
            NextStep(
                kind="statements",
                controls=statements,
                gives=b.fraction(p + len(statements), whole),
                certain=False,
            ),
            NextStep(
                kind="fix_rule",
                controls=failing[:1],
                rules=("pod/privileged",),
                gives=b.fraction(p + 1, whole),
            ),
            NextStep(
                kind="close_gap",
                controls=gaps,
                gaps=(0,),
                gives=b.fraction(p + len(gaps), whole),
                certain=False,
            ),
            NextStep(
                kind="build_check",
                controls=unbuilt,
                gives=b.fraction(p + len(unbuilt), whole),
                certain=False,
            ),
        ),
        cluster_strict={CLUSTERS[0]: b.fraction(p, whole), CLUSTERS[1]: b.fraction(p + f, whole)},
    )


def _found(rule: int, name: str, cluster: str = CLUSTERS[0], number: int = 0, **changes: object) -> Finding:
    rule_id, _, severity, _ = RULES[rule]
    file = f"{cluster}/kyc/{name}.yaml"
    fields: dict[str, object] = {
        "rule": rule_id,
        "severity": severity,
        "subject": b.subject(
            name, cluster=cluster, namespace="kyc", source=file, owner_name=name.partition("-")[0]
        ),
        "place": b.place(file, line=21 + number),
    }
    return b.finding(**(fields | changes))


def groups(many: int = 9) -> tuple[FindingGroup, ...]:
    """Groups of every severity and outcome, in display order; `many` sets the size of the largest."""
    vllm = "vllm"
    found = [
        b.group(
            *(
                _found(0, vllm, cluster, number, violation=b.violation(container="metrics-relay", seen=True))
                for cluster in CLUSTERS
                for number in range(2)
            )
        ),
        b.group(
            *(
                _found(
                    1,
                    f"cache-{number}",
                    CLUSTERS[1],
                    violation=b.violation(
                        path=("spec", "template", "spec", "volumes", number, "hostPath", "path"),
                        container="",
                        seen="/var/lib/models",
                        expected="no hostPath outside /run/nvidia",
                    ),
                )
                for number in range(many)
            )
        ),
        b.group(
            _found(
                2,
                "ml-operator",
                subject=b.subject(
                    "ml-operator", kind="ClusterRole", group="rbac.authorization.k8s.io", namespace=""
                ),
                violation=b.violation(
                    path=("rules", 2, "verbs"), container="", seen=["*"], expected="named verbs"
                ),
            )
        ),
        b.group(
            _found(
                3,
                "search",
                place=None,
                subject=b.subject(
                    "search",
                    kind="Namespace",
                    group="",
                    namespace="",
                    derived=True,
                    source="",
                    document=0,
                    line=None,
                    owner_kind="Namespace",
                    owner_name="search",
                ),
                violation=b.violation(
                    path=(),
                    container="",
                    seen=None,
                    expected="a NetworkPolicy that denies by default",
                    message="no NetworkPolicy selects every pod",
                ),
            )
        ),
        b.group(
            _found(
                4,
                "embed",
                violation=b.violation(
                    path=("spec", "workerGroupSpecs", 0, "template", "spec", "containers", 0, "resources"),
                    container="ray-worker",
                    seen={"requests": {"nvidia.com/gpu": 4}},
                    expected="limit equal to the request",
                ),
            )
        ),
        b.group(
            _found(11, "gate", waiver="W-2026-014", violation=b.violation(seen="Audit", expected="Enforce")),
        ),
    ]
    for number, name in enumerate(("embedder", "gateway", "notebook", "scorer", "batch")):
        path = ("spec", "template", "spec", "containers", 0, "image")
        found.append(
            b.group(
                _found(
                    5,
                    name,
                    violation=b.violation(path=path, seen=f"registry.example/{name}:latest", expected=None),
                ),
                _found(
                    5,
                    name,
                    CLUSTERS[1],
                    waiver="W-2026-014" if number == 0 else "",
                    violation=b.violation(path=path, seen=f"registry.example/{name}:latest", expected=None),
                ),
            )
        )
        found.append(
            b.group(
                _found(
                    7,
                    name,
                    number=40,
                    violation=b.violation(
                        path=("spec", "template", "spec", "containers", 0), seen=None, expected=None
                    ),
                )
            )
        )
    found.append(
        b.group(
            _found(9, "runner", outcome=Outcome.ERROR, error="context_gap", violation=b.violation(path=()))
        )
    )
    found.append(b.group(_found(8, "scorer", outcome=Outcome.WARN, violation=b.violation(path=("spec",)))))
    return b.display_order(found)


def _tally(listed: tuple[FindingGroup, ...]) -> Tally:
    tally = Tally()
    for rule_id, *_ in RULES:
        for cluster in CLUSTERS:
            members = [
                m for g in listed for m in g.members if m.rule == rule_id and m.subject.cluster == cluster
            ]
            for member in members:
                tally.add(rule_id, cluster, member.outcome, waived=bool(member.waiver))
            passes = 0 if rule_id == "observability/alert-rules-present" and not members else 30
            tally.add_due(rule_id, cluster, passes + len(members))
            if passes:
                tally.add(rule_id, cluster, Outcome.PASS, number=passes)
    return tally


def _mappings(rows: tuple[ControlRow, ...]) -> tuple[MappingEntry, ...]:
    return tuple(
        b.mapping(
            framework=row.framework,
            control=row.id,
            rule=item.rule,
            strength=Strength.DECIDES if item.decides else Strength.SUPPORTS,
        )
        for row in rows
        for item in row.fleet.evidence
    )


def story(many: int = 9, listed: tuple[FindingGroup, ...] | None = None) -> AssessmentResult:
    """The realistic result; `listed` replaces its groups."""
    rows = control_rows()
    found = groups(many) if listed is None else listed
    tally = _tally(found)
    due = sum(tally.due.values())
    day = dt.timedelta(days=1)
    inputs = tuple(
        InputFile(
            path=f"{cluster}/kyc/app-{number}.yaml",
            cluster=cluster,
            sha256=b.sha(f"{cluster}{number}"),
            bytes=900 + number,
            documents=2,
        )
        for cluster in CLUSTERS
        for number in range(10)
    )
    return b.result(
        found,
        title="Northbank, LLM inference fleet",
        consistency=fleet_policies(clusters=tuple(CLUSTERS)),
        record=b.record(
            inputs=inputs,
            engines=(
                EngineVersion(name="rego", version="1.22.3", binary_sha256=b.sha("engine")),
                EngineVersion(name="reader", version="1.0", details={"parser": "sigs.k8s.io/yaml"}),
            ),
            clusters=tuple(
                ClusterRecord(name=name, kind="manifests", reached=True, subjects=20, paths=(name,))
                for name in CLUSTERS
            ),
            catalogs_sha256={"lfai": b.sha("lfai"), "nist-ai-rmf": b.sha("catalog")},
            mappings_sha256={"lfai": b.sha("lm"), "nist-ai-rmf": b.sha("nm")},
            configuration={"title": "Northbank, LLM inference fleet", "jobs": 2},
            denominator=b.denominator(
                files=21,
                documents=44,
                objects=40,
                derived=6,
                not_objects=2,
                in_gaps=2,
                excluded=3,
                rules=len(RULES),
                pairs_due=due,
                pairs_answered=due,
            ),
        ),
        tally=tally,
        scores=(
            framework_score("nist-ai-rmf", "NIST AI RMF", "1.0 (AI 100-1)", rows),
            framework_score("lfai", "LFAI / OpenSSF", "2026-11, composed by us", rows),
        ),
        controls=rows,
        rules=tuple(
            b.rule_state(
                rule_id, title=title, severity=severity, fix=fix, selected=rule_id != "model/weights-pinned"
            )
            for rule_id, title, severity, fix in RULES
        ),
        mappings=_mappings(rows),
        checks=(
            *(b.check(f"k8s.check-{number}") for number in range(12)),
            *(
                b.check(
                    f"sbom.check-{number}", state=CheckState.PLANNED, rules=(), reason="needs the SBOM reader"
                )
                for number in range(20)
            ),
            *(
                b.check(
                    f"att.check-{number}",
                    state=CheckState.NOT_PLANNED,
                    rules=(),
                    reason="only people can state it",
                )
                for number in range(6)
            ),
        ),
        gaps=(
            b.gap(
                kind=GapKind.NOT_RENDERED,
                source="eu-central-05/charts/gateway",
                reason="a Helm chart, and helm is not installed",
                hint="install helm, or give the rendered manifests",
                line=None,
                cluster=CLUSTERS[0],
            ),
            b.gap(cluster=CLUSTERS[1], source="us-east-01/broken.yaml", kinds=("Pod",), allowed=True),
        ),
        notices=(
            b.notice(),
            b.notice(
                source="eu-central-05/values.yaml",
                code="not_an_object",
                message="a values file, no Kubernetes object",
            ),
        ),
        waivers=(
            b.waiver_state(waiver=b.waiver("W-2026-014", rule="policy/enforce-mode", name="gate"), matched=2),
            b.waiver_state(
                waiver=b.waiver("W-2026-008", rule="pod/host-path-volume", expires=b.NOW - 11 * day),
                live=False,
                matched=9,
            ),
            b.waiver_state(
                waiver=b.waiver("W-2026-030", expires=None, name="old"),
                matched=0,
                warning="no end date",
            ),
        ),
        statements=(
            b.statement_state(),
            b.statement_state(
                statement=b.statement("S-002", control="GOVERN 1.3", expires=b.NOW - 3 * day),
                live=False,
                counted=False,
            ),
            b.statement_state(
                statement=b.statement(
                    "S-003",
                    framework="lfai",
                    control="LFAI-MOF-01",
                    claim=Claim.NOT_APPLICABLE,
                    text="No model is published.",
                )
            ),
        ),
        gates=(
            b.gate(condition="fail-on high", met=False, reason=GateReason.OPEN_GROUPS, open={"high": 5}),
            b.gate(condition="min-ratio lfai=0.2", reason=GateReason.RATIO, fraction=b.fraction(11, 32)),
        ),
        complete=False,
        incomplete_reasons=(
            IncompleteReason(code=IncompleteCode.GAPS, number=1),
            IncompleteReason(code=IncompleteCode.ERRORS, number=1),
        ),
    )
