"""Kyverno files to audit rules. A broken document costs one gap, never the file or the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from audit.errors import ContentError
from audit.library.kyverno.cel import read_admission, read_cel
from audit.library.kyverno.classic import other_rules, read_classic
from audit.library.kyverno.documents import PolicyDocument, find_documents, mapping_of
from audit.library.kyverno.exceptions import read_exception
from audit.library.kyverno.twins import twins_of
from audit.library.kyverno.words import DEFAULT_SEVERITY, words_of
from audit.library.policy_source import PolicySource
from audit.model.gap import Gap, GapKind, Notice
from audit.model.kyverno import KyvernoPolicy, LoadedPolicies, PolicyException, PolicyFamily
from audit.model.twin import Twin

NOT_AN_AUDIT_RULE = "not_an_audit_rule"
SEVERITY_ASSUMED = "severity_assumed"
UNBOUND = "unbound"

_CLASSIC = frozenset({"ClusterPolicy", "Policy"})
_CEL = {
    "ValidatingPolicy": PolicyFamily.VALIDATING,
    "NamespacedValidatingPolicy": PolicyFamily.VALIDATING,
    "ImageValidatingPolicy": PolicyFamily.IMAGE,
    "NamespacedImageValidatingPolicy": PolicyFamily.IMAGE,
}
_VERSIONS = {
    "kyverno.io": frozenset({"v1", "v2", "v2beta1", "v2alpha1"}),
    "policies.kyverno.io": frozenset({"v1", "v1beta1", "v1alpha1"}),
    "admissionregistration.k8s.io": frozenset({"v1", "v1beta1", "v1alpha1"}),
}
_OTHERS = {
    "CleanupPolicy": "deletes objects on a schedule",
    "ClusterCleanupPolicy": "deletes objects on a schedule",
    "DeletingPolicy": "deletes objects on a schedule",
    "NamespacedDeletingPolicy": "deletes objects on a schedule",
    "MutatingPolicy": "changes objects",
    "NamespacedMutatingPolicy": "changes objects",
    "MutatingAdmissionPolicy": "changes objects",
    "MutatingAdmissionPolicyBinding": "changes objects",
    "GeneratingPolicy": "creates objects",
    "NamespacedGeneratingPolicy": "creates objects",
}
_POLICY_KINDS = frozenset(
    {*_CLASSIC, *_CEL, *_OTHERS, "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}
    | {"PolicyException", "GlobalContextEntry"}
)
_OWN_GROUPS = frozenset({"kyverno.io", "policies.kyverno.io"})
_NO_POLICIES = frozenset(
    {
        "UpdateRequest",
        "AdmissionReport",
        "BackgroundScanReport",
        "ClusterAdmissionReport",
        "ClusterBackgroundScanReport",
    }
)


def load_kyverno(sources: Sequence[PolicySource]) -> LoadedPolicies:
    """Read policies, bindings and exceptions.

    Args:
        sources: files and folders, shipped ones first. Documents that are no policies are passed over.

    Raises:
        ContentError: a shipped document is wrong. A user's costs a gap of kind policy instead.
    """
    loader = _Loader()
    documents: list[PolicyDocument] = []
    for found in find_documents(sources):
        if isinstance(found, ContentError):
            loader.refuse(found, builtin=_is_builtin(found, sources))
        else:
            documents.append(found)
    loader.read(documents)
    return loader.finish()


def _is_builtin(error: ContentError, sources: Sequence[PolicySource]) -> bool:
    return any(source.builtin and (error.file or "").startswith(source.label) for source in sources)


class _Loader:
    def __init__(self) -> None:
        self._policies: dict[str, KyvernoPolicy] = {}
        self._rule_ids: dict[str, str] = {}
        self._exceptions: dict[str, PolicyException] = {}
        self._global: dict[str, bytes] = {}
        self._gaps: list[Gap] = []
        self._notices: list[Notice] = []
        self._assumed: Counter[str] = Counter()
        self._twins: list[Twin] = []

    def read(self, documents: Sequence[PolicyDocument]) -> None:
        bindings = [d for d in documents if d.kind == "ValidatingAdmissionPolicyBinding"]
        entries = {d.name: d.spec for d in documents if d.kind == "GlobalContextEntry"}
        admission = [d.name for d in documents if d.kind == "ValidatingAdmissionPolicy"]
        for document in documents:
            try:
                if document.kind == "ValidatingAdmissionPolicyBinding":
                    _check_binding(document, admission)
                self._read(document, bindings, entries)
            except ContentError as error:
                self.refuse(error, builtin=document.builtin)

    def _read(
        self, document: PolicyDocument, bindings: Sequence[PolicyDocument], entries: dict[str, dict[str, Any]]
    ) -> None:
        kind = document.kind
        if not _is_policy(document):
            return
        if kind in _OTHERS:
            self._note(document, f"{kind} {document.name} {_OTHERS[kind]}")
        elif kind == "PolicyException":
            exception = read_exception(document)
            self._exceptions[f"{document.group}/{exception.id}"] = exception
        elif kind == "GlobalContextEntry":
            # Any other version the CLI judges as if it were an ordinary object.
            entry = {**document.value, "apiVersion": "kyverno.io/v2"}
            self._global[document.name] = msgspec.json.encode(entry)
        elif kind in _CLASSIC:
            policy = read_classic(document, entries)
            if number := other_rules(document):
                self._note(
                    document,
                    f"{number} of its rules change or create objects: {kind} {document.name}",
                    number,
                )
            if policy.rules:
                self._add(document, [policy])
        elif kind == "ValidatingAdmissionPolicy":
            bound = [b for b in bindings if b.spec.get("policyName") == document.name]
            self._add(document, read_admission(document, bound))
            if not bound:
                message = (
                    f"no binding names {kind} {document.name}: it is asked, but a cluster would not act on it"
                )
                self._note(document, message, code=UNBOUND)
        elif kind in _CEL:
            mode = mapping_of(document.spec.get("evaluation")).get("mode") or "Kubernetes"
            if mode != "Kubernetes":
                self._note(document, f"{kind} {document.name} judges {mode} payloads, not Kubernetes objects")
                return
            self._add(document, [read_cel(document, _CEL[kind])])

    def _add(self, document: PolicyDocument, policies: Sequence[KyvernoPolicy]) -> None:
        ids = {rule.rule.id for policy in policies for rule in policy.rules}
        for id_ in sorted(ids):
            if id_ in self._rule_ids:
                raise document.error(f"rule {id_} is already defined in {self._rule_ids[id_]}")
        written = sum(len(policy.rules) for policy in policies[:1])
        if len(ids) != written:
            raise document.error("two rules have names that look the same in an id")
        twins = twins_of(document, policies)
        self._rule_ids |= dict.fromkeys(ids, document.file)
        self._twins += twins
        self._policies |= {policy.key: policy for policy in policies}
        if words_of(document).severity_assumed:
            self._assumed[document.file] += len(ids)

    def _note(
        self, document: PolicyDocument, message: str, count: int = 1, *, code: str = NOT_AN_AUDIT_RULE
    ) -> None:
        self._notices.append(
            Notice(source=document.file, code=code, message=message, line=document.line, count=count)
        )

    def refuse(self, error: ContentError, *, builtin: bool) -> None:
        """A shipped document stops the load; a user's costs one gap."""
        if builtin:
            raise error
        self._gaps.append(
            policy_gap(
                error.file or "",
                error.message if not error.key else f"{error.key}: {error.message}",
                line=error.line,
                hint=error.suggestion or "",
            )
        )

    def finish(self) -> LoadedPolicies:
        for file, number in sorted(self._assumed.items()):
            message = f"no severity is given: {DEFAULT_SEVERITY.value} is assumed"
            self._notices.append(Notice(source=file, code=SEVERITY_ASSUMED, message=message, count=number))
        return LoadedPolicies(
            policies=tuple(self._policies.values()),
            exceptions=tuple(self._exceptions[key] for key in sorted(self._exceptions)),
            global_context=self._global,
            gaps=tuple(self._gaps),
            notices=tuple(self._notices),
            twins=tuple(self._twins),
        )


