"""Asking rules: answers, kinds, inventory, loading, inspecting."""

from __future__ import annotations

import json

import pytest

from audit.errors import ContentError, EngineError
from audit.model.finding import Outcome, Violation
from audit.native.binary import OPA_VERSION
from audit.native.evaluator import EvalRule, Evaluator, LoadReport
from tests.native.asking import APPLIES, FAILS, PASSES, loaded, modules, outcomes, pod, pods, rules


def load(source: str, **options: object) -> LoadReport:
    with Evaluator(jobs=1) as evaluator:
        return evaluator.load({"x.rego": source}, b"{}", [], **options)  # type: ignore[arg-type]


def test_answers_carry_everything_a_rule_says() -> None:
    with loaded(a=PASSES, b=FAILS) as evaluator:
        [[passed, failed], [skipped, _]] = list(evaluator.evaluate([pod("p"), ("Pod", b"{}")]))
    assert (passed.rule, passed.outcome, passed.violations) == ("r/a", Outcome.PASS, ())
    assert (skipped.outcome, skipped.reason) == (Outcome.SKIP, "no_name")
    assert failed.outcome is Outcome.FAIL
    assert failed.violations == (
        Violation(path=("metadata", "name"), message="m", seen="p", expected=[1, {"a": None}], container="c"),
    )


def test_numbers_arrive_as_they_are() -> None:
    body = APPLIES + 'violations contains {"path": [0], "message": "m", "seen": input.n}\n'
    numbers = [0, -1, 2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1, 1.5, -0.25, 1e300]
    with loaded(a=body) as evaluator:
        answers = list(evaluator.evaluate([pod("p", n=n) for n in numbers]))
    assert [a[0].violations[0].seen for a in answers] == numbers


def test_text_that_is_no_utf_8_does_not_spoil_the_batch() -> None:
    body = (
        APPLIES
        + 'violations contains {"path": ["a"], "message": base64.decode("/w=="), "seen": base64.decode("/w==")}\n'
    )
    with loaded(a=body, b=PASSES) as evaluator:
        [[failed, passed]] = list(evaluator.evaluate([pod("p")]))
    assert failed.violations[0].message == "�"
    assert passed.outcome is Outcome.PASS


def test_long_messages_and_values_are_capped() -> None:
    body = APPLIES + 'violations contains {"path": [], "message": input.long, "seen": input.long}\n'
    with loaded(a=body) as evaluator:
        [[failed]] = list(evaluator.evaluate([pod("p", long="é" * 50_000)]))
    assert set(failed.violations[0].message) == {"é"}
    assert len(failed.violations[0].message.encode()) <= 4096
    assert failed.violations[0].seen == "(a value of 100005 bytes)"


def test_warn_only_rules_warn() -> None:
    with Evaluator(jobs=1) as evaluator:
        evaluator.load(modules(a=FAILS), b"{}", [EvalRule(id="r/a", package="r.a", warn_only=True)]).check()
        [[answer]] = list(evaluator.evaluate([pod("p")]))
    assert answer.outcome is Outcome.WARN
    assert len(answer.violations) == 1


def test_every_matching_rule_answers_in_the_order_loaded_and_no_other() -> None:
    listed = [
        EvalRule(id="z", package="r.a", kinds=("Pod",)),
        EvalRule(id="a", package="r.b"),
        EvalRule(id="m", package="r.a", kinds=("apps/Deployment", "Pod")),
    ]
    objects = [(kind, pod("p")[1]) for kind in ("Pod", "Node", "apps/Deployment", "Deployment")]
    with Evaluator(jobs=2) as evaluator:
        evaluator.load(modules(a=PASSES, b=FAILS), b"{}", listed).check()
        answers = list(evaluator.evaluate(objects))
    assert [[answer.rule for answer in each] for each in answers] == [
        ["z", "a", "m"],
        ["a"],
        ["a", "m"],
        ["a"],
    ]


def test_objects_no_rule_wants_get_empty_answers() -> None:
    with Evaluator(jobs=2) as evaluator:
        evaluator.load(modules(a=PASSES), b"{}", [EvalRule(id="a", package="r.a", kinds=("Pod",))]).check()
        assert list(evaluator.evaluate([("Node", b"not even JSON")])) == [[]]


def test_answers_keep_the_order_over_many_batches() -> None:
    count = 5000
    with loaded(a=FAILS) as evaluator:
        answers = list(evaluator.evaluate(iter(pods(count))))
    assert [answer.violations[0].seen for [answer] in answers] == [f"p{n}" for n in range(count)]


