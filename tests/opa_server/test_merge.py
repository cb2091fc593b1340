"""Moving modules below a prefix changes where they are, and nothing of what they say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from audit.errors import EngineError
from audit.evaluate.opa_server.merge import Merged, Merger
from audit.evaluate.opa_server.program import Graph
from audit.evaluate.opa_server.scan import Module, path_of
from audit.native.evaluator import EvalLimits, EvalRule, Evaluator, QueryResult
from tests.conformance.rego_cases import load_cases
from tests.opa_server.contract import program
from tests.opa_server.programs import program_of, shipped
from tests.shared_data import shared_dir

PREFIX = "moved"


def merged(**sources: str) -> Merged:
    modules = {f"{name}.rego": text for name, text in sources.items()}
    graph = Graph(program_of(modules, []))
    return Merger(graph, graph.with_needs(sorted(modules)), PREFIX).merge("")


def test_the_scanner_keeps_every_character() -> None:
    sources = [*shipped()[1].modules.values(), *program(old=True).modules.values()]
    for source in sources:
        assert "".join(token.text for token in Module(source).tokens) == source


def test_words_in_text_comments_and_after_dots_are_no_references() -> None:
    text = (
        'package a\n# data.b\nx := input.data.b\ny := "data.b \\" data.c"\nz := `data.b "` # data.d\n'
        'w := {"data": 1}.data\n'
    )
    [out] = merged(a=text).texts
    assert "data." not in out.replace("input.data.b", "").replace('"data.b \\" data.c"', "").replace(
        "`data.b", ""
    ).replace("}.data", "")


def test_expressions_inside_template_strings_are_read() -> None:
    [out] = merged(
        a='package a\nx := $"data.b {data.b.v} \\{data.b.v} { {"k": $`{data.b.v}`}.k } data.b"\n',
        b="package b\nv := 1\n",
    ).texts
    assert out.count("data.moved.p1_v") == 2
    assert 'p0_x := $"data.b {' in out
    assert "\\{data.b.v}" in out
    assert out.count("data.b") == 3


def test_imports_are_written_out_and_gone() -> None:
    [out] = merged(
        a="package a\n\nimport data.lib.b\nimport data.lib.b as c\n\nx := b.f(c.v)\n",
        b="package lib.b\n\nv := 1\n\nf(y) := y\n",
    ).texts
    assert "import" not in out
    assert "p0_x := data.moved.p1_f(data.moved.p1_v)" in out


def test_a_name_that_may_be_a_variable_keeps_its_import_and_its_package() -> None:
    whole, rest = merged(
        a="package a\n\nimport data.lib.b\n\nx := [b.v | some b in [{}]]\n\ny := b.v\n",
        b="package lib.b\n\nv := 1\n",
    ).texts
    assert whole.startswith("package moved.lib.b\n")
    assert "import data.moved.lib.b as i0_b" in rest
    assert "[i0_b.v | some i0_b in [{}]]" in rest


def test_what_is_referred_to_as_a_whole_keeps_its_package_with_all_it_needs() -> None:
    texts = merged(
        a="package a\n\nx := data.lib[_]\n",
        b="package lib.b\n\nv := data.deep.c.w\n",
        c="package deep.c\n\nw := 1\n",
        d="package d\n\nw := data.deep.c.w\n",
    ).texts
    assert [text.partition("\n")[0] for text in texts] == [
        "package moved.deep.c",
        "package moved.lib.b",
        "package moved",
    ]
    assert "data.moved.lib[_]" in texts[-1]
    assert "p1_w := data.moved.deep.c.w" in texts[-1]


def test_imports_that_change_the_language_stay_with_their_module() -> None:
    first, last = merged(
        a="package a\n\nimport rego.v2\n\nx if not input.y.z\n", b="package b\n\nx := data.a.x\n"
    ).texts
    assert "import rego.v2" in first
    assert "data.moved.a.x" in last


def test_lines_can_be_traced_back() -> None:
    _, sources = merged(a="package a\n\n# METADATA\n# title: x\nx := 1\n", b="package b\n\n\ny := `\n`\n"), ""
    del sources
    graph = Graph(
        program_of({"a.rego": "package a\n\n# one\nx := 1\n", "b.rego": "package b\n\n\ny := `\n`\n"}, [])
    )
    made = Merger(graph, ["a.rego", "b.rego"], PREFIX).merge("")
    lines = made.texts[0].split("\n")
    for piece in made.pieces[0]:
        own = {"a.rego": (4, "p0_x := 1"), "b.rego": (4, "p1_y := `")}[piece.label]
        assert lines[piece.first - 1 + own[0] - 1] == own[1]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("package a\n\nx := rego.metadata.chain()\n", "rego.metadata"),
        ("package a\n\nx { input.y }\n", "Rego v0"),
    ],
)
def test_what_cannot_be_moved_is_refused(source: str, words: str) -> None:
    with pytest.raises(EngineError, match=words):
        merged(a=source)


def test_the_shipped_rules_become_one_module() -> None:
    _, everything = shipped()
    graph = Graph(everything)
    merger = Merger(graph, graph.needed_by(rule.package for rule in everything.rules), PREFIX)
    assert len(merger.merge("").texts) == 1
    assert merger.name("pod.privileged", "applies").startswith("data.moved.p")


def test_a_module_nobody_needs_stays_at_home() -> None:
    _, everything = shipped()
    labels = Graph(everything).needed_by(["namespace.owner_label"])
    assert "rego/namespace/owner_label/owner_label.rego" in labels
    assert len(labels) < 8


def moved_case(case: Mapping[str, Any], evaluator: Evaluator) -> dict[str, Any] | None:
    """The same case with everything below a prefix; None when it can't be moved."""
    modules = {f"m{number}.rego": text for number, text in enumerate(case["modules"])}
    query = f"package fa_query\n\nfa_q0 if {{\n{case['query']}\n}}\n"
    found = evaluator.inspect(modules)
    if found.problems or evaluator.inspect({"q.rego": query}).problems:
        return None
    made = program_of(modules | {"q.rego": query}, [EvalRule(id="q", package="fa_query")])
    graph = Graph(made)
    try:
        merger = Merger(graph, graph.with_needs(sorted(made.modules)), PREFIX)
    except EngineError:
        return None
    result = merger.merge("")
    pieces = {piece.label: (place, piece) for place, each in enumerate(result.pieces) for piece in each}
    place, piece = pieces["q.rego"]
    lines = result.texts[place].split("\n")
    start = piece.first - 1
    text = "\n".join(lines[start : start + piece.lines])
    texts = list(result.texts)
    texts[place] = "\n".join([*lines[:start], *lines[start + piece.lines :]])
    return {
        "query": text[text.index("{") + 1 : text.rindex("}")],
        "modules": [part for part in texts if part.strip()],
        "data": {PREFIX: case.get("data") or {}},
    }


