"""The view: everything a page prints, worded, sorted and linked. Writers only lay it out.

Finding groups are not in it; they stream through `audit.report.view_findings`.
"""

from __future__ import annotations

import re

import msgspec

from audit.model.gate import Gate
from audit.model.result import AssessmentResult, GroupCounts
from audit.model.rule import Severity
from audit.report import view_record, view_registers
from audit.report.numbers import count
from audit.report.text import visible
from audit.report.texts import Texts
from audit.report.view_clusters import ClusterDots, cluster_dots
from audit.report.view_consistency import ConsistencyView, consistency
from audit.report.view_controls import FrameworkControls, framework_controls
from audit.report.view_next import StepView, steps
from audit.report.view_parts import Anchors, Row, minute
from audit.report.view_quality import QualityLine, quality
from audit.report.view_ratio import FrameworkView, framework_view
from audit.report.view_unseen import Unseen, unseen
from audit.report.view_verdict import gate_detail, incomplete_text
from audit.report.view_words import Formula, Meaning, formulas, gate_word, meanings, severity_word


class GateView(msgspec.Struct, frozen=True):
    """One gate."""

    condition: str
    code: str
    """Class of the word: S, F, or I when it could not be decided."""
    word: str
    detail: str


class Verdict(msgspec.Struct, frozen=True):
    """The first thing read."""

    forbidden: bool
    line: str
    text: str
    gates: tuple[GateView, ...]
    complete: bool
    incomplete: str
    open_line: str


class ReportView(msgspec.Struct, frozen=True):
    """The whole report but its groups."""

    language: str
    title: str
    state: str
    state_iso: str
    version: str
    result_digest: str
    cover: tuple[Row, ...]
    verdict: Verdict
    frameworks: tuple[FrameworkView, ...]
    unseen: Unseen
    steps: tuple[StepView, ...]
    method: tuple[Row, ...]
    population: str
    sampled: str
    """A control that pairs can be drawn for, as `sample` names it; empty when there is none."""
    members: tuple[view_record.MemberRow, ...]
    clusters: tuple[ClusterDots, ...]
    controls: tuple[FrameworkControls, ...]
    control_total: int
    counts: GroupCounts
    open_total: int
    waivers: tuple[view_registers.WaiverView, ...]
    waived_pairs: int
    statements: tuple[view_registers.StatementView, ...]
    open_statements: tuple[view_registers.OpenStatement, ...]
    checks: tuple[view_registers.CheckView, ...]
    check_total: int
    rules: tuple[view_registers.RuleView, ...]
    quality: tuple[QualityLine, ...]
    consistency: ConsistencyView | None
    digests: tuple[view_record.DigestRow, ...]
    inputs: tuple[view_record.InputRow, ...]
    input_total: int
    configuration: str
    meanings: tuple[Meaning, ...]
    formulas: tuple[tuple[str, tuple[Formula, ...]], ...]


def build_view(result: AssessmentResult, texts: Texts) -> tuple[ReportView, Anchors]:
    """Word a result in one language; the anchors serve the groups."""
    anchors = Anchors(result.controls, (state.rule for state in result.rules))
    counts = result.group_source.counts()
    frameworks = tuple(framework_view(score, result.controls, texts) for score in result.scores)
    waivers = view_registers.waivers(result, anchors, texts)
    view = ReportView(
        language=texts.language,
        title=visible(result.title, 160),
        state=minute(result.record.state_time),
        state_iso=visible(result.record.state_time, 40),
        version=visible(result.record.fleetaudit, 40),
        result_digest=visible(result.record.result_sha256, 64),
        cover=view_record.cover(result, texts),
        verdict=verdict(result, counts, frameworks, texts),
        frameworks=frameworks,
        unseen=unseen(result, anchors, texts),
        steps=steps(result, anchors, texts),
        method=view_record.method(result, texts),
        population=visible(result.record.population_file),
        sampled=_sampled(result) if result.record.population_file else "",
        members=view_record.members(result),
        clusters=cluster_dots(result, texts),
        controls=tuple(framework_controls(result, score, anchors, texts) for score in result.scores),
        control_total=len(result.controls),
        counts=counts,
        open_total=sum(counts.open.values()),
        waivers=waivers,
        waived_pairs=sum(item.pairs for item in waivers if item.live),
        statements=view_registers.statements(result, anchors, texts),
        open_statements=view_registers.open_statements(result, anchors),
        checks=view_registers.checks(result, texts),
        check_total=len(result.checks),
        rules=view_registers.rules(result, anchors, texts),
        quality=quality(result, anchors, texts),
        consistency=consistency(result.consistency, minute(result.record.state_time), texts),
        digests=view_record.digests(result, texts),
        inputs=view_record.inputs(result),
        input_total=len(result.record.inputs),
        configuration=visible_configuration(result),
        meanings=meanings(texts),
        formulas=tuple(
            (f"{visible(score.title)} {visible(score.edition, 80)}", formulas(score, texts))
            for score in result.scores
        ),
    )
    return view, anchors