def test_equal_passes_share_one_answer() -> None:
    with loaded(a=PASSES, b=PASSES) as evaluator:
        first, second = list(evaluator.evaluate(pods(2)))
    assert first[0] is second[0]


def test_conflicts_bad_answers_and_undefined_stay_with_their_rule() -> None:
    conflict = (
        APPLIES
        + 'violations contains {"path": [], "message": f(1)}\nf(x) := "a" if x > 0\nf(x) := "b" if x > 0\n'
    )
    undefined = "applies if input.nothing\nviolations contains 1 if false\n"
    with loaded(
        a=conflict, b=undefined, c="applies := 1\nviolations contains 1\n", d=FAILS, e=PASSES
    ) as evaluator:
        for answers in evaluator.evaluate(pods(40)):
            assert outcomes(answers) == "eeefp"
            assert [answer.reason for answer in answers[:3]] == [
                "eval_conflict_error",
                "undefined",
                "bad_answer",
            ]
            assert "a.rego:" in answers[0].message


@pytest.mark.parametrize(("strict", "wanted"), [(False, "ppf"), (True, "epf")])
def test_a_failed_builtin_is_undefined_in_opa_and_an_error_of_that_rule_when_strict(
    strict: bool, wanted: str
) -> None:
    bodies = {
        "a": APPLIES + 'violations contains {"path": [], "message": "m"} if to_number("x") == 1\n',
        "b": PASSES,
        "c": FAILS,
    }
    with Evaluator(jobs=2) as evaluator:
        evaluator.load(modules(**bodies), b"{}", rules(**bodies), strict=strict).check()
        answers = list(evaluator.evaluate(pods(30)))
    assert [outcomes(each) for each in answers] == [wanted] * 30
    if strict:
        assert {(each[0].reason, each[0].message) for each in answers} == {
            ("eval_builtin_error", 'a.rego:4: to_number: strconv.ParseFloat: parsing "x": invalid syntax')
        }


@pytest.mark.parametrize(
    "reference",
    [
        "data.lib.pod.privileged",
        "data.lib.pods",
        "data.nowhere",
        "data.parameters.limitt",
        'data.parameters["r/x"].limit',
        "data.lib.missing[input.metadata.name]",
    ],
)
def test_a_reference_to_what_nobody_defines_is_a_problem_when_strict(reference: str) -> None:
    bodies = {"a": APPLIES + f'violations contains {{"path": [], "message": "m"}} if {reference}\n'}
    sources = {**modules(**bodies), "lib.rego": "package lib.pods_\n\nprivileged := true\n"}
    with Evaluator(jobs=1) as evaluator:
        assert not evaluator.load(sources, b'{"parameters": {"limit": 1}}', rules(**bodies)).problems
        [problem] = evaluator.load(
            sources, b'{"parameters": {"limit": 1}}', rules(**bodies), strict=True
        ).problems
    assert (problem.file, problem.line, problem.code) == ("a.rego", 4, "unknown_reference")
    assert "is defined nowhere" in problem.message


@pytest.mark.parametrize(
    "reference",
    [
        "data.lib.pods.privileged",
        "data.lib.pods.sizes.anything",
        "data.lib.pods[input.kind]",
        "data.lib[_].privileged",
        "data.parameters.limit",
        'data.parameters["r/a"].limit',
        'data.inventory["v1/Node"]["x"]',
        "data.r.a.applies",
    ],
)
def test_references_that_may_lead_somewhere_are_accepted_when_strict(reference: str) -> None:
    bodies = {"a": APPLIES + f'violations contains {{"path": [], "message": "m"}} if {reference}\n'}
    sources = {
        **modules(**bodies),
        "lib.rego": "package lib.pods\n\nprivileged := true\n\nsizes[x] := 1 if x := input.kind\n",
    }
    data = b'{"parameters": {"limit": 1, "r/a": {"limit": 2}}}'
    with Evaluator(jobs=1) as evaluator:
        assert evaluator.load(sources, data, rules(**bodies), strict=True).problems == ()


def test_data_and_inventory() -> None:
    body = APPLIES + (
        'violations contains {"path": [], "message": "m", "seen": [data.parameters["r/a"].limit, names]} if {\n'
        'names := [o.metadata.name | some o in data.inventory["v1/Node"][""]]\n}\n'
    )
    with Evaluator(jobs=2) as evaluator:
        evaluator.load(modules(a=body), b'{"parameters": {"r/a": {"limit": 3}}}', rules(a="")).check()
        seen = []
        for names in (["x"], ["y", "z"], []):
            inventory = {"v1/Node": {"": [{"metadata": {"name": name}} for name in names]}}
            evaluator.set_inventory(json.dumps(inventory).encode())
            seen += [answer.violations[0].seen for [answer] in evaluator.evaluate(pods(50))]
    assert seen == [[3, ["x"]]] * 50 + [[3, ["y", "z"]]] * 50 + [[3, []]] * 50


