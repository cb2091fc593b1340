"""The batch child against the Kyverno CLI, per pair: classic policies, policies in CEL, admission policies."""

from __future__ import annotations

import json
import resource
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import peers

from audit.evaluate.kyverno.judges import find_judges, start_runs
from audit.evaluate.kyverno.offline import make_ready
from audit.evaluate.kyverno.request import Request
from audit.evaluate.kyverno.run import Attempt, CliRuns, Effort, RunRequest, Runs
from audit.evaluate.kyverno.subjects import Subject, subject_of
from audit.evaluate.kyverno.surroundings import surroundings_of
from audit.library.kyverno import load_kyverno
from audit.library.rules import PolicySource
from audit.model.kyverno import KyvernoPolicy, PolicyFamily
from audit.model.subject import SubjectRef
from audit.ports import CollectedObject

WANTED = {"classic": 5.0, "cel": 100.0, "admission": 100.0}
"""Times quicker per pair, where the policy itself costs next to nothing."""
_ALONE = 1 << 62
"""No object is judged by both: each is measured by itself, and the verdicts are compared here."""


class Timed(NamedTuple):
    """One run."""

    seconds: float
    cpu: float
    verdicts: set[tuple[int, str, str, str]]


def figures(objects: list[dict[str, Any]], *, cel_share: int) -> dict[str, dict[str, float | None]]:
    """CPU seconds a pair of both, and how many times quicker the child is, by kind of policy.

    Args:
        objects: pods.
        cel_share: the CLI judges one object of so many where it needs ten milliseconds a pair.
    """
    subjects = list(_subjects(objects))
    found: dict[str, dict[str, float | None]] = {}
    for name, policies in _policies().items():
        few = subjects if name.startswith("classic") else subjects[::cel_share]
        with tempfile.TemporaryDirectory(prefix="fleetaudit-bench-") as folder:
            theirs, ours, all_ours = _both(Path(folder), policies, few, subjects)
        assert ours.verdicts == theirs.verdicts, f"{name}: the verdicts differ"
        slow = theirs.cpu / (len(policies) * len(few))
        quick = all_ours.cpu / (len(policies) * len(subjects))
        wanted = WANTED.get(name)
        print(
            f"kyverno: {name}: {len(policies)} policies: CLI {slow * 1e6:.0f} us a pair, batch child "
            f"{quick * 1e6:.0f} us (CPU of the processes): {slow / quick:.1f} times"
            + (f" (wanted {wanted:.0f})" if wanted else "")
            + f", {len(ours.verdicts)} verdicts the same"
        )
        found[name] = {"cli": slow, "child": quick, "ratio": slow / quick, "wanted": wanted}
    return found


def _both(
    folder: Path, policies: list[KyvernoPolicy], few: list[Subject], subjects: list[Subject]
) -> tuple[Timed, Timed, Timed]:
    judges = find_judges(None, "required")
    effort = Effort()
    cli = CliRuns(judges.cli, folder, Request(), effort) if judges.cli else None
    assert cli is not None, "the Kyverno CLI is needed"
    alone = msgspec.structs.replace(judges, cli=None)
    child = start_runs(alone, folder, Request(), effort, {}, jobs=1, compare_every=_ALONE)
    ready = [make_ready(policy, Request(), cli.capabilities, None).policy for policy in policies]
    try:
        _timed(child, ready, few[:1])  # compiled once
        theirs = _timed(cli, ready, few)
        empty = _timed(cli, ready, few[:1])  # what a run costs before it judges anything
        ours, all_ours = _timed(child, ready, few), _timed(child, ready, subjects)
    finally:
        child.stop()
        cli.stop()
    return theirs._replace(cpu=theirs.cpu - empty.cpu), ours, all_ours


def _timed(runs: Runs, policies: list[KyvernoPolicy], subjects: list[Subject]) -> Timed:
    request = RunRequest(
        family=policies[0].family, policies=policies, subjects=subjects, surroundings=surroundings_of(b"")
    )
    before, start = _cpu(runs), time.perf_counter()
    attempt: Attempt = runs.attempt(request)
    seconds, cpu = time.perf_counter() - start, _cpu(runs) - before
    assert attempt.ok, attempt.reason
    verdicts = {
        (place, row.policy, row.rule, row.result) for place, rows in enumerate(attempt.rows) for row in rows
    }
    return Timed(seconds, cpu, verdicts)


