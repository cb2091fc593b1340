"""Objects on which the CLI falls silent, panics or aborts: each costs its own pairs and nobody else's."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from audit.evaluate.kyverno import KyvernoOptions
from audit.evaluate.kyverno.subjects import ShardSizes
from audit.ports import CollectedObject
from tests.kyverno.conftest import NO_LATEST, Judge, pod, policy
from tests.kyverno.objects import collected, from_yaml

pytestmark = pytest.mark.tools
LATEST = policy("tags", NO_LATEST)


def test_pass_and_fail_with_path_container_and_value(judge: Judge) -> None:
    found = judge(LATEST, pod("good") + pod("bad", "nginx:latest"))
    assert found.outcome("tags/no-latest", "good") == "pass"
    answer = found.of("tags/no-latest", "bad")
    assert answer.outcome.value == "fail"
    (violation,) = answer.violations
    assert violation.path == ("spec", "containers", 0, "image")
    assert (violation.container, violation.seen) == ("main", "nginx:latest")
    assert "The tag latest is not allowed." in violation.message


def test_the_same_identity_twice_is_judged_twice(judge: Judge) -> None:
    found = judge(LATEST, pod("twin") + pod("twin", "nginx:latest") + pod("other"))
    assert [answers[0].outcome.value for answers in found.answers] == ["pass", "fail", "pass"]


def test_generated_names_do_not_collide(judge: Judge) -> None:
    text = pod("x").replace("name: x,", "generateName: x-,")
    found = judge(LATEST, text + text.replace("1.27", "latest"))
    assert [answers[0].outcome.value for answers in found.answers] == ["pass", "fail"]


def test_a_list_that_was_not_unrolled_costs_its_own_pairs(judge: Judge) -> None:
    every = policy(
        "all",
        """
- name: named
  match: {any: [{resources: {kinds: ["*"]}}]}
  validate: {message: named, deny: {conditions: {any: [{key: "{{request.object.metadata.name}}", operator: Equals, value: bad}]}}}
""",
        spec="  background: false\n",
    )
    items = from_yaml(pod("good"))
    items.append(collected({"apiVersion": "v1", "kind": "List", "metadata": {"name": "l"}, "items": []}))
    found = judge(every, items)
    assert found.outcome("all/named", "good") == "pass"
    assert found.outcome("all/named", "l") == "error list_not_unrolled"


def test_an_object_that_aborts_the_run_costs_one_error(judge: Judge) -> None:
    # The CLI decodes Kyverno's own kinds strictly: one that does not fit aborts the whole run.
    poison = "---\napiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: poison}\nspec: text\n"
    every = policy(
        "all",
        """
- name: named
  match: {any: [{resources: {kinds: [Pod, ClusterPolicy]}}]}
  validate: {message: named, deny: {conditions: {any: [{key: "{{request.object.metadata.name}}", operator: Equals, value: p7}]}}}
""",
    )
    pods = "".join(pod(f"p{number}") for number in range(16))
    found = judge(every, pods + poison)
    assert found.outcome("all/named", "poison") == "error cli_abort"
    outcomes = [found.outcome("all/named", f"p{number}") for number in range(16)]
    assert outcomes.count("pass") == 15
    assert outcomes[7] == "fail"
    assert "poison" not in found.of("all/named", "p7").message
    # One trial, the failing run, the policies alone, log2(17) halvings, the culprit with and without policies.
    assert found.runs <= 1 + 2 + 5 + 3


def test_an_unreadable_object_is_an_error(judge: Judge) -> None:
    import msgspec

    items = from_yaml(pod("good") + pod("broken"))
    items[1] = msgspec.structs.replace(items[1], raw=b'{"apiVersion": "v1", "kind": "Pod"')
    found = judge(LATEST, items)
    assert found.outcome("tags/no-latest", "good") == "pass"
    assert found.outcome("tags/no-latest", "broken") == "error unreadable_object"


def test_a_line_of_a_hundred_kilobytes_is_read(judge: Judge) -> None:
    value = json.loads(from_yaml(pod("long", "nginx:latest"))[0].raw)
    value["metadata"]["annotations"] = {"note": "x" * 100_000}
    found = judge(LATEST, [collected(value)])
    assert found.outcome("tags/no-latest", "long") == "fail"


@pytest.mark.parametrize(
    "text",
    [
        "---\nkind: Pod",
        "\u2028\u2029\x7f\x85\ufeff\uffff",
        "😀",
        '"quoted" \\ # no comment',
        "{{request.object}}",
    ],
    ids=["separator", "line separators", "beyond the plane", "quotes", "variable"],
)
def test_text_that_yaml_could_misread_is_handed_over_whole(judge: Judge, text: str) -> None:
    value = json.loads(from_yaml(pod("odd", "nginx:latest"))[0].raw)
    value["metadata"]["annotations"] = {"note": text, "<<": "merge"}
    value["spec"]["<<"] = {"a": "b"}
    found = judge(LATEST, [collected(value), *from_yaml(pod("good"))])
    assert found.outcome("tags/no-latest", "odd") == "fail"
    assert found.outcome("tags/no-latest", "good") == "pass"


def test_a_missing_namespace_is_assumed_and_said(judge: Judge) -> None:
    rule = """
