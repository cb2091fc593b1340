"""One bad pair costs one error. Stand-ins fail on purpose, depending on what they are handed."""

from __future__ import annotations

import math

import pytest

from audit.evaluate.kyverno import KyvernoOptions
from tests.kyverno.conftest import NO_LATEST, Judge, Stand, pod, policy

pytestmark = pytest.mark.tools
PICKY, CALM = policy("picky", NO_LATEST), policy("calm", NO_LATEST)

# What the run was handed: names of policies, names of objects, and a way to fail.
HANDED = r"""
texts = [open(path).read() for path in arguments if path.endswith(".yaml") and "input-" in path]
policies = {re.search(r'"metadata":\{"name":"([^"]+)"', text)[1] for text in texts}
objects = open(arguments[arguments.index("-r") + 1]).read()
names = set(re.findall(r'"name":"(p[0-9]+)"', objects))
def refuse(why):
    sys.stderr.write(f"panic: {why}\n\ngoroutine 1 [running]:\n")
    sys.exit(2)
"""


def options(stand_in: Stand, condition: str) -> KyvernoOptions:
    return KyvernoOptions(
        cli=stand_in(f"{HANDED}\nif {condition}: refuse('on purpose')\ngive(real())\n"), jobs=1
    )


def pods(number: int) -> str:
    return "".join(pod(f"p{n}", "nginx:latest" if n % 2 else "nginx:1") for n in range(number))


def expected(number: int) -> str:
    return "fail" if number % 2 else "pass"


def test_one_object_under_one_policy(judge: Judge, stand_in: Stand) -> None:
    found = judge(PICKY + CALM, pods(16), options=options(stand_in, "'picky' in policies and 'p11' in names"))
    assert found.outcome("picky/no-latest", "p11") == "error cli_panic"
    assert "panic: on purpose" in found.of("picky/no-latest", "p11").message
    assert found.outcome("calm/no-latest", "p11") == "fail"
    for number in set(range(16)) - {11}:
        assert found.outcome("picky/no-latest", f"p{number}") == expected(number)
        assert found.outcome("calm/no-latest", f"p{number}") == expected(number)
    # The trial; the failing run; the policies alone; the halvings; the rest in one run; the culprit: with both policies,
    # with none, with each half of two, and the picky one to be sure.
    assert found.runs <= 1 + 1 + 1 + math.ceil(math.log2(16)) + 1 + 5


def test_an_object_that_fails_under_any_policy(judge: Judge, stand_in: Stand) -> None:
    found = judge(PICKY + CALM, pods(16), options=options(stand_in, "'p3' in names"))
    assert (
        found.outcome("picky/no-latest", "p3") == found.outcome("calm/no-latest", "p3") == "error cli_panic"
    )
    outcomes = [found.outcome("calm/no-latest", f"p{n}") for n in range(16) if n != 3]
    assert outcomes == [expected(n) for n in range(16) if n != 3]


def test_several_bad_objects(judge: Judge, stand_in: Stand) -> None:
    found = judge(CALM, pods(12), options=options(stand_in, "names & {'p0', 'p6', 'p11'}"))
    bad = [n for n in range(12) if found.outcome("calm/no-latest", f"p{n}").startswith("error")]
    assert bad == [0, 6, 11]


def test_a_policy_that_fails_on_everything_is_run_apart_and_given_up(judge: Judge, stand_in: Stand) -> None:
    found = judge(PICKY + CALM, pods(24), options=options(stand_in, "'picky' in policies and names"))
    for number in range(24):
        assert found.outcome("calm/no-latest", f"p{number}") == expected(number)
        assert found.outcome("picky/no-latest", f"p{number}") in ("error cli_panic", "error given_up")
    assert found.runs < 50


def test_a_policy_that_fails_by_itself_while_judging(judge: Judge, stand_in: Stand) -> None:
    found = judge(PICKY + CALM, pods(8), options=options(stand_in, "'picky' in policies"))
    for number in range(8):
        assert found.outcome("calm/no-latest", f"p{number}") == expected(number)
        assert found.outcome("picky/no-latest", f"p{number}") == "error cli_panic"
    assert found.runs < 12


def test_a_run_that_is_too_large_is_halved(judge: Judge, stand_in: Stand) -> None:
    found = judge(CALM, pods(20), options=options(stand_in, "len(names) > 6"))
    assert [found.outcome("calm/no-latest", f"p{n}") for n in range(20)] == [expected(n) for n in range(20)]
