"""What the console says after a run: scope, totals, gaps, findings, ratios, and the two last lines."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from audit.cli.exits import ExitCode
from audit.cli.screen import Part, Screen
from audit.model.assessment import Fraction, FrameworkScore, HeldBack
from audit.model.finding import FindingGroup, Outcome
from audit.model.gap import Gap
from audit.model.result import AssessmentResult

SHOWN_GAPS = 5
SHOWN_GROUPS = 8
_STYLE = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "cyan", "info": "dim"}
_HELD_BACK = (
    ("failing", "fail"),
    ("waived", "waived"),
    ("statement_open", "statement open"),
    ("statement_expired", "statement expired"),
    ("no_evidence", "no evidence"),
    ("no_check", "no check built"),
)


def print_summary(screen: Screen, result: AssessmentResult, *, verbose: bool = False) -> None:
    """Everything but the reports' places and the verdict lines."""
    print_totals(screen, result)
    print_gaps(screen, result.gaps, limit=None if verbose else SHOWN_GAPS)
    print_acceptance(screen, result)
    if verbose:
        for notice in result.notices:
            where = f"{notice.source}:{notice.line}" if notice.line else notice.source
            screen.line(label("Notice"), f"{where}: {notice.message}")
    print_groups(screen, result, limit=None if verbose else SHOWN_GROUPS)
    for score in result.scores:
        print_score(screen, score)


def print_totals(screen: Screen, result: AssessmentResult) -> None:
    """Scope, and the denominator's equation."""
    proof = result.record.denominator
    clusters = result.record.clusters
    reached = sum(cluster.reached for cluster in clusters)
    names = ", ".join(cluster.name for cluster in clusters[:4]) + (", ..." if len(clusters) > 4 else "")
    missing = len(clusters) - reached
    screen.line(
        label("Scope"),
        f"{count(len(clusters), 'cluster')} registered ({names}): {reached} reached, ",
        (f"{missing} missing", "bold yellow" if missing else ""),
    )
    screen.line(
        label("Judged"),
        f"{count(proof.objects, 'object')} from {count(proof.files, 'file')}, {count(proof.rules, 'rule')}, "
        f"{count(proof.pairs_due, 'pair')}; {count(len(result.gaps), 'gap')}",
    )
    total = result.tally.total
    waived = total(Outcome.FAIL, waived=True)
    screen.line(
        label(""),
        f"= {total(Outcome.PASS):,} pass + {total(Outcome.FAIL):,} fail",
        f" ({waived:,} waived)" if waived else "",
        f" + {total(Outcome.WARN):,} warn + {total(Outcome.ERROR):,} error + {total(Outcome.SKIP):,} skip",
    )
    aside = [
        f"{number:,} {words}"
        for number, words in (
            (proof.derived, "derived subjects"),
            (proof.not_objects, "documents that are no Kubernetes object"),
            (proof.excluded, "excluded"),
        )
        if number
    ]
    if aside:
        screen.line(label("Aside"), ", ".join(aside))
    deselected = sum(not state.selected for state in result.rules)
    if deselected:
        screen.line(label(""), f"{count(deselected, 'rule')} not asked: their controls stay undecided")


def print_gaps(screen: Screen, gaps: Sequence[Gap], *, limit: int | None) -> None:
    """What was not looked at, and how to mend it."""
    for gap in gaps[:limit]:
        where = f"{gap.source}:{gap.line}" if gap.line else gap.source
        allowed = " (allowed)" if gap.allowed else ""
        screen.line(label("GAP", "bold yellow"), f"{where}: {gap.reason}{allowed}")
        if gap.hint:
            screen.line(label(""), f"fix: {gap.hint}")
    if limit is not None and len(gaps) > limit:
        screen.line(
            label(""), f"and {len(gaps) - limit:,} more gaps; --verbose prints them, the report lists them"
        )


