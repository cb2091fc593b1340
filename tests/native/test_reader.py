"""Reading files: documents, lists, encodings, broken text, limits."""

from __future__ import annotations

import hashlib
import json

import pytest

from audit.native.events import DocumentRead, FileDone
from audit.native.reader import Reader, ReadLimits, SourceText
from tests.native.reading import content, ends, manifest, many, notices, objects, problems, read

POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  namespace: d\nspec: {containers: [{name: c, image: i}]}\n"


def test_identity_digest_and_canonical_json() -> None:
    [event] = objects(read("# c\n" + POD))
    assert (event.group, event.version, event.kind, event.namespace, event.name) == (
        "",
        "v1",
        "Pod",
        "d",
        "p",
    )
    assert (event.document, event.item, event.line) == (1, "", 2)
    assert event.raw == json.dumps(content(event), sort_keys=True, separators=(",", ":")).encode()
    assert event.digest == hashlib.sha256(event.raw).hexdigest()


def test_equal_content_gives_equal_digests_in_yaml_and_json() -> None:
    yaml_text = "apiVersion: v1\nkind: A\nmetadata: {name: <&>}\nspec: {one: 1.0, big: 12345678901234567890, e: 1e3, u: é}\n"
    json_text = (
        '{"spec":{"u":"\\u00e9","e":1e3,"big":12345678901234567890,"one":1.0},"kind":"A",'
        '"apiVersion":"v1","metadata":{"name":"<&>"}}'
    )
    first, second = objects(read(yaml_text, json_text))
    assert first.raw == second.raw
    assert first.digest == second.digest


@pytest.mark.parametrize(
    "data",
    [
        POD.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + POD.encode(),
        POD.encode("utf-16"),
        POD.encode("utf-16-le"),
        POD.encode("utf-16-be"),
        POD.rstrip().encode(),
    ],
    ids=["crlf", "bom", "utf-16", "utf-16-le", "utf-16-be", "no-final-newline"],
)
def test_encodings(data: bytes) -> None:
    [event] = objects(read(data))
    assert event.raw == objects(read(POD))[0].raw


def test_files_and_documents_come_in_order_over_many_batches() -> None:
    texts = ["\n---\n".join(many(300)) for _ in range(12)]
    events = read(*texts)
    assert [e.token for e in events if isinstance(e, FileDone)] == list(range(12))
    for token in range(12):
        mine = [e for e in events if e.token == token]
        assert isinstance(mine[-1], FileDone)
        assert mine[-1].documents == 300
        assert mine[-1].sha256 == hashlib.sha256(texts[token].encode()).hexdigest()
        assert [(e.document, e.name) for e in mine if isinstance(e, DocumentRead)] == [
            (n + 1, f"m{n}") for n in range(300)
        ]


def test_one_broken_document_costs_only_itself() -> None:
    events = read(POD + "---\na: [1\n---\n" + POD.replace("name: p", "name: q"))
    assert [(e.document, e.name) for e in objects(events)] == [(1, "p"), (3, "q")]
    [problem] = problems(events)
    assert (problem.document, problem.code) == (2, "invalid_yaml")
    assert problem.line in (8, 9)
    assert ends(events)[0].documents == 3
    assert ends(events)[0].problem is None


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("a: b: c\n", "invalid_yaml", 1),
        (b"a: 1\nb: \xff\xfe\n", "invalid_utf8", 2),
        ("a: {{ .Values.x }}\n", "template_markup", 1),
        ("{{- if .x }}\nkind: A\n{{- end }}\n", "template_markup", 1),
        ('apiVersion: v1\nkind: A\nmetadata: {name: "{{ .Release.Name }}"}\n', "template_markup", 1),
        ("apiVersion: v1\nkind: A\nspec: {x: .nan}\n", "not_json_representable", 1),
        ('{"apiVersion": "v1", "kind": "A", "n": 1e999}', "not_json_representable", 1),
        ("a: &a\n  b: *a\n", "recursive_alias", 2),
        ("? {a: b}\n: c\n", "invalid_yaml", 1),
        ("x: " + "[" * 2000 + "]" * 2000, "too_deep", 1),
        ("x:" + "".join("\n" + " " * n + "a:" for n in range(1, 2001)), "too_deep", 1),
        ('{"x":' * 2000 + "1" + "}" * 2000, "too_deep", 1),
        ("[" * 100_000, "too_deep", 1),
    ],
)
def test_problems(text: str | bytes, code: str, line: int) -> None:
    events = read(text, POD)
    [problem] = problems(events)
    assert (problem.token, problem.document, problem.code) == (0, 1, code)
    if code != "invalid_yaml":
        assert problem.line == line
    assert problem.message
    assert len(problem.message) < 400
    assert [event.token for event in objects(events)] == [1]


