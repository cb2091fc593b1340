"""Twins as people declare them: in a file, or in the annotation of a policy; strict, with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.errors import AuditError, ContentError
from audit.library.kyverno import load_kyverno
from audit.library.policy_source import PolicySource
from audit.library.twins import TWIN_WIDER, load_twins, mapped_to_pairs
from audit.model.control import Strength
from audit.model.twin import Twin
from tests import builders as b

RULES = (
    b.rule("pod/privileged", kinds=("Pod", "apps/Deployment")),
    b.rule("pod/selinux", kinds=("Pod",)),
    b.rule("secret/env-secret-ref", kinds=("Pod",), warn_only=True),
    b.rule("kyverno:a/one", engine="kyverno", builtin=False, kinds=("*/Pod",)),
    b.rule("kyverno:a/two", engine="kyverno", builtin=False, kinds=("*/Pod",)),
    b.rule("kyverno:b/wide", engine="kyverno", builtin=False, kinds=("Pod", "batch/Job")),
    b.rule("kyverno:c/all", engine="kyverno", builtin=False, kinds=()),
    b.rule("gatekeeper:K/x", engine="rego", builtin=False, kinds=("Pod",)),
)


def load(tmp_path: Path, text: str, annotated: tuple[Twin, ...] = ()) -> tuple[Twin, ...]:
    file = tmp_path / "twins.yaml"
    file.write_text(text, encoding="utf-8")
    return load_twins([file], annotated, RULES).declared


def entry(rule: str, *twins: str, reason: str = "the same question") -> str:
    return f"  - rule: {rule}\n    twins: [{', '.join(twins)}]\n    reason: {reason}\n"


def test_a_file_is_read(tmp_path: Path) -> None:
    text = (
        "twins:\n"
        + entry("pod/privileged", "kyverno:a/one", "kyverno:a/two")
        + entry("pod/selinux", "gatekeeper:K/x")
    )
    first, second = load(tmp_path, text)
    assert (first.rule, first.others, first.reason) == (
        "pod/privileged",
        ("kyverno:a/one", "kyverno:a/two"),
        "the same question",
    )
    assert (second.rule, second.others) == ("pod/selinux", ("gatekeeper:K/x",))
    assert (first.file, first.line, second.line) == (str(tmp_path / "twins.yaml"), 2, 5)


WRONG = {
    "an unknown rule": (
        entry("pod/privilegd", "kyverno:a/one"),
        "unknown rule pod/privilegd",
        "pod/privileged",
    ),
    "an unknown twin": (
        entry("pod/privileged", "kyverno:a/onee"),
        "unknown rule kyverno:a/onee",
        "kyverno:a/one",
    ),
    "itself": (entry("kyverno:a/one", "kyverno:a/one"), "kyverno:a/one is declared a twin of itself", ""),
    "a built-in rule": (
        entry("pod/privileged", "pod/selinux"),
        "pod/selinux is a built-in rule of its own",
        "rule",
    ),
    "two rules": (
        entry("pod/privileged", "kyverno:a/one") + entry("pod/selinux", "kyverno:a/one"),
        "kyverno:a/one is a twin of pod/privileged already",
        "",
    ),
    "a chain": (
        entry("pod/privileged", "kyverno:a/one") + entry("kyverno:a/one", "kyverno:a/two"),
        "kyverno:a/one has twins of its own",
        "pod/privileged",
    ),
    "a rule that only warns": (
        entry("secret/env-secret-ref", "kyverno:a/one"),
        "secret/env-secret-ref only warns, and kyverno:a/one fails",
        "",
    ),
    "no twin": (entry("pod/privileged"), "may not be empty", ""),
    "no reason": (entry("pod/privileged", "kyverno:a/one", reason="' '"), "may not be empty", ""),
    "no rule": ("  - twins: [kyverno:a/one]\n    reason: x\n", "the key 'rule' is missing", ""),
    "an unknown key": ("  - rule: pod/privileged\n    twin: [x]\n    reason: x\n", "unknown key", "twins"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path: Path, what: str) -> None:
    text, message, hint = WRONG[what]
    with pytest.raises(ContentError) as caught:
        load(tmp_path, f"twins:\n{text}")
    all_of_it = [caught.value, *caught.value.others]
    (error,) = [error for error in all_of_it if error.message.startswith(message)]
    assert error.file == str(tmp_path / "twins.yaml")
    assert error.line is not None
    assert hint in (error.suggestion or "")


def test_every_error_of_every_file_is_listed(tmp_path: Path) -> None:
    text = "twins:\n" + entry("pod/a", "kyverno:a/one") + entry("pod/b", "kyverno:x/y")
    with pytest.raises(ContentError) as caught:
        load(tmp_path, text)
    assert len(caught.value.others) == 2


def test_a_file_and_an_annotation_may_not_contradict_each_other(tmp_path: Path) -> None:
    annotated = (Twin(rule="pod/selinux", others=("kyverno:a/one",), file="policy.yaml", line=1),)
    with pytest.raises(ContentError, match="kyverno:a/one is a twin of pod/selinux already"):
        load(tmp_path, "twins:\n" + entry("pod/privileged", "kyverno:a/one"), annotated)


@pytest.mark.parametrize(
    ("twin", "beyond"), [("kyverno:b/wide", "batch/Job"), ("kyverno:c/all", "every kind")]
)
def test_a_twin_that_is_asked_of_more_is_noticed(twin: str, beyond: str) -> None:
    declared = (Twin(rule="pod/privileged", others=(twin,), file="f", line=3),)
    (notice,) = load_twins([], declared, RULES).notices
    assert (notice.code, notice.source, notice.line) == (TWIN_WIDER, "f", 3)
    assert f"also asked of {beyond}, which pod/privileged is not" in notice.message


def test_a_kind_in_any_group_is_no_more() -> None:
    declared = (Twin(rule="pod/privileged", others=("kyverno:a/one",)),)
    assert load_twins([], declared, RULES).notices == ()


POLICY = """
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: own
  annotations: {{fleetaudit.dev/twin: "{twin}", policies.kyverno.io/severity: high}}
