"""The model card: ``README.md`` of a model folder, its front matter and its sections."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from audit.collect.artifacts.sbom.decoding import utf8
from audit.collect.artifacts.sbom.problems import FormatError, short
from audit.collect.artifacts.sbom.yaml_document import parse_yaml
from audit.collect.artifacts.signatures.beside import in_folder

NAME = "README.md"
MAX_BYTES = 4 << 20
MAX_FRONT_MATTER = 1 << 20
_LISTED = 100
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
_FENCE = re.compile(r"^\s{0,3}(```|~~~)")
_TEXTS = ("license_name", "license_link", "library_name", "pipeline_tag", "model_name")
_LISTS = ("license", "tags", "datasets", "base_model", "language")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_PLACEHOLDER = re.compile(r"\[?more information needed\]?|\bTODO\b|\bTBD\b", re.IGNORECASE)


def card_facts(folder: Path) -> dict[str, Any]:
    """What the card says. ``status`` is ``read``, ``absent`` or ``malformed``."""
    path = card_in(folder)
    if path is None:
        return _without("absent", "there is no README.md")
    try:
        matter, body = _split(utf8(_data(path))[0])
        fields = parse_yaml(matter) if matter.strip() else {}
    except FormatError as error:
        return _without("malformed", error.message)
    except OSError:
        return _without("malformed", "the card can't be read")
    own, sections = sections_of(body.decode("utf-8"))
    return {
        "status": "read",
        "reason": "",
        "front_matter": bool(fields),
        "fields": {
            **{name: short(value) for name in _TEXTS if isinstance(value := fields.get(name), str)},
            **{name: [short(one) for one in _listed(fields.get(name))[:_LISTED]] for name in _LISTS},
        },
        "characters": own,
        "sections": sections,
    }


def card_in(folder: Path) -> Path | None:
    """The card of a folder; a link out of it never counts."""
    return in_folder(folder, NAME)


def _data(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise FormatError("too_large", f"the card is larger than {MAX_BYTES} bytes")
    return data


def _without(status: str, reason: str) -> dict[str, Any]:
    return {
        "status": status,
        "reason": reason,
        "front_matter": False,
        "fields": {name: [] for name in _LISTS},
        "characters": 0,
        "sections": [],
    }


def _split(data: bytes) -> tuple[bytes, bytes]:
    """Front matter and text. Without a closing line there is no front matter."""
    lines = data.replace(b"\r\n", b"\n").split(b"\n")
    if lines[0].rstrip() != b"---":
        return b"", data
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() in (b"---", b"..."):
            matter = b"\n".join(lines[1:number])
            if len(matter) > MAX_FRONT_MATTER:
                raise FormatError("too_large", "its front matter is longer than front matters are")
            return matter, b"\n".join(lines[number + 1 :])
    raise FormatError("no_end", "its front matter has no end")


def _listed(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value] if value.strip() else []
    return [one for one in value if isinstance(one, str) and one.strip()] if isinstance(value, list) else []


def sections_of(text: str) -> tuple[int, list[dict[str, Any]]]:
    """Characters of all text, and the headings in order, each with the characters below it and below its subsections.

    Comments, and what a template leaves to be filled in, are no text.
    """
    found: list[tuple[int, str, int]] = [(0, "", 0)]
    fenced = False
    for line in _COMMENT.sub("", text).splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        heading = None if fenced else _HEADING.match(line)
        if heading:
            found.append((len(heading[1]), heading[2], 0))
        else:
            level, title, characters = found[-1]
            found[-1] = (level, title, characters + len("".join(_PLACEHOLDER.sub("", line).split())))
    rows: list[dict[str, Any]] = []
    for index, (level, title, own) in enumerate(found[: _LISTED + 1]):
        characters = own
        for below, _, more in found[index + 1 :]:
            if below <= level:
                break
            characters += more
        if level:
            rows.append({"title": short(title), "characters": characters})
    return sum(own for _, _, own in found), rows
