"""Each shipped profile: a workload that uses all it names passes, and one privilege more fails, whichever it is."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from audit.library.components import load_components
from audit.model.component import Component, ComponentNeed
from audit.resources import content_dir
from tests.integration.command import run

Object = dict[str, Any]
DIGEST = "@sha256:" + "1" * 64


def shipped() -> tuple[Component, ...]:
    path = content_dir("controls") / "components.yaml"
    rules = {need["rule"] for one in yaml.safe_load(path.read_text())["components"] for need in one["needs"]}
    return load_components([path], rules)


PROFILES = {component.id: component for component in shipped()}


def workload(component: Component) -> Object:
    """A workload of the component's kind that needs everything its profile names, and is hardened in all else."""
    names = list(dict.fromkeys(name for need in component.needs for name in need.containers)) or ["main"]
    images = [f"{image.repository}:v1{DIGEST}" for image in component.images]
    containers: dict[str, Object] = {
        name: {
            "name": name,
            "image": images[index % len(images)],
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "runAsNonRoot": True,
                "seccompProfile": {"type": "RuntimeDefault"},
                "capabilities": {"drop": ["ALL"], "add": []},
            },
        }
        for index, name in enumerate(names)
    }
    spec: Object = {"containers": list(containers.values()), "volumes": [], "securityContext": {}}
    for need in component.needs:
        if need.containers:
            for name in need.containers:
                in_container(containers[name], need)
        else:
            in_pod(spec, need)
    group, _, kind = component.kinds[0].rpartition("/")
    labels = {"app": component.id}
    return {
        "apiVersion": f"{group}/v1",
        "kind": kind,
        "metadata": {"name": component.id, "namespace": component.namespaces[0]},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def in_container(container: Object, need: ComponentNeed) -> None:
    """Use what a need names in a container. One way of a setting is used where several are allowed."""
    context = container["securityContext"]
    fields = {
        "pod/privileged": "privileged",
        "pod/privilege-escalation": "allowPrivilegeEscalation",
        "pod/read-only-root-filesystem": "readOnlyRootFilesystem",
        "pod/run-as-non-root": "runAsNonRoot",
        "pod/run-as-user-nonzero": "runAsUser",
        "pod/seccomp-restricted": "seccompProfile",
    }
    value = need.values[0]
    if need.rule in fields:
        context[fields[need.rule]] = value
        if value is None:
            del context[fields[need.rule]]
    elif need.rule in {"pod/capabilities-baseline", "pod/capabilities-restricted"}:
        wanted = context["capabilities"]["add"] + [one for one in need.values if one is not None]
        context["capabilities"]["add"] = sorted(set(wanted))
        if None in need.values:
            context["capabilities"].pop("drop", None)
    elif need.rule == "pod/host-ports":
        container["ports"] = [{"containerPort": port, "hostPort": port} for port in need.values]
    elif need.rule == "pod/host-probes":
        container["livenessProbe"] = {"httpGet": {"host": value, "port": 80, "path": "/"}}
    elif need.rule == "pod/selinux":
        context["seLinuxOptions"] = {"type": value}
    else:
        raise AssertionError(f"this test does not know how to use {need.rule}")


def in_pod(spec: Object, need: ComponentNeed) -> None:
    """Use what a need names in the pod as a whole."""
    if need.rule == "pod/host-namespaces":
        spec |= dict.fromkeys(need.fields, True)
    elif need.rule == "pod/host-path-volume":
        spec["volumes"] += [
            {"name": f"v{index}", "hostPath": {"path": path}} for index, path in enumerate(need.values)
        ]
    elif need.rule in {"pod/run-as-non-root", "pod/run-as-user-nonzero"}:
        field = "runAsNonRoot" if need.rule == "pod/run-as-non-root" else "runAsUser"
        spec["securityContext"][field] = need.values[0]
        for container in spec["containers"]:
            container["securityContext"].pop("runAsNonRoot", None)
    elif need.rule == "pod/apparmor":
        spec["securityContext"]["appArmorProfile"] = {"type": need.values[0]}
    elif need.rule in {"pod/seccomp-baseline", "pod/seccomp-restricted"}:
        spec["securityContext"]["seccompProfile"] = {"type": need.values[0]}
        for container in spec["containers"]:
            container["securityContext"].pop("seccompProfile", None)
    elif need.rule != "pod/volume-types":
        raise AssertionError(f"this test does not know how to use {need.rule}")


def audited(folder: Path, objects: list[Object]) -> dict[str, set[str]]:
    """Failing rules about pods by name of the object."""
    file = folder / "objects.yaml"
    file.write_text(yaml.safe_dump_all(objects))
    done = run(folder / "out", file, "--no-cache", "--rule", "pod/*")
    failing: dict[str, set[str]] = {item["metadata"]["name"]: set() for item in objects}
    for group in done.report["groups"]:
        assert group["outcome"] == "fail", group
        for member in group["members"]:
            failing[member["subject"]["name"]].add(group["rule"])
    return failing


def pod(value: Object) -> Object:
    spec: Object = value["spec"]["template"]["spec"]
    return spec


def first(value: Object) -> Object:
    container: Object = pod(value)["containers"][0]
    return container


MORE: dict[str, tuple[str, Callable[[Object], object]]] = {
    "another-path": (
        "pod/host-path-volume",
        lambda v: pod(v)["volumes"].append({"name": "more", "hostPath": {"path": "/root/.ssh"}}),
    ),
    "host-network": ("pod/host-namespaces", lambda v: pod(v).update(hostNetwork=True)),
    "host-pid": ("pod/host-namespaces", lambda v: pod(v).update(hostPID=True)),
    "host-ipc": ("pod/host-namespaces", lambda v: pod(v).update(hostIPC=True)),
    "privileged": ("pod/privileged", lambda v: first(v)["securityContext"].update(privileged=True)),
    "capability": (
        "pod/capabilities-baseline",
        lambda v: first(v)["securityContext"].setdefault("capabilities", {}).update(add=["SYS_PTRACE"]),
    ),
    "host-port": (
        "pod/host-ports",
        lambda v: first(v).update(ports=[{"containerPort": 31999, "hostPort": 31999}]),
    ),
    "unmasked-proc": ("pod/proc-mount", lambda v: first(v)["securityContext"].update(procMount="Unmasked")),
    "root": ("pod/run-as-user-nonzero", lambda v: first(v)["securityContext"].update(runAsUser=0)),
    "seccomp": (
        "pod/seccomp-baseline",
        lambda v: first(v)["securityContext"].update(seccompProfile={"type": "Unconfined"}),
    ),
}


def named(component: Component, more: str) -> bool:
    """Whether the profile itself allows what `more` adds to the first container or to the pod."""
    first_container = workload(component)["spec"]["template"]["spec"]["containers"][0]["name"]
    fields = {"host-network": "hostNetwork", "host-pid": "hostPID", "host-ipc": "hostIPC"}
    for need in component.needs:
        if more in fields and need.rule == "pod/host-namespaces":
            return fields[more] in need.fields
        if first_container in need.containers or not need.containers:
            if more == "privileged" and need.rule == "pod/privileged" and need.containers:
                return True
            if more == "root" and need.rule == "pod/run-as-user-nonzero" and need.containers:
                return True
            if (
                more == "capability"
                and need.rule == "pod/capabilities-baseline"
                and "SYS_PTRACE" in need.values
            ):
                return True
    return False


def grown() -> Iterator[tuple[str, str, Object]]:
    for component in PROFILES.values():
        for more, (rule, change) in MORE.items():
            if not named(component, more):
                value = copy.deepcopy(workload(component))
                value["metadata"]["name"] = f"{component.id}.{more}"
                change(value)
                yield value["metadata"]["name"], rule, value


@pytest.fixture(scope="module")
def with_more(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    return audited(tmp_path_factory.mktemp("more"), [value for _, _, value in grown()])


@pytest.fixture(scope="module")
def as_named(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    return audited(tmp_path_factory.mktemp("named"), [workload(one) for one in PROFILES.values()])


@pytest.mark.parametrize("name", PROFILES)
def test_all_that_a_profile_names_passes(as_named: dict[str, set[str]], name: str) -> None:
    assert as_named[name] == set()


@pytest.mark.parametrize("name", PROFILES)
def test_each_privilege_more_fails(with_more: dict[str, set[str]], name: str) -> None:
    found = {more: rule in with_more[more] for more, rule, _ in grown() if more.split(".")[0] == name}
    assert len(found) >= 6, "most privileges are none of its needs"
    assert all(found.values()), found


def test_profiles_say_where_they_were_read() -> None:
    for component in PROFILES.values():
        assert "/" in component.source, component.id
        assert component.reviewed.isoformat() >= "2026-11-30", component.id
        assert all(need.why for need in component.needs), component.id
        assert all("/" in image.repository for image in component.images), component.id