def print_acceptance(screen: Screen, result: AssessmentResult) -> None:
    """Waivers and statements that ended, and waivers that do nothing."""
    for state in result.waivers:
        waiver = state.waiver
        if not state.live:
            screen.line(
                label("Expired"), f"waiver {waiver.id} of {waiver.owner}: {count(state.matched, 'pair')}"
            )
        elif state.warning:
            screen.line(label("Waiver"), f"{waiver.id}: {state.warning}")
    for said in result.statements:
        if not said.live:
            statement = said.statement
            screen.line(
                label("Expired"), f"statement {statement.id} about {statement.control}, {statement.author}"
            )


def print_groups(screen: Screen, result: AssessmentResult, *, limit: int | None) -> None:
    """Open groups by severity, then the first of them."""
    counts = result.group_source.counts()
    opened = {name: number for name, number in counts.open.items() if number}
    split = ", ".join(f"{number:,} {name}" for name, number in opened.items())
    rest = "".join(
        f"; {number:,} {words}"
        for number, words in (
            (counts.waived, "waived"),
            (counts.errors, "in error"),
            (counts.warns, "warning"),
        )
        if number
    )
    screen.line(label("Open"), count(sum(opened.values()), "group"), f": {split}" if split else "", rest)
    shown = _open_groups(result.group_source.groups())
    for group in itertools.islice(shown, limit):
        where = f"{group.owner} {group.container}".rstrip()
        clusters = group.clusters[0] if len(group.clusters) == 1 else count(len(group.clusters), "cluster")
        severity = group.severity.value
        screen.line(
            "  ", (severity.ljust(9), _STYLE[severity]), f"{group.id}  {group.rule:<34} {where}  {clusters}"
        )
    if limit is not None and sum(opened.values()) > limit:
        screen.line("  ", f"and {sum(opened.values()) - limit:,} more; the report lists them")


def _open_groups(groups: Iterable[FindingGroup]) -> Iterable[FindingGroup]:
    return (g for g in groups if g.outcome is Outcome.FAIL and g.waived < g.total)


def print_score(screen: Screen, score: FrameworkScore) -> None:
    """One framework: the ratio with its range and coverage, and what holds it back."""
    title = f"{score.title} {score.profile.value}".ljust(24)
    high = score.high.percent_truncated
    screen.line(
        (title, "bold"),
        " ",
        (fraction(score.strict), "bold"),
        f"  range to {high} %" if high is not None else "",
        f"  coverage {score.evidence_coverage.numerator}/{score.evidence_coverage.denominator}",
    )
    held = held_back(score.held_back)
    if held:
        screen.line("  held back by".ljust(25), held)


def held_back(parts: HeldBack) -> str:
    """``9 fail, 4 waived``: the parts that sum to what is missing."""
    return ", ".join(f"{getattr(parts, name)} {words}" for name, words in _HELD_BACK if getattr(parts, name))


def print_verdict(screen: Screen, result: AssessmentResult, code: ExitCode) -> None:
    """Gate and completeness: always two lines, whichever decided the exit code."""
    failed = [gate for gate in result.gates if not gate.met]
    if not result.gates:
        screen.line(label("Gate"), "none asked for")
    elif failed:
        detail = "; ".join(f"{gate.condition}: {gate.detail}" for gate in failed)
        screen.line(label("Gate"), ("FAILED", "bold red"), f"      {detail}")
    else:
        detail = "; ".join(f"{gate.condition}: {gate.detail}" for gate in result.gates)
        screen.line(label("Gate"), ("MET", "bold green"), f"         {detail}")
    end = f"exit {int(code)}"
    if result.complete:
        screen.line(label("Audit"), ("COMPLETE", "bold green"), f"    {end}")
    else:
        reasons = "; ".join(result.incomplete_reasons)
        screen.line(label("Audit"), ("INCOMPLETE", "bold yellow"), f"  {reasons}; {end}")


def label(text: str, style: str = "dim") -> Part:
    """The left column."""
    return (text.ljust(9), style)


def fraction(value: Fraction) -> str:
    """``41/58 (70.6 %)``, or "not stated"."""
    if value.percent_truncated is None:
        return "not stated"
    return f"{value.numerator}/{value.denominator} ({value.percent_truncated} %)"


def count(number: int, noun: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
