"""What is written is what is read, and a second reading redacts nothing more."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.model.gap import Gap, GapKind, Notice
from audit.model.run import InputFile
from audit.native.reader import Reader
from tests.shared_data import shared_dir
from tests.unit.snapshot.making import (
    CONFIG_MAP,
    DEPLOYMENT,
    POD,
    SECRET,
    Events,
    gaps,
    manifest_of,
    objects,
    read_back,
    thing,
    told,
    written,
)

CANARIES = ("CANARYSECRET", "Q0FOQVJZU0VDUkVU")

texts = st.text(max_size=40)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
secrets = st.sampled_from(
    [
        "ghp_0123456789abcdefghijABCDEFGHIJ0123456789",
        "postgres://user:hunter2hunter2@db.example.com/x",
        "--api-key=abcdEFGH12345678abcd",
        "password: correct-horse-battery",
        "fleetaudit:redacted:token:9-32",
        'curl -H "Authorization: Bearer abcdefghij0123456789" https://x.example.com?token=abcdefgh12345678',
    ]
)
contents = st.dictionaries(
    st.sampled_from(["data", "spec", "password", "token", "env", "args", "x"]) | texts,
    values | secrets | st.dictionaries(texts, secrets, max_size=3) | st.lists(secrets, max_size=3),
    max_size=4,
)


def comparable(events: Events) -> list[Any]:
    """All of it but digests of what was read, which are of the redacted text here and of the server's text there."""
    return [
        (event.path, event.documents) if isinstance(event, InputFile) else event
        for event in events
        if not (isinstance(event, Notice) and event.code == "snapshot_unchecked")
    ]


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    pages=st.lists(
        st.lists(st.tuples(st.sampled_from([CONFIG_MAP, DEPLOYMENT]), contents), min_size=1, max_size=4),
        max_size=4,
    )
)
def test_what_is_written_is_read(reader: Reader, pages: list[list[tuple[Any, dict[str, Any]]]]) -> None:
    served = []
    for kind in (CONFIG_MAP, DEPLOYMENT):
        for number, page in enumerate(pages, start=1):
            found = [
                more | thing(kind, f"o{number}-{index}")
                for index, (its_kind, more) in enumerate(page)
                if its_kind is kind
            ]
            if found:
                served.append((kind, number, found))
    events = told(reader, served)
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), events, [CONFIG_MAP, DEPLOYMENT, POD])
        assert comparable(read_back(path, reader)) == comparable(events)


