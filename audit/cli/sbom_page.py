"""What ``fleetaudit sbom check`` says about one file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from audit.cli.sbom_asking import Judged
from audit.cli.screen import Screen
from audit.cli.wording import count, label
from audit.model.finding import Outcome, PairAnswer

_STYLES = {"pass": "green", "fail": "bold red", "warn": "yellow", "error": "bold yellow", "skip": "dim"}
_SHOWN = 10


def plain(judged: Judged) -> dict[str, Any]:
    """For other programs."""
    return {
        "file": judged.label,
        "unread": judged.unread,
        "facts": judged.facts.document() if judged.facts else None,
        "answers": [
            {
                "rule": rule.id,
                "severity": rule.severity.value,
                "outcome": answer.outcome.value,
                "reason": answer.reason,
                "messages": list(_messages(answer)),
            }
            for rule, answer in judged.answers
        ],
    }


def print_judged(screen: Screen, judged: Judged) -> None:
    """Print the facts in a few lines, then the answers."""
    screen.line((judged.label, "bold"))
    if judged.facts is None:
        screen.line(label("unread", "bold yellow"), judged.unread)
        return
    for name, said in _lines(judged.facts.spec):
        screen.line(label(name), said)
    for rule, answer in judged.answers:
        outcome = answer.outcome.value
        screen.line(label(outcome, _STYLES[outcome]), f"{rule.id} ({rule.severity.value})")
        messages = list(_messages(answer))
        for message in messages[:_SHOWN]:
            screen.line(label(""), message)
        if len(messages) > _SHOWN:
            screen.line(label(""), f"and {len(messages) - _SHOWN} more; --json lists them")
    screen.line("")


def _messages(answer: PairAnswer) -> Iterator[str]:
    if answer.outcome is Outcome.SKIP:
        yield answer.reason
    elif answer.violations:
        yield from sorted(violation.message for violation in answer.violations)
    elif answer.message:
        yield answer.message


def _lines(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    found = spec["format"]
    deep = found["deep"]
    yield (
        "is",
        f"{spec['standard']} {spec['version']} in {spec['serialisation']}, {spec['file']['encoding'] or 'encoding unknown'}",
    )
    yield (
        "format",
        f"{found['status']}{': ' + found['reason'] if found['reason'] else ''}, by {found['checked_by'] or 'nobody'}",
    )
    if spec["content"]["status"] != "read":
        return
    yield (
        "",
        f"spdx-tools: {deep['status'].replace('_', ' ')}{', ' + deep['reason'] if deep['reason'] else ''}",
    )
    counts, cycles = spec["counts"], spec["structure"]["cycles"]["count"]
    yield (
        "holds",
        f"{count(counts['packages'], 'component')}, {counts['models']} of them models and {counts['datasets']} data sets; "
        f"{count(counts['edges'], 'connection')}, {count(cycles, 'circle')}",
    )
    for subject in spec["subjects"]["listed"][:_SHOWN]:
        digests = subject["images"] or subject["digests"] or ["no digest"]
        yield "describes", f"{subject['name'] or subject['id']} {subject['version']}, {digests[0]}"
    created = spec["created"]
    age = f", {count(created['age_days'], 'day')} old" if created["age_days"] is not None else ""
    yield (
        "made",
        f"{created['value'] or created['status']}{age}, by {', '.join(spec['authors'] + spec['tools']) or 'nobody named'}",
    )
    yield (
        "licences",
        ", ".join(f"{number} {name}" for name, number in spec["licences"]["counts"].items() if number)
        or "none",
    )
    yield "elements", ", ".join(f"{name} {one['status']}" for name, one in spec["completeness"].items())
