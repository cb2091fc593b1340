"""PolicyExceptions: the true outcome stays, a live exception is written beside it, an expired one is not honoured."""

from __future__ import annotations

import datetime as dt

import pytest
import yaml

from audit.errors import ContentError
from audit.library.kyverno.documents import PolicyDocument
from audit.library.kyverno.exceptions import read_exception
from tests.kyverno.conftest import NO_LATEST, NOW, Judge, pod, policy
from tests.kyverno.test_cel_policies import validating

LATEST = policy("tags", NO_LATEST)


def exception(
    name: str, *, rules: str = "no-latest", names: str = "spared", head: str = "", policy: str = "tags"
) -> str:
    return f"""
---
apiVersion: kyverno.io/v2
kind: PolicyException
metadata:
  name: {name}
  namespace: exceptions
{head}spec:
  exceptions: [{{policyName: {policy}, ruleNames: [{rules}]}}]
  match: {{any: [{{resources: {{kinds: [Pod, Deployment], names: [{names}]}}}}]}}
"""


@pytest.mark.tools
def test_a_live_exception_is_named_beside_the_true_outcome(judge: Judge) -> None:
    pods = pod("spared", "nginx:latest") + pod("other", "nginx:latest") + pod("fine")
    found = judge(LATEST + exception("e"), pods)
    spared = found.of("tags/no-latest", "spared")
    assert (spared.outcome.value, spared.accepted_by) == ("fail", "exceptions/e")
    assert spared.violations[0].path == ("spec", "containers", 0, "image")
    assert found.of("tags/no-latest", "other").accepted_by == ""
    assert found.of("tags/no-latest", "fine").accepted_by == ""
    assert found.engine is not None
    assert found.engine.notices() == ()


@pytest.mark.tools
def test_an_exception_that_accepts_nothing_is_named(judge: Judge) -> None:
    found = judge(
        LATEST + exception("e", names="nobody") + exception("f", policy="nothing"), pod("p", "nginx:latest")
    )
    assert found.of("tags/no-latest", "p").accepted_by == ""
    assert found.engine is not None
    assert [notice.code for notice in found.engine.notices()] == ["exception_unused", "exception_unused"]


@pytest.mark.tools
def test_generated_forms_must_be_named_as_kyverno_names_them(judge: Judge) -> None:
    deployment = """
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: spared, namespace: shop}
spec: {template: {spec: {containers: [{name: main, image: "nginx:latest"}]}}}
"""
    plain = judge(LATEST + exception("e"), deployment)
    assert plain.of("tags/no-latest", "spared").accepted_by == ""
    generated = judge(LATEST + exception("e", rules="autogen-*"), deployment)
    assert generated.of("tags/no-latest", "spared").accepted_by == "exceptions/e"


@pytest.mark.tools
def test_an_expired_exception_is_not_handed_over(judge: Judge) -> None:
    over = exception("over", head="  labels: {cleanup.kyverno.io/ttl: '2026-11-30'}\n")
    found = judge(LATEST + over, pod("spared", "nginx:latest"), now=NOW)
    answer = found.of("tags/no-latest", "spared")
    assert (answer.outcome.value, answer.accepted_by) == ("fail", "")
    (notice,) = [notice for notice in found.build.notices if notice.code == "exception_expired"]
    assert "exceptions/over is not honoured: it ended at 2026-11-30T00:00:00Z" in notice.message


@pytest.mark.parametrize(
    ("head", "honoured"),
    [
        ("  labels: {cleanup.kyverno.io/ttl: '2026-11-30'}\n", False),
        ("  labels: {cleanup.kyverno.io/ttl: 2026-11-30T120001Z}\n", True),
        ("  labels: {cleanup.kyverno.io/ttl: 2h}\n  creationTimestamp: '2026-11-30T11:00:00Z'\n", True),
        ("  labels: {cleanup.kyverno.io/ttl: 30m}\n  creationTimestamp: '2026-11-30T11:00:00Z'\n", False),
        ("  labels: {cleanup.kyverno.io/ttl: 2h}\n", False),
        ("  labels: {cleanup.kyverno.io/ttl: later}\n", False),
        ("  annotations: {fleetaudit.dev/expires: '2026-11-30'}\n", True),
        ("  annotations: {fleetaudit.dev/expires: '2026-11-29'}\n", False),
        ("  annotations: {fleetaudit.dev/expires: soon}\n", False),
    ],
    ids=["ttl date", "ttl time", "running", "over", "no start", "no duration", "today", "yesterday", "no date"],
)  # fmt: skip
def test_an_exception_is_honoured_until_its_end(head: str, honoured: bool) -> None:
    read = read_exception(document(yaml.safe_load(exception("e", head=head))))
    assert read.is_live(NOW) is honoured
    assert bool(read.problem) is (not honoured and read.expires is None)


