"""Writers for people take all their own words from the catalogue, so that ``--lang`` leaves none of them behind.

The catalogue is replaced by one that puts each text into brackets. What is left outside of brackets must be data: a word
that the result itself has.
"""

from __future__ import annotations

import functools
import gettext
import io
import re

import msgspec
import pytest
from rich.console import Console

from audit.model.result import AssessmentResult
from audit.report import html as html_module
from audit.report.console import render
from audit.report.document import head, plain
from audit.report.html import HtmlWriter
from audit.report.markdown import MarkdownWriter
from audit.report.texts import Texts
from tests.unit.report.pages import tree
from tests.unit.report.story import story

# Commands, file names and units, the same in every language.
OURS = {
    "fleetaudit",
    "report",
    "json",
    "html",
    "format",
    "explain",
    "sample",
    "result",
    "control",
    "size",
    "seed",
    "sha",
    "sum",
    "lang",
    "verbose",
    "exclude",
    "gitignore",
    "allow_gaps",
    "scope",
    "population",
    "csv",
    "gz",
    "gzip",
}


class Bracketed(gettext.NullTranslations):
    """Every text in brackets, its placeholders kept."""

    def gettext(self, message: str) -> str:
        return f"⟦{message}⟧"

    def ngettext(self, singular: str, plural: str, number: int) -> str:
        return f"⟦{singular if number == 1 else plural}⟧"


@pytest.fixture(autouse=True)
def bracketed(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(self: Texts, language: str = "en") -> None:
        self.language = language
        self._catalogue = Bracketed()

    monkeypatch.setattr(Texts, "__init__", start)
    # Templates are kept by language, words included.
    monkeypatch.setattr(html_module, "environment", functools.cache(html_module.environment.__wrapped__))


def as_html(result: AssessmentResult) -> str:
    stream = io.BytesIO()
    HtmlWriter("zh-CN").render_to(result, stream)
    unread = r'<style>.*?</style>|<title>.*?</title>|<span class="digest">.*?</span>'
    page = re.sub(unread, "", stream.getvalue().decode(), flags=re.DOTALL)
    # Texts of neighbouring elements are no one word.
    return " ".join(tree(page).itertext())


def as_markdown(result: AssessmentResult) -> str:
    stream = io.BytesIO()
    MarkdownWriter("zh-CN").render_to(result, stream)
    return stream.getvalue().decode().replace("\\", "").replace("<!-- fleetaudit report -->", "")


def as_console(result: AssessmentResult) -> str:
    stream = io.StringIO()
    render(result, Console(file=stream, width=400), language="zh-CN", whole=True, exit_code=3)
    return stream.getvalue()


@pytest.mark.parametrize("written", [as_html, as_markdown, as_console])
@pytest.mark.parametrize("many", [0, 60])
def test_what_is_not_from_the_catalogue_is_data(written: object, many: int) -> None:
    assert callable(written)
    result = story(many=many)
    shown = written(result)
    assert shown.count("⟦") > 20
    while "⟦" in shown:
        shown, number = re.subn(r"⟦[^⟦⟧]*⟧", " ", shown)
        assert number, shown
    data = msgspec.json.encode(plain(head(result))).decode()
    data += msgspec.json.encode(list(result.group_source.groups())).decode()
    known = set(re.findall(r"[A-Za-z_]{3,}", data.replace("\\n", " "))) | OURS
    left = {word for word in re.findall(r"[A-Za-z_]{3,}", shown) if word not in known}
    assert left == set()
