"""Foreign policies through the whole command: configuration, verdicts, record, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.foreign.conftest import Write
from tests.foreign.objects import binding, deployment, namespace, pod, service
from tests.foreign.templates import constraint, template
from tests.foreign.test_gatekeeper_shape import UNIQUE
from tests.foreign.test_pinned_git import git
from tests.integration.command import Run, fleetaudit, run
from tests.shared_data import shared_dir

LATEST = 'package main\n\nimport rego.v1\n\ndeny contains "moving tag" if input.spec.containers[_].image == "nginx:latest"\n'
CLASSIC = Path(__file__).parent / "policies" / "cluster_admin"


@pytest.fixture
def objects(tmp_path: Path) -> Path:
    folder = tmp_path / "objects"
    folder.mkdir()
    values = [
        namespace("team"),
        pod("web"),
        binding("RoleBinding", "cluster-admin", "User"),
        service("a", selector={"app": "web"}),
        service("b", selector={"app": "web"}),
        deployment("web", labels={"app": "web"}),
    ]
    (folder / "all.yaml").write_text(yaml.safe_dump_all(values))
    return folder


def outcomes(done: Run, rule: str) -> dict[str, int]:
    return {row["outcome"]: row["pairs"] for row in done.report["tally"] if row["rule"] == rule}


def rule_of(done: Run, rule: str) -> dict[str, Any]:
    found: dict[str, Any] = next(
        state["rule"] for state in done.report["rules"] if state["rule"]["id"] == rule
    )
    return found


def test_a_folder_of_policies_is_audited_and_its_shape_stated(
    objects: Path, tmp_path: Path, write: Write
) -> None:
    folder = write({"p.rego": LATEST})
    done = run(tmp_path / "out", objects, "--policy", folder)
    assert done.code == 0, done.err
    assert outcomes(done, "policy:main/deny") == {"fail": 1, "pass": 5}
    (member,) = done.findings("policy:main/deny")
    assert member["subject"]["name"] == "web"
    assert member["violation"]["message"] == "moving tag"
    assert member["place"]["file"].endswith("all.yaml")
    assert rule_of(done, "policy:main/deny")["shape"] == "conftest"
    (engine,) = [e for e in done.report["record"]["engines"] if "shape" in e["details"]]
    assert engine["details"]["shape"] == "conftest"
    assert engine["details"]["shape from"] == "detection"
    assert engine["details"]["policies"] == str(folder)
    assert any(notice["code"] == "policy_shape" for notice in done.report["notices"])
    again = run(tmp_path / "again", objects, "--policy", folder)
    assert again.report["record"]["result_sha256"] == done.report["record"]["result_sha256"]
    (folder / "p.rego").write_text(LATEST + "# changed\n")
    other = run(tmp_path / "other", objects, "--policy", folder)
    assert other.report["record"]["rules_sha256"] != done.report["record"]["rules_sha256"]


def test_sources_with_the_same_names_never_meet(objects: Path, tmp_path: Path, write: Write) -> None:
    one = write({"p.rego": LATEST + "\nhelper := 1\n"}, "one/policy")
    two = write({"p.rego": LATEST.replace("moving tag", "other words") + "\nhelper := 2\n"}, "two/policy")
    done = run(tmp_path / "out", objects, "--policy", one, "--policy", two)
    assert done.code == 0, done.err
    messages = {
        id_: done.findings(id_)[0]["violation"]["message"]
        for id_ in ("one.policy:main/deny", "two.policy:main/deny")
    }
    assert messages == {"one.policy:main/deny": "moving tag", "two.policy:main/deny": "other words"}


def configured(tmp_path: Path, objects: Path, **source: Any) -> Path:
    file = tmp_path / "fleetaudit.yaml"
    file.write_text(yaml.safe_dump({"paths": [objects.name], "policy": {"sources": [source]}}))
    return file


def test_configuration_names_shape_data_and_rules(objects: Path, tmp_path: Path, write: Write) -> None:
    write({"p.rego": "package llm\n\nimport rego.v1\n\nallow if input.metadata.name in data.known\n"})
    write({"d.yaml": "known: [web]\n"}, "data")
    file = configured(
        tmp_path,
        objects,
        path="policy",
        name="platform",
        shape="conftest",
        rules=["allow"],
        data=["data"],
        kinds=["Pod", "Service"],
        severity="critical",
        allow="permits",
    )
    done = run(tmp_path / "out", "--config", file)
    assert done.code == 3, done.err  # where allow is undefined, nothing was decided
    assert outcomes(done, "platform:llm/allow") == {"pass": 1, "error": 2}
    assert rule_of(done, "platform:llm/allow")["severity"] == "critical"
    (engine,) = [e for e in done.report["record"]["engines"] if "shape" in e["details"]]
    assert engine["details"]["shape from"] == "configuration"
    assert done.report["record"]["configuration"]["policy"]["sources"][0]["shape"] == "conftest"
    listed = fleetaudit("rules", "list", "platform:*", "--config", file)
    assert "conftest" in listed.out
    shown = fleetaudit("rules", "show", "platform:llm/allow", "--config", file)
    assert "conftest, package llm" in shown.out


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ({"namespaces": ["mian"]}, "no policy here has the package mian"),
        ({"rules": ["denny"]}, "no package that is asked defines the rule denny"),
        ({"kinds": ["pod"]}, "Kubernetes has no kind pod"),
        ({"shape": "conftst"}, "conftest"),
        ({"path": "git+https://example.com/policies@main"}, "is not pinned to a commit"),
        ({"namespace": ["main"]}, "namespaces"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_name_that_leads_nowhere_stops_the_run(
    objects: Path, tmp_path: Path, write: Write, source: dict[str, Any], said: str
) -> None:
    write({"p.rego": LATEST})
    done = run(tmp_path / "out", "--config", configured(tmp_path, objects, **{"path": "policy", **source}))
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "out" / "report.json").exists()


def test_a_broken_policy_file_is_one_gap_and_the_rest_is_judged(
    objects: Path, tmp_path: Path, write: Write
) -> None:
    folder = write({"good.rego": LATEST, "bad.rego": "package main\n\ndeny contains if {\n"})
    done = run(tmp_path / "out", objects, "--policy", folder)
    assert done.code == 3
    (gap,) = done.gaps
    assert (gap["kind"], gap["line"], gap["kinds"]) == ("policy", 3, [])
    assert gap["source"].endswith("bad.rego")
    assert outcomes(done, "policy:main/deny") == {"fail": 1, "pass": 5}


def test_gatekeeper_reads_collected_objects(objects: Path, tmp_path: Path, write: Write) -> None:
    folder = write(
        {
            "t.yaml": template("Unique", UNIQUE, schema=None),
            "c.yaml": constraint(
                "one", "Unique", match={"kinds": [{"apiGroups": [""], "kinds": ["Service"]}]}
            ),
        },
        "gatekeeper",
    )
    done = run(tmp_path / "out", objects, "--policy", folder)
    assert done.code == 0, done.err
    assert outcomes(done, "gatekeeper:Unique/one") == {"fail": 2}
    (objects / "broken.yaml").write_text("kind: [\n")
    behind = run(tmp_path / "behind", objects, "--policy", folder)
    assert outcomes(behind, "gatekeeper:Unique/one") == {"error": 2}
    assert {m["error"] for m in behind.findings("gatekeeper:Unique/one", "error")} == {"context_incomplete"}


def test_templates_and_constraints_may_lie_apart(objects: Path, tmp_path: Path, write: Write) -> None:
    templates = write({"t.yaml": template() + "---\n" + template("Unused", schema=None)}, "templates")
    constraints = write(
        {"c.yaml": constraint(match={"kinds": [{"apiGroups": [""], "kinds": ["Pod"]}]})}, "constraints"
    )
    done = run(tmp_path / "out", objects, "--policy", constraints, "--policy", templates)
    assert done.code == 0, done.err
    assert outcomes(done, "constraints:K8sRequiredLabels/all") == {"fail": 1}
    said = {notice["code"]: notice["message"] for notice in done.report["notices"]}
    assert said["asked_elsewhere"] == "K8sRequiredLabels is asked by constraints of another source"
    assert said["no_constraint"] == "Unused has no constraint, so it is never asked"
    alone = run(tmp_path / "alone", objects, "--policy", constraints)
    assert alone.code == 3
    assert "no ConstraintTemplate defines the kind K8sRequiredLabels" in alone.gaps[0]["reason"]


def test_rules_over_a_whole_cluster_are_asked_once_for_each(
    objects: Path, tmp_path: Path, write: Write
) -> None:
    rego = (
        'package pairs\n\nimport rego.v1\n\ndeny contains msg if {\n\tsome a in input\n\ta.contents.kind == "Service"\n'
        '\tsome b in input\n\tb.contents.kind == "Deployment"\n'
        "\tinput[_].contents.spec.selector == b.contents.spec.template.metadata.labels\n"
        "\tmsg := a.path\n}\n"
    )
    folder = write({"p.rego": rego})
    done = run(tmp_path / "out", objects, "--policy", folder)
    assert done.code == 0, done.err
    assert outcomes(done, "policy:pairs/deny") == {"fail": 1}
    found = {member["violation"]["message"] for member in done.findings("policy:pairs/deny")}
    assert found == {"Service/team/a", "Service/team/b"}


def test_the_faults_of_the_classic_policy_are_named_by_validate_and_run(
    objects: Path, tmp_path: Path
) -> None:
    checked = fleetaudit("validate", "--no-config", "--policy", CLASSIC)
    assert checked.code == 0, checked.err
    for words in (
        "true is taken for the violation",
        "reads namespace at the root of objects",
        "lets Group, ServiceAccount have the role cluster-admin",
        "and not ClusterRoleBinding",
    ):
        assert words in checked.out
    done = run(tmp_path / "out", objects, "--policy", CLASSIC)
    assert outcomes(done, "cluster_admin:kubernetes.admission/allow") == {"fail": 1, "pass": 5}
    assert {n["code"] for n in done.report["notices"]} >= {
        "allow_means_violation",
        "field_of_no_object",
        "subjects_not_covered",
        "kinds_not_covered",
    }


def test_a_pinned_repository_is_a_source(objects: Path, tmp_path: Path, write: Write) -> None:
    repository = write({"sub/p.rego": LATEST}, "repository")
    git(tmp_path, "init", "--quiet", str(repository))
    git(repository, "add", "-A")
    git(repository, "commit", "--quiet", "-m", "one")
    commit = git(repository, "rev-parse", "HEAD")
    text = f"git+file://{repository}@{commit}#sub"
    surroundings = {"FLEETAUDIT_CACHE": str(tmp_path / "cache")}
    done = run(tmp_path / "out", "--config", configured(tmp_path, objects, path=text), env=surroundings)
    assert done.code == 0, done.err
    assert outcomes(done, "sub:main/deny") == {"fail": 1, "pass": 5}
    (engine,) = [e for e in done.report["record"]["engines"] if "shape" in e["details"]]
    assert engine["details"]["fetched from"] == text
    gone = run(tmp_path / "gone", objects, "--policy", text.replace(commit, "0" * 40), env=surroundings)
    assert gone.code == 3
    assert "cannot be fetched" in gone.gaps[0]["reason"]


def test_foreign_rules_can_be_waived(objects: Path, tmp_path: Path, write: Write) -> None:
    write({"p.rego": LATEST})
    waivers = {
        "waivers": [
            {
                "id": "W-1",
                "rule": "policy:main/deny",
                "subject": {"cluster": "manifests", "kind": "Pod", "namespace": "team", "name": "web"},
                "owner": "team",
                "reason": "Known.",
                "expires": "2999-01-01",
            }
        ]
    }
    (tmp_path / "waivers.yaml").write_text(yaml.safe_dump(waivers))
    file = tmp_path / "fleetaudit.yaml"
    file.write_text(
        yaml.safe_dump({"paths": ["objects"], "policy": {"paths": ["policy"]}, "waivers": ["waivers.yaml"]})
    )
    done = run(tmp_path / "out", "--config", file)
    assert done.code == 0, done.err
    (member,) = done.findings("policy:main/deny")
    assert member["waiver"] == "W-1"


def test_native_rules_and_foreign_ones_may_share_a_folder(
    objects: Path, tmp_path: Path, write: Write
) -> None:
    native = (
        "# METADATA\n# title: t\n# description: d\n# custom:\n#   severity: low\n#   match: {kinds: [{kinds: [Pod]}]}\n"
        "#   remediation: r\npackage own.rule\n\ndefault applies := true\n\n"
        'violations contains {"path": [], "message": "native"} if input.kind == "Pod"\n'
    )
    folder = write({"own/rule.rego": native, "p.rego": LATEST})
    done = run(tmp_path / "out", objects, "--policy", folder)
    assert done.code == 0, done.err
    assert rule_of(done, "own/rule")["shape"] == "native"
    assert outcomes(done, "own/rule") == {"fail": 1}
    assert outcomes(done, "policy:main/deny") == {"fail": 1, "pass": 5}


def test_undefined_is_never_a_pass(tmp_path: Path) -> None:
    """Case 11: four different results for four different things."""
    case = shared_dir("cases", "11-rego-undefined-is-not-pass")
    expected = json.loads((case / "expect.json").read_text())
    folder = tmp_path / "objects"
    folder.mkdir()
    for name in ("missing-label.json", "reviewed.json"):
        value = {"apiVersion": "v1", **json.loads((case / name).read_text())}
        value["metadata"]["name"] = name.removesuffix(".json")
        # The case is about undefined; a pod without containers is undecided for a reason of its own.
        value["spec"] = {"containers": [{"name": "c", "image": "nginx:1"}]}
        (folder / name).write_text(json.dumps(value))
    file = tmp_path / "fleetaudit.yaml"

    def audit(rules: list[str]) -> Run:
        source = {
            "path": str(case / "policy.rego"),
            "name": "case",
            "shape": "conftest",
            "kinds": ["Pod"],
            "rules": rules,
        }
        file.write_text(yaml.safe_dump({"paths": ["objects"], "policy": {"sources": [source]}}))
        return run(tmp_path / "out", "--config", file)

    assert expected["verdict"] == {"undefined": "not_evaluated", "policy error": "error", "never": "pass"}
    done = audit(["deny_naive", "deny_safe", "allow", "report"])
    assert done.code == 3
    assert outcomes(done, "case:llm/deny_naive") == {"pass": 2}
    assert outcomes(done, "case:llm/deny_safe") == {"fail": 1, "pass": 1}
    assert outcomes(done, "case:llm/allow") == {"error": 1, "pass": 1}
    assert outcomes(done, "case:llm/report") == {"error": 2}
    (undefined,) = done.findings("case:llm/allow", "error")
    assert (undefined["subject"]["name"], undefined["error"]) == ("missing-label", "undefined")
    assert "not evaluated" in undefined["violation"]["message"]
    denny = audit(["denny"])
    assert denny.code == 2
    assert "denny" in denny.err
