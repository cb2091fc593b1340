"""What the rows of one document mean. The CLI passes what no rule answered; here that is not evaluated."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath

import msgspec

from audit.config.suggest import did_you_mean
from audit.evaluate.kyverno.log_lines import clean
from audit.testing.cases import Case, CaseOutcome, SuiteKind
from audit.testing.discover import SuiteFile
from audit.testing.kyverno.attribute import AUTOGEN, WANTED, Attributed, attribute, names
from audit.testing.kyverno.contents import Contents
from audit.testing.kyverno.output import Row, Section
from audit.testing.kyverno.suite import EVERY_RESOURCE, SKIP, Expected

EXCLUDED = "Excluded"
_NOT_MATCHED = "the rule did not match the resource, or was not asked; the CLI counts that as passed"


def judge(
    file: SuiteFile,
    entries: Sequence[Expected],
    section: Section,
    contents: Contents,
    wants: Callable[[str], bool],
) -> Iterator[Case]:
    """Cases of one document, in the order of its entries.

    Args:
        file: of the suite.
        entries: what the document expects.
        section: what the CLI printed of it; it has rows.
        contents: of its files.
        wants: whether a case of that id is asked for.
    """
    found, stray = attribute(entries, section.rows or (), contents)
    told = [pair for one in found for pair in _entry(file, one, contents) if wants(pair[0].id)]
    told += [(_case(file, None, row.shown, row), row) for row in stray]
    yield from _refused(file, section)
    yield from _distinct(told)


def _refused(file: SuiteFile, section: Section) -> Iterator[Case]:
    """Policies that the CLI says it cannot read, and then goes on without."""
    for path, said in section.refused:
        yield Case(
            kind=SuiteKind.KYVERNO,
            suite=file.label,
            name=f"(policy {PurePath(path).name})",
            outcome=CaseOutcome.ERROR,
            reason="policy_refused",
            message=clean(said),
            hint="mend the policy; the CLI goes on without it",
            file=os.path.relpath(path) if PurePath(path).is_relative_to(Path.cwd()) else path,
        )


def _entry(file: SuiteFile, one: Attributed, contents: Contents) -> Iterator[tuple[Case, Row | None]]:
    entry = one.expected
    rows = () if one.strayed else _answered(one.rows)
    for row in rows:
        yield _judged(_case(file, entry, _written(entry, row), row), entry, row, contents), row
    for resource in entry.resources:
        if not any(names(resource, row) for row in rows):
            yield _missing(_case(file, entry, resource, None), resource, one, contents), None
    if not entry.resources and not rows:
        case = _case(file, entry, EVERY_RESOURCE, None)
        message = "the CLI told nothing of it"
        yield _ended(case, CaseOutcome.NOT_EVALUATED, "no_row", message), None


def _answered(rows: Sequence[Row]) -> list[Row]:
    """Without exclusions of resources that were answered after all.

    A policy in CEL is asked in several forms (for Pods, their controllers, CronJobs). The CLI prints an exclusion for
    each form that it looks at before the one that matches, in an order that changes from run to run.
    """
    answered = {row.resource for row in rows if row.reason != EXCLUDED}
    return [row for row in rows if row.reason != EXCLUDED or row.resource not in answered]


def _case(file: SuiteFile, entry: Expected | None, resource: str, row: Row | None) -> Case:
    if entry is None:
        name = f"{row.policy}/{row.rule} {resource}" if row else resource
        return Case(
            kind=SuiteKind.KYVERNO,
            suite=file.label,
            name=name,
            outcome=CaseOutcome.ERROR,
            reason="unexpected_row",
            message="the CLI told of something that no entry asks for",
            file=file.label,
        )
    return Case(
        kind=SuiteKind.KYVERNO,
        suite=file.label,
        name=entry.name(resource),
        outcome=CaseOutcome.PASS,
        file=file.label,
        line=entry.line,
    )


def _written(entry: Expected, row: Row) -> str:
    """The resource as the entry names it."""
    if row.parts is None:
        return row.shown if not entry.resources or len(entry.resources) > 1 else entry.resources[0]
    return next((name for name in entry.resources if names(name, row)), row.shown)


def _judged(case: Case, entry: Expected, row: Row, contents: Contents) -> Case:
    if row.reason == "Ok" and row.result == "Pass":
        return case
    wanted = WANTED.match(row.reason)
    if wanted is not None:
        return _unlike(case, wanted["wanted"], wanted["got"], row.message)
    if row.reason == EXCLUDED:
        return _excluded(case, entry, contents)
    if row.reason == "Not found":
        return _policy_missing(case, entry, contents)
    message = clean(row.message or row.reason)
    if row.reason == "Invalid Policy":
        hint = "mend the policy; the CLI passes over it"
        return _ended(case, CaseOutcome.ERROR, "invalid_policy", message, hint)
    if row.reason == "Resource diff":
        return _ended(case, CaseOutcome.FAIL, "resource_diff", message)
    if row.reason == "Resource error":
        return _ended(case, CaseOutcome.ERROR, "resource_error", message)
    return _ended(
        case, CaseOutcome.ERROR, "unknown_answer", f"the CLI says {row.result}: {clean(row.reason)}"
    )


def _unlike(case: Case, wanted: str, got: str, said: str) -> Case:
    message = f"wanted {wanted}, got {got}" + (f": {clean(said)}" if said else "")
    if got == "error":
        return _ended(case, CaseOutcome.ERROR, "rule_error", message)
    if got == SKIP:
        return _ended(case, CaseOutcome.NOT_EVALUATED, "rule_skipped", message)
    return _ended(case, CaseOutcome.FAIL, "wrong_result", message)


def _excluded(case: Case, entry: Expected, contents: Contents) -> Case:
    rules = contents.rules_of(entry.policy)
    if rules is not None and entry.rule and not _has_rule(rules, entry.rule):
        message = f"{entry.policy} has no rule {entry.rule}; the CLI counts that as passed"
        return _ended(
            case, CaseOutcome.NOT_EVALUATED, "unknown_rule", message, did_you_mean(entry.rule, rules) or ""
        )
    if entry.result == SKIP and contents.knows(entry.policy):
        return case  # that nothing looks at it is what was expected
    hint = "check the kinds that the rule matches, or expect skip"
    return _ended(case, CaseOutcome.NOT_EVALUATED, "not_matched", _NOT_MATCHED, hint)


def _has_rule(rules: frozenset[str], rule: str) -> bool:
    """Rules that Kyverno makes for controllers have a name of their own."""
    return any(f"{prefix}{known}" == rule for prefix in AUTOGEN for known in rules)


def _policy_missing(case: Case, entry: Expected, contents: Contents) -> Case:
    if contents.knows(entry.policy):
        message = f"{entry.policy} gave no answer for the resource"
        return _ended(case, CaseOutcome.NOT_EVALUATED, "policy_silent", message)
    message = f"there is no policy {entry.policy} in the suite's files"
    hint = did_you_mean(entry.policy, contents.policies) or ""
    return _ended(case, CaseOutcome.NOT_EVALUATED, "unknown_policy", message, hint)


def _missing(case: Case, resource: str, one: Attributed, contents: Contents) -> Case:
    if contents.holds(resource) is False:
        message = f"there is no resource {resource} in the suite's files"
        if one.strayed and one.rows:
            message += f"; the CLI judged {len(one.rows)} others in its place"
        known = {name for _, name in contents.resources or ()}
        hint = did_you_mean(resource.rpartition("/")[2], known) or ""
        return _ended(case, CaseOutcome.NOT_EVALUATED, "unknown_resource", message, hint)
    return _ended(case, CaseOutcome.NOT_EVALUATED, "no_row", "the CLI told nothing of it")


def _distinct(told: Sequence[tuple[Case, Row | None]]) -> Iterator[Case]:
    """Cases of one name told apart by what their rows say, and by a number where that is the same."""
    count = Counter(case.name for case, _ in told)
    used: Counter[str] = Counter()
    for case, row in told:
        name = case.name
        if count[name] > 1 and row is not None:
            name = f"{name} [{row.shown}, {row.rule}]" if row.rule else f"{name} [{row.shown}]"
        used[name] += 1
        if used[name] > 1:
            name = f"{name} #{used[name]}"
        yield msgspec.structs.replace(case, name=name)


def _ended(case: Case, outcome: CaseOutcome, reason: str, message: str, hint: str = "") -> Case:
    return msgspec.structs.replace(case, outcome=outcome, reason=reason, message=message, hint=hint)