def test_text_that_kubernetes_would_not_read_is_reported() -> None:
    events = read(POD + "--- # fine\n" + POD + "--- {apiVersion: v1, kind: Pod}\n")
    assert len(objects(events)) == 2
    [problem] = problems(events)
    assert (problem.document, problem.line, problem.code) == (3, 14, "hidden_document")


def test_data_behind_json_is_reported() -> None:
    events = read(manifest("a") + "\n" + manifest("b") + "\nrest")
    assert [event.name for event in objects(events)] == ["a", "b"]
    [problem] = problems(events)
    assert (problem.document, problem.line, problem.code) == (3, 3, "hidden_document")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", None),
        ("# only a comment\n", "empty_document"),
        ("~\n", "empty_document"),
        ("null\n", "empty_document"),
        ("a sentence\n", "not_a_mapping"),
        ("42\n", "not_a_mapping"),
        ("replicas: 2\n", "not_an_object"),
        ("apiVersion: v1\n", "not_an_object"),
        ("apiVersion: v1\nkind: List\nitems: []\n", "empty_list"),
        ("apiVersion: v1\nkind: List\n", "empty_list"),
        ("[]\n", "empty_list"),
        ("- 1\n", "list_item_not_object"),
        ("- {a: 1}\n", "list_item_not_object"),
        ("apiVersion: v1\nkind: List\nitems: [x]\n", "list_item_not_object"),
    ],
)
def test_notices(text: str, code: str | None) -> None:
    events = read(text)
    assert [notice.code for notice in notices(events)] == ([code] if code else [])
    assert objects(events) == []
    assert problems(events) == []
    counted = code is not None and not code.startswith("empty")
    assert ends(events)[0].documents == counted


def test_lists() -> None:
    text = f"""apiVersion: v1
kind: PodList
items:
- metadata: {{name: a}}
- {{apiVersion: v1, kind: Pod, metadata: {{name: b}}}}
---
- {manifest("c")}
- apiVersion: v1
  kind: List
  items: [{manifest("d")}]
"""
    events = objects(read(text))
    assert [(e.document, e.item, e.kind, e.name, e.line) for e in events] == [
        (1, "items[0]", "Pod", "a", 4),
        (1, "items[1]", "Pod", "b", 5),
        (2, "[0]", "ConfigMap", "c", 7),
        (2, "[1].items[0]", "ConfigMap", "d", 10),
    ]
    assert content(events[0]) == {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}


def test_a_kind_that_only_sounds_like_a_list_is_an_object() -> None:
    [event] = objects(
        read("apiVersion: x.test/v1\nkind: AllowList\nmetadata: {name: a}\nitems: [one, two]\n")
    )
    assert event.kind == "AllowList"


def test_keys_that_a_list_holds_twice_lose_objects_and_say_so() -> None:
    text = f"apiVersion: v1\nkind: List\nitems: [{manifest('lost')}]\nitems: [{manifest('kept')}]\n"
    events = read(text)
    assert [event.name for event in objects(events)] == ["kept"]
    [problem] = problems(events)
    assert problem.code == "duplicate_key_in_list"
    assert "3 and 4" in problem.message


def test_duplicates_in_json_and_no_duplicate_by_override() -> None:
    events = objects(
        read(
            '{"apiVersion":"v1","kind":"A","metadata":{"name":"x",\n"name":"y"}}',
            "apiVersion: v1\nkind: A\nbase: &b {k: 1}\nx: {<<: *b, k: 2}\n",
        )
    )
    [duplicate] = events[0].duplicates
    assert (duplicate.path, duplicate.lines) == (("metadata", "name"), (1, 2))
    assert events[0].name == "y"
    assert events[1].duplicates == ()
    assert content(events[1])["x"] == {"k": 2}


def test_generate_name_owner_and_odd_names() -> None:
    text = """apiVersion: v1
kind: Pod
metadata:
  generateName: run-
  ownerReferences:
  - {kind: ReplicaSet, name: other}
  - {kind: Job, name: run, controller: true}
---
apiVersion: v1
kind: Pod
metadata: {name: 123, namespace: null}
---
apiVersion: v1
kind: Pod
metadata: nothing
"""
    first, second, third = objects(read(text))
    assert (first.name, first.generate_name) == ("", "run-")
    assert (first.owner_kind, first.owner_name) == ("Job", "run")
    assert (second.name, second.namespace) == ("123", "")
    assert third.name == ""


