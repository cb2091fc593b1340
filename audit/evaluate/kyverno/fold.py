"""Rows to answers: exactly one for each due pair, generated forms folded into the rule they were made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from audit.evaluate.kyverno.batch.compare import DISPUTED
from audit.evaluate.kyverno.expectation import Expectations
from audit.evaluate.kyverno.image_names import has_image
from audit.evaluate.kyverno.labels import Tri, any_of
from audit.evaluate.kyverno.log_lines import clean
from audit.evaluate.kyverno.messages import violations_of
from audit.evaluate.kyverno.offline import ReadyPolicy
from audit.evaluate.kyverno.report_stream import Row
from audit.evaluate.kyverno.settle import Settled
from audit.evaluate.kyverno.subjects import Subject
from audit.model.finding import Outcome, PairAnswer, Violation
from audit.model.kyverno import Caveat, KyvernoPolicy, KyvernoRule, PolicyFamily, RuleVariant

NOT_SELECTED = "not_selected"
NO_MATCHING_IMAGE = "no_matching_image"
NO_ELEMENTS = "no_elements"
APPLY_ONE = "another_rule_applied"
CONDITIONS_NOT_MET = "conditions_not_met"
NAMESPACE_UNKNOWN = "namespace_unknown"
MISSING_ROW = "missing_row"
KYVERNO_ERROR = "kyverno_error"
NEEDS_NETWORK = "needs_network"
REFUSED = "policy_refused"
ENGINES_DIFFER = "engines_differ"

_WORST = (Outcome.FAIL, Outcome.ERROR, Outcome.WARN, Outcome.PASS, Outcome.SKIP)
_RESULTS = {outcome.value: outcome for outcome in Outcome}
_NETWORK_SIGNS = (
    "registry",
    "dial tcp",
    "proxyconnect",
    "connection refused",
    "image data for",
    "no such host",
)
_NAMESPACE_WORDS = frozenset({"namespace", "namespaces", "namespaceSelector", "namespaceObject"})
# On the way to almost everything: a redacted value below these concerns a rule only if it names more of the way.
_COMMON_WORDS = frozenset(
    {
        "spec",
        "template",
        "metadata",
        "containers",
        "initContainers",
        "ephemeralContainers",
        "name",
        "jobTemplate",
    }
)


class Verdicts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything known about one shard of one cluster."""

    expectations: Expectations
    ready: Mapping[str, ReadyPolicy]
    """By policy key."""
    settled: Mapping[PolicyFamily, Settled]
    explained: Mapping[tuple[int, str], str] = {}
    """What a diagnosis found for missing rows: by `id` of the subject and ``policy key/row``."""

    def missing(self, subject: Subject) -> list[tuple[KyvernoPolicy, RuleVariant]]:
        """Variants that must have given a row and did not, without a known reason."""
        found = []
        for policy, rule in subject.due if subject.facts is not None else ():
            rows = self._rows(subject, policy)
            for variant, selected in self.expectations.of(subject, policy, rule):
                if (
                    selected
                    and not _of(rows, variant)
                    and not self._is_explained(subject, policy, rule, rows)
                ):
                    found.append((policy, variant))
        return found

    def _is_explained(
        self, subject: Subject, policy: KyvernoPolicy, rule: KyvernoRule, rows: Sequence[Row]
    ) -> bool:
        return bool(self._without_rows(subject, policy, rule)) or bool(self._quiet(policy, rule, rows))

    def answers(self, subject: Subject) -> list[PairAnswer]:
        """The answers of all due policies and rules, in due order."""
        return [self.answer(subject, policy, rule) for policy, rule in subject.due]

    def answer(self, subject: Subject, policy: KyvernoPolicy, rule: KyvernoRule) -> PairAnswer:
        """The answer of one policy document for one rule."""
        if subject.facts is None:
            return _error(rule, subject.problem, "the object can't be handed to Kyverno")
        expected = self.expectations.of(subject, policy, rule)
        chosen = any_of(selected for _, selected in expected)
        rows = self._rows(subject, policy)
        if chosen is False and not (trusts_extra_rows(policy) and any(_of(rows, v) for v, _ in expected)):
            return _plain(rule.rule.id, Outcome.SKIP, NOT_SELECTED)
        reason = self._without_rows(subject, policy, rule)
        if reason is not None:
            return reason
        if chosen is None:
            where = subject.facts.namespace
            return _error(rule, NAMESPACE_UNKNOWN, f"the labels of namespace {where} are not known")
        answers = [
            self._variant(subject, policy, rule, variant, selected, rows) for variant, selected in expected
        ]
        worst = worst_of([answer for answer in answers if answer is not None])
        caveats = _caveats(subject, policy, rule)
        return msgspec.structs.replace(worst, caveats=caveats) if caveats else worst

    def _without_rows(self, subject: Subject, policy: KyvernoPolicy, rule: KyvernoRule) -> PairAnswer | None:
        """The answer that needs no row, if there is one."""
        blocked = self.ready[policy.key].blocked.get(rule.rule.id)
        if blocked is not None:
            if blocked[0] == NEEDS_NETWORK and rule.images and not has_image(rule, subject.facts):
                return _plain(rule.rule.id, Outcome.SKIP, NO_MATCHING_IMAGE)
            return _error(rule, blocked[0], f"Kyverno can't answer this offline: it {blocked[1]}")
        settled = self.settled.get(policy.family)
        if settled is None:
            return None
        loss = settled.loss(subject, policy)
        if loss is not None:
            return _error(rule, loss.code, f"{loss.who} gave no answer: {clean(loss.reason)}")
        if policy.name in settled.refused:
            return _error(rule, REFUSED, clean(settled.refused[policy.name]))
        companion = self.ready[policy.key].conditions
        return self._conditions(settled.named_rows(subject, companion), rule) if companion else None

    @staticmethod
    def _conditions(rows: Sequence[Row], rule: KyvernoRule) -> PairAnswer | None:
        """The answer when the policy's own match conditions do not hold, or could not be evaluated."""
        if not rows:
            return _error(rule, MISSING_ROW, "the policy's match conditions were not evaluated")
        if rows[0].result == "pass":
            return None
        if rows[0].result == "skip":
            return _plain(rule.rule.id, Outcome.SKIP, CONDITIONS_NOT_MET)
        return _error(rule, KYVERNO_ERROR, f"the policy's match conditions: {clean(rows[0].message)}")

    def _rows(self, subject: Subject, policy: KyvernoPolicy) -> Sequence[Row]:
        settled = self.settled.get(policy.family)
        return settled.rows_of(subject, policy) if settled is not None else ()

    def _variant(
        self,
        subject: Subject,
        policy: KyvernoPolicy,
        rule: KyvernoRule,
        variant: RuleVariant,
        selected: Tri,
        rows: Sequence[Row],
    ) -> PairAnswer | None:
        own = _of(rows, variant)
        if own:
            return worst_of([_of_row(rule, row, subject) for row in own])
        if selected is False:
            return None
        quiet = self._quiet(policy, rule, rows)
        if quiet:
            return _plain(rule.rule.id, Outcome.SKIP, quiet)
        said = self.explained.get((id(subject), f"{policy.key}/{variant.row}"), "")
        text = "the rule must be answered for this object, and Kyverno gave no row"
        return _error(rule, MISSING_ROW, f"{text}: {clean(said)}" if said else text)

    def _quiet(self, policy: KyvernoPolicy, rule: KyvernoRule, rows: Sequence[Row]) -> str:
        """Why a selected rule may give no row although it was looked at."""
        witness = self.ready[policy.key].witnesses.get(rule.rule.id)
        if witness and any(row.result == "pass" and _is_form(row.rule, witness) for row in rows):
            return NO_ELEMENTS
        if policy.apply_one and any(row.result in ("pass", "fail", "warn", "error") for row in rows):
            return APPLY_ONE
        return ""


