"""Markup, controls and formulas in audited text come out as text, in every format (shared case 29)."""

from __future__ import annotations

import csv
import functools
import io
import json
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

from audit.report.console import render
from audit.report.csv_writer import CsvWriter
from audit.report.files import MARKDOWN_MARK
from audit.report.junit import JunitWriter
from audit.report.markdown import MarkdownWriter
from audit.report.sarif import SarifWriter
from audit.report.text import visible
from tests import builders as b
from tests.shared_data import shared_dir
from tests.unit.report.hostile import HARMLESS, PAYLOADS, hostile
from tests.unit.report.pages import elements, html, tags, text, tree

_COUNTED = ("img", "svg", "script", "iframe", "b", "style", "object", "embed", "form", "input", "a")


@functools.cache
def _harmless() -> Counter[str]:
    return tags(tree(html(hostile(HARMLESS))))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_page_over_hostile_text_has_the_elements_and_links_of_one_over_harmless_text(payload: str) -> None:
    page = html(hostile(payload))
    root = tree(page)
    found = tags(root)
    assert {tag: found[tag] for tag in _COUNTED} == {tag: _harmless()[tag] for tag in _COUNTED}
    assert not [name for node in elements(root) for name in node.attrib if str(name).startswith("on")]
    assert visible(payload)[:40] in text(root)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)
    hrefs = {node.get("href") or "" for node in elements(root) if str(node.tag) == "a"}
    assert {href for href in hrefs if not href.startswith("#")} == {"https://ok.example.test/?a=1&b=2"}
    assert all(re.fullmatch(r"#[A-Za-z0-9-]+", href) for href in hrefs if href.startswith("#"))


def test_templates_in_audited_text_are_not_run() -> None:
    page = html(hostile("{{ 70077*70077 }}"))
    assert "{{ 70077*70077 }}" in page
    assert str(70077 * 70077) not in page


def _console(payload: str) -> str:
    stream = io.StringIO()
    render(hostile(payload), Console(file=stream, width=120), [Path(payload)])
    return stream.getvalue()


@pytest.mark.parametrize("payload", PAYLOADS)
def test_the_terminal_gets_printable_text_only(payload: str) -> None:
    told = _console(payload)
    assert all(char.isprintable() or char == "\n" for char in told)


def test_markup_of_the_terminal_library_is_not_obeyed() -> None:
    assert "[bold red]x[/]" in _console("[bold red]x[/]")


@pytest.mark.parametrize("payload", PAYLOADS)
def test_spreadsheet_cells_are_no_formulas(payload: str) -> None:
    stream = io.BytesIO()
    CsvWriter().render_to(hostile(payload), stream)
    rows = list(csv.reader(io.StringIO(stream.getvalue().decode())))
    assert len({len(row) for row in rows}) == 1
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@"))]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_junit_is_well_formed_xml(payload: str) -> None:
    stream = io.BytesIO()
    JunitWriter().render_to(hostile(payload), stream)
    root = ET.fromstring(stream.getvalue())
    assert {node.tag for node in root.iter()} <= {
        "testsuites",
        "testsuite",
        "testcase",
        "failure",
        "error",
        "skipped",
        "system-out",
    }


@pytest.mark.parametrize("payload", PAYLOADS)
def test_markdown_holds_no_live_markup(payload: str) -> None:
    stream = io.BytesIO()
    MarkdownWriter().render_to(hostile(payload), stream)
    told = stream.getvalue().decode().removeprefix(f"{MARKDOWN_MARK.decode()}\n")
    html_text = MarkdownIt("gfm-like", {"linkify": False}).render(told).replace("<!-- -->", "")
    ours = {"h3", "p", "strong", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "code"}
    found = set(re.findall(r"<([a-zA-Z0-9!]+)", html_text))
    assert found <= ours
    outside_code = re.sub(r"(?<!\\)`[^`]*`", "", told)
    assert "@team" not in outside_code


@pytest.mark.parametrize("payload", PAYLOADS)
def test_sarif_stays_json_and_links_only_https(payload: str) -> None:
    stream = io.BytesIO()
    SarifWriter().render_to(hostile(payload), stream)
    data = json.loads(stream.getvalue())
    links = [rule.get("helpUri", "https://") for rule in data["runs"][0]["tool"]["driver"]["rules"]]
    assert all(link.startswith("https://") for link in links)


def test_the_shared_case_of_markup_in_names() -> None:
    folder = shared_dir("cases", "29-html-injection")
    expected = json.loads((folder / "expect.json").read_text(encoding="utf-8"))
    for payload in expected["text_kept"]:
        page = tree(html(hostile(payload)))
        assert payload in text(page)
        for tag, number in expected["new_elements"].items():
            assert tags(page)[tag] - _harmless()[tag] == number
    links = b.rule_state("x/y", references=tuple(expected["links_refused"]))
    root = tree(html(b.result(rules=(links,))))
    assert not [node for node in elements(root) if (node.get("href") or "").startswith("javascript")]
