"""What several engines said of one subject, and why a verdict could differ in a cluster: words for every page."""

from __future__ import annotations

from collections.abc import Sequence

from audit.model.finding import Finding, Outcome
from audit.report.text import visible
from audit.report.texts import Texts


def said_text(finding: Finding, texts: Texts) -> str:
    """``pod/privileged: fails; kyverno:pod-privileged/x: passes``; empty where one rule was asked."""
    words = _outcomes(texts)
    return "; ".join(f"{visible(one.rule, 120)}: {words[one.outcome]}" for one in finding.said)


def said_alike(one: Finding, other: Finding) -> bool:
    """Whether the engines answered the same about two subjects."""
    return [said.outcome for said in one.said] == [said.outcome for said in other.said]


def caveats_text(codes: Sequence[str], texts: Texts) -> str:
    """Each caveat in words; the code itself where there are none for it."""
    words = _caveats(texts)
    return "; ".join(words.get(code) or visible(code, 80) for code in codes)


def _outcomes(texts: Texts) -> dict[Outcome, str]:
    return {
        Outcome.PASS: texts.gettext("passes"),
        Outcome.FAIL: texts.gettext("fails"),
        Outcome.WARN: texts.gettext("warns"),
        Outcome.ERROR: texts.gettext("could not judge"),
        Outcome.SKIP: texts.gettext("does not apply"),
    }


def _caveats(texts: Texts) -> dict[str, str]:
    return {
        "namespace_assumed": texts.gettext("the manifest names no namespace; default was assumed"),
        "scope_unknown": texts.gettext("whether the kind lives in namespaces is not known"),
        "large_integer": texts.gettext("an integer beyond 2^53 lost digits in the Kyverno CLI"),
        "redacted": texts.gettext("a value was taken out as a secret before the rule could see it"),
    }
