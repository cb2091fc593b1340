"""Fields of a result, by type. A field of the wrong type makes the whole file malformed.

To read past it would turn a broken list of findings into an empty one, and nothing found is what a rule passes.
"""

from __future__ import annotations

from typing import Any

from audit.collect.artifacts.evidence.result_file import named
from audit.collect.artifacts.sbom.problems import FormatError

_WORDS = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "a mapping",
}


def mapping_at(holder: dict[str, Any], key: str) -> dict[str, Any]:
    """The mapping under a key; an empty one when it is missing or null.

    Raises:
        FormatError: ``wrong_type``.
    """
    value = holder.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _wrong(key, dict, value)
    return value


def mappings_at(holder: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The list of mappings under a key; an empty one when it is missing or null.

    Raises:
        FormatError: ``wrong_type``.
    """
    value = list_at(holder, key)
    for one in value:
        if not isinstance(one, dict):
            raise _wrong(f"an entry of {key}", dict, one)
    return value


def list_at(holder: dict[str, Any], key: str) -> list[Any]:
    """The list under a key, whatever is in it; an empty one when it is missing or null.

    Raises:
        FormatError: ``wrong_type``.
    """
    value = holder.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise _wrong(key, list, value)
    return value


def texts_at(holder: dict[str, Any], key: str) -> list[str]:
    """The list of texts under a key, each cut; an empty one when it is missing or null.

    Raises:
        FormatError: ``wrong_type``.
    """
    value = list_at(holder, key)
    for one in value:
        if not isinstance(one, str):
            raise _wrong(f"an entry of {key}", str, one)
    return [named(one) for one in value]


def text_at(holder: dict[str, Any], key: str) -> str:
    """The text under a key, cut; an empty one when it is missing or null.

    Raises:
        FormatError: ``wrong_type``.
    """
    value = holder.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _wrong(key, str, value)
    return named(value)


def flag_at(holder: dict[str, Any], key: str) -> bool | None:
    """True or false; None when it is missing or null.

    Raises:
        FormatError: ``wrong_type``.
    """
    value = holder.get(key)
    if value is not None and not isinstance(value, bool):
        raise _wrong(key, bool, value)
    return value


def whole_at(holder: dict[str, Any], key: str) -> int | None:
    """A whole number; None when it is missing or null.

    Raises:
        FormatError: ``wrong_type``.
    """
    value = holder.get(key)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise _wrong(key, int, value)
    return value


def mapping_of(value: Any, what: str) -> dict[str, Any]:
    """A value that must be a mapping.

    Raises:
        FormatError: ``wrong_type``.
    """
    if not isinstance(value, dict):
        raise _wrong(what, dict, value)
    return value


def _wrong(what: str, wanted: type, value: Any) -> FormatError:
    found = "nothing" if value is None else _WORDS.get(type(value), type(value).__name__)
    return FormatError("wrong_type", f"malformed: {what} must be {_WORDS[wanted]}, found {found}")
