"""Text of the audited world comes out visible and inert."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from audit.report.text import (
    css_string,
    csv_cell,
    https_only,
    markdown,
    markdown_code,
    tail,
    value,
    visible,
    visible_block,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("中文 is text", "中文 is text"),
        ("a\x1b[31mred", "a\\u001b[31mred"),
        ("safe\u202egpj.exe", "safe\\u202egpj.exe"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("nul\0", "nul\\u0000"),
        ("line\nbreak", "line\\u000abreak"),
        ("c1 \x9b", "c1 \\u009b"),
        ("\udcff", "\\udcff"),
        ("\U000e0001tag", "\\U000e0001tag"),
    ],
)
def test_what_cannot_be_seen_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(max_size=400))
def test_visible_text_is_printable_and_capped(text: str) -> None:
    assert visible(text).isprintable()
    assert len(visible(text, 20)) <= 20 * 10 + len("… (1000000 more characters)")


def test_a_cut_says_how_much_is_missing() -> None:
    assert visible("x" * 310) == "x" * 300 + "… (10 more characters)"


def test_long_paths_keep_their_end() -> None:
    path = "/very/long/way/" + "x/" * 40 + "charts/app.yaml:12"
    assert tail("short.yaml", 40) == "short.yaml"
    assert tail(path, 24) == "…/x/x/charts/app.yaml:12"
    assert len(tail("y" * 100, 24)) == 24


def test_blocks_keep_line_feeds_and_nothing_else() -> None:
    assert visible_block("a:\r\n\tb\x07") == "a:\n  b\\u0007"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＠"])
def test_a_cell_never_starts_a_formula(start: str) -> None:
    cell = csv_cell(f"{start}HYPERLINK(1)")
    assert cell.startswith("'")
    assert "HYPERLINK" in cell


@given(st.text(max_size=60))
def test_cells_hold_one_line(text: str) -> None:
    cell = csv_cell(text)
    assert cell == "" or cell[0] not in "=+-@\t\r\n"
    assert "\n" not in cell
    assert "\r" not in cell


@given(st.text(max_size=80))
def test_markdown_text_renders_as_itself_inside_a_line(text: str) -> None:
    html = MarkdownIt("gfm-like", {"linkify": False}).render(f"x {markdown(text)}")
    without_comments = html.replace("<!-- -->", "")
    assert without_comments.count("<") == 2, "one paragraph, nothing else"


@pytest.mark.parametrize(
    "text",
    ["<img src=x onerror=alert(1)>", "[a](javascript:alert(1))", "![x](y)", "`c`", "**b**", "a | b", "&amp;"],
)
def test_markdown_markup_is_dead_in_a_table_cell(text: str) -> None:
    page = f"| a | b |\n|---|---|\n| {markdown(text)} | {markdown_code(text)} |"
    html = MarkdownIt("gfm-like", {"linkify": False}).render(page)
    assert html.count("<td>") == 2
    assert html.count("<code>") == 1
    for tag in ("<img", "<a ", "<strong", "<em"):
        assert tag not in html


def test_mentions_issue_numbers_and_links_are_broken_up() -> None:
    assert (
        markdown("ask @bob about #12 at https://x.y")
        == "ask @<!-- -->bob about #<!-- -->12 at https:<!-- -->//x.y"
    )


@given(st.text(max_size=60))
def test_a_css_string_cannot_be_left(text: str) -> None:
    quoted = css_string(text)
    body = quoted[1:-1]
    assert quoted[0] == quoted[-1] == '"'
    assert all(c.isascii() and (c.isalnum() or c in " \\") for c in body)


def test_a_css_string_keeps_the_spaces_after_escapes() -> None:
    assert css_string("a, b") == '"a\\2c  b"'


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)",
        "http://plain.example",
        "https://x.example/'onclick",
        "https://x.example/\u202e",
        "data:,x",
        "",
    ],
)
def test_only_https_links_stay(link: str) -> None:
    assert https_only(link) == ""


def test_an_https_link_stays() -> None:
    assert https_only("https://ok.example.test/?a=1&b=2") == "https://ok.example.test/?a=1&b=2"


def test_values_are_json_and_markers_words() -> None:
    assert value(True) == "true"
    assert value(["*"]) == '["*"]'
    assert value({"b": 1, "a": None}) == '{"a": null, "b": 1}'
    assert value("") == '""'
    assert value("fleetaudit:redacted:secret_data:9-32") == "(redacted: secret data, 9-32 characters)"
    assert value("fleetaudit:redacted:token:129+") == "(redacted: token, 129+ characters)"
