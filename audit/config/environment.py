"""The only file that reads the environment.

Local audits open no connection, so proxy and certificate settings are not used yet. They are read here, and shown by
``fleetaudit doctor``, because live clusters and registries will need them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from audit.config.suggest import nearest
from audit.errors import ConfigError, UsageError

PREFIX = "FLEETAUDIT_"
OWN = (
    "FLEETAUDIT_CACHE",
    "FLEETAUDIT_CONFIG",
    "FLEETAUDIT_DEBUG",
    "FLEETAUDIT_HISTORY",
    "FLEETAUDIT_JOBS",
    "FLEETAUDIT_LANG",
)
PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy")
AUTHORITIES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """What the surroundings ask for."""

    config: str = ""
    """FLEETAUDIT_CONFIG: the configuration file, when ``--config`` is not given."""
    jobs: int | None = None
    """FLEETAUDIT_JOBS: cores to use."""
    lang: str = ""
    """FLEETAUDIT_LANG: language of reports."""
    debug: bool = False
    """FLEETAUDIT_DEBUG: show tracebacks."""
    no_color: bool = False
    """NO_COLOR is set and not empty, or TERM is dumb."""
    locale: str = ""
    """LC_ALL, LC_CTYPE or LANG: the first that is set."""
    term: str = ""
    search_path: str = ""
    """PATH, to find helm and other tools."""
    cache: str = ""
    """FLEETAUDIT_CACHE, else XDG_CACHE_HOME: where fetched policies and answers of earlier runs are kept, in a folder of
    their own; empty means ~/.cache."""
    history: str = ""
    """FLEETAUDIT_HISTORY: where results are kept. May hold a password: it is never printed."""
    proxies: tuple[str, ...] = ()
    """Names of proxy variables that are set; their values may hold passwords."""
    authorities: dict[str, str] = {}
    """Certificate variables that are set."""
    warnings: tuple[str, ...] = ()
    """Variables that look like a typing error."""


def read_environment(variables: Mapping[str, str] | None = None) -> Environment:
    """Read the process environment, or the mapping given.

    Raises:
        UsageError: a FLEETAUDIT_ variable has a value that cannot be used.
    """
    env = os.environ if variables is None else variables
    return Environment(
        config=env.get("FLEETAUDIT_CONFIG", ""),
        jobs=_jobs(env.get("FLEETAUDIT_JOBS", "")),
        lang=_lang(env.get("FLEETAUDIT_LANG", "")),
        debug=env.get("FLEETAUDIT_DEBUG", "") not in {"", "0", "false", "no"},
        no_color=bool(env.get("NO_COLOR")) or env.get("TERM") == "dumb",
        locale=next((env[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if env.get(name)), ""),
        term=env.get("TERM", ""),
        search_path=env.get("PATH", ""),
        cache=env.get("FLEETAUDIT_CACHE") or env.get("XDG_CACHE_HOME", ""),
        history=env.get("FLEETAUDIT_HISTORY", ""),
        proxies=tuple(name for name in PROXIES if env.get(name)),
        authorities={name: env[name] for name in AUTHORITIES if env.get(name)},
        warnings=tuple(_typing_errors(env)),
    )


def read_secret(variable: str, variables: Mapping[str, str] | None = None) -> str:
    """The secret in a variable that the configuration names. It is read when it is used, and kept nowhere.

    Raises:
        ConfigError: the variable is not set, or empty.
    """
    text = (os.environ if variables is None else variables).get(variable, "").strip()
    if not text:
        raise ConfigError(
            f"the environment variable {variable} is not set",
            suggestion="set it to the token, or name another one",
        )
    return text


def _jobs(text: str) -> int | None:
    if not text:
        return None
    if text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= 1024:
        return int(text)
    raise UsageError(f"FLEETAUDIT_JOBS is {text[:40]!r}", suggestion="set a number of cores from 1 to 1024")


def _lang(text: str) -> str:
    if text in {"", "en", "zh-CN"}:
        return text
    raise UsageError(f"FLEETAUDIT_LANG is {text[:40]!r}", suggestion="set en or zh-CN")


def _typing_errors(env: Mapping[str, str]) -> list[str]:
    known = [name.removeprefix(PREFIX) for name in OWN]
    strange = sorted(name for name in env if name.startswith(PREFIX) and name not in OWN)
    return [
        f"{name} is set and has no meaning; did you mean {PREFIX}{meant}?"
        for name in strange
        if (meant := nearest(name.removeprefix(PREFIX), known))
    ]
