"""Rows of the CLI find their entries again, whatever order its maps gave them."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from audit.testing.kyverno.attribute import attribute
from audit.testing.kyverno.contents import Contents
from audit.testing.kyverno.output import Row, read_output
from audit.testing.kyverno.suite import Expected

RESOURCES = {
    "a": "v1/Pod/shop/a",
    "b": "apps/v1/Deployment/shop/b",
    "c": "v1/Namespace//c",
    "d": "v1/Pod/default/d",
}
RULES = {"one": ("one",), "two": ("autogen-two",), "": ("one", "autogen-two")}
CONTENTS = Contents(
    resources=frozenset({("shop", "a"), ("shop", "b"), ("", "c"), ("", "d")}),
    policies={"p": frozenset({"one", "two"}), "q": frozenset({"one", "two"})},
)


def entry(policy: str, rule: str, resources: tuple[str, ...], result: str, line: int) -> Expected:
    return Expected(
        policy=policy,
        rule=rule,
        result=result,
        resources=resources,
        operation="",
        ruleless=False,
        generates=False,
        line=line,
    )


def printed(one: Expected, answers: dict[str, str], order: random.Random) -> list[Row]:
    """Rows of one entry as ``kyverno test`` prints them: its resources in any order, their rules in the policy's."""
    names = [name for name in one.resources if name in RESOURCES] or list(RESOURCES)
    order.shuffle(names)
    rows = []
    for name in names:
        for rule in RULES[one.rule]:
            got = answers[f"{name} {rule}"]
            reason = (
                got if got == "Excluded" else "Ok" if got == one.result else f"Want {one.result}, got {got}"
            )
            rows.append(
                Row(
                    policy=one.policy,
                    rule=rule,
                    resource=RESOURCES[name],
                    result="Pass" if reason in ("Ok", "Excluded") else "Fail",
                    reason=reason,
                    message="",
                )
            )
    return rows


entries = st.lists(
    st.tuples(
        st.sampled_from(["p", "q"]),
        st.sampled_from(sorted(RULES)),
        st.lists(st.sampled_from([*RESOURCES, "nowhere"]), unique=True, max_size=3).map(tuple),
        st.sampled_from(["pass", "fail", "skip"]),
    ),
    min_size=1,
    max_size=7,
)
answers = st.fixed_dictionaries(
    {
        f"{name} {rule}": st.sampled_from(["pass", "fail", "skip", "Excluded"])
        for name in RESOURCES
        for rule in RULES[""]
    }
)


@settings(max_examples=400, deadline=None)
@given(entries, answers, st.integers())
def test_every_row_comes_back_to_its_entry(
    wanted: list[tuple[str, str, tuple[str, ...], str]], said: dict[str, str], seed: int
) -> None:
    order = random.Random(seed)
    expected = [entry(*each, line) for line, each in enumerate(wanted, 1)]
    rows = [printed(one, said, order) for one in expected]
    found, stray = attribute(expected, [row for each in rows for row in each], CONTENTS)
    assert [one.expected for one in found] == expected
    assert [list(one.rows) for one in found] == rows
    assert not stray
    assert [one.strayed for one in found] == [one.resources == ("nowhere",) for one in expected]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 3), min_size=1, max_size=4), st.integers(0, 3))
def test_generated_rows_are_dealt_out_whole(sizes: list[int], each: int) -> None:
    """Rows of what is generated name nothing that an entry names, so entries of one rule share them evenly."""
    expected = [
        Expected(
            policy="p",
            rule="one",
            result="pass",
            resources=tuple(f"n{number}" for number in range(size)),
            operation="",
            ruleless=False,
            generates=True,
            line=line,
        )
        for line, size in enumerate(sizes, 1)
    ]
    row = Row(policy="p", rule="one", resource="/made", result="Pass", reason="Ok", message="")
    found, stray = attribute(expected, [row] * (sum(sizes) * each), CONTENTS)
    assert not stray
    if len(sizes) > 1:
        assert [len(one.rows) for one in found] == [size * each for size in sizes]


@given(st.text(max_size=300))
def test_any_output_is_read(text: str) -> None:
    for part in (text, f"Loading test x ( y ) ...\n  Checking results ...\n\n[{text}"):
        output = read_output(part)
        assert all(section.rows is None or isinstance(section.rows, tuple) for section in output.sections)


def test_sentences_around_the_rows_are_passed_over() -> None:
    output = read_output(
        "Loading test a ( /x/kyverno-test.yaml ) ...\n  Loading policies ...\n"
        "  ERROR: /x/p.yaml: is wrong\n  Warning: [deprecated]\n[ not rows ]\n  Checking results ...\n\n[\n  "
        '{"ID": 1, "POLICY": "p", "RULE": "r", "RESOURCE": "v1/Pod/ns/a", "RESULT": "Pass", "REASON": "Ok"}\n]\n\n'
        "Loading test b ( /y/kyverno-test.yaml ) ...\n  Loading policies ...\n"
    )
    first, second = output.sections
    assert first.refused == (("/x/p.yaml", "is wrong"),)
    assert first.rows is not None
    assert [(row.policy, row.rule, row.shown) for row in first.rows] == [("p", "r", "Pod ns/a")]
    assert (second.path, second.rows) == ("/y/kyverno-test.yaml", None)
