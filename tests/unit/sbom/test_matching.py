"""Patterns of the configuration: what is told of a file in Python is what the rule decides in Rego."""

from __future__ import annotations

import json
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.collect.artifacts.evidence.matching import fits
from tests.meta.documents import CHECKOUT
from tests.opa_server.programs import opa_binary

PARTS = st.lists(
    st.sampled_from([*"aAbB .?[]{}!,-^|", "*", "**", "\\", "\n", "é", "É", "ab", "[a]", "{a,b}"]), max_size=6
).map("".join)


def in_rego(pairs: list[tuple[str, str]]) -> list[bool]:
    done = subprocess.run(
        [
            *(opa_binary(), "eval", "--format=json", "--stdin-input", "--data", "rego/lib/evidence.rego"),
            *(
                "--data",
                "rego/lib/object.rego",
                "[data.lib.evidence.fits(one[0], [one[1]]) | some one in input]",
            ),
        ],
        input=json.dumps(pairs),
        capture_output=True,
        text=True,
        cwd=CHECKOUT,
        timeout=120,
        check=True,
    )
    found: list[bool] = json.loads(done.stdout)["result"][0]["expressions"][0]["value"]
    return found


@pytest.mark.tools
@settings(max_examples=5, deadline=None)
@given(st.lists(st.tuples(PARTS, PARTS), min_size=100, max_size=400))
def test_both_languages_agree(pairs: list[tuple[str, str]]) -> None:
    # A name always fits itself, so that both answers are there.
    pairs += [(name, name) for name, _ in pairs]
    here = [fits(name, [pattern]) for name, pattern in pairs]
    assert in_rego(pairs) == here
    assert True in here


def test_only_the_star_is_special() -> None:
    assert fits("Example Inc. [Security]", ["example inc. [*"])
    assert fits("anything\nat all", ["*"])
    assert fits("", ["*"])
    assert not fits("", [])
    assert not fits("ab", ["a?", "[ab]*", "{ab,x}", "a"])