def trusts_extra_rows(policy: KyvernoPolicy) -> bool:
    """Whether a row beyond our own reading of the selection counts: for classic policies Kyverno's word is the law.

    Policies in CEL are selected by Kubernetes' rules, from which the CLI is known to stray: with a binding it ignores
    an admission policy's own constraints, it lets namespaced policies judge every namespace, and it asks object
    selectors about an empty old object, for which NotIn and DoesNotExist always hold.
    """
    return policy.family is PolicyFamily.CLASSIC


def worst_of(answers: Sequence[PairAnswer]) -> PairAnswer:
    """The worst answer, with the violations of all that share its outcome."""
    if len(answers) == 1:
        return answers[0]
    first = min(answers, key=lambda answer: _WORST.index(answer.outcome))
    violations: list[Violation] = []
    for answer in answers:
        if answer.outcome is first.outcome:
            violations += [violation for violation in answer.violations if violation not in violations]
    return msgspec.structs.replace(first, violations=tuple(violations))


def _of(rows: Sequence[Row], variant: RuleVariant) -> Sequence[Row]:
    if not variant.row or not rows or (len(rows) == 1 and rows[0].rule == variant.row):
        return rows
    return [row for row in rows if row.rule == variant.row]


def _is_form(row: str, name: str) -> bool:
    return row in (name, f"autogen-{name}", f"autogen-cronjob-{name}")


def _of_row(rule: KyvernoRule, row: Row, subject: Subject) -> PairAnswer:
    outcome = _RESULTS.get(row.result)
    id_ = rule.rule.id
    if outcome is Outcome.PASS:
        return _plain(id_, outcome, "")
    if outcome is Outcome.SKIP:
        return _plain(id_, outcome, CONDITIONS_NOT_MET)
    if outcome in (Outcome.FAIL, Outcome.WARN):
        warns = rule.rule.warn_only or outcome is Outcome.WARN
        return PairAnswer(
            rule=id_,
            outcome=Outcome.WARN if warns else Outcome.FAIL,
            violations=violations_of(row.message, subject.value),
        )
    if row.source == DISPUTED:
        return _error(rule, ENGINES_DIFFER, clean(row.message))
    if outcome is None:
        return _error(rule, KYVERNO_ERROR, f"an unknown result {clean(row.result)}")
    network = any(sign in row.message for sign in _NETWORK_SIGNS)
    return _error(rule, NEEDS_NETWORK if network else KYVERNO_ERROR, clean(row.message))


def _error(rule: KyvernoRule, reason: str, message: str) -> PairAnswer:
    return PairAnswer(rule=rule.rule.id, outcome=Outcome.ERROR, reason=reason, message=message)


def _plain(rule: str, outcome: Outcome, reason: str) -> PairAnswer:
    return PairAnswer(rule=rule, outcome=outcome, reason=reason)


def _caveats(subject: Subject, policy: KyvernoPolicy, rule: KyvernoRule) -> tuple[str, ...]:
    facts = subject.facts
    found: list[Caveat] = []
    for caveat in facts.caveats if facts is not None else ():
        if caveat is Caveat.LARGE_INTEGER:
            concerned = policy.family is PolicyFamily.CLASSIC
        else:
            concerned = not rule.reads.isdisjoint(_NAMESPACE_WORDS)
        if concerned:
            found.append(caveat)
    if subject.item.redactions:
        redacted = {part for one in subject.item.redactions for part in one.path if isinstance(part, str)}
        if not redacted.isdisjoint(rule.reads - _COMMON_WORDS):
            found.append(Caveat.REDACTED)
    return tuple(caveat.value for caveat in found)