def _cpu(runs: Runs) -> float:
    """CPU seconds of ended children, and of the batch child that runs."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = ended.ru_utime + ended.ru_stime
    pid = getattr(runs, "child_pid", None)
    if pid:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / 100
    return total


def _policies() -> dict[str, list[KyvernoPolicy]]:
    """Plain ones, whose cost is nearly all the engine's own, and those that ship, which look at more.

    Fifteen classic policies, ten in CEL, and the ten as admission policies with a binding, of each.
    """
    pods = peers.ROOT / "policies" / "pod"
    names = sorted(folder.name for folder in pods.iterdir() if folder.is_dir())
    classic = [pods / name / f"{name}.yaml" for name in names if not name.endswith("-cel")][:15]
    cel = sorted(path for path in (peers.ROOT / "policies").glob("*/*-cel/*-cel.yaml"))
    shipped = [policy for policy in _load(cel) if _is_about_pods(policy)][:10]
    plain = _load_documents(_plain_cel(number) for number in range(10))
    return {
        "classic": _load_documents(_plain_classic(number) for number in range(15)),
        "cel": plain,
        "admission": _as_admission(plain),
        "classic, shipped": _load(classic),
        "cel, shipped": shipped,
        "admission, shipped": _as_admission(shipped),
    }


_PATTERNS: tuple[dict[str, Any], ...] = (
    {"image": "!*:latest"},
    {"image": "*:*"},
    {"resources": {"limits": {"memory": "?*"}}},
    {"=(securityContext)": {"=(privileged)": "false"}},
    {"name": "?*"},
)
_EXPRESSIONS = (
    "object.spec.containers.all(c, !c.image.endsWith(':latest'))",
    "object.spec.containers.all(c, has(c.resources) && has(c.resources.limits))",
    "!has(object.spec.hostNetwork) || object.spec.hostNetwork == false",
    "object.spec.containers.size() < 10",
    "has(object.metadata.labels)",
)


def _plain_classic(number: int) -> dict[str, Any]:
    pattern = {"spec": {"containers": [_PATTERNS[number % len(_PATTERNS)]]}}
    match = {"any": [{"resources": {"kinds": ["Pod"]}}]}
    rule = {"name": "plain", "match": match, "validate": {"message": "no", "pattern": pattern}}
    return {
        "apiVersion": "kyverno.io/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": f"plain-{number}"},
        "spec": {"rules": [rule]},
    }


def _plain_cel(number: int) -> dict[str, Any]:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    return {
        "apiVersion": "policies.kyverno.io/v1",
        "kind": "ValidatingPolicy",
        "metadata": {"name": f"plain-cel-{number}"},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": _EXPRESSIONS[number % len(_EXPRESSIONS)], "message": "no"}],
        },
    }


def _is_about_pods(policy: KyvernoPolicy) -> bool:
    return '"resources":["pods"]' in policy.document.decode().replace(" ", "")


def _load(paths: list[Path]) -> list[KyvernoPolicy]:
    sources = [PolicySource(path=path, label=path.name, builtin=False) for path in paths]
    return list(load_kyverno(sources).policies)


def _load_documents(documents: Iterable[dict[str, Any]]) -> list[KyvernoPolicy]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policies.yaml"
        path.write_text("\n---\n".join(json.dumps(one) for one in documents))
        return _load([path])


def _as_admission(policies: list[KyvernoPolicy]) -> list[KyvernoPolicy]:
    kept = ("failurePolicy", "matchConstraints", "matchConditions", "variables", "validations")
    documents: list[dict[str, Any]] = []
    api = "admissionregistration.k8s.io/v1"
    for policy in policies:
        spec = json.loads(policy.document)["spec"]
        name = f"vap-{policy.name}"
        own = {key: spec[key] for key in kept if key in spec}
        binding = {"policyName": name, "validationActions": ["Deny"]}
        for kind, body in (
            ("ValidatingAdmissionPolicy", own),
            ("ValidatingAdmissionPolicyBinding", binding),
        ):
            documents.append({"apiVersion": api, "kind": kind, "metadata": {"name": name}, "spec": body})
    found = _load_documents(documents)
    assert all(policy.family is PolicyFamily.ADMISSION for policy in found)
    return found


def _subjects(objects: list[dict[str, Any]]) -> Iterator[Subject]:
    for number, value in enumerate(objects):
        metadata = value["metadata"]
        ref = SubjectRef(
            cluster="bench",
            group="",
            version="v1",
            kind="Pod",
            namespace=metadata.get("namespace", ""),
            name=metadata["name"],
            source="pods.yaml",
            document=number,
            digest=f"{number:064x}",
        )
        yield subject_of(CollectedObject(ref=ref, raw=json.dumps(value).encode()), (), {})
