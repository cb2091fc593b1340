"""Names that the loaded content does not know are found before anything is audited."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.config.check import check_names, rule_matches
from audit.config.effective import effective_config
from audit.config.environment import Environment
from audit.config.overrides import Overrides

RULES = ["pod/privileged", "pod/host-ports", "rbac/wildcard-verbs"]
CONTROLS = {"nist-ai-rmf": ["GOVERN 1.1", "MEASURE 2.7"], "lfai": ["SIG-1"]}


@pytest.mark.parametrize(
    ("text", "key", "suggestion"),
    [
        ("rules: {skip: [pod/priviledged]}", "rules.skip.0", "did you mean pod/privileged?"),
        ("rules: {select: ['rbac/*', 'nope/*']}", "rules.select.1", "fleetaudit rules"),
        ("parameters: {pod/hostports: {}}", "parameters.pod/hostports", "did you mean pod/host-ports?"),
        ("gates: {min_ratio: {nist-rmf: 0.5}}", "gates.min_ratio.nist-rmf", "did you mean nist-ai-rmf?"),
        ("gates: {min_coverage: {xyz: 0.5}}", "gates.min_coverage.xyz", "known: lfai, nist-ai-rmf"),
        ("profile: {lfia: []}", "profile.lfia", "did you mean lfai?"),
        (
            "profile: {nist-ai-rmf: [GOVERN 1.1, MESURE 2.7]}",
            "profile.nist-ai-rmf.1",
            "did you mean MEASURE 2.7?",
        ),
    ],
)
def test_an_unknown_name_is_refused(tmp_path: Path, text: str, key: str, suggestion: str) -> None:
    (tmp_path / "fleetaudit.yaml").write_text(text, encoding="utf-8")
    config = effective_config(Overrides(), Environment(), tmp_path)
    (error,) = check_names(config, rules=RULES, controls=CONTROLS)
    assert error.key == key
    assert suggestion in (error.suggestion or "")
    assert (error.file, error.line) == (str(tmp_path / "fleetaudit.yaml"), 1)


def test_the_line_is_that_of_the_name(tmp_path: Path) -> None:
    (tmp_path / "fleetaudit.yaml").write_text(
        "rules:\n  skip:\n    - pod/privileged\n    - pod/nope\nparameters:\n  pod/gone:\n    a: 1\n"
        "gates:\n  min_ratio:\n    lfai: 0.1\n    nist: 0.2\nprofile:\n  lfai:\n    - SIG-1\n    - SIG-9\n",
        encoding="utf-8",
    )
    config = effective_config(Overrides(), Environment(), tmp_path)
    errors = check_names(config, rules=RULES, controls=CONTROLS)
    assert [(error.line, error.key) for error in errors] == [
        (4, "rules.skip.1"),
        (6, "parameters.pod/gone"),
        (11, "gates.min_ratio.nist"),
        (15, "profile.lfai.1"),
    ]


def test_what_the_command_line_said_is_no_mistake_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "fleetaudit.yaml").write_text(
        "rules:\n  select: [pod/privileged]\n  skip: [pod/nope]\n", encoding="utf-8"
    )
    over = Overrides(rules=("pod/a",), skip_rules=("pod/b",), min_ratio={"x": 0.1}, min_coverage={"y": 0.1})
    config = effective_config(over, Environment(), tmp_path)
    errors = check_names(config, rules=RULES, controls=CONTROLS)
    assert [(error.file is None, error.line, error.key) for error in errors] == [
        (True, None, "--rule"),
        (False, 3, "rules.skip.0"),
        (True, None, "--skip-rule"),
        (True, None, "--min-ratio"),
        (True, None, "--min-coverage"),
    ]


def test_known_names_and_globs_are_fine(tmp_path: Path) -> None:
    (tmp_path / "fleetaudit.yaml").write_text(
        "rules: {select: ['pod/*'], skip: [rbac/wildcard-verbs]}\n"
        "profile: {nist-ai-rmf: [GOVERN 1.1]}\ngates: {min_ratio: {lfai: 1}}\n",
        encoding="utf-8",
    )
    config = effective_config(Overrides(), Environment(), tmp_path)
    assert check_names(config, rules=RULES, controls=CONTROLS) == []


def test_globs_are_case_sensitive_and_anchored() -> None:
    assert rule_matches("pod/*", "pod/privileged")
    assert not rule_matches("pod", "pod/privileged")
    assert not rule_matches("POD/*", "pod/privileged")
