"""YAML as people author it: no surprises, bounded, and each error with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit import authored
from audit.errors import ContentError
from audit.library.authored import parse_document, read_document


def value(text: str) -> object:
    return parse_document(text.encode(), "file.yaml").value


def refused(data: bytes | str) -> ContentError:
    with pytest.raises(ContentError) as caught:
        parse_document(data.encode() if isinstance(data, str) else data, "file.yaml")
    return caught.value


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-03-29", "2026-03-29"),
        ("2026-02-30", "2026-02-30"),
        ("2026-03-29T02:30:00Z", "2026-03-29T02:30:00Z"),
        ("yes", "yes"),
        ("off", "off"),
        ("y", "y"),
        ("22:30", "22:30"),
        ("010", "010"),
        ("0x1f", "0x1f"),
        ("1e3", "1e3"),
        (".inf", ".inf"),
        ("=", "="),
        ("<<", "<<"),
        ("1_000", "1_000"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("null", None),
        ("12", 12),
        ("-3", -3),
        ("1.0", 1.0),
        ("'12'", "12"),
        ('"true"', "true"),
        ("|-\n  12", "12"),
        ("9" * 40, "9" * 40),
    ],
)
def test_plain_words_stay_words(written: str, read: object) -> None:
    found = value(f"key: {written}\n")
    assert found == {"key": read}
    assert type(found["key"]) is type(read)  # type: ignore[index]


def test_keys_are_text() -> None:
    assert value("on: 1\n8090: 2\n2026-01-01: 3\n") == {"on": 1, "8090": 2, "2026-01-01": 3}


def test_json_and_byte_order_marks_and_line_ends_are_read() -> None:
    assert value('{"a": [1, "x"]}') == {"a": [1, "x"]}
    for data in (b"\xef\xbb\xbfa: 1\r\nb: 2\r\n", "a: 1\nb: 2\n".encode("utf-16")):
        assert parse_document(data, "f").value == {"a": 1, "b": 2}


def test_an_empty_file_is_nothing() -> None:
    assert value("") is None
    assert value("# only a comment\n") is None


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("a: 1\nb: 2\na: 3\n", "'a' stands twice, first in line 1", 3),
        ("a:\n  - {x: 1, x: 2}\n", "'x' stands twice", 2),
        ("a: 1\n---\nb: 2\n", "second document", 2),
        ("a: !!python/object/apply:os.system [id]\n", "tag", 1),
        ("a: !custom b\n", "tag", 1),
        ("a: {<<: {b: 1}}\n", "merge keys", 1),
        ("? [a]\n: 1\n", "key must be plain text", 1),
        ("a: &x 1\n*x : 2\n", "key must be plain text", 2),
        ("a: *nowhere\n", "nowhere", 1),
        ("a: &loop [*loop]\n", "loop", 1),
        ("a: [1\n", "no valid YAML", 2),
        ("a: 'open\n", "no valid YAML", 2),
        ("\tb: 1\n", "no valid YAML", 1),
    ],
)
def test_what_is_refused_and_where(text: str, words: str, line: int) -> None:
    error = refused(text)
    assert words in str(error)
    assert (error.file, error.line) == ("file.yaml", line)


def test_bad_bytes_are_refused_with_their_line() -> None:
    assert refused(b"a: 1\nb: \xff\n").line == 2
    assert "UTF-8" in str(refused(b"a: 1\nb: \xff\n"))


def test_depth_size_and_number_are_bounded() -> None:
    assert "nested" in str(refused("a: " + "[" * 40 + "]" * 40)) or "depth" in str(refused("[" * 40))
    assert refused("[" * 5_000).file == "file.yaml"
    assert "MiB" in str(refused(b"#" * (authored.MAX_BYTES + 1)))


def test_aliases_are_read_but_may_not_multiply() -> None:
    assert value("a: &r {x: 1}\nb: *r\n") == {"a": {"x": 1}, "b": {"x": 1}}
    bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
    )
    assert "aliases" in str(refused(bomb))


def test_every_part_knows_its_line() -> None:
    document = parse_document(b"top:\n  - one: 1\n    two: 2\n  - three:\n      - 3\n", "f")
    assert document.line(("top", 0, "two")) == 3
    assert document.line(("top", 1, "three", 0)) == 5
    assert document.line(("top", 0, "missing")) == 2, "the nearest part around it"
    assert str(document.error("is wrong", ("top", 0, "two"))) == "f:3: top.0.two: is wrong"


def test_files_that_cannot_be_read_say_why(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match="cannot be read: No such file"):
        read_document(tmp_path / "missing.yaml")
    with pytest.raises(ContentError, match="cannot be read: Is a directory"):
        read_document(tmp_path)


def test_a_large_file_is_not_even_read(tmp_path: Path) -> None:
    large = tmp_path / "large.yaml"
    with large.open("wb") as file:
        file.truncate(authored.MAX_BYTES + 1)
    with pytest.raises(ContentError, match="larger than"):
        read_document(large)
