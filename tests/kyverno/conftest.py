"""The real Kyverno CLI, and a way to judge a few objects by a few policies with it."""

from __future__ import annotations

import datetime as dt
import os
import stat
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from audit.errors import EngineError
from audit.evaluate.kyverno import KyvernoBuild, KyvernoOptions, build_kyverno
from audit.evaluate.kyverno.batch.program import OVERRIDE
from audit.evaluate.kyverno.binary import KyvernoCli, find_kyverno
from audit.evaluate.kyverno.engine import KyvernoEngine
from audit.library.kyverno import load_kyverno
from audit.library.rules import PolicySource
from audit.model.finding import PairAnswer
from audit.ports import CollectedObject
from tests.cluster.server import tool
from tests.kyverno.objects import from_yaml, inventory_of

NOW = dt.datetime(2026, 11, 30, 12, 0, tzinfo=dt.UTC)


@pytest.fixture(scope="session")
def cli() -> KyvernoCli:
    try:
        return find_kyverno()
    except EngineError as error:
        pytest.skip(str(error))


@pytest.fixture
def batch(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The batch child that the set-up built, for every engine that wants it; the environment may name another."""
    program = Path(os.environ.get(OVERRIDE) or tool("fleetaudit-kyverno-batch"))
    monkeypatch.setenv(OVERRIDE, str(program))
    return program


class Judgement:
    """What became of every pair."""

    def __init__(
        self,
        build: KyvernoBuild,
        engine: KyvernoEngine | None,
        objects: Sequence[CollectedObject],
        answers: Sequence[list[PairAnswer]],
    ) -> None:
        self.build = build
        self.engine = engine
        self.objects = objects
        self.answers = answers
        self.runs = engine.runs_started if engine else 0

    def of(self, rule: str, name: str) -> PairAnswer:
        """The answer of a rule (its id without ``kyverno:``) about the object called `name`."""
        found = [
            answer
            for item, answers in zip(self.objects, self.answers, strict=True)
            for answer in answers
            if answer.rule == f"kyverno:{rule}" and item.ref.name == name
        ]
        assert len(found) == 1, (rule, name, found, [gap.reason for gap in self.build.gaps])
        return found[0]

    def outcome(self, rule: str, name: str) -> str:
        """``fail``, or ``skip not_selected`` and ``error timed_out`` with their reasons."""
        answer = self.of(rule, name)
        return f"{answer.outcome.value} {answer.reason}".strip()

    @property
    def gaps(self) -> list[str]:
        return [gap.reason for gap in self.build.gaps]


Judge = Callable[..., Judgement]
Stand = Callable[[str], str]


@pytest.fixture
def stand_in(cli: KyvernoCli, tmp_path: Path) -> Stand:
    """A script before the real CLI: `body` is Python with `arguments`, `real()` to run it and `judging` (no trial)."""

    def make(body: str) -> str:
        script = tmp_path / f"kyverno-{len(list(tmp_path.iterdir()))}"
        text = f"""
        import os, re, subprocess, sys, time
        arguments = sys.argv[1:]
        def real():
            return subprocess.run([{cli.path!r}, *arguments], capture_output=True)
        def give(done, stdout=None):
            sys.stderr.buffer.write(done.stderr)
            sys.stdout.buffer.write(done.stdout if stdout is None else stdout)
            sys.stdout.flush()
            sys.exit(done.returncode)
        judging = arguments[:1] == ["apply"] and "-p" in arguments
        if not judging:
            give(real())
        """
        lines = f"#!{sys.executable}" + textwrap.dedent(text) + textwrap.dedent(body)
        script.write_text(lines, encoding="utf-8")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return str(script)

    return make


@pytest.fixture
def judge(cli: KyvernoCli, tmp_path: Path) -> Iterator[Judge]:
    """``judge(policies, objects)``: both YAML; `seen` are objects of the inventory that are not judged."""
    opened: list[Callable[[], None]] = []

    def run(
        policies: str,
        objects: str | Sequence[CollectedObject],
        *,
        seen: str = "",
        options: KyvernoOptions | None = None,
        now: dt.datetime = NOW,
        times: int = 1,
    ) -> Judgement:
        file = tmp_path / f"policies-{len(opened)}.yaml"
        file.write_text(policies, encoding="utf-8")
        loaded = load_kyverno([PolicySource(path=file, label="policies.yaml", builtin=False)])
        build = build_kyverno(loaded, now, options or KyvernoOptions(jobs=1))
        opened.append(build.close)
        items = from_yaml(objects) if isinstance(objects, str) else list(objects)
        if build.start is None:
            return Judgement(build, None, items, [[] for _ in items])
        engine = build.start(frozenset(rule.id for rule in build.rules))
        opened.append(engine.close)
        inventory = inventory_of(build.rules, [*items, *from_yaml(seen)])
        for _ in range(times):
            answers = list(engine.evaluate("c", items, inventory))
        return Judgement(build, engine, items, answers)

    yield run
    for close in reversed(opened):
        close()


def policy(name: str, rules: str, *, kind: str = "ClusterPolicy", head: str = "", spec: str = "") -> str:
    """A classic policy; `rules` is a YAML list, indented or not."""
    indented = "\n".join(f"    {line}" for line in rules.strip("\n").splitlines())
    return (
        f"---\napiVersion: kyverno.io/v1\nkind: {kind}\nmetadata:\n  name: {name}\n{head}"
        f"spec:\n{spec}  rules:\n{indented}\n"
    )


POD = """
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  containers:
  - name: main
    image: {image}
"""


def pod(name: str, image: str = "nginx:1.27", namespace: str = "shop") -> str:
    return POD.format(name=name, image=image, namespace=namespace)


NO_LATEST = """
- name: no-latest
  match: {any: [{resources: {kinds: [Pod]}}]}
  validate:
    message: "The tag latest is not allowed."
    pattern: {spec: {containers: [{image: "!*:latest"}]}}
"""


GAP_FREE_POLICIES = """
---
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: classic, annotations: {policies.kyverno.io/title: T, pod-policies.kyverno.io/autogen-controllers: "Deployment,Job"}}
spec:
  background: true
  rules:
  - name: loop
    match: {any: [{resources: {kinds: [Pod], namespaces: [shop], namespaceSelector: {matchLabels: {a: b}}}}]}
    exclude: {all: [{resources: {names: [x*]}, subjects: [{kind: User, name: u}]}]}
    context: [{name: cm, configMap: {name: c, namespace: n}}, {name: call, apiCall: {urlPath: /api/v1/pods}}]
    preconditions: {all: [{key: a, operator: Equals, value: b}]}
    validate: {message: m, foreach: [{list: request.object.spec.x, context: [{name: g, globalReference: {name: e}}], deny: {}}]}
  - name: images
    match: {resources: {kinds: [Pod], selector: {matchExpressions: [{key: a, operator: In, values: [b]}]}}}
    verifyImages: [{imageReferences: [a/*], skipImageReferences: [b], attestors: []}]
  - name: mutate
    match: {any: [{resources: {kinds: [Pod]}}]}
    mutate: {foreach: [{list: x, patchesJson6902: y}]}
---
apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: {name: cel}
spec:
  autogen: {podControllers: {controllers: [deployments, jobsets.v1.jobset.x-k8s.io]}}
  evaluation: {background: {enabled: false}, admission: {enabled: true}}
  matchConstraints:
    namespaceSelector: {matchLabels: {a: b}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods], scope: "*"}]
  validations: [{expression: "resource.Get('v1', 'configmaps', 'a', 'b') != null", message: m}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: vap}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: ["*"], resources: ["*/*"]}]}
  validations: [{expression: "true"}]
---
apiVersion: policies.kyverno.io/v1
kind: ImageValidatingPolicy
metadata: {name: images}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  matchImageReferences: [{glob: a/*}, {expression: "true"}]
  validations: [{expression: "true"}]
---
apiVersion: kyverno.io/v2
kind: PolicyException
metadata: {name: e, namespace: n, labels: {cleanup.kyverno.io/ttl: 1h}, creationTimestamp: "2026-01-01T00:00:00Z"}
spec: {exceptions: [{policyName: classic, ruleNames: [loop]}], match: {any: [{resources: {kinds: [Pod]}}]}}
---
apiVersion: kyverno.io/v2
kind: GlobalContextEntry
metadata: {name: e}
spec: {kubernetesResource: {group: apps, version: v1, resource: deployments}}
"""
