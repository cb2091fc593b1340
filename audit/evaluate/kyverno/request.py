"""What the user may say about the simulated request: values, a user, image data. Read once, checked at the door."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import yaml

from audit.errors import ConfigError
from audit.evaluate.kyverno.handover import namespace_name
from audit.evaluate.kyverno.selection import Asker

_OPERATION = "request.operation"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Decoded files of the user; empty by default."""

    values: Mapping[str, Any] | None = None
    """A ``cli.kyverno.io/v1alpha1`` Values document."""
    user: Mapping[str, Any] | None = None
    """A UserInfo document."""
    context: Mapping[str, Any] | None = None
    """A Context document: image data and objects for policies in CEL."""

    @property
    def digest(self) -> str:
        """sha256 (hex) of all of it; empty when nothing was said."""
        said = (self.values, self.user, self.context)
        if said == (None, None, None):
            return ""
        return hashlib.sha256(msgspec.json.encode(said, order="sorted")).hexdigest()

    def asker(self, policy: str, name: str) -> Asker:
        """The request simulated for one policy and the object called `name`."""
        operation = self._operation(policy, name)
        return Asker(operation=operation, user=self.user)

    def cel_asker(self) -> Asker:
        """The request simulated for policies in CEL: only the global operation counts there."""
        operation = _value(self._section("globalValues"), _OPERATION)
        return Asker(operation=operation if operation in ("UPDATE", "DELETE") else "CREATE", user=self.user)

    def mocked(self, policy: str, rule: str) -> frozenset[str]:
        """Context variables whose values the user gives, for one rule or for all."""
        names: set[str] = set(_section_keys(self._section("globalValues")))
        for entry in self._list("policies"):
            if entry.get("name") != policy:
                continue
            for resource in _mappings(entry.get("resources")):
                names |= _section_keys(resource.get("values"))
            for written in _mappings(entry.get("rules")):
                if written.get("name") == rule:
                    names |= _section_keys(written.get("values")) | _section_keys(
                        written.get("foreachValues")
                    )
        return frozenset(names)

    def namespace_labels(self) -> dict[str, dict[str, str]]:
        """Labels that the values file gives to namespaces."""
        found: dict[str, dict[str, str]] = {}
        for entry in self._list("namespaceSelector"):
            found[str(entry.get("name", ""))] = dict(entry.get("labels") or {})
        for entry in self._list("namespaces"):
            found[namespace_name(entry)] = dict((entry.get("metadata") or {}).get("labels") or {})
        return found

    def _operation(self, policy: str, name: str) -> str:
        operation = _value(self._section("globalValues"), _OPERATION)
        for entry in self._list("policies"):
            if entry.get("name") != policy:
                continue
            for resource in entry.get("resources") or []:
                if isinstance(resource, Mapping) and resource.get("name") == name:
                    operation = _value(resource.get("values"), _OPERATION) or operation
        return operation if operation in ("UPDATE", "DELETE") else "CREATE"

    def _section(self, name: str) -> Any:
        return (self.values or {}).get(name)

    def _list(self, name: str) -> list[Mapping[str, Any]]:
        return [entry for entry in self._section(name) or [] if isinstance(entry, Mapping)]


def load_request(
    values: Path | None = None, user: Path | None = None, context: Path | None = None
) -> Request:
    """Read the user's files.

    Raises:
        ConfigError: one can't be read, or is no mapping.
    """
    return Request(values=_read(values), user=_read(user), context=_read(context))


def _read(path: Path | None) -> Mapping[str, Any] | None:
    if path is None:
        return None
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"cannot be read: {str(error).splitlines()[0]}", file=str(path)) from error
    if not isinstance(value, dict):
        raise ConfigError("must be a mapping", file=str(path))
    return value


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in value or [] if isinstance(entry, Mapping)]


def _section_keys(section: Any) -> set[str]:
    """First parts of dotted names."""
    return {str(key).partition(".")[0] for key in section} if isinstance(section, Mapping) else set()


def _value(section: Any, name: str) -> str:
    value = section.get(name) if isinstance(section, Mapping) else None
    return value if isinstance(value, str) else ""
