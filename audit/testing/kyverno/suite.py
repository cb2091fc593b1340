"""``kyverno-test.yaml``: which rows its author expects, and where each is written."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from pathlib import Path

import msgspec

from audit.errors import ContentError
from audit.testing.discover import SuiteFile
from audit.testing.yaml_nodes import Part, parts_of

SKIP = "skip"
EVERY_RESOURCE = "(every resource)"
"""Stands for the resources where an entry names none."""
_FILE_LISTS = ("policies", "resources", "targetResources", "paramResources", "exceptions", "clusterResources")
_PAYLOAD_LISTS = ("jsonPayloads", "httpPayloads", "envoyPayloads")
_FILES = ("variables", "userinfo", "context", "jsonPayload")
_RULELESS = (
    "isValidatingPolicy",
    "isValidatingAdmissionPolicy",
    "isMutatingPolicy",
    "isMutatingAdmissionPolicy",
    "isImageValidatingPolicy",
    "isGeneratingPolicy",
    "isDeletingPolicy",
)
_GENERATED = ("generatedResource", "generatedResources", "cloneSourceResource")


class NothingExpectedError(ContentError):
    """The suite is right, and says nothing of what its rules should say."""


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of ``results``."""

    policy: str
    rule: str
    result: str
    resources: tuple[str, ...]
    """As written: ``name`` or ``namespace/name``; empty means every resource of the suite."""
    operation: str
    ruleless: bool
    """Its policy is of a kind that has no rules with names."""
    generates: bool
    """Its rows name what is generated, not what it is generated from."""
    line: int

    def name(self, resource: str) -> str:
        """Of the case of one resource."""
        rule = f"/{self.rule}" if self.rule else ""
        operation = f" {self.operation}" if self.operation else ""
        return f"{self.policy}{rule}{operation} {resource}"


class SuiteTest(msgspec.Struct, frozen=True, kw_only=True):
    """One document of a suite."""

    expected: tuple[Expected, ...]
    policies: tuple[Path, ...]
    resources: tuple[Path, ...]
    """Files and folders with the objects that entries may name."""
    payloads: bool
    """Entries may name payloads too."""


def read_suite(file: SuiteFile) -> list[SuiteTest]:
    """All documents that expect something.

    Raises:
        NothingExpectedError: there is no such document.
        ContentError: it cannot be read, or names files that are not there.
    """
    try:
        text = file.path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ContentError(f"cannot be read: {error}", file=file.label) from error
    parts = parts_of(text, file.label)
    if not parts:
        raise ContentError("is empty", file=file.label, suggestion="write a Test into it, or remove it")
    tests = [test for part in parts if (test := _test(part, file)).expected]
    if not tests:
        raise NothingExpectedError(
            "expects nothing, so nothing is looked at",
            file=file.label,
            line=parts[0].line,
            key="results",
            suggestion="list what each rule should say",
        )
    for part in parts:
        _check_files(part, file)
    return tests


def expected_of(file: SuiteFile) -> list[Expected]:
    """What a suite expects, whatever else is wrong with it; nothing when it cannot be read."""
    try:
        parts = parts_of(file.path.read_text(encoding="utf-8-sig"), file.label)
        return [entry for part in parts for entry in _test(part, file).expected]
    except (OSError, UnicodeDecodeError, ContentError):
        return []


def _test(part: Part, file: SuiteFile) -> SuiteTest:
    folder = file.path.parent
    return SuiteTest(
        expected=tuple(_expected(item) for item in part.items("results")),
        policies=tuple(folder / name for name in part.texts("policies")),
        resources=tuple(
            folder / name for key in ("resources", "targetResources") for name in part.texts(key)
        ),
        payloads=any(not part.get(key).absent for key in (*_PAYLOAD_LISTS, "jsonPayload")),
    )


def _expected(part: Part) -> Expected:
    specs = tuple(
        posixpath.join(spec.text("namespace"), spec.text("name")) for spec in part.items("resourceSpecs")
    )
    return Expected(
        policy=part.text("policy"),
        rule=part.text("rule"),
        result=part.text("result"),
        resources=(*part.texts("resources"), *specs),
        operation=part.text("operation"),
        ruleless=any(part.get(key).value is True for key in _RULELESS),
        generates=any(not part.get(key).absent for key in _GENERATED),
        line=part.line,
    )


def _check_files(part: Part, file: SuiteFile) -> None:
    """Refuse files that are not there, all at once: the CLI ends at the first, and its other suites with it."""
    missing = [
        place.error(
            f"there is no file {posixpath.normpath(posixpath.join(posixpath.dirname(file.label), name))}",
            key=key,
        )
        for key, name, place in _named(part)
        if not (file.path.parent / name).exists()
    ]
    if missing:
        first = missing[0]
        more = f" (and {len(missing) - 1} more are missing)" if len(missing) > 1 else ""
        raise ContentError(
            first.message + more,
            file=first.file,
            line=first.line,
            key=first.key,
            suggestion="mend the path: it is relative to the suite's folder",
        )


def _named(part: Part) -> Iterator[tuple[str, str, Part]]:
    for key in (*_FILE_LISTS, *_PAYLOAD_LISTS):
        for item in part.items(key):
            yield key, item.as_text(key), item
    for key in _FILES:
        if part.text(key):
            yield key, part.text(key), part.get(key)