def _check_binding(document: PolicyDocument, policies: Sequence[str]) -> None:
    """A binding of a policy that is not here: it enforces nothing that is asked.

    Raises:
        ContentError: it names no policy of these.
    """
    if not _is_policy(document):
        return
    named = document.spec.get("policyName")
    if named not in policies:
        raise document.error(
            f"the binding names the policy {named or '(none)'}, which is not here",
            key="spec.policyName",
            suggestion=_similar(str(named), policies),
        )


def _is_policy(document: PolicyDocument) -> bool:
    group, _, version = document.api_version.rpartition("/")
    kind = document.kind
    if kind not in _POLICY_KINDS:
        if group in _OWN_GROUPS and kind not in _NO_POLICIES:
            raise document.error(
                f"{kind or 'a document without kind'} is no kind of {group}",
                key="kind",
                suggestion=_similar(kind, _POLICY_KINDS),
            )
        return False
    if group not in _VERSIONS:
        # Other projects have kinds of these names; a slip of the pen looks like one of our groups.
        if group and not _similar(group, _VERSIONS):
            return False
        raise document.error(
            f"{kind} has no apiVersion {document.api_version or '(none)'}",
            key="apiVersion",
            suggestion=_similar(group, _VERSIONS),
        )
    if group not in _groups_of(kind):
        wanted = " or ".join(sorted(_groups_of(kind)))
        raise document.error(f"{kind} is no kind of {group} but of {wanted}", key="apiVersion")
    if version not in _VERSIONS[group]:
        raise document.error(f"{group} has no version {version}", key="apiVersion")
    return True


def _groups_of(kind: str) -> frozenset[str]:
    if kind == "PolicyException":
        return _OWN_GROUPS
    if "AdmissionPolicy" in kind:
        return frozenset({"admissionregistration.k8s.io"})
    classic = kind in _CLASSIC or kind in ("CleanupPolicy", "ClusterCleanupPolicy", "GlobalContextEntry")
    return frozenset({"kyverno.io" if classic else "policies.kyverno.io"})


def _similar(written: str, known: Iterable[str]) -> str:
    import difflib  # noqa: PLC0415  # only when something is already wrong

    close = difflib.get_close_matches(written, sorted(known), n=1, cutoff=0.7)
    return f"did you mean {close[0]}?" if close else ""


def policy_gap(source: str, reason: str, *, line: int | None = None, hint: str = "") -> Gap:
    """A policy that is missing hides no object (no kinds); its own rules simply are not there."""
    return Gap(
        kind=GapKind.POLICY,
        cluster="",
        source=source,
        reason=reason,
        line=line,
        kinds=(),
        hint=hint or "mend the policy; `fleetaudit validate` shows every error",
    )