def test_projection_keeps_identity_and_named_fields_only() -> None:
    text = """apiVersion: apps/v1
kind: Deployment
metadata: {name: d, labels: {a: b}, annotations: {c: d}, uid: u}
spec: {replicas: 2, paused: true, template: {spec: {containers: [{name: c, image: i}, {name: e}]}}}
"""
    fields = ["spec.replicas", "spec.template.spec.containers.image", "spec.nothing"]
    [event] = objects(read(text, projections={"apps/Deployment": fields}))
    assert json.loads(event.projection) == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "labels": {"a": "b"}, "annotations": {"c": "d"}},
        "spec": {"replicas": 2, "template": {"spec": {"containers": [{"image": "i"}, {}]}}},
    }
    assert objects(read(text))[0].projection == b""


def test_projection_of_a_whole_group() -> None:
    text = """{apiVersion: constraints.gatekeeper.sh/v1beta1, kind: Labels, spec: {enforcementAction: deny, match: {}}}
---
{apiVersion: constraints.gatekeeper.sh/v1, kind: Repos, spec: {match: {}}}
---
{apiVersion: v1, kind: Pod, spec: {enforcementAction: deny}}
"""
    wanted = {
        "constraints.gatekeeper.sh/*": ["spec.enforcementAction"],
        "constraints.gatekeeper.sh/Repos": ["spec.match"],
    }
    found = [
        json.loads(event.projection or b"{}").get("spec") for event in objects(read(text, projections=wanted))
    ]
    assert found == [{"enforcementAction": "deny"}, {"match": {}}, None]


def test_pod_templates_and_those_no_table_names() -> None:
    pod = {"containers": [{"name": "c", "image": "i"}]}
    text = "\n---\n".join(
        [
            manifest(
                "a",
                "Ray",
                spec={"head": {"template": {"spec": pod}}, "groups": [{"template": {"spec": pod}}]},
            ),
            manifest("b", "Pod", spec=pod),
            manifest("c", "Schema", spec={"properties": {"containers": {"type": "array"}}}),
        ]
    )
    table = {
        "Ray": [{"path": ["spec", "groups", "*", "template"], "holds": "template"}],
        "Pod": [{"path": [], "holds": "template"}],
    }
    ray, plain, schema = objects(read(text, pod_template_table=table))
    assert ray.unknown_templates == (("spec", "head", "template"),)
    assert plain.unknown_templates == ()
    assert schema.unknown_templates == ()


def test_a_file_over_the_limit_is_refused_and_the_others_are_read() -> None:
    limits = ReadLimits(max_file_bytes=2000)
    big = "#" * 2001
    events = read(POD, big, POD, limits=limits)
    assert [event.token for event in objects(events)] == [0, 2]
    refused = ends(events)[1]
    assert refused.problem is not None
    assert refused.problem.code == "too_large"
    assert "2001" in refused.problem.message
    assert refused.sha256 == hashlib.sha256(big.encode()).hexdigest()


def test_broken_utf_16_costs_the_file() -> None:
    [done] = ends(read(b"\xff\xfea\x00b"))
    assert done.problem is not None
    assert done.problem.code == "invalid_utf8"


def test_a_document_over_sixteen_mebibytes_passes_in_pieces() -> None:
    value = "x" * (17 << 20)
    [event] = objects(read(manifest("big", data={"k": value})))
    assert content(event)["data"]["k"] == value


def test_a_long_file_without_aliases_is_not_taken_for_a_bomb() -> None:
    lines = "\n".join(f"  k{n}: [1, 2, 3, 4, 5, 6, 7]" for n in range(150_000))
    events = read(f"apiVersion: v1\nkind: A\nspec:\n{lines}\n", limits=ReadLimits(max_nodes=1000))
    assert problems(events) == []
    assert len(objects(events)) == 1


def test_a_reader_can_be_left_early_and_used_again() -> None:
    sources = [SourceText(token=n, path="x", data=text.encode()) for n, text in enumerate(many(3000))]
    with Reader(jobs=2) as reader:
        events = reader.read(sources)
        next(events)
        events.close()
        assert sum(isinstance(event, DocumentRead) for event in reader.read(sources)) == 3000
        assert reader.supervisor.restarts == 0
