"""Message catalogues: complete, current, and used."""

from __future__ import annotations

import gettext
from pathlib import Path

import pytest

from audit.errors import ContentError
from audit.report import catalogue
from audit.report.texts import Texts
from tests.unit.report.pages import by_id, elements, html, text, tree
from tests.unit.report.story import story


def test_the_template_of_all_texts_is_current() -> None:
    published = (catalogue.locale_dir() / "fleetaudit.pot").read_text(encoding="utf-8")
    assert published == catalogue.template_text(), "run: python -m audit.report.catalogue"


@pytest.mark.parametrize("path", catalogue.sources(), ids=lambda path: path.parent.parent.name)
def test_translations_are_complete_and_compiled(path: Path) -> None:
    assert catalogue.problems(path) == []
    assert path.with_suffix(".mo").read_bytes() == catalogue.compiled(path)


def test_compiled_catalogues_are_read_by_the_standard_library(tmp_path: Path) -> None:
    folder = tmp_path / "xx" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    source = folder / "t.po"
    source.write_text(
        'msgid ""\nmsgstr "Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n\n'
        'msgid "a"\nmsgstr "ä"\n\nmsgid "{n} b"\nmsgid_plural "{n} bs"\nmsgstr[0] "{n} ß"\nmsgstr[1] "{n} ßß"\n',
        encoding="utf-8",
    )
    (folder / "t.mo").write_bytes(catalogue.compiled(source))
    read = gettext.translation("t", tmp_path, languages=["xx"])
    assert read.gettext("a") == "ä"
    assert [read.ngettext("{n} b", "{n} bs", n) for n in (1, 2)] == ["{n} ß", "{n} ßß"]


def test_a_broken_catalogue_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "t.po"
    path.write_text('msgid "a"\nmsgstr oops\n', encoding="utf-8")
    with pytest.raises(ContentError) as caught:
        catalogue.read(path)
    assert caught.value.line == 2


def test_lost_placeholders_and_texts_are_found(tmp_path: Path) -> None:
    path = tmp_path / "t.po"
    path.write_text('msgid "{n} waived"\nmsgstr "ohne"\n\nmsgid "never used"\nmsgstr "x"\n', encoding="utf-8")
    told = "\n".join(catalogue.problems(path))
    assert "line 1: placeholders differ: 'ohne'" in told
    assert "line 4: no longer used: 'never used'" in told
    assert "missing: 'Strict ratio'" in told


def test_the_chinese_page_is_chinese_and_keeps_ids_and_numbers() -> None:
    root = tree(html(story(), "zh-CN"))
    (page,) = (node for node in elements(root) if str(node.tag) == "html")
    assert page.get("lang") == "zh-CN"
    summary = text(by_id(root, "summary"))
    assert "不得称为合规" in summary
    assert "15/49" in summary
    assert "30.6 %" in summary
    assert "pod/privileged" in text(by_id(root, "findings"))
    assert "Not looked at" not in summary


def test_english_needs_no_catalogue() -> None:
    texts = Texts()
    assert texts.gettext("Strict ratio") == "Strict ratio"
    assert texts.ngettext("{n} rule", "{n} rules", 2) == "{n} rules"
