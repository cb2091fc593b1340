"""Values of the command line that the configuration could not hold, refused by the name they were given under."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from audit.config.fields import Name, PathText, Text
from audit.config.overrides import Overrides
from audit.config.registries import PLAIN, HostText
from audit.errors import UsageError
from audit.loopback import is_loopback

_ALLOWED: dict[Any, str] = {
    Name: "at most 128 letters, digits and . _ : @ / - and spaces, the first a letter or digit",
    PathText: "1 to 4096 characters, none of them a control character",
    Text: "1 to 500 characters",
    HostText: "a host with its port where it has one, and http:// before it for this machine without TLS",
}


def check_values(overrides: Overrides) -> None:
    """Refuse what cannot be used.

    Raises:
        UsageError: the first such value; the others with it.
    """
    problems = [
        UsageError(f"{option}: {value[:60]!r} cannot be used", suggestion=f"allowed: {_ALLOWED[kind]}")
        for option, value, kind in _given(overrides)
        if not _fits(value, kind)
    ]
    problems += [
        UsageError(
            f"--registry: {text[:60]!r} is not this machine, and only that may be asked without TLS",
            suggestion="leave out http://",
        )
        for text in overrides.registries
        if text.startswith(PLAIN) and not is_loopback(text.removeprefix(PLAIN))
    ]
    if problems:
        problems[0].others = tuple(problems[1:])
        raise problems[0]


def _given(over: Overrides) -> Iterator[tuple[str, str, Any]]:
    several: tuple[tuple[str, tuple[str, ...], Any], ...] = (
        ("PATH", over.paths, PathText),
        ("--cluster", over.clusters, Name),
        ("--policy", over.policy, PathText),
        ("--include", over.include, Text),
        ("--exclude", over.exclude, PathText),
        ("--rule", over.rules, Text),
        ("--skip-rule", over.skip_rules, Text),
        ("--registry", tuple(host.removeprefix(PLAIN) for host in over.registries), HostText),
    )
    for option, values, kind in several:
        yield from ((option, value, kind) for value in values)
    for option, text in (("--output", over.folder), ("--register", over.register)):
        if text is not None:
            yield option, text, PathText


def _fits(value: str, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except (msgspec.ValidationError, UnicodeError):
        return False
    return True
