"""``fleetaudit sbom``, run for real."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audit.collect.artifacts.sbom.settings import SbomSettings
from tests.unit.cli.terminal import run
from tests.unit.sbom.reading import codes, cyclonedx, read_file, spdx

SCORECARD = {
    "date": "2026-05-01T10:00:00+02:00",
    "repo": {"name": "github.com/example/demo", "commit": "a" * 40},
    "scorecard": {"version": "v5.0.0", "commit": "b" * 40},
    "score": 7.5,
    "checks": [
        {"name": "Code-Review", "score": 10, "reason": "all changes reviewed"},
        {"name": "Branch-Protection", "score": -1, "reason": "no token"},
    ],
}
TESTGRID = {
    "e2e": {
        "dashboard_name": "release",
        "overall_status": "FAILING",
        "last_run_timestamp": 1777600000000,
        "tests": [],
    }
}


def write(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def complete() -> dict[str, Any]:
    return spdx()


def test_a_good_document_meets_the_gate(tmp_path: Path) -> None:
    write(tmp_path, "a.json", complete())
    done = run("sbom", "check", "a.json", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SPDX 2.3 in json" in done.stdout
    assert "spdx-tools: done" in done.stdout
    assert "pass      sbom/format-valid" in done.stdout
    assert "fail" not in done.stdout


def test_a_failing_rule_fails_the_gate_at_its_severity(tmp_path: Path) -> None:
    document = complete()
    document["packages"][1]["licenseDeclared"] = "NOASSERTION"
    write(tmp_path, "a.json", document)
    done = run("sbom", "check", "a.json", cwd=tmp_path)
    assert done.returncode == 1
    assert "noassertion: 1 of 2 components, for example lib" in done.stdout
    assert run("sbom", "check", "a.json", "--fail-on", "medium", cwd=tmp_path).returncode == 0


def test_what_can_not_be_judged_is_incomplete(tmp_path: Path) -> None:
    write(tmp_path, "a.json", complete())
    write(tmp_path, "b.json", json.dumps(complete())[:-30])
    done = run("sbom", "check", "a.json", "b.json", cwd=tmp_path)
    assert done.returncode == 3
    assert "the document ends before it is complete" in done.stdout


@pytest.mark.parametrize("name", ["missing.json", ".", "none.json"])
def test_what_is_no_document_is_a_wrong_call(name: str, tmp_path: Path) -> None:
    write(tmp_path, "none.json", {"a": 1})
    done = run("sbom", "check", name, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_json_has_the_same_facts_and_answers(tmp_path: Path) -> None:
    write(tmp_path, "a.json", cyclonedx())
    done = run("sbom", "check", "a.json", "--json", cwd=tmp_path)
    [one] = json.loads(done.stdout)
    assert one["facts"]["kind"] == "Sbom"
    assert one["facts"]["spec"]["standard"] == "CycloneDX"
    outcomes = {answer["rule"]: answer["outcome"] for answer in one["answers"]}
    assert outcomes["sbom/format-valid"] == "pass"
    assert outcomes["sbom/ntia-complete"] == "fail"
    assert outcomes["sbom/licence-allowed"] == "skip"
    assert "sbom/image-has-sbom" not in outcomes
    assert done.returncode == 1


def test_parameters_of_the_configuration_hold(tmp_path: Path) -> None:
    write(tmp_path, "a.json", complete())
    write(tmp_path, "fleetaudit.yaml", "parameters:\n  sbom/licence-allowed:\n    deny: [MIT]\n")
    done = run("sbom", "check", "a.json", cwd=tmp_path)
    assert done.returncode == 1
    assert "MIT is not allowed, in 1 components, for example lib" in done.stdout


def test_hostile_names_are_harmless_on_the_screen(tmp_path: Path) -> None:
    document = complete()
    document["packages"][0]["name"] = "\x1b[31mred\x07"
    write(tmp_path, "a.json", document)
    done = run("sbom", "check", "a.json", cwd=tmp_path)
    assert "\x1b" not in done.stdout
    assert "\x07" not in done.stdout


def test_verdicts_become_annotations_of_a_valid_document(tmp_path: Path) -> None:
    source = write(tmp_path, "a.json", complete())
    before = source.read_bytes()
    write(tmp_path, "score.json", SCORECARD)
    write(tmp_path, "grid.json", TESTGRID)
    arguments = ("sbom", "annotate", "a.json", "--verdicts", "score.json", "--verdicts", "grid.json")
    done = run(*arguments, "-o", "out.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert source.read_bytes() == before
    out = json.loads((tmp_path / "out.json").read_text())
    comments = [one["comment"] for one in out["annotations"]]
    of = f"OpenSSF Scorecard v5.0.0 of github.com/example/demo at {'a' * 40}"
    assert comments == [
        f"{of}: 7.5/10",
        f"{of}: Code-Review 10/10 (all changes reviewed)",
        f"{of}: Branch-Protection inconclusive (no token)",
        "TestGrid release/e2e: FAIL",
    ]
    assert {one["annotationDate"] for one in out["annotations"][:3]} == {"2026-05-01T08:00:00Z"}
    spec = read_file(tmp_path / "out.json", SbomSettings())
    assert spec is not None
    assert (spec["format"]["status"], spec["format"]["deep"]["errors"], codes(spec)) == ("valid", 0, {})
    assert {key: value for key, value in out.items() if key != "annotations"} == complete()


def test_the_input_is_overwritten_only_when_named_and_nothing_is_said_twice(tmp_path: Path) -> None:
    source = write(tmp_path, "a.json", complete())
    write(tmp_path, "score.json", SCORECARD)
    arguments = ("sbom", "annotate", "a.json", "--verdicts", "score.json", "--element", "SPDXRef-image")
    printed = run(*arguments, cwd=tmp_path)
    assert json.loads(printed.stdout)["packages"][0]["annotations"]
    assert json.loads(source.read_text()) == complete()
    for added in (3, 0):
        done = run(*arguments, "-o", "a.json", cwd=tmp_path)
        assert f"{added} annotations written" in done.stderr
        assert len(json.loads(source.read_text())["packages"][0]["annotations"]) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "score.json"]


@pytest.mark.parametrize(
    ("document", "verdict", "element", "said"),
    [
        (spdx() | {"spdxVersion": "SPDX-2.2"}, SCORECARD, "SPDXRef-DOCUMENT", "must be SPDX-2.3"),
        (cyclonedx(), SCORECARD, "SPDXRef-DOCUMENT", "is no SPDX 2 document"),
        (spdx(), SCORECARD, "SPDXRef-other", "no element SPDXRef-other"),
        (spdx(), {"a": 1}, "SPDXRef-DOCUMENT", "no result of Scorecard or TestGrid"),
        (spdx(), SCORECARD | {"date": ""}, "SPDXRef-DOCUMENT", "doesn't say when it was made"),
        (spdx() | {"packages": [{"name": 7}]}, SCORECARD, "SPDXRef-DOCUMENT", "no valid SPDX 2.3 document"),
    ],
)
def test_nothing_is_written_when_something_is_wrong(
    document: Any, verdict: Any, element: str, said: str, tmp_path: Path
) -> None:
    write(tmp_path, "a.json", document)
    write(tmp_path, "v.json", verdict)
    arguments = ("sbom", "annotate", "a.json", "--verdicts", "v.json", "--element", element, "-o", "out.json")
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "out.json").exists()


def test_any_form_is_annotated(tmp_path: Path) -> None:
    import yaml

    write(tmp_path, "a.yaml", yaml.safe_dump(complete()))
    write(tmp_path, "score.json", SCORECARD)
    done = run("sbom", "annotate", "a.yaml", "--verdicts", "score.json", cwd=tmp_path)
    assert json.loads(done.stdout)["annotations"]
