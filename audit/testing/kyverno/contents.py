"""What a suite's own files hold: names of resources, policies with their rules. Read to tell why a row is missing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from audit.errors import ContentError
from audit.library.kyverno.documents import PolicyDocument, find_documents, list_of, mapping_of, text_of
from audit.library.policy_source import PolicySource
from audit.testing.kyverno.suite import SuiteTest

_WITH_RULES = frozenset({"ClusterPolicy", "Policy"})


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """Names in the files of one suite."""

    resources: frozenset[tuple[str, str]] | None
    """(namespace, name); None when a file could not be read."""
    policies: dict[str, frozenset[str] | None]
    """Name to names of rules; None for kinds whose rules have no names."""

    def holds(self, resource: str) -> bool | None:
        """Whether there is a resource of that name (``name`` or ``namespace/name``); None when it cannot be told."""
        if self.resources is None:
            return None
        namespace, _, name = resource.rpartition("/")
        spaces = {namespace, ""} if namespace == "default" else {namespace}
        return any(found == name and (not namespace or space in spaces) for space, found in self.resources)

    def rules_of(self, policy: str) -> frozenset[str] | None:
        """Names of a policy's rules; None when it has none with names, or is not there."""
        return self.policies.get(policy.rpartition("/")[2])

    def knows(self, policy: str) -> bool:
        """Whether there is a policy of that name."""
        return policy.rpartition("/")[2] in self.policies


def read_contents(test: SuiteTest) -> Contents:
    """Read the files of a test; what is broken is the CLI's to say."""
    names: set[tuple[str, str]] = set()
    whole = not test.payloads  # entries name those by their files
    for found in find_documents(_sources(test.resources)):
        if isinstance(found, ContentError):
            whole = False
        else:
            names.add((found.namespace, found.name))
    known: dict[str, frozenset[str] | None] = {}
    for found in find_documents(_sources(test.policies)):
        if isinstance(found, PolicyDocument) and found.name:
            known[found.name] = _rules(found)
    return Contents(resources=frozenset(names) if whole else None, policies=known)


def _rules(document: PolicyDocument) -> frozenset[str] | None:
    if document.kind not in _WITH_RULES:
        return None
    return frozenset(text_of(mapping_of(rule).get("name")) for rule in list_of(document.spec.get("rules")))


def _sources(paths: Iterable[Path]) -> list[PolicySource]:
    return [PolicySource(path=path, label=str(path), builtin=False) for path in paths]