def _sampled(result: AssessmentResult) -> str:
    """The first control whose deciding rules had pairs, else whose supporting rules had."""
    plain = re.compile(r"[A-Za-z0-9 ._:-]+").fullmatch  # it becomes part of a shell command
    for decides in (True, False):
        for row in result.controls:
            name = f"{row.framework}:{row.id}"
            due = any(item.due and item.decides is decides for item in row.fleet.evidence)
            if due and plain(name):
                return name
    return ""


def visible_configuration(result: AssessmentResult) -> str:
    """The effective configuration as sorted JSON, lines kept, capped."""
    text = msgspec.json.format(
        msgspec.json.encode(result.record.configuration, order="deterministic"), indent=2
    ).decode()
    return "\n".join(visible(line) for line in text[:20_000].split("\n"))


def verdict(
    result: AssessmentResult,
    counts: GroupCounts,
    frameworks: tuple[FrameworkView, ...],
    texts: Texts,
) -> Verdict:
    """The forbidding reason first, then what the evidence supports, then gates and completeness apart."""
    critical = counts.open.get("critical", 0)
    line, forbidden = _line(result, critical, frameworks, texts)
    return Verdict(
        forbidden=forbidden,
        line=line,
        text=" ".join(_sentence(framework, texts) for framework in frameworks),
        gates=tuple(_gate(gate, texts) for gate in result.gates),
        complete=result.complete,
        incomplete="; ".join(incomplete_text(reason, texts) for reason in result.incomplete_reasons),
        open_line=open_line(counts, texts),
    )


def _line(
    result: AssessmentResult, critical: int, frameworks: tuple[FrameworkView, ...], texts: Texts
) -> tuple[str, bool]:
    if critical:
        return (
            texts.ngettext(
                "May not be called compliant: {n} critical finding group is open",
                "May not be called compliant: {n} critical finding groups are open",
                critical,
            ).format(n=count(critical)),
            True,
        )
    if not result.complete:
        return texts.gettext("May not be called compliant: the audit is incomplete"), True
    if not any(framework.stated for framework in frameworks):
        return texts.gettext("Nothing can be said: no ratio is stated"), True
    if any(framework.numerator < framework.denominator for framework in frameworks):
        return texts.gettext("The evidence does not support every control in the profile"), False
    return texts.gettext("The evidence supports every control in the profile"), False


def _sentence(framework: FrameworkView, texts: Texts) -> str:
    if not framework.stated:
        return texts.gettext("{title}: not stated, no control of the profile applies.").format(
            title=framework.title
        )
    by_code = {part.code: part.count for part in framework.segments}
    return texts.gettext(
        "Evidence supports {n} of {all} controls of {title}: {failed} not satisfied, {waived} waived, {unknown} undecided."
    ).format(
        n=framework.numerator,
        all=framework.denominator,
        title=framework.title,
        failed=by_code["F"],
        waived=by_code["W"],
        unknown=by_code["I"],
    )


def open_line(counts: GroupCounts, texts: Texts) -> str:
    """``1 critical, 4 high, ...``: all five severities, zeros too."""
    return ", ".join(
        f"{count(counts.open.get(severity.value, 0))} {severity_word(severity, texts)}"
        for severity in Severity
    )


def _gate(gate: Gate, texts: Texts) -> GateView:
    code, word = gate_word(gate.met, texts)
    return GateView(visible(gate.condition), code, word, gate_detail(gate, texts))