spec:
  rules:
  - {{name: first rule, match: {{any: [{{resources: {{kinds: [Pod]}}}}]}}, validate: {{message: m, pattern: {{spec: {{a: b}}}}}}}}
  - {{name: second, match: {{any: [{{resources: {{kinds: [Pod]}}}}]}}, validate: {{message: m, pattern: {{spec: {{a: b}}}}}}}}
"""


def annotated(tmp_path: Path, twin: str) -> tuple[tuple[Twin, ...], list[str]]:
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY.format(twin=twin), encoding="utf-8")
    loaded = load_kyverno([PolicySource(path=file, label="policy.yaml", builtin=False)])
    return loaded.twins, [gap.reason for gap in loaded.gaps]


def test_an_annotation_speaks_for_all_rules_of_the_policy(tmp_path: Path) -> None:
    (twin,), gaps = annotated(tmp_path, "pod/privileged")
    assert (twin.rule, twin.others) == ("pod/privileged", ("kyverno:own/first-rule", "kyverno:own/second"))
    assert (twin.file, twin.line, gaps) == ("policy.yaml", 2, [])


def test_an_annotation_speaks_for_each_rule(tmp_path: Path) -> None:
    twins, _ = annotated(tmp_path, "first-rule=pod/privileged, second=pod/selinux")
    assert [(twin.rule, twin.others) for twin in twins] == [
        ("pod/privileged", ("kyverno:own/first-rule",)),
        ("pod/selinux", ("kyverno:own/second",)),
    ]
    (together,), _ = annotated(tmp_path, "first-rule=pod/privileged second=pod/privileged")
    assert together.others == ("kyverno:own/first-rule", "kyverno:own/second")


@pytest.mark.parametrize(
    ("twin", "reason"),
    [
        ("", "names no rule"),
        ("pod/privileged, second=pod/selinux", "pod/privileged is not of the form rule=id"),
        ("third=pod/privileged", "the policy has no rule third"),
        ("second=", "second= is not of the form rule=id"),
    ],
)
def test_an_annotation_that_can_not_be_read_costs_its_policy(tmp_path: Path, twin: str, reason: str) -> None:
    twins, gaps = annotated(tmp_path, twin)
    assert twins == ()
    assert gaps == [f"metadata.annotations.fleetaudit.dev/twin: {reason}"]


def test_an_annotation_with_an_unknown_rule_stops_the_load(tmp_path: Path) -> None:
    from audit import wiring
    from audit.config.schema import Config, PolicyConfig

    file = tmp_path / "policy.yaml"
    file.write_text(POLICY.format(twin="pod/privilegd"), encoding="utf-8")
    with pytest.raises(AuditError, match="unknown rule pod/privilegd") as caught:
        wiring.load_library(Config(policy=PolicyConfig(paths=(str(file),))))
    assert caught.value.line == 2
    assert "pod/privileged" in (caught.value.suggestion or "")


def test_mappings_of_a_folded_rule_speak_for_the_pair() -> None:
    def link(rule: str, strength: Strength, control: str = "C 1") -> object:
        return b.mapping(rule=rule, control=control, strength=strength)

    entries = (
        link("pod/privileged", Strength.SUPPORTS),
        link("kyverno:a/one", Strength.DECIDES),
        link("kyverno:a/one", Strength.SUPPORTS, "C 2"),
        link("pod/selinux", Strength.DECIDES),
    )
    folded = mapped_to_pairs(entries, {"kyverno:a/one": "pod/privileged"})  # type: ignore[arg-type]  # a builder
    assert [(entry.rule, entry.control, entry.strength.value) for entry in folded] == [
        ("pod/privileged", "C 1", "decides"),
        ("pod/privileged", "C 2", "supports"),
        ("pod/selinux", "C 1", "decides"),
    ]
    assert mapped_to_pairs(entries, {}) == entries  # type: ignore[arg-type]  # as above