def test_an_inventory_needs_a_program_and_must_be_an_object() -> None:
    with Evaluator(jobs=1) as evaluator, pytest.raises(EngineError, match="no program"):
        evaluator.set_inventory(b"{}")
    with loaded(a=PASSES) as evaluator:
        for wrong in (b"[]", b"{"):
            with pytest.raises(EngineError):
                evaluator.set_inventory(wrong)
        assert [outcomes(a) for a in evaluator.evaluate([pod("p")])] == ["p"]


def test_nothing_is_asked_without_a_program() -> None:
    with Evaluator(jobs=1) as evaluator, pytest.raises(EngineError, match="no rules"):
        next(evaluator.evaluate([pod("p")]))


def test_library_rules_are_shared_and_packages_with_odd_names_work() -> None:
    sources = {
        "lib.rego": "package lib.x\nnames := [input.metadata.name]\n",
        "a.rego": 'package r["odd-name"]\nimport data.lib.x\n'
        + FAILS.replace("input.metadata.name,", "x.names[0],"),
    }
    with Evaluator(jobs=1) as evaluator:
        evaluator.load(sources, b"{}", [EvalRule(id="a", package='r["odd-name"]')]).check()
        [[answer]] = list(evaluator.evaluate([pod("p")]))
    assert answer.violations[0].seen == "p"


@pytest.mark.parametrize(
    ("source", "code", "line", "column", "words"),
    [
        ("package x\n\nallow if {\n", "rego_parse_error", 4, 1, ""),
        ('package x\na := 1 + "b"\n', "rego_type_error", 2, 6, "invalid argument"),
        ("package x\na := nope(1)\n", "rego_type_error", 2, 6, "undefined function nope"),
        ("package x\nf(x) := f(x + 1)\n", "rego_recursion_error", 2, 1, "recursive"),
        ("package x\na if y > 1\n", "rego_unsafe_var_error", 2, 6, "unsafe"),
        ("package x\nimport data.lib.none\na := none.b\n", None, 0, 0, ""),
    ],
)
def test_load_errors_have_their_place(
    source: str, code: str | None, line: int, column: int, words: str
) -> None:
    report = load(source)
    if code is None:
        assert report.problems == ()
        return
    [problem] = report.problems
    assert (problem.file, problem.code, problem.line, problem.column) == ("x.rego", code, line, column)
    assert words in problem.message
    with pytest.raises(ContentError, match=f"x.rego:{line}:{column}"):
        report.check()


def test_all_errors_of_all_files_are_reported() -> None:
    sources = {f"{n}.rego": f"package p{n}\na := nope{n}(1)\nb := nope{n}(2)\n" for n in range(12)}
    with Evaluator(jobs=1) as evaluator:
        report = evaluator.load(sources, b"{}", [])
    assert len(report.problems) == 24


@pytest.mark.parametrize(
    "call",
    [
        'http.send({"method": "get", "url": "http://x.test"})',
        'net.lookup_ip_addr("x.test")',
        "opa.runtime()",
        'rego.parse_module("a", "b")',
        "time.now_ns()",
        'rand.intn("a", 5)',
        'uuid.rfc4122("a")',
    ],
)
def test_builtins_that_reach_outside_are_refused_with_their_place(call: str) -> None:
    [problem] = load(f"package x\n\na := {call}\n").problems
    assert (problem.code, problem.file, problem.line, problem.column) == ("refused_builtin", "x.rego", 3, 6)
    assert call.partition("(")[0] in problem.message


def test_a_refused_builtin_can_be_allowed_by_name_and_sees_the_given_time() -> None:
    body = APPLIES + 'violations contains {"path": [], "message": "m", "seen": time.now_ns()}\n'
    with Evaluator(jobs=1, allow_builtins=["time.now_ns"]) as evaluator:
        evaluator.load(modules(a=body), b"{}", rules(a=""), now_ns=123).check()
        [[answer]] = list(evaluator.evaluate([pod("p")]))
    assert answer.violations[0].seen == 123


def test_an_allowance_of_nothing_refused_is_an_error() -> None:
    with Evaluator(jobs=1, allow_builtins=["http.sent"]) as evaluator:
        [problem] = evaluator.load({}, b"{}", []).problems
    assert problem.code == "unknown_allowance"