- name: not-default
  match: {any: [{resources: {kinds: [Pod, Widget, ClusterRole], namespaces: [default]}}]}
  validate: {message: not here, deny: {}}
"""
    bare = (
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: bare}\nspec: {containers: [{name: c, image: i}]}\n"
    )
    custom = "---\napiVersion: shop.example/v1\nkind: Widget\nmetadata: {name: w}\n"
    role = (
        "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\nrules: []\n"
    )
    found = judge(policy("ns", rule), bare + custom + role + pod("placed"))
    assert found.outcome("ns/not-default", "bare") == "fail"
    assert found.of("ns/not-default", "bare").caveats == ("namespace_assumed",)
    assert found.outcome("ns/not-default", "w") == "fail"
    assert found.of("ns/not-default", "w").caveats == ("scope_unknown",)
    assert found.outcome("ns/not-default", "r") == "skip not_selected"
    assert found.outcome("ns/not-default", "placed") == "skip not_selected"


def test_integers_beyond_exactness_are_flagged(judge: Judge) -> None:
    value = json.loads(from_yaml(pod("big"))[0].raw)
    value["spec"]["securityContext"] = {"runAsUser": 9007199254740993}
    found = judge(LATEST, [collected(value), *from_yaml(pod("small"))])
    assert found.of("tags/no-latest", "big").caveats == ("large_integer",)
    assert found.of("tags/no-latest", "small").caveats == ()


def test_null_maps_and_wrong_types_do_not_abort(judge: Judge) -> None:
    value = json.loads(from_yaml(pod("nulls", "nginx:latest"))[0].raw)
    value["metadata"] |= {"labels": None, "annotations": None}
    odd = json.loads(from_yaml(pod("odd"))[0].raw)
    odd["spec"]["containers"] = "none"
    found = judge(LATEST, [collected(value), collected(odd)])
    assert found.outcome("tags/no-latest", "nulls") == "fail"
    assert found.outcome("tags/no-latest", "odd") == "fail"


def test_shards_over_processes_give_the_same_answers_in_order(judge: Judge) -> None:
    text = "".join(pod(f"p{n}", "nginx:latest" if n % 3 else "nginx:1") for n in range(60))
    alone = judge(LATEST, text, options=KyvernoOptions(jobs=1))
    sizes = ShardSizes(objects=10, smallest=2)
    shared = judge(LATEST, text, options=KyvernoOptions(jobs=2, sizes=sizes))
    assert shared.answers == alone.answers
    assert shared.runs == 1 + 6  # the trial, and 60 objects in windows of 20 for two processes
    assert alone.runs == 1 + 1


def test_a_stream_is_not_read_beyond_its_shard(judge: Judge) -> None:
    found = judge(LATEST, pod("p"), options=KyvernoOptions(jobs=1, sizes=ShardSizes(objects=5, smallest=1)))
    assert found.engine is not None
    taken = []

    def stream() -> Iterator[CollectedObject]:
        for item in from_yaml("".join(pod(f"p{n}") for n in range(30))):
            taken.append(item)
            yield item

    answers = found.engine.evaluate("c", stream(), b"{}")
    next(answers)
    assert len(taken) == 10  # the shard that is judged, and the one after it


def test_two_clusters_with_the_same_object(judge: Judge) -> None:
    found = judge(LATEST, pod("same"))
    assert found.engine is not None
    one = list(found.engine.evaluate("a", from_yaml(pod("same")), b"{}"))
    two = list(found.engine.evaluate("b", from_yaml(pod("same", "nginx:latest")), b"{}"))
    assert [one[0][0].outcome.value, two[0][0].outcome.value] == ["pass", "fail"]


def test_derived_subjects_are_not_asked(judge: Judge) -> None:
    import msgspec

    rule = "- name: labels\n  match: {any: [{resources: {kinds: [Namespace]}}]}\n  validate: {message: m, deny: {}}\n"
    (item,) = from_yaml("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")
    derived = msgspec.structs.replace(item, ref=msgspec.structs.replace(item.ref, derived=True))
    found = judge(policy("ns", rule), [item, derived])
    assert [len(answers) for answers in found.answers] == [1, 0]


def test_redacted_values_are_flagged_where_the_rule_may_read_them(judge: Judge) -> None:
    import msgspec

    from audit.native.events import Redaction

    rule = """
- name: env
  match: {any: [{resources: {kinds: [Pod]}}]}
  validate: {message: m, pattern: {spec: {containers: [{"=(env)": [{"=(value)": "!secret"}]}]}}}
"""
    (item,) = from_yaml(pod("p"))
    path = ("spec", "containers", 0, "env", 0, "value")
    item = msgspec.structs.replace(item, redactions=(Redaction(path=path, reason="env_value"),))
    found = judge(policy("env", rule) + LATEST, [item])
    assert found.of("env/env", "p").caveats == ("redacted",)
    assert found.of("tags/no-latest", "p").caveats == ()
