"""Removes secrets from the configuration before it is written into a result."""

from __future__ import annotations

import re
from typing import Any

_SECRET_KEY = re.compile(
    r"secret|token|passw|credential|api[_-]?key|private[_-]?key|authorization", re.IGNORECASE
)
_URL_USER = re.compile(r"(?<=://)[^/\s@]+(?=@)")
_URL_QUERY = re.compile(
    r"(?<=[?&])(?P<name>[^=&#\s]*(?:token|secret|passw|signature|sig|key)[^=&#\s]*)=[^&#\s]+", re.IGNORECASE
)
_TOKEN = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|sk-|hf_)[A-Za-z0-9_-]{16,}"
    r"|\bAKIA[0-9A-Z]{16}\b"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"
)


def redacted(value: Any, key: str = "") -> Any:
    """A copy of plain data with credentials replaced by markers.

    Keys that name a secret lose their text; URLs lose their user part and telling query values; text that holds a
    well-known form of token is replaced as a whole.
    """
    if isinstance(value, dict):
        return {name: redacted(child, name) for name, child in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(child, key) for child in value]
    if not isinstance(value, str) or not value:
        return value
    if _SECRET_KEY.search(key):
        return _marker("config_value", value)
    if _TOKEN.search(value):
        return _marker("token", value)
    value = _URL_USER.sub(lambda match: _marker("url_credentials", match[0]), value)
    return _URL_QUERY.sub(lambda match: f"{match['name']}={_marker('token', match[0])}", value)


def _marker(reason: str, text: str) -> str:
    size = len(text)
    classes = ((8, "1-8"), (32, "9-32"), (128, "33-128"))
    length = next((name for limit, name in classes if size <= limit), "129+")
    return f"fleetaudit:redacted:{reason}:{length}"
