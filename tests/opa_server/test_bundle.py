"""A server that has the rules already: what is missing or other there is said, and never passes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from audit.errors import EngineError
from audit.evaluate.opa_server.engine import open_engine
from audit.evaluate.opa_server.program import Program
from audit.model.finding import Outcome
from audit.native.evaluator import EvalLimits
from tests.meta.documents import blocks
from tests.opa_server.odd_objects import odd_objects
from tests.opa_server.programs import (
    TOKEN,
    Embedded,
    bundle_server,
    canonical,
    opa_binary,
    program_of,
    running,
    server_engine,
    settings,
    shipped,
    write_bundle,
)
from tests.opa_server.test_failures import SMALL, letters, pods

pytestmark = pytest.mark.tools


def without(program: Program, *labels: str) -> Program:
    return msgspec.structs.replace(
        program,
        modules={label: text for label, text in program.modules.items() if label not in labels},
        packages=tuple(info for info in program.packages if info.file not in labels),
    )


def changed(program: Program, label: str, old: str, new: str) -> Program:
    modules = dict(program.modules)
    assert old in modules[label]
    modules[label] = modules[label].replace(old, new)
    return msgspec.structs.replace(program, modules=modules)


def test_nothing_is_put_on_the_server(tmp_path: Path) -> None:
    with bundle_server(tmp_path, write_bundle(SMALL, tmp_path)) as site:
        before = site.state()
        with server_engine(SMALL, url=site.url, bundle=True) as engine:
            assert [letters(each) for each in engine.answers(pods(3), b'{"Node": {}}')] == ["pfp"] * 3
            assert site.state() == before
            details = engine.version().details
        assert site.state() == before
    assert len(details["policies_sha256"]) == 64
    assert "7" in {value for key, value in details.items() if key.startswith("bundle ")}


def test_a_package_that_is_missing_is_an_error_for_every_object(tmp_path: Path) -> None:
    with (
        bundle_server(tmp_path, write_bundle(without(SMALL, "a.rego"), tmp_path)) as site,
        server_engine(SMALL, url=site.url, bundle=True) as engine,
    ):
        answers = list(engine.answers(pods(150), b"{}"))
    assert {letters(each) for each in answers} == {"efp"}
    assert {each[0].reason for each in answers} == {"missing_package"}
    assert "data.r.a.applies or violations" in answers[0][0].message


def test_a_rule_that_is_missing_inside_its_package_is_an_error(tmp_path: Path) -> None:
    other = changed(SMALL, "a.rego", "violations contains", "violation contains")
    with (
        bundle_server(tmp_path, write_bundle(other, tmp_path)) as site,
        server_engine(SMALL, url=site.url, bundle=True) as engine,
    ):
        [answers] = list(engine.answers(pods(1), b"{}"))
    assert letters(answers) == "efp"
    assert answers[0].message.endswith("does not define data.r.a.violations")


def test_a_bundle_of_something_else(tmp_path: Path) -> None:
    other = program_of({"x.rego": "package something.other\n\nallow := true\n"}, [])
    with (
        bundle_server(tmp_path, write_bundle(other, tmp_path)) as site,
        pytest.raises(EngineError, match="has none of the rules") as caught,
    ):
        open_engine(SMALL, (), settings(url=site.url, bundle=True), say=print)
    assert "docs/opa-server.md" in (caught.value.suggestion or "")


def test_another_text_of_a_rule_decides_and_is_noticed(tmp_path: Path) -> None:
    other = changed(SMALL, "b.rego", '"message": "m"', '"message": "theirs"')
    with (
        bundle_server(tmp_path, write_bundle(other, tmp_path)) as site,
        server_engine(SMALL, url=site.url, bundle=True) as engine,
    ):
        [answers] = list(engine.answers(pods(1), b"{}"))
        [lenient, notice] = engine.notices
        assert lenient.code == "lenient_engine"
    assert answers[1].violations[0].message == "theirs"
    assert (notice.code, notice.count) == ("other_policies", 1)
    assert "b.rego" in notice.message


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"parameters": {"r/a": {"limit": 2}}, "pod_templates": {}}, "data.parameters .* r/a"),
        ({"pod_templates": {}}, "data.parameters .* it is missing"),
        ({"parameters": {"r/a": {"limit": 1}}, "pod_templates": {"Pod": []}}, "data.pod_templates .* Pod"),
        ({"parameters": {"r/a": {"limit": True}}, "pod_templates": {}}, "data.parameters"),
    ],
)
def test_other_parameters_than_the_report_would_state(
    tmp_path: Path, data: dict[str, object], words: str
) -> None:
    ours = msgspec.structs.replace(SMALL, data={"parameters": {"r/a": {"limit": 1}}, "pod_templates": {}})
    theirs = msgspec.structs.replace(ours, data=data)
    with (
        bundle_server(tmp_path, write_bundle(theirs, tmp_path)) as site,
        pytest.raises(EngineError, match=words),
    ):
        open_engine(ours, (), settings(url=site.url, bundle=True), say=print)


def test_a_server_that_allows_no_queries(tmp_path: Path) -> None:
    bundle = write_bundle(SMALL, tmp_path)
    authz = tmp_path / "authz"
    authz.mkdir()
    (authz / "authz.rego").write_text(
        "package system.authz\n\ndefault allow := false\n\n"
        f'allow if {{\n\tinput.identity == "{TOKEN}"\n\tinput.path != ["v1", "query"]\n}}\n'
    )
    (authz / ".manifest").write_text(json.dumps({"roots": ["system/authz"]}))
    with (
        running(tmp_path, ["--bundle", "authz", str(bundle)]) as site,
        pytest.raises(EngineError, match="does not let us in"),
    ):
        open_engine(SMALL, (), settings(url=site.url, bundle=True), say=print)


def test_an_error_names_our_files(tmp_path: Path) -> None:
    raising = changed(
        SMALL, "a.rego", "violations contains v if { false; v := {} }",
        'violations contains {"path": [], "message": f(1)}\n\nf(x) := "a" if x > 0\n\nf(x) := "b" if x > 0',
    )  # fmt: skip
    with (
        bundle_server(tmp_path, write_bundle(raising, tmp_path)) as site,
        server_engine(raising, url=site.url, bundle=True) as engine,
    ):
        answers = list(engine.answers(pods(20), b"{}"))
    assert {letters(each) for each in answers} == {"efp"}
    assert answers[0][0].outcome is Outcome.ERROR
    assert answers[0][0].message.startswith("a.rego:")
    assert str(tmp_path) not in answers[0][0].message


def test_the_bundle_that_the_page_describes(tmp_path: Path) -> None:
    """Its commands are run as they stand, and the server answers as the embedded engine does."""
    [block] = [b for b in blocks("console") if b.file.name == "opa-server.md" and "opa build" in b.text]
    commands = "\n".join(line.removeprefix("$ ") for line in block.text.splitlines())
    subprocess.run(
        ["sh", "-e", "-c", commands],
        cwd=tmp_path,
        env={
            **os.environ,
            "PATH": os.pathsep.join(
                (str(Path(sys.executable).parent), str(Path(opa_binary()).parent), os.environ["PATH"])
            ),
        },
        check=True,
    )
    _, everything = shipped()
    items = list(odd_objects(60, 5))
    with (
        bundle_server(tmp_path, tmp_path / "fleetaudit.tar.gz") as site,
        server_engine(everything, url=site.url, bundle=True) as engine,
    ):
        assert [notice.code for notice in engine.notices] == ["lenient_engine"]
        answers = canonical(engine.answers(items, b"{}"))
    embedded = Embedded(everything, EvalLimits(), strict=False)
    try:
        assert answers == canonical(embedded.answers(items, b"{}"))
    finally:
        embedded.evaluator.close()
