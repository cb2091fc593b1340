"""Why a row is missing: the objects in question are judged once more, and the CLI says why it left them out."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from audit.evaluate.kyverno.log_lines import LogLine
from audit.evaluate.kyverno.run import RunRequest, Runs
from audit.evaluate.kyverno.subjects import Subject, layers
from audit.model.kyverno import KyvernoPolicy, RuleVariant

Missing = tuple[Subject, KyvernoPolicy, RuleVariant]
_MAX_SUBJECTS = 400


def explain(runs: Runs, template: RunRequest, missing: Sequence[Missing]) -> dict[tuple[int, str], str]:
    """What the log says, by `id` of the subject and ``policy key/row``; pairs it says nothing about are left out."""
    subjects = {id(subject): subject for subject, _, _ in missing}
    policies = {policy.key: policy for _, policy, _ in missing}
    chosen = layers(list(subjects.values()))[0][:_MAX_SUBJECTS]
    request = msgspec.structs.replace(
        template, subjects=chosen, policies=list(policies.values()), diagnose=True
    )
    log = runs.attempt(request).log
    found: dict[tuple[int, str], str] = {}
    kept = {id(subject) for subject in chosen}
    for subject, policy, variant in missing:
        if id(subject) not in kept:
            continue
        said = _said(log, subject, policy, variant)
        if said:
            found[id(subject), f"{policy.key}/{variant.row}"] = said
    return found


def _said(log: Sequence[LogLine], subject: Subject, policy: KyvernoPolicy, variant: RuleVariant) -> str:
    for line in log:
        if not _is_about(line, subject, policy):
            continue
        if line.fields.get("rule.name") == variant.row and line.fields.get("reason"):
            return f"{line.message}: {line.fields['reason']}"
        if line.level == "ERR":
            return f"{line.message}: {line.fields.get('error', '')}"
    return ""


def _is_about(line: LogLine, subject: Subject, policy: KyvernoPolicy) -> bool:
    facts = subject.facts
    if facts is None:
        return False
    fields = line.fields
    if fields.get("policy.name", fields.get("policy")) != policy.name:
        return False
    if "resource" in fields:
        return fields["resource"] == f"{facts.namespace}/{facts.kind}/{facts.name}"
    return (fields.get("new.kind"), fields.get("new.namespace"), fields.get("new.name")) == (
        facts.kind,
        facts.namespace,
        facts.name,
    )
