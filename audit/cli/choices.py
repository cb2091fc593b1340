"""Closed lists of the command line, with sentences for values that are not on them.

Kept apart from the model so that ``--help`` need not load it; a test compares the lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from audit.errors import UsageError

FORMATS = ("html", "json", "sarif", "junit", "markdown", "csv", "prometheus", "policy-reports", "openreports")
SEVERITIES = ("critical", "high", "medium", "low", "info")
PROFILES = ("technical", "full")
LANGUAGES = ("en", "zh-CN")
REGO_ENGINES: dict[str, Literal["embedded", "opa-server"]] = {
    "rego=embedded": "embedded",
    "rego=opa-server": "opa-server",
}

SIGNED_MODES = ("refuse", "mark")

_NUMBER = re.compile(r"[0-9]*\.?[0-9]+(?P<percent>\s*%)?", re.ASCII)


def one_of(option: str, value: str, known: Sequence[str]) -> str:
    """The value itself, when it is known.

    Raises:
        UsageError: it is not.
    """
    if value in known:
        return value
    from audit.config.suggest import did_you_mean

    listed = ", ".join(known)
    raise UsageError(
        f"{option}: {value[:60]!r} is not one of {listed}",
        suggestion=did_you_mean(value, known),
    )


def formats_of(values: Iterable[str]) -> tuple[str, ...]:
    """Format names from ``--format html,json --format sarif``, each once, in the order given."""
    names = [name.strip() for value in values for name in value.split(",")]
    return tuple(dict.fromkeys(one_of("--format", name, FORMATS) for name in names))


def rego_engine_of(value: str) -> Literal["embedded", "opa-server"]:
    """The engine in ``rego=ENGINE``.

    Raises:
        UsageError: unknown.
    """
    return REGO_ENGINES[one_of("--engine", value, tuple(REGO_ENGINES))]


def require_signed_of(value: str) -> Literal["refuse", "mark"]:
    """What becomes of content without an allowed signature.

    Raises:
        UsageError: unknown.
    """
    return "mark" if one_of("--require-signed", value, SIGNED_MODES) == "mark" else "refuse"


def severity_of(option: str, value: str) -> str:
    """A severity name.

    Raises:
        UsageError: unknown, or a gate on new findings, for which ``diff`` is the command.
    """
    if value.startswith("new:"):
        raise UsageError(
            f"{option}: gates on new findings need an earlier result, and a run has none",
            suggestion=f"use {option} {value[4:]}, or afterwards fleetaudit diff --since last --fail-on-new {value[4:]}",
        )
    return one_of(option, value, SEVERITIES)


def fractions_of(option: str, values: Iterable[str]) -> dict[str, float]:
    """``nist-ai-rmf=0.7`` to ``{"nist-ai-rmf": 0.7}``.

    Raises:
        UsageError: a bare number, a percentage, or no number at all.
    """
    found: dict[str, float] = {}
    for value in values:
        framework, equals, number = value.partition("=")
        if not equals:
            _refuse_bare(option, value)
        match = _NUMBER.fullmatch(number.strip())
        if not framework.strip() or match is None:
            raise UsageError(
                f"{option}: {value[:60]!r} is not FRAMEWORK=FRACTION", suggestion=_example(option)
            )
        share = float(number.strip().rstrip("% "))
        if match["percent"] or share > 1:
            raise UsageError(
                f"{option}: {value[:60]!r} is not a fraction from 0 to 1",
                suggestion=f"write {framework.strip()}={share / 100:g}"
                if _like_a_percentage(share, match["percent"])
                else _example(option),
            )
        if framework.strip() in found:
            raise UsageError(f"{option}: {framework.strip()} is given twice")
        found[framework.strip()] = share
    return found


def _refuse_bare(option: str, value: str) -> None:
    if _NUMBER.fullmatch(value.strip()):
        raise UsageError(
            f"{option}: a bare number is not accepted, because two frameworks are never averaged into one",
            suggestion=_example(option, value),
        )
    raise UsageError(f"{option}: {value[:60]!r} is not FRAMEWORK=FRACTION", suggestion=_example(option))


def _example(option: str, number: str = "0.7") -> str:
    share = number if re.fullmatch(r"0?\.[0-9]+|0|1", number) else "0.7"
    return f"name the framework: {option} nist-ai-rmf={share}"


def _like_a_percentage(share: float, sign: str | None) -> bool:
    return share <= 100 and (sign is not None or share >= 2)
