"""The shared cases that the reader owns: 01, 02, 03, 31 and 35."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from audit.native.events import DocumentRead
from audit.native.reader import PathsWanted, PositionRequest, Reader
from tests.native.reading import content, ends, notices, objects, problems, read
from tests.shared_data import shared_dir

pytestmark = pytest.mark.corpora

MARKER = "fleetaudit:redacted:"


def expect(case: str) -> Any:
    return json.loads(shared_dir("cases", case, "expect.json").read_text())


def test_01_scalars_are_what_kubernetes_sees() -> None:
    folder = shared_dir("cases", "01-yaml-scalar-resolution")
    wanted = expect("01-yaml-scalar-resolution")["kubernetes_sees"]
    events = read(
        *[(folder / name).read_bytes() for name in ("configmap.yaml", "bad-date.yaml", "infinity.yaml")]
    )
    config, traps, pod = objects(events)
    assert sorted(content(config)["data"]) == sorted(wanted.pop("data_keys"))
    assert content(traps)["spec"] == wanted
    assert {key: type(value) for key, value in content(traps)["spec"].items()} == {
        key: type(value) for key, value in wanted.items()
    }
    assert content(pod)["metadata"]["labels"] == {"reviewed": "2026-02-30"}
    assert content(pod)["spec"]["hostNetwork"] is True
    assert [(p.token, p.code) for p in problems(events)] == [(2, "not_json_representable")]
    assert not any(word in event.raw for event in objects(events) for word in (b"NaN", b"Infinity"))


def test_02_a_duplicate_key_names_both_lines_and_the_last_wins() -> None:
    case = expect("02-duplicate-keys")
    data = shared_dir("cases", "02-duplicate-keys", "deploy.yaml").read_bytes()
    [deployment] = objects(read(data))
    [duplicate] = deployment.duplicates
    assert duplicate.key == case["duplicate_key"]["key"]
    assert list(duplicate.lines) == case["duplicate_key"]["lines"]
    assert duplicate.path == ("spec", "template", "spec", "containers", 0, "securityContext")
    context = content(deployment)["spec"]["template"]["spec"]["containers"][0]["securityContext"]
    assert context == {"privileged": True}


def test_03_lists_are_unrolled_and_empty_documents_hide_nothing() -> None:
    case = expect("03-empty-docs-and-lists")
    events = read(shared_dir("cases", "03-empty-docs-and-lists", "bundle.yaml").read_bytes())
    assert [[event.kind, event.name] for event in objects(events)] == case["objects"]
    assert [(e.document, e.item, e.line) for e in objects(events)] == [
        (2, "", 4),
        (5, "items[0]", 22),
        (5, "items[1].items[0]", 29),
    ]
    [scalar] = [notice for notice in notices(events) if notice.code != "empty_document"]
    assert (scalar.document, scalar.code) == (case["notices"][0]["document"], "not_a_mapping")
    assert ends(events)[0].documents == 4
    assert problems(events) == []


def test_31_no_secret_leaves_the_reader() -> None:
    case = expect("31-secrets-in-reports")
    data = shared_dir("cases", "31-secrets-in-reports", "objects.yaml").read_bytes()
    events = read(
        data, projections={"ConfigMap": ["data"], "Pod": ["spec"], "Secret": ["data", "stringData"]}
    )
    for secret in case["never_in_any_output"]:
        assert secret.encode() in data
        assert secret not in repr(events)
    found = {_path_text(event, redaction.path) for event in objects(events) for redaction in event.redactions}
    assert set(case["finding_paths"]) <= found
    assert not any(path.startswith(clean) for clean in case["not_a_finding"] for path in found)
    for event in objects(events):
        for redaction in event.redactions:
            value = content(event)
            for segment in redaction.path:
                value = value[segment]
            assert MARKER + redaction.reason in value


def _path_text(event: DocumentRead, path: tuple[str | int, ...]) -> str:
    text = ""
    for segment in path:
        if isinstance(segment, int):
            text += f"[{segment}]"
        elif segment.replace("_", "").isalnum():
            text += f".{segment}" if text else segment
        else:
            text += f'["{segment}"]'
    return f"{event.kind} {event.namespace}/{event.name} {text}"


def test_35_alias_bombs_are_refused_and_ordinary_aliases_are_not() -> None:
    case = expect("35-yaml-alias-bomb")
    folder = shared_dir("cases", "35-yaml-alias-bomb")
    names = ["bomb.yaml", "self.yaml", "legit.yaml"]
    started = time.monotonic()
    events = read(*[(folder / name).read_bytes() for name in names])
    assert (
        time.monotonic() - started < 10 * case["seconds_below"]
    )  # the machine may be busy; a walk takes hours
    assert [names[p.token] for p in problems(events)] == case["refused"]
    assert [p.code for p in problems(events)] == ["alias_bomb", "recursive_alias"]
    assert "more than 1000000 nodes" in problems(events)[0].message
    pods = objects(events)
    assert len(pods) == case["legit.yaml"]["pods"]
    assert all(content(pod)["spec"]["hostNetwork"] is True for pod in pods)
    assert [content(pod)["metadata"]["name"] for pod in pods] == [f"p{n}" for n in range(61)]


def test_35_places_inside_aliased_items() -> None:
    data = shared_dir("cases", "35-yaml-alias-bomb", "legit.yaml").read_bytes()
    wanted = PathsWanted(document=1, item="items[60]", paths=(("metadata", "name"), ("spec", "hostNetwork")))
    with Reader(jobs=1) as reader:
        [[[name, network]]] = list(reader.positions([PositionRequest(path="x", data=data, wanted=(wanted,))]))
    lines = data.decode().splitlines()
    assert lines[name.line - 1][name.column - 1 :].startswith("p60")
    assert "hostNetwork: true" in lines[network.line - 1]
    assert not name.approximate
    assert not network.approximate
