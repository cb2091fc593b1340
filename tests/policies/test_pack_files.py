"""Every shipped policy is complete: annotations, audit mode, a twin, a test with good and bad objects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from audit.library.kyverno import load_kyverno
from audit.library.shipped import kyverno_pack
from audit.model.kyverno import KyvernoPolicy
from audit.model.rule import Rule
from tests.policies.pack import CHECKOUT, FOLDER, Policy, policies

PREFIX = "policies.kyverno.io/"
WORDS = ("title", "category", "severity", "subject", "description", "minversion")
PACKS = ("builtin:kyverno", "builtin:kyverno-cel")


@pytest.fixture(scope="session")
def rego_rules() -> dict[str, Rule]:
    from audit import wiring
    from audit.config.schema import Config

    return {rule.id: rule for rule in wiring.load_library(Config()).rules}


def one_rule(policy: KyvernoPolicy) -> Rule:
    (rule,) = policy.rules
    return rule.rule


def test_there_are_as_many_as_promised() -> None:
    cel = [policy for policy in policies() if policy.is_cel]
    assert len(cel) >= 20
    assert len(policies()) - len(cel) >= 50


@pytest.mark.parametrize("policy", policies(), ids=lambda policy: policy.title)
def test_the_folder_is_complete(policy: Policy, rego_rules: dict[str, Rule]) -> None:
    document = policy.document
    family, name = policy.title.split("/")
    assert document["metadata"]["name"] == f"{family}-{name}"
    assert all(policy.annotations.get(PREFIX + word) for word in WORDS)
    twin = rego_rules[policy.annotations["fleetaudit.dev/twin"]]
    assert twin.id == f"{family}/{name.removesuffix('-cel')}"
    assert policy.annotations[PREFIX + "severity"] == twin.severity.value
    assert (policy.annotations.get(PREFIX + "scored") == "false") is twin.warn_only
    spec = document["spec"]
    assert document["kind"] == ("ValidatingPolicy" if policy.is_cel else "ClusterPolicy")
    if not policy.is_cel:
        assert spec["background"] is True
        assert [rule["validate"]["failureAction"] for rule in spec["rules"]] == ["Audit"]
        asked = "preconditions" in spec["rules"][0]
    else:
        assert spec["validationActions"] == ["Audit"]
        assert spec["evaluation"]["background"]["enabled"] is True
        asked = "matchConditions" in spec
    results = set(policy.expected().values())
    assert "pass" in results
    assert results & {"fail", "warn"}
    assert ("skip" in results) is asked, "what does not apply is tested exactly where something may not apply"
    assert set(policy.test["resources"]) <= {path.name for path in policy.folder.iterdir()}
    judged = {(value["kind"], value["metadata"]["name"]) for value in policy.objects()}
    assert policy.expected().keys() <= judged


def _words(parameter: Any) -> Iterator[str]:
    """Words of every value of a parameter, keys of mappings too: ``nvidia``, ``com`` and ``gpu`` of ``nvidia.com/gpu*``."""
    if isinstance(parameter, dict):
        for key, value in parameter.items():
            yield from _words(key)
            yield from _words(value)
    elif isinstance(parameter, list):
        for value in parameter:
            yield from _words(value)
    else:
        yield from re.findall(r"[A-Za-z0-9]+", str(parameter))


@pytest.mark.parametrize("policy", policies(), ids=lambda policy: policy.title)
def test_what_the_twin_takes_from_parameters_stands_in_the_policy(policy: Policy) -> None:
    defaults = yaml.safe_load((CHECKOUT / "rego" / "parameters.yaml").read_text(encoding="utf-8"))[
        "parameters"
    ]
    named = defaults.get(policy.annotations["fleetaudit.dev/twin"], {})
    standing = (policy.folder / f"{policy.folder.name}.yaml").read_text(encoding="utf-8")
    missing = {word for value in named.values() for word in _words(value) if word not in standing}
    assert not missing, "rego/parameters.yaml says more than this policy knows"


def test_descriptions_speak_of_no_parameters() -> None:
    told = [p.title for p in policies() if re.search("parameter", p.annotations[PREFIX + "description"])]
    assert not told, "a Kyverno policy has none"


@pytest.mark.parametrize("pack", PACKS)
def test_every_policy_is_in_one_pack_and_loads(pack: str) -> None:
    sources = kyverno_pack(pack)
    loaded = load_kyverno(sources)
    assert (loaded.gaps, loaded.notices, loaded.exceptions) == ((), (), ())
    cel = pack.endswith("-cel")
    assert {source.path.parent for source in sources} == {
        policy.folder for policy in policies() if policy.is_cel is cel
    }
    assert len(loaded.rules) == len(sources)
    assert all(rule.builtin for rule in loaded.rules)
    assert {twin.others for twin in loaded.twins} == {(one_rule(policy).id,) for policy in loaded.policies}


@pytest.mark.parametrize("pack", PACKS)
def test_no_policy_is_asked_of_more_kinds_than_its_twin(pack: str, rego_rules: dict[str, Rule]) -> None:
    from audit.library.twins import load_twins

    loaded = load_kyverno(kyverno_pack(pack))
    twins = load_twins([], loaded.twins, (*rego_rules.values(), *loaded.rules))
    assert twins.notices == (), "with such a policy the denominator would grow"


def test_both_forms_of_a_policy_are_tested_with_the_same_objects() -> None:
    for policy in policies():
        if policy.is_cel:
            classic = Policy(policy.folder.with_name(policy.folder.name.removesuffix("-cel")))
            # From one run of the CLI's test to the next, its answers for CronJobs and policies in CEL come and go.
            stable = [value for value in classic.objects() if value["kind"] != "CronJob"]
            assert sorted(map(str, policy.objects())) == sorted(map(str, stable))


def test_nothing_else_lies_in_the_folder() -> None:
    known = {"kyverno-test.yaml", "good.yaml", "bad.yaml", "other.yaml", "accounts.yaml"}
    for path in FOLDER.rglob("*"):
        if path.is_file():
            assert path.name in known or path.stem == path.parent.name, path
            assert list(yaml.safe_load_all(path.read_text(encoding="utf-8"))), path
