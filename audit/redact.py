"""Takes credentials out of what people author: configuration, statements, waivers, mappings, policies.

Audited objects never come here with a secret in them: the reader takes it out before anything else sees them.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec

_Value = TypeVar("_Value")

_MARKER = "fleetaudit:redacted:"
_SECRET_KEY = re.compile(
    r"secret|token|passw|credential|api[_-]?key|private[_-]?key|authorization", re.IGNORECASE
)
# A user with a password reaches to the last @ of the word: passwords are not always escaped. A number after the
# colon is a port, and an @ behind it belongs to the path.
_URL_USER = re.compile(
    r"(?<=://)(?:[^\s/?#@:'\"<>]*:(?!\d+(?:/|$))[^\s'\"<>]*|[^/\s@:'\"<>]+)(?=@)", re.ASCII
)
_URL_QUERY = re.compile(
    r"(?<=[?&])(?P<name>[^=&#\s]*(?:token|secret|passw|signature|sig|key)[^=&#\s]*)=(?!fleetaudit:redacted:)[^&#\s]+",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|sk-|hf_)[A-Za-z0-9_-]{16,}"
    r"|\bAKIA[0-9A-Z]{16}\b"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"
)
_ASSIGNED = re.compile(
    r"(?P<name>\b(?:[\w.-]*[_.-])?(?:password|passwd|passphrase|secret|token|api[_-]?key))="
    r"(?!fleetaudit:redacted:|true\b|false\b|[<$({\[*.])(?P<secret>\"[^\"\s]{4,}\"|'[^'\s]{4,}'|[^\s\"'`]{4,})",
    re.IGNORECASE,
)


_SUSPECT_URL = re.compile(rb"://[^\s\"]*[@?]")
_SIGNS = [
    sign.encode()
    for sign in [
        "=",
        "PRIVATE KEY",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
        "github_pat_",
        "glpat-",
        "xox",
        "sk-",
        "hf_",
        "AKIA",
        "eyJ",
    ]
]


def may_hold_credentials(text: bytes) -> bool:
    """A quick look that spares most texts the long one of `masked`. Plain searches: one pattern for all takes 30 times as long."""
    return any(sign in text for sign in _SIGNS) or (b"://" in text and _SUSPECT_URL.search(text) is not None)


def redacted(value: Any, key: str = "") -> Any:
    """A copy of plain data with credentials replaced by markers.

    Keys that name a secret lose their text; texts lose what `masked` takes out.
    """
    if isinstance(value, dict):
        return {name: redacted(child, name) for name, child in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(child, key) for child in value]
    if isinstance(value, str) and value and _SECRET_KEY.search(key):
        return _marker("config_value", value)
    return masked(value)


def masked(value: _Value) -> _Value:
    """The value, of any type, with the credentials in its texts replaced: users in URLs, telling query values, tokens.

    What holds none comes back as it is, so that most of a result is not copied.
    """
    changed: Any = value
    if isinstance(value, str):
        changed = _masked_text(value)
    elif isinstance(value, tuple | list):
        items = [masked(item) for item in value]
        if any(new is not old for new, old in zip(items, value, strict=True)):
            changed = type(value)(items)
    elif isinstance(value, dict):
        pairs = {name: masked(item) for name, item in value.items()}
        if any(pairs[name] is not value[name] for name in value):
            changed = pairs
    elif isinstance(value, msgspec.Struct):
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        changes = {name: new for name, old in fields.items() if (new := masked(old)) is not old}
        if changes:
            changed = msgspec.structs.replace(value, **changes)
    kept: _Value = changed
    return kept


def _masked_text(text: str) -> str:
    if _TOKEN.search(text):
        return _marker("token", text)
    shown = text
    if "://" in shown:
        shown = _URL_USER.sub(
            lambda match: match[0] if _MARKER in match[0] else _marker("url_credentials", match[0]), shown
        )
        shown = _URL_QUERY.sub(lambda match: f"{match['name']}={_marker('token', match[0])}", shown)
    if "=" in shown:
        shown = _ASSIGNED.sub(
            lambda match: f"{match['name']}={_marker('config_value', match['secret'])}", shown
        )
    return text if shown == text else shown


def _marker(reason: str, text: str) -> str:
    size = len(text)
    classes = ((8, "1-8"), (32, "9-32"), (128, "33-128"))
    length = next((name for limit, name in classes if size <= limit), "129+")
    return f"{_MARKER}{reason}:{length}"