@pytest.mark.parametrize(
    ("package", "code"),
    [("r.none", "missing_rule"), ("r.a.applies", "missing_rule"), ("1 + 1", "bad_package")],
)
def test_rules_that_are_not_there_are_an_error(package: str, code: str) -> None:
    with Evaluator(jobs=1) as evaluator:
        report = evaluator.load(modules(a=PASSES), b"{}", [EvalRule(id="x", package=package)])
    assert {problem.code for problem in report.problems} == {code}


def test_data_must_be_an_object() -> None:
    with Evaluator(jobs=1) as evaluator:
        [problem] = evaluator.load({}, b"[1]", []).problems
    assert problem.code == "bad_data"


def test_old_and_new_dialect_side_by_side() -> None:
    sources = {
        "new.rego": "package r.new\n" + PASSES,
        "old.rego": "package r.old\ndefault applies = false\napplies { input.metadata.name }\n"
        'violations[v] { v := {"path": [], "message": "old"} }\n',
    }
    with Evaluator(jobs=1) as evaluator:
        report = evaluator.load(sources, b"{}", [EvalRule(id=n, package=f"r.{n}") for n in ("new", "old")])
        [answers] = list(evaluator.evaluate([pod("p")]))
    assert {module.file: module.dialect for module in report.modules} == {"new.rego": "v1", "old.rego": "v0"}
    assert outcomes(answers) == "pf"


def test_inspect_reads_metadata_and_reports_what_does_not_parse() -> None:
    sources = {
        "a.rego": "# METADATA\n# title: A title\n# custom:\n#   severity: high\n#   match: {kinds: [x]}\n"
        "package r.a\n" + PASSES,
        "b.rego": "package r.b\n",
        "c.rego": "package r.c\na := ]\n",
    }
    with Evaluator(jobs=1) as evaluator:
        found = evaluator.inspect(sources)
    first, second = found.packages
    assert (first.package, first.file, first.line, first.dialect) == ("r.a", "a.rego", 6, "v1")
    assert first.annotations is not None
    assert first.annotations["title"] == "A title"
    assert first.annotations["custom"] == {"severity": "high", "match": {"kinds": ["x"]}}
    assert first.rules == ("applies", "violations")
    assert second.annotations is None
    assert {(p.file, p.line) for p in found.problems} == {("c.rego", 2)}


def test_hello_names_opa_and_go() -> None:
    with Evaluator(jobs=1) as evaluator:
        hello = evaluator.hello()
        assert hello.opa == OPA_VERSION
        assert hello.go.startswith("go1.")
        assert len(evaluator.binary_sha256()) == 64


def test_free_queries() -> None:
    with Evaluator(jobs=1) as evaluator:
        rows = evaluator.query(
            {"query": "x = input.a; y = data.b", "input": {"a": 1}, "data": {"b": [2]}}
        ).results
        failed = evaluator.query({"query": "x = y"})
        refused = evaluator.query({"query": "x = opa.runtime()"})
        allowed = evaluator.query({"query": "x = opa.runtime()", "all_builtins": True})
    assert rows == [{"x": 1, "y": [2]}]
    assert failed.results is None
    assert failed.code == "rego_unsafe_var_error"
    assert refused.code == "rego_type_error"
    assert allowed.results is not None


def test_trace_and_coverage_on_request() -> None:
    with loaded(a=FAILS + "other if {\n\tinput.never\n\tinput.reached\n}\n", b=PASSES) as evaluator:
        shown = evaluator.trace("r/a", pod("p")[1])
        unknown = evaluator.trace("r/none", b"{}")
        broken = evaluator.trace("r/a", b"{")
    assert "data.r.a.violations" in shown.trace
    assert "a.rego:" in shown.trace
    assert (shown.cut, shown.code) == (False, "")
    assert shown.covered is not None
    assert set(shown.covered) == {"a.rego"}
    assert {3, 4} <= set(shown.covered["a.rego"])
    assert not {6, 7} & set(shown.covered["a.rego"])
    assert unknown.code == "unknown_rule"
    assert broken.code == "bad_input"


def test_a_long_trace_is_cut() -> None:
    body = APPLIES + "violations contains v if { some x in numbers.range(1, 20000); x == -1; v := {} }\n"
    with loaded(a=body) as evaluator:
        shown = evaluator.trace("r/a", pod("p")[1])
    assert shown.cut
    assert len(shown.trace) < 300_000
