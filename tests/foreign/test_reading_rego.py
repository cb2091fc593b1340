"""What is read from Rego without running it: names, references, comments, places, and moving a module."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.library.foreign.module import Graph, module
from audit.library.foreign.outline import Form, outline
from audit.library.foreign.relocate import package_in, relocate
from audit.library.foreign.resolve import object_fields
from audit.library.foreign.steps import rego_path
from audit.model.foreign import Shape
from audit.native.evaluator import Evaluator
from audit.resources import content_dir


def forms(text: str) -> dict[str, Form]:
    return {statement.name: statement.form for statement in outline(text).statements}


def references(text: str) -> set[str]:
    return {rego_path(reference.path) for reference in outline(text).references}


def test_heads_of_both_dialects() -> None:
    text = (
        'package a\n\ndeny[msg] {\n\tmsg := "x"\n}\n\nwarn contains "x" if true\n\nname := input.x\n\nlist = [1]\n\n'
        'f(x) = y {\n\ty := x\n}\n\nmap[key] := 1\n\nobj[key] = value {\n\tkey := "a"\n}\n\ndefault allow = false\n\n'
        "allow {\n\ttrue\n} else = false {\n\ttrue\n}\n\na.b.c := 1\n\nflag if\n\tinput.y\n"
    )
    assert forms(text) == {
        "deny": Form.SET,
        "warn": Form.SET,
        "name": Form.VALUE,
        "list": Form.VALUE,
        "f": Form.FUNCTION,
        "map": Form.OBJECT,
        "obj": Form.OBJECT,
        "allow": Form.VALUE,
        "a.b.c": Form.VALUE,
        "flag": Form.VALUE,
    }
    assert [s.form for s in outline(text).statements if s.name == "allow"] == [Form.DEFAULT, Form.VALUE]


def test_strings_comments_and_templates_hide_nothing_and_invent_nothing() -> None:
    text = (
        "package a\n\n# deny if input.comment\n"
        'p := "input.text { data.text"\n\nq := `input.raw } `\n\n'
        'r := $"{input.shown} and {data.also["x"]} not \\{input.escaped}"\n\ns := input["a.b"].c[0][i]\n'
    )
    assert references(text) == {"input.shown", "data.also.x", 'input["a.b"].c["0"]["*"]'}
    assert [statement.line for statement in outline(text).statements] == [4, 6, 8, 10]


def test_imports_are_followed() -> None:
    text = (
        "package a\n\nimport data.lib.k8s\nimport data.other as o\nimport input.request as req\n\n"
        "p if {\n\tk8s.is_pod\n\to.x[_]\n\treq.object.kind\n\tk8s.f(1)\n}\n"
    )
    assert references(text) == {
        "data.lib.k8s.is_pod",
        'data.other.x["*"]',
        "input.request.object.kind",
        "data.lib.k8s.f",
    }


def test_metadata_belongs_to_the_rule_below_it() -> None:
    text = "package a\n\n# METADATA\n# title: one\ndeny contains 1 if true\n\n# METADATA\n# no: [yaml\nwarn contains 1 if true\n"
    assert [statement.metadata for statement in outline(text).statements] == [{"title": "one"}, {}]


@pytest.mark.parametrize(
    "text", ["", "package", "package a\n\ndeny[", 'package a\n\nx := "', "}}}}", "package a\nimport", "\x00#"]
)
def test_broken_text_is_read_as_far_as_it_goes(text: str) -> None:
    outline(text)
    relocate(text, {("a",): ("b",)})
    package_in(text)


def test_outlines_name_what_opa_finds_in_the_shipped_rules(evaluator: Evaluator) -> None:
    texts = {str(file): file.read_text() for file in content_dir("rego").rglob("*.rego")}
    inspection = evaluator.inspect(texts)
    assert len(inspection.packages) > 90
    for package in inspection.packages:
        found = outline(texts[package.file])
        assert ".".join(found.package) == package.package
        assert found.package_line == package.line
        names = {name.partition(".")[0].partition("[")[0] for name in package.rules}
        assert names == {statement.name.partition(".")[0] for statement in found.statements}


def test_variables_are_followed_to_the_object() -> None:
    text = (
        "package a\n\nobject := input.request.object\n\nmeta := object.metadata\n\n"
        "deny contains 1 if {\n\tspec := object.spec\n\tspec.hostNetwork\n\tmeta.labels.app\n\tobject.namespace\n}\n"
    )
    graph = Graph([module("a.rego", text)])
    fields = {rego_path(found.path) for _, found in object_fields(graph, (("a",), "deny"), Shape.ADMISSION)}
    assert fields >= {"spec", "spec.hostNetwork", "metadata.labels.app", "namespace"}


def test_moving_changes_the_package_and_references_to_it_only() -> None:
    text = (
        "# package old here\npackage old.rules # keep\n\nimport data.old.rules.x\nimport data.lib.k\n\n"
        'p := data.old.rules.y { data["old"]["rules"].z; "data.old.rules"; input.data.old.rules; data.older }\n'
    )
    moved = relocate(text, {("old", "rules"): ("new", "place", "rules"), ("lib",): ("new", "lib")})
    assert moved == (
        "# package old here\npackage new.place.rules # keep\n\nimport data.new.place.rules.x\nimport data.new.lib.k\n\n"
        'p := data.new.place.rules.y { data.new.place.rules.z; "data.old.rules"; input.data.old.rules; data.older }\n'
    )
    assert package_in(text) == ("old", "rules")


def test_what_adapters_stand_on_compiles_strictly(tmp_path: Path) -> None:
    import shutil
    import subprocess

    opa = shutil.which("opa")
    if opa is None:
        pytest.skip("opa is not installed")
    from audit.library.foreign import adapters

    folder = Path(adapters.__file__).parent / "support"
    checked = subprocess.run([opa, "check", "--strict", str(folder)], capture_output=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert subprocess.run([opa, "fmt", "--list", str(folder)], capture_output=True, check=True).stdout == b""
