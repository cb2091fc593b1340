"""OPA's test rules: its own verdicts, and what it takes for a pass although nothing was looked at."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from audit.testing.cases import CaseOutcome
from tests.opa_server.programs import opa_binary
from tests.shared_data import CHECKOUT
from tests.testing.conftest import Suites

POLICY = """
package p

deny contains "no" if input.x == 1

limit := data.settings.limit

broken_number := to_number(input.x)
"""
LOOP = "some a in numbers.range(1, 9000); some b in numbers.range(1, 9000); a * b == -1"


def opa_totals(*paths: str, cwd: Path) -> Counter[str]:
    """What ``opa test`` counts: leaves of tables, like its own summary."""
    done = subprocess.run(
        [opa_binary(), "test", "--format", "json", "--timeout", "60s", *paths],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
    )
    counted: Counter[str] = Counter()

    def leaves(results: dict[str, object]) -> int:
        number = 0
        for result in results.values():
            assert isinstance(result, dict)
            below = result.get("sub_results")
            if below:
                number += leaves(below)
            else:
                counted["fail" if result.get("fail") else "pass"] += 1
                number += 1
        return number

    for result in json.loads(done.stdout):
        if result.get("skip"):
            counted["skipped"] += 1
        elif result.get("error"):
            counted["error"] += 1
        elif not leaves(result.get("sub_results") or {}):
            counted["fail" if result.get("fail") else "pass"] += 1
    return counted


@pytest.mark.tools
def test_our_own_rules_give_the_totals_and_the_lines_of_opa_test(suites: Suites) -> None:
    shutil.copytree(CHECKOUT / "rego", "rego")
    report = suites.report("rego", coverage=True, seconds=60.0)
    ours = Counter(case.outcome.value for case in report.cases)
    assert ours == opa_totals("rego", cwd=suites.root)
    assert ours.total() > 500
    done = subprocess.run(
        [opa_binary(), "test", "--coverage", "--timeout", "60s", "rego"],
        capture_output=True,
        text=True,
        check=True,
    )
    theirs = {
        file: {
            row
            for part in lines.get("covered") or ()
            for row in range(part["start"]["row"], part["end"]["row"] + 1)
        }
        for file, lines in json.loads(done.stdout)["files"].items()
        if not file.endswith("_test.rego")
    }
    assert {one.file: set(one.covered) for one in report.coverage if one.covered} == {
        file: rows for file, rows in theirs.items() if rows
    }


@pytest.mark.tools
def test_verdicts_of_every_shape_are_those_of_opa_test(suites: Suites) -> None:
    suites.write(
        {
            "p.rego": POLICY,
            "data.json": '{"settings": {"limit": 3}}',
            "more/yaml.yaml": "a: 1\n",
            "p_test.rego": """
            package p_test

            import data.p

            test_pass if p.deny with input as {"x": 1}

            test_fail if p.limit == 4

            test_false := false

            test_data if { p.limit == 3; data.more.a == 1 }

            test_text := "yes"

            test_conflict := x if some x in [1, 2]

            test_builtin if p.broken_number with input as {"x": "y"}

            todo_test_later if false

            test_twice if true

            test_twice if false

            test_table[note] if {
                some note, x in {"a": 1, "b": 2}
                x == 1
            }

            test_nested[note][n] if {
                some note in ["x", "y"]
                some n in ["1", "2"]
                n == "1"
            }
            """,
        }
    )
    ours = suites.outcomes()
    assert ours == {
        "p_test.test_pass": "pass",
        "p_test.test_fail": "fail undefined",
        "p_test.test_false": "fail false",
        "p_test.test_data": "pass",
        "p_test.test_text": "fail not_boolean",
        "p_test.test_conflict": "error eval_conflict_error",
        "p_test.test_builtin": "fail undefined",
        "p_test.todo_test_later": "skipped todo",
        "p_test.test_twice": "pass",
        "p_test.test_twice#01": "fail undefined",
        'p_test.test_table["a"]': "pass",
        'p_test.test_table["b"]': "fail undefined",
        'p_test.test_nested["x"]["1"]': "pass",
        'p_test.test_nested["x"]["2"]': "fail undefined",
        'p_test.test_nested["y"]["1"]': "pass",
        'p_test.test_nested["y"]["2"]': "fail undefined",
    }
    assert Counter(outcome.split()[0] for outcome in ours.values()) == opa_totals(".", cwd=suites.root)


def test_what_opa_passes_although_nothing_was_looked_at(suites: Suites) -> None:
    suites.write(
        {
            "p.rego": POLICY,
            "p_test.rego": """
            package p_test

            import data.p

            test_misspelt if not p.denny with input as {"x": 1}

            test_elsewhere if not data.q.deny

            test_mocked if not data.q.deny with data.q as {}

            test_no_rows[note] if some note in []

            test_misspelt_rows[note] if {
                some note in ["a"]
                not p.denny
            }
            """,
        }
    )
    assert suites.outcomes() == {
        "p_test.test_misspelt": "not_evaluated unknown_reference",
        "p_test.test_elsewhere": "not_evaluated unknown_reference",
        "p_test.test_mocked": "pass",
        "p_test.test_no_rows": "not_evaluated no_rows",
        'p_test.test_misspelt_rows["a"]': "not_evaluated unknown_reference",
    }
    assert "data.p.denny is defined nowhere" in suites.run()["p_test.test_misspelt"].message


def test_builtins_that_fail_on_the_way(suites: Suites) -> None:
    suites.write(
        {
            "p.rego": POLICY,
            "p_test.rego": """
            package p_test

            import data.p

            test_fails if p.broken_number with input as {"x": "y"}

            test_holds if not p.broken_number with input as {"x": "y"}

            test_none if count(p.deny) == 0 with input as {"x": 2}
            """,
        }
    )
    told = suites.run()
    assert "p.rego:8" in told["p_test.test_fails"].message
    assert told["p_test.test_holds"].outcome is CaseOutcome.PASS
    assert suites.outcomes(strict_builtins=True) == {
        "p_test.test_fails": "error builtin_error",
        "p_test.test_holds": "error builtin_error",
        "p_test.test_none": "pass",
    }


def test_failures_have_their_place_and_what_was_printed(suites: Suites) -> None:
    suites.write({"a_test.rego": 'package a\n\n\ntest_a if {\n\tprint("saw", 1)\n\tfalse\n}\n'})
    case = suites.run()["a.test_a"]
    assert (case.suite, case.place, case.output.strip()) == ("a_test.rego", "a_test.rego:4", "saw 1")
    assert case.seconds is not None


BROKEN = {
    "syntax": ("package b\n\nx := )\n", 3, "unexpected )"),
    "unsafe": ("package b\n\nx if y == 1\n", 3, "unsafe"),
    "function": ("package b\n\nx := nothing(1)\n", 3, "undefined function nothing"),
    "type": ('package b\n\nx := 1 + "a"\n', 3, "plus"),
    "empty": ("", None, "empty"),
    "not text": ("package b\n\nx := 1\n\x00", 4, "illegal"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_error_and_the_rest_runs(suites: Suites, name: str) -> None:
    text, line, said = BROKEN[name]
    suites.write(
        {
            "b.rego": text,
            "b_test.rego": "package b_test\n\nimport data.b\n\ntest_b if not b.x\n",
            "far_test.rego": "package far\n\ntest_far if true\n",
        }
    )
    found = suites.run()
    errors = [case for case in found.values() if case.outcome is CaseOutcome.ERROR]
    assert [(case.file, case.line, case.reason) for case in errors] == [("b.rego", line, "not_compiled")]
    assert said in errors[0].message
    assert found["far.test_far"].outcome is CaseOutcome.PASS
    if name != "empty":  # whose package nobody knows; its test then refers to nothing
        assert found["b_test.test_b"].outcome is CaseOutcome.NOT_EVALUATED
        assert "b.rego" in found["b_test.test_b"].message
    else:
        assert found["b_test.test_b"].reason == "unknown_reference"


def test_a_file_that_is_no_text_is_one_error(suites: Suites) -> None:
    (suites.root / "a.rego").write_bytes(b"package a\n\xff\xfe")
    suites.write({"b_test.rego": "package b\n\ntest_b if true\n"})
    found = suites.outcomes()
    assert found == {"(compile)": "error unreadable", "b.test_b": "pass"}


def test_an_endless_test_costs_itself(suites: Suites) -> None:
    suites.write({"a_test.rego": f"package a\n\ntest_endless if {{ {LOOP} }}\n\ntest_after if true\n"})
    found = suites.run(seconds=0.3)
    assert found["a.test_endless"].reason == "timeout"
    assert "--timeout" in found["a.test_endless"].hint
    assert found["a.test_after"].outcome is CaseOutcome.PASS


def test_huge_output_is_cut(suites: Suites) -> None:
    talk = 'every n in numbers.range(1, 100000) { print("a line of some length", n) }; false'
    suites.write({"a_test.rego": f"package a\n\ntest_talk if {{ {talk} }}\n"})
    output = suites.run()["a.test_talk"].output
    assert len(output) < 20_000
    assert output.endswith("(cut)")


def test_old_and_new_rego_side_by_side(suites: Suites) -> None:
    suites.write(
        {
            "old.rego": 'package old\n\ndeny[msg] { input.x == 1; msg := "no" }\n',
            "old_test.rego": 'package old\n\ntest_old { count(deny) == 1 with input as {"x": 1} }\n',
            "new_test.rego": 'package new\n\ntest_new if count(data.old.deny) == 1 with input as {"x": 1}\n',
        }
    )
    assert suites.outcomes() == {"new.test_new": "pass", "old.test_old": "pass"}


def test_manifests_beside_the_policies_are_no_data_of_theirs(suites: Suites) -> None:
    suites.write(
        {
            "k8s/a.yaml": "apiVersion: v1\nkind: Pod\n",
            "k8s/b.yaml": "apiVersion: v1\nkind: Service\n---\nkind: Pod\n",
            "data.yaml": "settings: {limit: 3}\n",
            "p_test.rego": "package p\n\ntest_data if data.settings.limit == 3\n",
        }
    )
    report = suites.report()
    assert [case.outcome for case in report.cases] == [CaseOutcome.PASS]
    assert any("k8s/b.yaml" in note for note in report.notes)


def test_data_that_has_the_name_of_a_rule_is_left_out(suites: Suites) -> None:
    suites.write(
        {
            "p/x.yaml": "deny: 1\n",
            "p/p.rego": POLICY,
            "p/p_test.rego": 'package p_test\n\ntest_a if data.p.deny with input as {"x": 1}\n',
        }
    )
    report = suites.report()
    assert [case.outcome for case in report.cases] == [CaseOutcome.PASS]
    assert len(report.notes) == 1


def test_named_files_are_one_program(suites: Suites) -> None:
    suites.write(
        {
            "p.rego": POLICY,
            "one_test.rego": 'package one\n\ntest_a if data.p.deny with input as {"x": 1}\n',
            "two_test.rego": "package two\n\ntest_b if data.p.limit == 3\n",
            "settings.json": '{"settings": {"limit": 3}}',
        }
    )
    assert suites.outcomes("p.rego", "one_test.rego") == {"one.test_a": "pass"}
    assert suites.outcomes("p.rego", "two_test.rego", "settings.json") == {"two.test_b": "pass"}
    assert suites.outcomes("one_test.rego") == {"one.test_a": "fail undefined"}


def test_coverage_names_lines_that_no_test_reaches(suites: Suites) -> None:
    suites.write(
        {
            "p.rego": "package p\n\na if input.x == 1\n\nb if {\n\tinput.y == 1\n\tinput.z == 1\n}\n",
            "p_test.rego": 'package p_test\n\ntest_a if data.p.a with input as {"x": 1}\n',
        }
    )
    report = suites.report(coverage=True)
    assert [(one.file, one.covered, one.missed) for one in report.coverage] == [("p.rego", (3,), (5, 6, 7))]
    assert report.coverage[0].share == 0.25
