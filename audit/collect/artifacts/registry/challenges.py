"""What a registry asks for with ``WWW-Authenticate``, and the tokens that it sends people for."""

from __future__ import annotations

import re
from typing import Any

import msgspec

_SCHEME = re.compile(r"\s*(Bearer|Basic)\s*(.*)", re.IGNORECASE | re.DOTALL)
_PARAMETER = re.compile(r'\s*([A-Za-z_-]{1,40})\s*=\s*(?:"([^"\\]{0,2000})"|([^\s",]{1,2000}))\s*(?:,|$)')
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=:-]{1,32768}")
_SHORTEST = 60.0
_LONGEST = 3600.0


class Challenge(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for."""

    scheme: str
    """``bearer`` or ``basic``."""
    realm: str = ""
    service: str = ""


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """A token; it is held in memory only."""

    header: str
    """Value of ``Authorization``."""
    seconds: float
    """How long it is good, from when it was asked for."""

    def __repr__(self) -> str:
        return "Token(...)"


def challenge_of(text: str | None) -> Challenge | None:
    """A header ``WWW-Authenticate``; None when it asks for nothing that is supported."""
    found = _SCHEME.fullmatch((text or "")[:8192])
    if found is None:
        return None
    values: dict[str, str] = {}
    at = 0
    while at < len(found[2]) and (one := _PARAMETER.match(found[2], at)) is not None:
        values.setdefault(one[1].lower(), one[2] if one[2] is not None else one[3])
        at = one.end()
    return Challenge(
        scheme=found[1].lower(), realm=values.get("realm", ""), service=values.get("service", "")
    )


def token_of(body: bytes) -> Token | None:
    """The answer of a token service; None when there is none in it."""
    try:
        document: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    token = document.get("token") or document.get("access_token")
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        return None
    seconds = document.get("expires_in")
    known = float(seconds) if isinstance(seconds, int) and not isinstance(seconds, bool) else _SHORTEST
    return Token(header=f"Bearer {token}", seconds=min(max(known, _SHORTEST), _LONGEST))
