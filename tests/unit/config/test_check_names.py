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
    assert error.file == str(tmp_path / "fleetaudit.yaml")


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
