"""Values of options: what is taken, and how everything else is refused."""

from __future__ import annotations

import typing

import pytest

from audit.cli.choices import (
    FORMATS,
    LANGUAGES,
    PROFILES,
    REGO_ENGINES,
    SEVERITIES,
    formats_of,
    fractions_of,
    one_of,
    rego_engine_of,
    severity_of,
)
from audit.config.fields import FormatName, Language
from audit.config.judging import EngineConfig
from audit.errors import UsageError
from audit.model.rule import Severity


def test_the_lists_are_those_of_the_model() -> None:
    assert typing.get_args(FormatName) == FORMATS
    assert typing.get_args(Language) == LANGUAGES
    assert tuple(severity.value for severity in Severity) == SEVERITIES
    assert PROFILES == ("technical", "full")
    engines = typing.get_args(typing.get_type_hints(EngineConfig)["rego"])
    assert {name: f"rego={name}" for name in engines} == {v: k for k, v in REGO_ENGINES.items()}


def test_engines() -> None:
    assert rego_engine_of("rego=opa-server") == "opa-server"
    for wrong in ("opa-server", "rego=", "rego=opa_server", "kyverno=x"):
        with pytest.raises(UsageError, match="--engine"):
            rego_engine_of(wrong)


def test_formats_with_commas_and_repetition() -> None:
    assert formats_of(["html,json", "sarif", "json"]) == ("html", "json", "sarif")
    assert formats_of(["csv , junit"]) == ("csv", "junit")


@pytest.mark.parametrize(
    ("value", "suggestion"), [("htm", "html"), ("JSON", "json"), ("xls", None), ("html,", None)]
)
def test_unknown_formats(value: str, suggestion: str | None) -> None:
    with pytest.raises(UsageError, match="--format") as caught:
        formats_of([value])
    assert caught.value.suggestion == (f"did you mean {suggestion}?" if suggestion else None)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["nist-ai-rmf=0.7"], {"nist-ai-rmf": 0.7}),
        (["nist-ai-rmf=1", "lfai=.25"], {"nist-ai-rmf": 1.0, "lfai": 0.25}),
        (["lfai=0"], {"lfai": 0.0}),
        ([], {}),
    ],
)
def test_fractions(values: list[str], expected: dict[str, float]) -> None:
    assert fractions_of("--min-ratio", values) == expected


@pytest.mark.parametrize(
    ("value", "message", "suggestion"),
    [
        ("0.7", "bare number", "--min-ratio nist-ai-rmf=0.7"),
        ("70", "bare number", "--min-ratio nist-ai-rmf=0.7"),
        ("70%", "bare number", "--min-ratio nist-ai-rmf=0.7"),
        ("lfai", "is not FRAMEWORK=FRACTION", "--min-ratio nist-ai-rmf=0.7"),
        ("lfai=", "is not FRAMEWORK=FRACTION", None),
        ("=0.7", "is not FRAMEWORK=FRACTION", None),
        ("lfai=high", "is not FRAMEWORK=FRACTION", None),
        ("lfai=nan", "is not FRAMEWORK=FRACTION", None),
        ("lfai=inf", "is not FRAMEWORK=FRACTION", None),
        ("lfai=-0.1", "is not FRAMEWORK=FRACTION", None),
        ("lfai=1e9", "is not FRAMEWORK=FRACTION", None),
        ("lfai=٠.٥", "is not FRAMEWORK=FRACTION", None),
        ("lfai=70", "from 0 to 1", "write lfai=0.7"),
        ("lfai=70%", "from 0 to 1", "write lfai=0.7"),
        ("lfai=700", "from 0 to 1", "nist-ai-rmf=0.7"),
    ],
)
def test_what_is_no_fraction(value: str, message: str, suggestion: str | None) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        fractions_of("--min-ratio", [value])
    if suggestion:
        assert suggestion in (caught.value.suggestion or "")


def test_a_framework_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="twice"):
        fractions_of("--min-coverage", ["lfai=0.1", "lfai=0.2"])


def test_severities() -> None:
    assert severity_of("--fail-on", "high") == "high"
    with pytest.raises(UsageError, match="earlier result") as caught:
        severity_of("--fail-on", "new:high")
    assert caught.value.suggestion == (
        "use --fail-on high, or afterwards fleetaudit diff --since last --fail-on-new high"
    )
    with pytest.raises(UsageError) as caught:
        severity_of("--fail-on", "critcal")
    assert caught.value.suggestion == "did you mean critical?"


def test_a_long_wrong_value_is_cut() -> None:
    with pytest.raises(UsageError) as caught:
        one_of("--lang", "x" * 10_000, LANGUAGES)
    assert len(caught.value.message) < 200
