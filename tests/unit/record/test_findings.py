"""The finding store: groups are the same whatever the order and however often it spills."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from audit.model.canonical import canonical_json
from audit.model.finding import Finding, Outcome, Violation
from audit.model.rule import Severity
from audit.model.subject import SubjectRef
from audit.record.findings import FindingStore, count_groups, group_id, path_shape


def finding(
    number: int,
    *,
    rule: str = "pod/privileged",
    cluster: str = "a",
    outcome: Outcome = Outcome.FAIL,
    waiver: str = "",
) -> Finding:
    return Finding(
        rule=rule,
        subject=SubjectRef(
            cluster=cluster,
            group="apps",
            version="v1",
            kind="Deployment",
            namespace="ml",
            name=f"web-{number % 7}",
            source="x.yaml",
            document=number + 1,
            owner_kind="Deployment",
            owner_name=f"web-{number % 7}",
        ),
        outcome=outcome,
        severity=Severity.HIGH,
        violation=Violation(path=("spec", "containers", number % 3, "image"), container="main"),
        error="timeout" if outcome is Outcome.ERROR else "",
        waiver=waiver,
    )


@pytest.fixture
def store() -> Iterator[FindingStore]:
    with FindingStore() as store:
        yield store


@pytest.mark.parametrize("buffer", [1, 7, 10_000])
def test_order_and_spilling_change_nothing(buffer: int) -> None:
    findings = [finding(n, cluster="ab"[n % 2]) for n in range(100)]
    with FindingStore() as expected, FindingStore(buffer=buffer) as shuffled:
        for item in findings:
            expected.add(item)
        random.Random(3).shuffle(findings)
        for item in findings:
            shuffled.add(item)
        assert list(shuffled.groups()) == list(expected.groups())
        assert list(shuffled.groups()) == list(shuffled.groups())
        assert list(shuffled.encoded_groups()) == [canonical_json(group) for group in shuffled.groups()]
        assert shuffled.counts() == count_groups(shuffled.groups()) == expected.counts()
        assert shuffled.counts().findings == 100


def test_group_spans_clusters_and_container_indexes(store: FindingStore) -> None:
    for number in range(14):
        store.add(finding(number, cluster="ab"[number % 2]))
    groups = list(store.groups())
    assert len(groups) == 7
    assert {group.path for group in groups} == {"spec.containers[].image"}
    assert all(group.total == 2 for group in groups)
    assert {group.clusters for group in groups} == {("a", "b")}


def test_group_of_waived_members_is_not_open(store: FindingStore) -> None:
    store.add(finding(1, waiver="w-1"))
    store.add(finding(2, waiver="w-1"))
    store.add(finding(2))
    counts = store.counts()
    assert counts.waived == 1
    assert counts.open["high"] == 1


def test_errors_of_one_cause_are_one_group(store: FindingStore) -> None:
    for number in range(50):
        store.add(finding(number, outcome=Outcome.ERROR))
    (group,) = store.groups()
    assert (group.outcome, group.total, group.path) == (Outcome.ERROR, 50, "timeout")
    assert store.counts().errors == 1


def test_worst_severity_comes_first_and_errors_after_failures(store: FindingStore) -> None:
    store.add(finding(1, outcome=Outcome.ERROR))
    store.add(finding(1, outcome=Outcome.WARN))
    store.add(finding(1))
    assert [group.outcome for group in store.groups()] == [Outcome.FAIL, Outcome.ERROR, Outcome.WARN]


def test_identity_survives_what_it_should() -> None:
    assert path_shape(("spec", "containers", 0, "image")) == path_shape(("spec", "containers", 4, "image"))
    one = group_id(Outcome.FAIL, ("r", "Deployment ml/web", "main", "spec.containers[].image"))
    assert one == group_id(Outcome.FAIL, ("r", "Deployment ml/web", "main", "spec.containers[].image"))
    assert one != group_id(Outcome.WARN, ("r", "Deployment ml/web", "main", "spec.containers[].image"))
    assert one.startswith("G-")
    assert len(one) == 10
