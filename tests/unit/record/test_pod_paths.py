"""What a controller made falls into its controller's groups."""

from __future__ import annotations

import yaml
from hypothesis import given
from hypothesis import strategies as st

from audit.model.finding import FindingGroup
from audit.record.findings import FindingStore
from audit.record.pod_paths import PodPaths
from audit.resources import content_dir
from tests import builders as b

TABLE = yaml.safe_load((content_dir("rego") / "pod_templates.yaml").read_text(encoding="utf-8"))[
    "pod_templates"
]
PODS = PodPaths(TABLE)
segments = st.lists(
    st.sampled_from(["spec", "metadata", "containers", "image", 0, 1]), min_size=1, max_size=4
)


def fields(place: list[str]) -> tuple[str | int, ...]:
    return tuple(3 if segment == "*" else segment for segment in place)


@given(segments)
def test_a_place_in_a_template_has_one_name_in_every_kind(inside: list[str | int]) -> None:
    names = {
        PODS.named(kind, (*fields(entry["path"]), *inside))
        for kind, entries in TABLE.items()
        for entry in entries
        if entry["holds"] == "template"
    }
    assert names == {("pod", *inside)}


@given(segments)
def test_a_place_in_an_inlined_spec_has_the_name_it_has_in_a_pod(inside: list[str | int]) -> None:
    kinds = {
        "serving.kserve.io/InferenceService": ("spec", "predictor"),
        "serving.kserve.io/ServingRuntime": ("spec",),
    }
    for kind, place in kinds.items():
        if inside[0] != "workerSpec":
            assert PODS.named(kind, (*place, *inside)) == PODS.named("Pod", ("spec", *inside))


def test_other_places_keep_their_names() -> None:
    for kind, path in (
        ("apps/Deployment", ("metadata", "labels")),
        ("apps/Deployment", ("spec", "replicas")),
        ("apps/Deployment", ()),
        ("Pod", ()),
        ("Service", ("spec", "template", "spec")),
        ("argoproj.io/Workflow", ("spec", "templates", 0, "container", "image")),
    ):
        assert PODS.named(kind, path) == path


def grouped(*objects: tuple[str, str, str]) -> list[FindingGroup]:
    """Groups of one finding in each (kind, name, path before the pod's own), all owned by one controller."""
    with FindingStore(pods=PODS) as store:
        for kind_key, name, before in objects:
            group, _, kind = kind_key.rpartition("/")
            place = tuple(part for part in before.split(".") if part)
            store.add(
                b.finding(
                    subject=b.subject(
                        name, group=group, kind=kind, owner_kind="CronJob", owner_name="nightly"
                    ),
                    violation=b.violation(path=(*place, "spec", "containers", 0, "image"), container="eval"),
                )
            )
        return list(store.groups())


def test_a_cronjob_its_job_and_its_pod_are_one_group_in_any_order() -> None:
    family = [
        ("batch/CronJob", "nightly", "spec.jobTemplate.spec.template"),
        ("batch/Job", "nightly-29312", "spec.template"),
        ("Pod", "nightly-29312-x7k2p", ""),
    ]
    for objects in (family, family[::-1], [family[1], family[0], family[2]]):
        (group,) = grouped(*objects)
        assert (group.total, group.path) == (3, "pod.spec.containers[].image")
    alone = {grouped(one)[0].id for one in family}
    assert alone == {group.id}, "the group has one id, whichever of them was seen"