@pytest.mark.corpora
def test_every_case_of_the_conformance_suite_answers_the_same_below_a_prefix(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Results of the case as it is, and moved, from the same engine."""
    compared = left_out = 0
    different: list[str] = []
    with Evaluator(jobs=1, limits=EvalLimits(object_seconds=10)) as evaluator:
        for case in load_cases(shared_dir("corpora", "rego-conformance")):
            if not case.get("modules") or "${" in str(case["query"]):
                continue
            made = moved_case(case, evaluator)
            if made is None:
                left_out += 1
                continue
            shared = {key: case[key] for key in ("input", "input_term") if case.get(key) is not None} | {
                "all_builtins": True
            }
            before = evaluator.query(
                {"query": case["query"], "modules": case["modules"], "data": case.get("data") or {}, **shared}
            )
            after = evaluator.query({**made, **shared})
            compared += 1
            if _comparable(before) != _comparable(after):
                different.append(f"{case['note']}: {before} / {after}")
    with capsys.disabled():
        print(f"\nRego conformance below a prefix: {compared} compared, {left_out} can't be moved")
    assert not different, "\n".join(different[:10])
    assert compared > 1000


def _comparable(result: QueryResult) -> str:
    if result.results is None:
        return result.code
    return json.dumps(sorted(json.dumps(row, sort_keys=True) for row in result.results))


def test_paths() -> None:
    assert path_of('a["b-c"].d') == ("a", "b-c", "d")