@pytest.mark.tools
def test_pod_security_exceptions_spare_only_what_they_name(judge: Judge) -> None:
    rule = """
- name: baseline
  match: {any: [{resources: {kinds: [Pod]}}]}
  validate: {podSecurity: {level: baseline, version: latest}}
"""
    polex = exception("e", policy="pss", rules="baseline", names="'*'") + (
        "  podSecurity: [{controlName: Host Namespaces}]\n"
    )
    network = pod("network") + "  hostNetwork: true\n"
    both = pod("both") + "  hostNetwork: true\n  volumes: [{name: v, hostPath: {path: /}}]\n"
    found = judge(policy("pss", rule) + polex, network + both)
    assert found.of("pss/baseline", "network").accepted_by == "exceptions/e"
    assert found.of("pss/baseline", "both").accepted_by == ""


@pytest.mark.tools
def test_cel_exceptions(judge: Judge) -> None:
    text = """
---
apiVersion: policies.kyverno.io/v1
kind: PolicyException
metadata: {name: cel, namespace: exceptions}
spec:
  policyRefs: [{name: tags, kind: ValidatingPolicy}]
  matchConditions: [{name: spared, expression: "object.metadata.name == 'spared'"}]
"""
    ended = text.replace("name: cel,", "name: ended,").replace(
        "spec:\n", "spec:\n  expiresAt: '2026-01-01T00:00:00Z'\n"
    )
    pods = pod("spared", "nginx:latest") + pod("other", "nginx:latest")
    found = judge(validating("tags") + text + ended.replace("== 'spared'", "== 'other'"), pods)
    assert found.of("tags/validate", "spared").accepted_by == "exceptions/cel"
    assert found.of("tags/validate", "other").accepted_by == ""
    assert [n.code for n in found.build.notices if "ended" in n.message] == ["exception_expired"]


@pytest.mark.tools
def test_an_exception_the_cli_refuses_costs_a_gap_and_no_run(judge: Judge) -> None:
    bad = exception("bad").replace("  match:", "  nonsense: true\n  match:")
    found = judge(LATEST + bad + exception("good"), pod("spared", "nginx:latest"))
    (gap,) = found.gaps
    assert "PolicyException exceptions/bad" in gap
    assert found.of("tags/no-latest", "spared").accepted_by == "exceptions/good"


def document(value: dict[str, object]) -> PolicyDocument:
    return PolicyDocument(file="e.yaml", line=3, value=value, builtin=False)


def test_an_exception_without_a_policy_is_refused() -> None:
    with pytest.raises(ContentError, match="names no policy"):
        read_exception(
            document({"apiVersion": "kyverno.io/v2", "kind": "PolicyException", "metadata": {"name": "e"}})
        )


def test_the_earliest_end_counts() -> None:
    read = read_exception(
        document(
            {
                "apiVersion": "kyverno.io/v2",
                "kind": "PolicyException",
                "metadata": {
                    "name": "e",
                    "labels": {"cleanup.kyverno.io/ttl": "1d12h"},
                    "creationTimestamp": "2026-01-01T00:00:00Z",
                    "annotations": {"fleetaudit.dev/expires": "2026-06-01"},
                },
                "spec": {"exceptions": [{"policyName": "p", "ruleNames": ["r"]}]},
            }
        )
    )
    assert read.expires == dt.datetime(2026, 1, 2, 12, tzinfo=dt.UTC)
    assert not read.is_live(dt.datetime(2026, 1, 2, 12, tzinfo=dt.UTC))
    assert read.is_live(dt.datetime(2026, 1, 2, 11, 59, tzinfo=dt.UTC))
