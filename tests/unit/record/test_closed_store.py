"""A result outlives its audit in numbers, not in groups; asking for those is an error, never an empty answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit import audit_fleet, write_reports
from audit.errors import UsageError
from audit.record.findings import FindingStore
from tests import builders as b

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: shop}
spec: {hostPID: true, containers: [{name: c, image: "registry.example/app:latest"}]}
"""


@pytest.mark.parametrize("spilled", [True, False])
def test_a_closed_store_says_so(tmp_path: Path, *, spilled: bool) -> None:
    store = FindingStore(tmp_path, buffer=1 if spilled else 100)
    for number in range(3):
        store.add(b.finding(subject=b.subject(f"p{number}")))
    counts = store.counts()
    assert len(list(store.groups())) == 3
    store.close()
    assert store.counts() == counts
    for ask in (store.groups, store.encoded_groups):
        with pytest.raises(UsageError, match="gone"):
            ask()


def test_a_store_closed_before_it_was_counted_counts_nothing() -> None:
    store = FindingStore()
    store.add(b.finding())
    store.close()
    with pytest.raises(UsageError, match="gone"):
        store.counts()


def test_behind_the_block_everything_that_needs_groups_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(POD, encoding="utf-8")
    with audit_fleet(tmp_path / "pod.yaml") as result:
        inside = len(list(result.group_source.groups()))
    assert inside > 1
    counts = result.group_source.counts()
    assert sum(counts.open.values()) + counts.errors == inside
    with pytest.raises(UsageError, match="inside the `with` block"):
        list(result.group_source.groups())
    for name in ("html", "json", "sarif", "junit", "markdown", "csv"):
        with pytest.raises(UsageError, match="inside the `with` block"):
            write_reports(result, tmp_path / name, [name])
        assert not list((tmp_path / name).iterdir())
    # Metrics are numbers alone, and those are still known.
    assert [path.name for path in write_reports(result, tmp_path / "metrics", ["prometheus"])] == [
        "fleetaudit.prom"
    ]
