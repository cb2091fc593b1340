"""Credentials for registries, from the ``config.json`` that ``docker login`` writes. They are held in memory only."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from audit.collect.artifacts.registry.references import HUB

_MAX_BYTES = 1 << 20
_HUB_KEYS = ("https://index.docker.io/v1/", "index.docker.io", "registry-1.docker.io")


class Credentials:
    """A name with its password. Printing it shows neither."""

    __slots__ = ("_basic",)

    def __init__(self, name: str, password: str) -> None:
        self._basic = base64.b64encode(f"{name}:{password}".encode()).decode("ascii")

    def header(self) -> str:
        """Value of ``Authorization``."""
        return f"Basic {self._basic}"

    def __repr__(self) -> str:
        return "Credentials(...)"


class Found(msgspec.Struct, frozen=True):
    """What a file says of one registry."""

    credentials: Credentials | None = None
    why_not: str = ""
    """One line for people, where there are credentials that can't be used."""


def credentials_of(host: str, file: Path | None) -> Found:
    """The credentials for a registry.

    Args:
        host: as images name it.
        file: a ``config.json``; None when none is named.
    """
    if file is None:
        return Found()
    try:
        with file.open("rb") as opened:
            document: Any = msgspec.json.decode(opened.read(_MAX_BYTES))
    except OSError as error:
        return Found(why_not=f"docker_config can't be read: {error.strerror or 'unreadable'}")
    except (msgspec.DecodeError, RecursionError):
        return Found(why_not="docker_config is no JSON that can be read")
    names = (host, f"https://{host}", f"https://{host}/", f"https://{host}/v1/", f"https://{host}/v2/")
    keys = (*_HUB_KEYS, *names) if host == HUB else names
    entry = next((one for key in keys if isinstance(one := _at(document, "auths", key), Mapping)), {})
    if (found := _stated(entry)) is not None:
        return Found(found)
    if entry.get("identitytoken"):
        return Found(why_not="docker_config holds an identity token, which is not supported")
    helpers = _at(document, "credHelpers")
    named = isinstance(helpers, Mapping) and any(key in helpers for key in keys)
    if named or (isinstance(document, Mapping) and document.get("credsStore")):
        return Found(
            why_not="docker_config leaves the credentials to a helper (credHelpers, credsStore), and none is started"
        )
    return Found(why_not="docker_config has no credentials for it")


def _stated(entry: Mapping[str, Any]) -> Credentials | None:
    name, password = entry.get("username"), entry.get("password")
    if not isinstance(name, str) or not isinstance(password, str):
        try:
            text = base64.b64decode(entry.get("auth") or "", validate=True).decode()
        except (binascii.Error, ValueError, TypeError):
            return None
        name, _, password = text.partition(":")
    return Credentials(name, password) if name and password else None


def _at(document: Any, *keys: str) -> Any:
    for key in keys:
        document = document.get(key) if isinstance(document, Mapping) else None
    return document
