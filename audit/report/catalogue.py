"""The message catalogues: extracts every text of the reports, checks the translations, and compiles them.

``python -m audit.report.catalogue`` rewrites ``reports/locale/fleetaudit.pot`` and each language's ``.mo``. A test keeps
both current and refuses a translation whose placeholders differ from the text's.
"""

from __future__ import annotations

import ast
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import jinja2

from audit.errors import ContentError
from audit.report.texts import DOMAIN
from audit.resources import content_dir

_FUNCTIONS = {"gettext", "ngettext", "_"}
_MO_MAGIC = 0x950412DE
_PLACEHOLDER = re.compile(r"%\([a-z_]+\)s|\{[a-z_]+\}")


class Message(NamedTuple):
    """A text, and its plural when it has one."""

    text: str
    plural: str = ""


class Entry(NamedTuple):
    """A message with its translations, one for each plural form of the language."""

    message: Message
    translations: tuple[str, ...]
    line: int


def locale_dir() -> Path:
    """``reports/locale``."""
    return content_dir("reports") / "locale"


def extract() -> dict[Message, list[str]]:
    """Every text with the files it is in, in the order found."""
    found: dict[Message, list[str]] = {}
    for name, message in (*_from_code(), *_from_templates()):
        places = found.setdefault(message, [])
        if name not in places:
            places.append(name)
    return found


def _from_code() -> Iterator[tuple[str, Message]]:
    for path in sorted(Path(__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if node.func.attr not in _FUNCTIONS:
                continue
            texts = [
                arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
            ]
            if texts:
                plural = texts[1] if node.func.attr == "ngettext" else ""
                yield f"audit/report/{path.name}", Message(texts[0], plural)


def _from_templates() -> Iterator[tuple[str, Message]]:
    environment = jinja2.Environment(extensions=["jinja2.ext.i18n"], autoescape=True)
    for path in sorted((content_dir("reports") / "templates").glob("*.j2")):
        source = path.read_text(encoding="utf-8")
        for _, function, text in environment.extract_translations(source):  # type: ignore[attr-defined]  # i18n extension
            plural = text[1] if function == "ngettext" else ""
            yield (
                f"reports/templates/{path.name}",
                Message(text[0] if isinstance(text, tuple) else text, plural),
            )


def template_text() -> str:
    """The ``.pot`` file."""
    lines = [
        "# Texts of the reports. Generated: python -m audit.report.catalogue",
        'msgid ""',
        'msgstr ""',
        '"Content-Type: text/plain; charset=UTF-8\\n"',
        "",
    ]
    for message, places in extract().items():
        lines += [f"#: {' '.join(places)}", f"msgid {_quote(message.text)}"]
        if message.plural:
            lines += [f"msgid_plural {_quote(message.plural)}", 'msgstr[0] ""', 'msgstr[1] ""', ""]
        else:
            lines += ['msgstr ""', ""]
    return "\n".join(lines)


def read(path: Path) -> list[Entry]:
    """Entries of a ``.po`` file, the header first.

    Raises:
        ContentError: a line this small reader doesn't know.
    """
    entries: list[Entry] = []
    fields: dict[str, str] = {}
    current, start = "", 0

    def finish() -> None:
        if "msgid" in fields:
            forms = [fields[key] for key in sorted(fields) if key.startswith("msgstr")]
            entries.append(
                Entry(Message(fields["msgid"], fields.get("msgid_plural", "")), tuple(forms), start)
            )
        fields.clear()

    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        keyword = re.match(r'(msgid|msgid_plural|msgstr(?:\[\d\])?)\s+(?=")', line)
        if keyword:
            if keyword[1] == "msgid":
                finish()
                start = number
            current = keyword[1]
            fields[current] = ""
            line = line[keyword.end() :]
        try:
            fields[current] += ast.literal_eval(line)
        except (ValueError, SyntaxError, KeyError, TypeError) as error:
            raise ContentError("not a line of a message catalogue", file=str(path), line=number) from error
    finish()
    return entries


def problems(path: Path) -> list[str]:
    """What is wrong with a ``.po`` file: missing, unknown or empty texts, placeholders that differ."""
    entries = [entry for entry in read(path) if entry.message.text]
    known = extract()
    told = [f"missing: {message.text!r}" for message in known.keys() - {entry.message for entry in entries}]
    for entry in entries:
        text = entry.message.text
        if entry.message not in known:
            told.append(f"line {entry.line}: no longer used: {text!r}")
        elif not all(entry.translations):
            told.append(f"line {entry.line}: not translated: {text!r}")
        else:
            wanted = sorted(_PLACEHOLDER.findall(entry.message.plural or text))
            told += [
                f"line {entry.line}: placeholders differ: {form!r}"
                for form in entry.translations
                if sorted(_PLACEHOLDER.findall(form)) != wanted
            ]
    return sorted(told)


def compiled(path: Path) -> bytes:
    """The ``.mo`` form of a ``.po`` file: GNU's format, sorted, no hash table."""
    pairs = []
    for entry in read(path):
        key = entry.message.text + (f"\0{entry.message.plural}" if entry.message.plural else "")
        pairs.append((key.encode(), "\0".join(entry.translations).encode()))
    pairs.sort()
    count = len(pairs)
    offset = 28 + count * 16
    tables: tuple[list[bytes], list[bytes]] = ([], [])
    strings = b""
    for side in (0, 1):
        for pair in pairs:
            tables[side].append(struct.pack("<II", len(pair[side]), offset + len(strings)))
            strings += pair[side] + b"\0"
    head = struct.pack("<IIIIIII", _MO_MAGIC, 0, count, 28, 28 + count * 8, 0, 0)
    return head + b"".join(tables[0]) + b"".join(tables[1]) + strings


def sources() -> list[Path]:
    """The ``.po`` file of each language."""
    return sorted(locale_dir().glob(f"*/LC_MESSAGES/{DOMAIN}.po"))


def main() -> None:
    """Rewrite what is generated; stop at a translation that doesn't fit."""
    (locale_dir() / f"{DOMAIN}.pot").write_text(template_text(), encoding="utf-8")
    for path in sources():
        wrong = problems(path)
        if wrong:
            raise ContentError("; ".join(wrong[:20]), file=str(path))
        path.with_suffix(".mo").write_bytes(compiled(path))


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


if __name__ == "__main__":
    main()
