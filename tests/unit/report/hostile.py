"""A result whose every text, from every source, tries to break out."""

from __future__ import annotations

from typing import Any

import msgspec

from audit.model.gate import IncompleteCode, IncompleteReason
from audit.model.result import AssessmentResult
from audit.score.quality import policy_quality
from tests import builders as b
from tests.unit.report.fleet_policies import fleet_policies
from tests.unit.report.story import story

PAYLOADS = (
    '"><img src=x onerror=alert(1)>',
    "</script><script>alert(2)</script>",
    "<!--<script>",
    "{{ 7*7 }} ${7*7} {% raw %}",
    "safe\u202egpj.exe",
    'it\'s <b>bold & "quoted".yaml',
    "</style><style>*{display:none}</style>",
    "]]><svg onload=alert(4)>",
    "\x1b]8;;https://evil.example\x07click\x1b]8;;\x07\x9b31m\x00",
    "=HYPERLINK(1)",
    "`tick` | **bold** @team #1",
)
HARMLESS = "plain words"
_KEPT = {"framework", "function", "control", "rule", "cluster", "id", "outcome", "severity", "kind"}
_CLOSED = {"state", "strength", "claim", "date", "expires", "why_not"}
_TYPES = {field.name: field.type for field in msgspec.structs.fields(AssessmentResult)}


def hostile(payload: str) -> AssessmentResult:
    """The story with `payload` in every free text, and in the names of one extra finding."""
    result = story()
    plain = msgspec.to_builtins(
        {
            name: getattr(result, name)
            for name in ("gaps", "notices", "waivers", "statements", "checks", "mappings")
        }
    )
    changed = {name: msgspec.convert(_poisoned(plain[name], payload), _TYPES[name]) for name in plain}
    subject = b.subject(
        payload, cluster=payload, namespace=payload, source=payload, owner_name=payload, kind=payload
    )
    found = b.finding(
        rule=payload,
        subject=subject,
        place=b.place(payload),
        violation=b.violation(
            path=(payload, 0), container=payload, message=payload, seen=payload, expected={payload: [payload]}
        ),
    )
    groups = (*b.display_order(tuple(result.group_source.groups())), b.group(found, id=f"G-{payload}"))
    record = msgspec.structs.replace(
        result.record,
        configuration={payload: payload},
        population_file=payload,
        inputs=(b.InputFile(path=payload, cluster=payload, sha256=payload, bytes=1, documents=1),),
    )
    made = msgspec.structs.replace(
        result,
        title=payload,
        record=record,
        group_source=b.ListedGroups(groups),
        rules=(
            *result.rules,
            b.rule_state(
                payload,
                title=payload,
                description=payload,
                remediation=payload,
                fix=payload,
                references=(payload, f"javascript:{payload}", "https://ok.example.test/?a=1&b=2"),
                file=payload,
            ),
        ),
        consistency=fleet_policies(payload, (payload, "west", "edge")),
        controls=tuple(
            msgspec.structs.replace(
                row, title=payload, fleet=msgspec.structs.replace(row.fleet, statement_text=payload)
            )
            for row in result.controls
        ),
        scores=tuple(
            msgspec.structs.replace(score, title=payload, edition=payload) for score in result.scores
        ),
        gates=tuple(msgspec.structs.replace(gate, condition=payload) for gate in result.gates),
        incomplete_reasons=(IncompleteReason(code=IncompleteCode.GATE_NOT_DECIDED, gate=payload),),
        **changed,
    )

    quality = policy_quality(made.rules, made.mappings, made.controls, made.tally)
    return msgspec.structs.replace(made, quality=quality)


def _poisoned(node: Any, payload: str) -> Any:
    """Every string replaced, but for names that link things together, closed sets and dates."""
    if isinstance(node, list | tuple):
        return [_poisoned(item, payload) for item in node]
    if isinstance(node, dict):
        return {
            key: item if key in _KEPT or key in _CLOSED else _poisoned(item, payload)
            for key, item in node.items()
        }
    return payload if isinstance(node, str) else node
