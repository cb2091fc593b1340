"""Model objects with sane defaults, for tests: say only what matters, the rest is plausible."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from audit.model.acceptance import Claim, Statement, Waiver
from audit.model.assessment import (
    ControlAssessment,
    ControlRow,
    ControlStatus,
    Fraction,
    FrameworkScore,
    FunctionRow,
    HeldBack,
    Reason,
    RuleEvidence,
)
from audit.model.control import (
    Catalog,
    Check,
    CheckState,
    Control,
    EvidenceKind,
    MappingEntry,
    ProfileName,
    Strength,
)
from audit.model.finding import Finding, FindingGroup, Outcome, Violation
from audit.model.gap import Gap, GapKind, Notice
from audit.model.gate import Gate, GateReason
from audit.model.result import AssessmentResult, GroupCounts, RuleState, StatementState, WaiverState
from audit.model.rule import Rule, Severity
from audit.model.run import ClusterRecord, Denominator, EngineVersion, InputFile, RunRecord
from audit.model.subject import Place, SubjectRef
from audit.model.tally import Tally
from audit.score.quality import policy_quality

NOW = dt.datetime(2026, 12, 31, 2, 10, tzinfo=dt.UTC)


def sha(text: str) -> str:
    """A full, stable digest to show."""
    return hashlib.sha256(text.encode()).hexdigest()


def subject(name: str = "web", **changes: Any) -> SubjectRef:
    """A Deployment in namespace demo on cluster east."""
    fields: dict[str, Any] = {
        "cluster": "east",
        "group": "apps",
        "version": "v1",
        "kind": "Deployment",
        "namespace": "demo",
        "name": name,
        "source": f"east/{name}.yaml",
        "document": 1,
        "line": 1,
        "digest": sha(name),
        "owner_kind": "Deployment",
        "owner_name": name,
    }
    return SubjectRef(**(fields | changes))


def place(
    file: str = "east/web.yaml", line: int | None = 12, column: int | None = 9, **changes: Any
) -> Place:
    """A known point in a file."""
    return Place(file=file, line=line, column=column, **changes)


def rule(id: str = "pod/privileged", **changes: Any) -> Rule:  # noqa: A002 - the model's own word
    """A Rego rule of severity high."""
    fields: dict[str, Any] = {
        "id": id,
        "engine": "rego",
        "title": f"Title of {id}",
        "description": f"What {id} asks, and why it matters.",
        "severity": Severity.HIGH,
        "remediation": "Set the field to the safe value.",
        "kinds": ("Pod", "apps/Deployment"),
        "package": id.replace("/", ".").replace("-", "_"),
        "file": f"rego/{id.replace('-', '_')}.rego",
        "line": 3,
        "digest": sha(id),
    }
    return Rule(**(fields | changes))


def violation(**changes: Any) -> Violation:
    """A container that runs privileged."""
    fields: dict[str, Any] = {
        "path": ("spec", "template", "spec", "containers", 0, "securityContext", "privileged"),
        "message": "the container runs privileged",
        "container": "app",
        "seen": True,
        "expected": False,
    }
    return Violation(**(fields | changes))


def finding(**changes: Any) -> Finding:
    """A failure of pod/privileged."""
    fields: dict[str, Any] = {
        "rule": "pod/privileged",
        "subject": subject(),
        "outcome": Outcome.FAIL,
        "severity": Severity.HIGH,
        "violation": violation(),
        "place": place(),
    }
    return Finding(**(fields | changes))


def group(*members: Finding, **changes: Any) -> FindingGroup:
    """The group of some findings alike."""
    found = members or (finding(),)
    first = found[0]
    path = "".join(
        f"[{''}]" if isinstance(part, int) else (f".{part}" if index else str(part))
        for index, part in enumerate(first.violation.path)
    )
    key = "|".join((first.rule, first.subject.title, first.violation.container, path, first.outcome.value))
    fields: dict[str, Any] = {
        "id": f"G-{sha(key)[:8]}",
        "rule": first.rule,
        "severity": first.severity,
        "outcome": first.outcome,
        "owner": f"{first.subject.owner_kind} {first.subject.namespace}/{first.subject.owner_name}",
        "container": first.violation.container,
        "path": path,
        "clusters": tuple(sorted({member.subject.cluster for member in found})),
        "total": len(found),
        "waived": sum(1 for member in found if member.waiver),
        "members": found,
    }
    return FindingGroup(**(fields | changes))


def gap(**changes: Any) -> Gap:
    """A file that is not YAML."""
    fields: dict[str, Any] = {
        "kind": GapKind.UNREADABLE,
        "cluster": "east",
        "source": "east/broken.yaml",
        "reason": "line 3: did not find expected key",
        "line": 3,
        "hint": "mend the file or exclude it with a reason",
    }
    return Gap(**(fields | changes))


def notice(**changes: Any) -> Notice:
    """An empty document."""
    fields: dict[str, Any] = {
        "source": "east/web.yaml",
        "code": "empty_document",
        "message": "document 2 is empty",
        "document": 2,
    }
    return Notice(**(fields | changes))


def control(id: str = "MEASURE 2.7", **changes: Any) -> Control:  # noqa: A002 - the model's own word
    """An AI RMF control decided by scan and statement."""
    fields: dict[str, Any] = {
        "id": id,
        "title": f"What {id} asks, in our words",
        "function": id.split(maxsplit=1)[0],
        "evidence_kind": EvidenceKind.PARTIAL,
    }
    return Control(**(fields | changes))


def catalog(*controls: Control, **changes: Any) -> Catalog:
    """A small AI RMF catalog."""
    listed = controls or (control(),)
    fields: dict[str, Any] = {
        "id": "nist-ai-rmf",
        "title": "NIST AI RMF",
        "edition": "1.0 (AI 100-1)",
        "source": "https://example.org/ai-rmf",
        "controls": listed,
        "digest": sha("catalog"),
        "functions": tuple(dict.fromkeys(item.function for item in listed)),
    }
    return Catalog(**(fields | changes))


def mapping(**changes: Any) -> MappingEntry:
    """A deciding link from pod/privileged to MEASURE 2.7."""
    fields: dict[str, Any] = {
        "framework": "nist-ai-rmf",
        "control": "MEASURE 2.7",
        "rule": "pod/privileged",
        "strength": Strength.DECIDES,
        "rationale": "A privileged container can leave its sandbox.",
        "limits": "Says nothing about the node's own hardening.",
        "author": "A. Author",
        "date": dt.date(2026, 10, 1),
    }
    return MappingEntry(**(fields | changes))


def check(id: str = "k8s.pod-security", **changes: Any) -> Check:  # noqa: A002 - the model's own word
    """A check that is built."""
    fields: dict[str, Any] = {"id": id, "state": CheckState.BUILT, "rules": ("pod/privileged",)}
    return Check(**(fields | changes))


def statement(id: str = "S-001", **changes: Any) -> Statement:  # noqa: A002 - the model's own word
    """A live claim that MEASURE 2.7 is met."""
    fields: dict[str, Any] = {
        "id": id,
        "framework": "nist-ai-rmf",
        "control": "MEASURE 2.7",
        "claim": Claim.MET,
        "author": "Risk Office",
        "date": dt.date(2026, 11, 2),
        "expires": NOW + dt.timedelta(days=120),
        "text": "Reviewed in the November risk meeting.",
        "file": "statements.yaml",
        "line": 4,
    }
    return Statement(**(fields | changes))


def waiver(id: str = "W-001", **changes: Any) -> Waiver:  # noqa: A002 - the model's own word
    """A live waiver of pod/privileged on Deployment demo/web."""
    fields: dict[str, Any] = {
        "id": id,
        "rule": "pod/privileged",
        "owner": "Platform",
        "reason": "Needs the host until the driver moves.",
        "expires": NOW + dt.timedelta(days=30),
        "kind": "Deployment",
        "namespace": "demo",
        "name": "web",
        "file": "waivers.yaml",
        "line": 2,
    }
    return Waiver(**(fields | changes))


def evidence(rule: str = "pod/privileged", **changes: Any) -> RuleEvidence:
    """Four due pairs, all passed."""
    fields: dict[str, Any] = {
        "rule": rule,
        "decides": True,
        "due": 4,
        "passed": 4,
        "failed": 0,
        "waived": 0,
        "warned": 0,
        "errors": 0,
        "skipped": 0,
    }
    return RuleEvidence(**(fields | changes))


def assessment(control: str = "MEASURE 2.7", **changes: Any) -> ControlAssessment:
    """A control satisfied by passes, fleet-wide."""
    fields: dict[str, Any] = {
        "framework": "nist-ai-rmf",
        "control": control,
        "cluster": "",
        "status": ControlStatus.SATISFIED,
        "reason": Reason.PASSED_PAIRS,
        "reasons": (Reason.PASSED_PAIRS,),
        "evidence": (evidence(),),
    }
    return ControlAssessment(**(fields | changes))


def control_row(id: str = "MEASURE 2.7", **changes: Any) -> ControlRow:  # noqa: A002 - the model's own word
    """A control with its fleet assessment; members follow it on cluster east."""
    fleet = changes.pop("fleet", None) or assessment(id)
    fields: dict[str, Any] = {
        "framework": fleet.framework,
        "id": id,
        "title": f"What {id} asks, in our words",
        "function": id.split(maxsplit=1)[0],
        "evidence_kind": EvidenceKind.PARTIAL,
        "fleet": fleet,
        "members": (msgspec.structs.replace(fleet, cluster="east"),),
    }
    return ControlRow(**(fields | changes))


def fraction(numerator: int = 1, denominator: int = 1) -> Fraction:
    """A ratio."""
    return Fraction(numerator=numerator, denominator=denominator)


def score(**changes: Any) -> FrameworkScore:
    """One control, satisfied by scan."""
    one, none = fraction(1, 1), fraction(0, 1)
    fields: dict[str, Any] = {
        "framework": "nist-ai-rmf",
        "title": "NIST AI RMF",
        "edition": "1.0 (AI 100-1)",
        "profile": ProfileName.TECHNICAL,
        "catalog_total": 1,
        "in_profile": 1,
        "satisfied": 1,
        "failed": 0,
        "waived": 0,
        "indeterminate": 0,
        "not_applicable": 0,
        "strict": one,
        "high": one,
        "with_waivers": one,
        "evidence_coverage": one,
        "technical_only": one,
        "attested": none,
        "held_back": HeldBack(),
        "functions": (
            FunctionRow(
                function="MEASURE",
                satisfied=1,
                failed=0,
                waived=0,
                indeterminate=0,
                not_applicable=0,
                scanned=1,
                complies=1,
                by_waiver=0,
            ),
        ),
        "next_steps": (),
        "cluster_strict": {"east": one},
    }
    return FrameworkScore(**(fields | changes))


def denominator(**changes: Any) -> Denominator:
    """One file, one object, one pair."""
    fields: dict[str, Any] = {
        "files": 1,
        "documents": 1,
        "objects": 1,
        "objects_judged": 1,
        "derived": 0,
        "not_objects": 0,
        "in_gaps": 0,
        "excluded": 0,
        "rules": 1,
        "pairs_due": 1,
        "pairs_answered": 1,
    }
    if "objects" in changes:
        fields["objects_judged"] = changes["objects"]
    return Denominator(**(fields | changes))


def record(**changes: Any) -> RunRecord:
    """A run over one file on cluster east."""
    fields: dict[str, Any] = {
        "fleetaudit": "0.1.0",
        "inputs": (
            InputFile(path="east/web.yaml", cluster="east", sha256=sha("input"), bytes=812, documents=1),
        ),
        "engines": (EngineVersion(name="rego", version="1.22.3", binary_sha256=sha("engine")),),
        "clusters": (
            ClusterRecord(name="east", kind="manifests", reached=True, subjects=1, paths=("east",)),
        ),
        "rules_sha256": sha("rules"),
        "catalogs_sha256": {"nist-ai-rmf": sha("catalog")},
        "mappings_sha256": {"nist-ai-rmf": sha("mapping")},
        "scope_sha256": sha("scope"),
        "configuration": {"jobs": 2},
        "population_file": "population.csv.gz",
        "population_sha256": sha("population"),
        "denominator": denominator(),
        "state_time": "2026-12-31T02:10:00Z",
        "started": "2026-12-31T02:09:58Z",
        "finished": "2026-12-31T02:10:04Z",
    }
    return RunRecord(**(fields | changes))


class ListedGroups:
    """A group source over a list, with its totals counted."""

    def __init__(self, groups: Sequence[FindingGroup] = ()) -> None:
        self._groups = tuple(groups)

    def groups(self) -> Iterator[FindingGroup]:
        """The groups in the order given."""
        return iter(self._groups)

    def counts(self) -> GroupCounts:
        """Totals over the groups."""
        totals = {severity.value: 0 for severity in Severity}
        waived = errors = warns = findings = 0
        for item in self._groups:
            findings += item.total
            if item.outcome is Outcome.ERROR:
                errors += 1
            elif item.outcome is Outcome.WARN:
                warns += 1
            elif item.waived == item.total:
                waived += 1
            else:
                totals[item.severity.value] += 1
        return GroupCounts(open=totals, waived=waived, errors=errors, warns=warns, findings=findings)


def display_order(groups: Sequence[FindingGroup]) -> tuple[FindingGroup, ...]:
    """Groups as a group source yields them."""
    outcomes = [Outcome.FAIL, Outcome.ERROR, Outcome.WARN]
    return tuple(
        sorted(
            groups,
            key=lambda g: (
                outcomes.index(g.outcome),
                g.severity.rank,
                g.rule,
                g.owner,
                g.container,
                g.path,
            ),
        )
    )


def rule_state(id: str = "pod/privileged", *, selected: bool = True, **changes: Any) -> RuleState:  # noqa: A002
    """A rule that was asked."""
    return RuleState(rule=rule(id, **changes), selected=selected)


def waiver_state(**changes: Any) -> WaiverState:
    """A live waiver that accepted one pair."""
    fields: dict[str, Any] = {"waiver": waiver(), "live": True, "matched": 1}
    return WaiverState(**(fields | changes))


def statement_state(**changes: Any) -> StatementState:
    """A live statement that counted."""
    fields: dict[str, Any] = {"statement": statement(), "live": True, "counted": True}
    return StatementState(**(fields | changes))


def gate(**changes: Any) -> Gate:
    """A gate that is met."""
    fields: dict[str, Any] = {
        "condition": "fail-on high",
        "met": True,
        "reason": GateReason.NO_OPEN_GROUP,
        "severity": Severity.HIGH,
    }
    return Gate(**(fields | changes))


def result(groups: Sequence[FindingGroup] = (), **changes: Any) -> AssessmentResult:
    """A complete run of one rule over one object that passed, plus the groups given."""
    tally = Tally()
    tally.add_due("pod/privileged", "east")
    tally.add("pod/privileged", "east", Outcome.FAIL if groups else Outcome.PASS)
    fields: dict[str, Any] = {
        "title": "Kubernetes manifests",
        "record": record(),
        "tally": tally,
        "scores": (score(),),
        "controls": (control_row(),),
        "rules": (rule_state(),),
        "mappings": (mapping(),),
        "checks": (check(),),
        "gaps": (),
        "notices": (),
        "waivers": (),
        "statements": (),
        "gates": (),
        "complete": True,
        "incomplete_reasons": (),
        "group_source": ListedGroups(groups),
    }
    fields |= changes
    if "quality" not in fields:
        fields["quality"] = policy_quality(
            fields["rules"], fields["mappings"], fields["controls"], fields["tally"]
        )
    return AssessmentResult(**fields)
