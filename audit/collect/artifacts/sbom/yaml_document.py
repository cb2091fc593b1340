"""YAML as plain texts, lists and mappings: every scalar stays the text it is, and aliases are refused."""

from __future__ import annotations

from typing import Any

from audit.collect.artifacts.sbom.problems import FormatError

MAX_MARKS = 1_000_000
"""Each key and item takes half a kilobyte while it is read. Real documents of the largest size have half of this."""


def parse_yaml(data: bytes) -> dict[str, Any]:
    """The mapping.

    Raises:
        FormatError: ``aliases_refused``, ``too_large``, ``data_after_end``, ``too_deep``, ``not_yaml`` or ``not_an_object``.
    """
    import yaml

    if sum(map(data.count, (b":", b"- ", b"{", b"[", b","))) > MAX_MARKS:
        raise FormatError("too_large", f"more than {MAX_MARKS} keys and items")
    # Without types a version 1.10 stays 1.10 and a date stays as it was written.
    loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        documents = list(yaml.load_all(data, Loader=loader))  # a loader of plain texts
    except RecursionError:
        raise FormatError("too_deep", "nested too deeply to be read") from None
    except yaml.MarkedYAMLError as error:
        if "nesting depth" in str(error.problem):
            raise FormatError("too_deep", "nested too deeply to be read") from None
        mark = error.problem_mark
        place = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise FormatError("not_yaml", f"not YAML{place}") from None
    except yaml.YAMLError:
        raise FormatError("not_yaml", "not YAML") from None
    if len(documents) > 1:
        raise FormatError("data_after_end", f"{len(documents)} documents in one file")
    if not documents or not isinstance(documents[0], dict):
        raise FormatError("not_an_object", "the document is no mapping")
    _refuse_aliases(documents[0])
    return documents[0]


def _refuse_aliases(root: Any) -> None:
    """An alias makes one container stand in two places: nine levels of them are a billion texts for whoever walks them."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        value = stack.pop()
        if id(value) in seen:
            raise FormatError("aliases_refused", "YAML with aliases is refused")
        seen.add(id(value))
        parts = value.values() if isinstance(value, dict) else value
        stack += [part for part in parts if isinstance(part, dict | list)]
