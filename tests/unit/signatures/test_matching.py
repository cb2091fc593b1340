"""Patterns of identities: the whole text, in linear time, and never everybody."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.collect.artifacts.signatures import matching
from audit.collect.artifacts.signatures.matching import PatternError, exact, glob, regex, says_nothing

ATOMS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\.", r"\d", "(a|b)", "(?:ab)", "(a|)", "x", "-"])
PIECES = st.builds(
    lambda atom, repeat: atom + repeat, ATOMS, st.sampled_from(["", "*", "+", "?", "{2}", "{1,3}", "{0,}"])
)
PATTERNS = st.lists(PIECES, min_size=1, max_size=6).map("".join)


@settings(max_examples=400, deadline=None)
@given(pattern=PATTERNS, text=st.text("abx.-1", max_size=12))
def test_regular_expressions_mean_what_python_means(pattern: str, text: str) -> None:
    assert regex(pattern).matches(text) is (re.fullmatch(pattern, text) is not None)


@settings(max_examples=300, deadline=None)
@given(text=st.text(min_size=1, max_size=50))
def test_exact_is_exact(text: str) -> None:
    assert exact(text).matches(text)
    assert not exact(text).matches(text + "x")
    assert not exact(text).matches(text[1:])


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|a)*b", "(a*)*b", "(a|aa)+b", "(.*a){20}b", "([a-z]+)*b"])
def test_patterns_that_hang_others_take_linear_time(pattern: str) -> None:
    compiled = regex(pattern)
    begin = time.process_time()
    assert not compiled.matches("a" * 4000)
    assert time.process_time() - begin < 2


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "x" * 600,
        "(a",
        "a)",
        "[a",
        "[]",
        "a**",
        "a*?",
        "*a",
        "a{,3}",
        "a{3,1}",
        "a{999}",
        "a{1",
        "(?=a)",
        "(?i)a",
        r"\1",
        r"\b",
        "a^b",
        "a$b",
        "((((((((((((((((((((((a))))))))))))))))))))))",
        "((a{200}){200}){200}",
        "[z-a]",
        "a\\",
    ],
)
def test_what_is_not_understood_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        regex(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("*.whl", "a.whl", True),
        ("*.whl", "x/a.whl", False),
        ("**/*.whl", "x/y/a.whl", True),
        ("**/*.whl", "a.whl", True),
        ("**.whl", "x/a.whl", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("a.c", "abc", False),
        ("[a]", "a", False),
        ("[a]", "[a]", True),
        (
            "https://github.com/acme/*/.github/workflows/*@refs/tags/*",
            "https://github.com/acme/x/.github/workflows/r.yml@refs/tags/v1",
            True,
        ),
        ("https://github.com/acme/*", "https://github.com/acme-evil/x", False),
        ("https://github.com/acme/*", "https://github.com/acme/../evil", False),
        ("*@corp.test", "a@corp.test", True),
        ("*@corp.test", "a@corp.test.evil.test", False),
    ],
)
def test_globs(pattern: str, text: str, expected: bool) -> None:
    assert glob(pattern).matches(text) is expected


@pytest.mark.parametrize("text", ["x\nallowed@corp.test", "allowed@corp.test\n", "allowed@corp.test\nx"])
def test_a_line_break_does_not_smuggle(text: str) -> None:
    assert not glob("**@corp.test").matches(text)
    assert not regex(r".*@corp\.test").matches(text)


def test_long_texts_match_nothing() -> None:
    assert not glob("**").matches("a" * (matching.MAX_TEXT + 1))


@pytest.mark.parametrize(
    "pattern", [glob("*"), glob("**"), glob("https://**"), glob("*@*"), regex(".*"), regex(".+@.+")]
)
def test_patterns_that_allow_everybody_are_seen(pattern: matching.Pattern) -> None:
    assert says_nothing(pattern)


@pytest.mark.parametrize(
    "pattern", [glob("*@corp.test"), glob("https://github.com/**"), regex(r"v\d+"), exact("x")]
)
def test_patterns_that_mean_somebody_are_let_be(pattern: matching.Pattern) -> None:
    assert not says_nothing(pattern)
