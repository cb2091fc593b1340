"""The configuration refuses what would trust by accident."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from audit.collect.artifacts.signatures.settings import SignatureSettings
from audit.collect.artifacts.signatures.signers import CompiledPolicy, Policies, Who

ISSUER = "https://issuer.test"
SIGNER: dict[str, Any] = {"name": "s", "issuer": ISSUER, "subject": "a@corp.test"}
POLICY: dict[str, Any] = {"name": "p", "artifacts": ["*.whl"], "any_of": [SIGNER]}


def load(value: Any) -> SignatureSettings:
    return msgspec.convert(value, SignatureSettings)


def test_the_smallest_configuration() -> None:
    assert load({"policies": [POLICY]}).policies[0].threshold == 1


def without(value: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: one for name, one in value.items() if name != key}


KEYED = {"name": "k", "key": "team"}
EXPECTED = {
    "builders": [{"id": "https://ci.test", "signers": ["s"], "level": 2}],
    "sources": ["https://code.test/app"],
}
WRONG: dict[str, Any] = {
    "no policy": {"policies": []},
    "policies missing": {},
    "no signer": {"policies": [without(POLICY, "any_of")]},
    "an empty any_of": {"policies": [{**POLICY, "any_of": []}]},
    "an empty all_of": {"policies": [{**POLICY, "all_of": []}]},
    "no artifact": {"policies": [{**POLICY, "artifacts": []}]},
    "an empty glob": {"policies": [{**POLICY, "artifacts": [""]}]},
    "a subject without issuer": {"policies": [{**POLICY, "any_of": [without(SIGNER, "issuer")]}]},
    "an issuer alone": {"policies": [{**POLICY, "any_of": [without(SIGNER, "subject")]}]},
    "key and identity": {"policies": [{**POLICY, "any_of": [{**SIGNER, "key": "team"}]}]},
    "neither key nor identity": {"policies": [{**POLICY, "any_of": [{"name": "s"}]}]},
    "an unknown key": {"policies": [{**POLICY, "any_of": [KEYED]}]},
    "two keys of one name": {
        "policies": [POLICY],
        "keys": [{"name": "team", "path": "a"}, {"name": "team", "path": "b"}],
    },
    "two policies of one name": {"policies": [POLICY, POLICY]},
    "two signers of one name": {"policies": [{**POLICY, "any_of": [SIGNER, SIGNER]}]},
    "an unknown field": {"policies": [{**POLICY, "treshold": 2}]},
    "an unknown claim": {"policies": [{**POLICY, "any_of": [{**SIGNER, "claims": {"repo": "x"}}]}]},
    "two kinds of match": {
        "policies": [{**POLICY, "any_of": [{**SIGNER, "subject": {"glob": "a", "exact": "a"}}]}]
    },
    "no kind of match": {"policies": [{**POLICY, "any_of": [{**SIGNER, "subject": {}}]}]},
    "everybody by glob": {"policies": [{**POLICY, "any_of": [{**SIGNER, "subject": {"glob": "**"}}]}]},
    "everybody by regex": {"policies": [{**POLICY, "any_of": [{**SIGNER, "subject": {"regex": ".*"}}]}]},
    "every issuer": {"policies": [{**POLICY, "any_of": [{**SIGNER, "issuer": {"glob": "https://**"}}]}]},
    "a regex that is none": {"policies": [{**POLICY, "any_of": [{**SIGNER, "subject": {"regex": "(a"}}]}]},
    "threshold nought": {"policies": [{**POLICY, "threshold": 0}]},
    "threshold out of reach": {"policies": [{**POLICY, "threshold": 2}]},
    "threshold without any_of": {
        "policies": [{**without(POLICY, "any_of"), "all_of": [SIGNER], "threshold": 2}]
    },
    "a digest that is none": {"policies": [POLICY], "trusted_root": {"sha256": "abc"}},
    "builders without signers": {
        "policies": [
            {**POLICY, "provenance": {**EXPECTED, "builders": [{"id": "x", "signers": [], "level": 1}]}}
        ]
    },
    "builders of unknown signers": {
        "policies": [
            {**POLICY, "provenance": {**EXPECTED, "builders": [{"id": "x", "signers": ["z"], "level": 1}]}}
        ]
    },
    "no source": {"policies": [{**POLICY, "provenance": {**EXPECTED, "sources": []}}]},
    "level four": {
        "policies": [
            {**POLICY, "provenance": {**EXPECTED, "builders": [{"id": "x", "signers": ["s"], "level": 4}]}}
        ]
    },
}


@pytest.mark.parametrize("case", WRONG)
def test_what_would_trust_by_accident_is_refused(case: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        load(WRONG[case])


def test_expectations_that_are_right_are_taken() -> None:
    assert load({"policies": [{**POLICY, "provenance": EXPECTED}]}).policies[0].provenance is not None


# ---- how many have signed


def who(subject: str, *, key: str = "0") -> Who:
    return Who(subject=subject, issuer=ISSUER, key={"sha256": key}, logged=True)


def compiled(**policy: Any) -> CompiledPolicy:
    base = {"name": "p", "artifacts": ["**"], **policy}
    return CompiledPolicy(load({"policies": [base]}).policies[0])


ANYBODY_OF_CORP = {"name": "corp", "issuer": ISSUER, "subject": {"glob": "*@corp.test"}}


def test_a_threshold_counts_people_and_not_signatures() -> None:
    policy = compiled(any_of=[ANYBODY_OF_CORP], threshold=2)
    assert not policy.are_enough([])
    assert not policy.are_enough([who("a@corp.test"), who("a@corp.test", key="1")])
    assert not policy.are_enough([who("a@corp.test"), who("b@other.test")])
    assert policy.are_enough([who("a@corp.test"), who("b@corp.test")])


def test_all_of_wants_each_of_them_and_nobody_stands_for_two() -> None:
    policy = compiled(all_of=[ANYBODY_OF_CORP, {**SIGNER, "name": "a"}])
    assert not policy.are_enough([who("a@corp.test")])
    assert not policy.are_enough([who("b@corp.test"), who("c@corp.test")])
    for order in (["a", "b"], ["b", "a"]):
        assert policy.are_enough([who(f"{name}@corp.test") for name in order])


def test_any_of_and_all_of_hold_together() -> None:
    policy = compiled(any_of=[ANYBODY_OF_CORP], all_of=[{**SIGNER, "subject": "boss@other.test"}])
    assert not policy.are_enough([who("a@corp.test")])
    assert not policy.are_enough([who("boss@other.test")])
    assert policy.are_enough([who("a@corp.test"), who("boss@other.test")])


def test_one_key_under_two_names_is_one_signer() -> None:
    settings = load(
        {
            "policies": [
                {
                    "name": "p",
                    "artifacts": ["**"],
                    "all_of": [{"name": "a", "key": "one"}, {"name": "b", "key": "two"}],
                }
            ],
            "keys": [{"name": "one", "path": "x"}, {"name": "two", "path": "x"}],
        }
    )
    policy = CompiledPolicy(settings.policies[0])
    same = Who(key_names=("one", "two"), key={"sha256": "0"}, logged=False)
    other = Who(key_names=("two",), key={"sha256": "1"}, logged=False)
    assert not policy.are_enough([same, same])
    assert policy.are_enough([same, other])


def test_a_glob_without_a_slash_is_about_the_file_name() -> None:
    policies = Policies(load({"policies": [POLICY]}).policies)
    assert policies.of(["dist/a.whl"]) is not None
    assert policies.of(["dist/a.tar"]) is None
    assert policies.of([]) is None