def test_an_object_that_could_not_be_read_keeps_its_place_and_its_gap(reader: Reader, tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(600):
        deep = [deep]
    pages = [
        (CONFIG_MAP, 1, [thing(CONFIG_MAP, "a"), thing(CONFIG_MAP, "b", data=deep), thing(CONFIG_MAP, "c")])
    ]
    pages += [(CONFIG_MAP, 2, [thing(CONFIG_MAP, "d", data=deep)])]
    events = told(reader, pages)
    assert len(gaps(events)) == 2
    back = read_back(written(tmp_path, events, [CONFIG_MAP]), reader)
    assert [item.ref.document for item in objects(back)] == [1, 3]
    assert sorted(gaps(back), key=lambda gap: gap.source) == sorted(gaps(events), key=lambda gap: gap.source)
    assert {(e.path, e.documents) for e in back if isinstance(e, InputFile)} == {
        ("/api/v1/configmaps", 3),
        ("/api/v1/configmaps?page=2", 1),
    }


def test_secrets_stay_where_they_were(reader: Reader, tmp_path: Path) -> None:
    world = list(yaml.safe_load_all(shared_dir("cases", "31-secrets-in-reports", "objects.yaml").read_text()))
    by_kind = {kind.kind: kind for kind in (SECRET, CONFIG_MAP, POD)}
    events = told(
        reader, [(by_kind[one["kind"]], 1, [one]) for one in sorted(world, key=lambda one: one["kind"])]
    )
    path = written(tmp_path, events, list(by_kind.values()))
    for file in path.iterdir():
        content = file.read_bytes() if file.suffix != ".gz" else gzip.decompress(file.read_bytes())
        assert not any(canary.encode() in content for canary in CANARIES), file
    back = objects(read_back(path, reader))
    assert [(item.raw, item.redactions) for item in back] == [
        (item.raw, item.redactions) for item in objects(events)
    ]
    assert any(item.redactions for item in back)


def test_only_what_the_rules_need_is_given(reader: Reader, tmp_path: Path) -> None:
    events = told(
        reader, [(CONFIG_MAP, 1, [thing(CONFIG_MAP, "a")]), (DEPLOYMENT, 1, [thing(DEPLOYMENT, "b")])]
    )
    forbidden = Gap(
        kind=GapKind.FORBIDDEN,
        cluster="test",
        source=POD.path,
        reason="not allowed (HTTP 403)",
        kinds=("Pod",),
    )
    path = written(tmp_path, [*events, forbidden], [CONFIG_MAP, DEPLOYMENT, POD])
    back = read_back(path, reader, ["apps/Deployment"])
    assert [item.ref.kind for item in objects(back)] == ["Deployment"]
    assert gaps(back) == []
    assert gaps(read_back(path, reader, ["Pod"])) == [forbidden]
    assert manifest_of(path).rights == {"ConfigMap": "list", "Pod": "forbidden", "apps/Deployment": "list"}


def test_a_kind_that_was_not_asked_for_is_a_gap_and_one_that_is_not_served_is_none(
    reader: Reader, tmp_path: Path
) -> None:
    path = written(tmp_path, [], [CONFIG_MAP], not_asked=[POD, SECRET])
    back = read_back(path, reader, ["ConfigMap", "Pod", "Secret", "ray.io/RayCluster"])
    assert [(gap.kind, gap.kinds) for gap in gaps(back)] == [
        (GapKind.FORBIDDEN, ("Secret",)),
        (GapKind.NOT_COLLECTED, ("Pod",)),
    ]


def test_a_cluster_that_was_not_reached_says_so_again(reader: Reader, tmp_path: Path) -> None:
    gap = Gap(kind=GapKind.UNREACHABLE, cluster="test", source="test", reason="no answer: refused")
    path = written(tmp_path, [gap], [], reached=False)
    assert gaps(read_back(path, reader, ["Pod"], cluster="prod")) == [
        Gap(kind=GapKind.UNREACHABLE, cluster="prod", source="prod", reason="no answer: refused")
    ]


def test_the_form_is_lines_of_json(reader: Reader, tmp_path: Path) -> None:
    path = written(
        tmp_path, told(reader, [(CONFIG_MAP, 1, [thing(CONFIG_MAP, "a", data={"k": "v"})])]), [CONFIG_MAP]
    )
    [entry] = manifest_of(path).listed
    [line] = gzip.decompress((path / entry.file).read_bytes()).splitlines()
    assert json.loads(line) == {
        "page": 1,
        "document": 1,
        "object": {**thing(CONFIG_MAP, "a"), "data": {"k": "v"}},
    }


@pytest.mark.corpora
def test_a_second_reading_of_real_objects_changes_nothing(reader: Reader) -> None:
    from audit.native.events import DocumentRead
    from audit.native.reader import SourceText

    folder = shared_dir("corpora")
    files = sorted(folder.rglob("*.yaml"))[::2]
    texts = [SourceText(token=n, path=str(f), data=f.read_bytes()) for n, f in enumerate(files)]
    first = [event for event in reader.read(texts) if isinstance(event, DocumentRead)]
    again = list(reader.read([SourceText(token=n, path="x", data=one.raw) for n, one in enumerate(first)]))
    second = {event.token: event for event in again if isinstance(event, DocumentRead) and not event.item}
    assert len(first) > 500
    assert sum(bool(one.redactions) for one in first) > 20
    changed = [n for n, one in enumerate(first) if n not in second or second[n].raw != one.raw]
    assert changed == []
