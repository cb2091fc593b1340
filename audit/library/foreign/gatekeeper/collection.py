"""Gatekeeper's objects of a source, sorted: templates, constraints, settings. What Gatekeeper would refuse is a gap."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from audit.errors import ContentError
from audit.library.foreign.draft import Draft
from audit.library.foreign.gatekeeper.constraint import (
    GROUP,
    Constraint,
    read_constraint,
    wrong_constraint,
)
from audit.library.foreign.gatekeeper.documents import gatekeeper_documents
from audit.library.foreign.gatekeeper.sync import excluded_namespaces, listed_kinds
from audit.library.foreign.gatekeeper.template import Template, check_dialect, read_template
from audit.library.foreign.reading import SourceFile
from audit.library.foreign.settle import policy_gap
from audit.library.kyverno.documents import PolicyDocument, mapping_of, text_of
from audit.model.gap import Notice
from audit.native.evaluator import Evaluator

_NOT_STEP = re.compile(r"[^A-Za-z0-9_]")
_SETTINGS = ("config.gatekeeper.sh", "syncset.gatekeeper.sh")
_CHANGES_OBJECTS = ("mutations.gatekeeper.sh", "expansion.gatekeeper.sh")


class Collection:
    """What was found.

    Args:
        draft: gets the gaps and notices.
        label: of the source, for errors without a file.
        evaluator: finds out the dialect of each template.
    """

    def __init__(self, draft: Draft, label: str, evaluator: Evaluator) -> None:
        self.templates: dict[str, Template] = {}
        """By the kind they define."""
        self.constraints: dict[str, Constraint] = {}
        """By kind and name, of this source alone."""
        self.synced: set[str] = set()
        """Kinds that a Config or a SyncSet keeps."""
        self.excluded: list[str] = []
        """Namespaces that a Config keeps out of the audit."""
        self.borrowed: set[str] = set()
        """Kinds whose template lies in another source."""
        self.asked_elsewhere: set[str] = set()
        """Kinds with constraints in another source."""
        self._draft = draft
        self._label = label
        self._evaluator = evaluator
        self._refused: set[str] = set()

    def read_beside(self, files: Sequence[SourceFile]) -> None:
        """Templates and settings of the user's other sources. What is wrong with them is said over there."""
        for found in gatekeeper_documents(files):
            if isinstance(found, ContentError):
                continue
            document, file = found
            if document.group == GROUP:
                self.asked_elsewhere.add(document.kind)
                continue
            try:
                if document.group in _SETTINGS:
                    self.synced |= listed_kinds(document)
                    self.excluded += excluded_namespaces(document)
                elif document.kind == "ConstraintTemplate" and _kind_of(document) not in self.templates:
                    template = read_template(document, file, _step(document))
                    self.templates[template.kind] = template
                    self.borrowed.add(template.kind)
            except ContentError:
                self._refused.add(_kind_of(document))

    def read(self, files: Sequence[SourceFile]) -> None:
        """The source's own files."""
        waiting: list[PolicyDocument] = []
        for found in gatekeeper_documents(files):
            if isinstance(found, ContentError):
                self.refuse(found)
                continue
            document, file = found
            if document.kind == "ConstraintTemplate":
                self._attempt(self._template, document, file)
            elif document.group == GROUP:
                waiting.append(document)
            else:
                self._attempt(self._other, document)
        self._check_dialects()
        for document in waiting:
            self._attempt(self._constraint, document)

    def refuse(self, error: ContentError) -> None:
        """Put an error down as a gap."""
        reason = f"{error.key}: {error.message}" if error.key else error.message
        self._draft.gaps.append(
            policy_gap(error.file or self._label, reason, line=error.line, hint=error.suggestion or "")
        )

    def note(self, document: PolicyDocument, code: str, message: str) -> None:
        """Say something about a document."""
        self._draft.notices.append(
            Notice(source=document.file, code=code, message=message, line=document.line)
        )

    def _attempt(self, step: Any, *arguments: Any) -> None:
        try:
            step(*arguments)
        except ContentError as error:
            self.refuse(error)

    def _other(self, document: PolicyDocument) -> None:
        if document.group in _SETTINGS:
            self.synced |= listed_kinds(document)
            excluded = excluded_namespaces(document)
            if excluded:
                self.excluded += excluded
                self.note(document, "namespaces_excluded", f"keeps the audit out of {', '.join(excluded)}")
        elif document.group in _CHANGES_OBJECTS:
            message = f"{document.kind} {document.name} changes or makes objects"
            self.note(document, "not_an_audit_rule", message)

    def _template(self, document: PolicyDocument, file: SourceFile) -> None:
        kind = _kind_of(document)
        known = self.templates.get(kind)
        if known is not None and kind not in self.borrowed:
            if known.document.spec != document.spec:
                raise document.error(f"{kind} is already defined in {known.document.file}, differently")
            return
        self.borrowed.discard(kind)
        try:
            template = read_template(document, file, _step(document))
        except ContentError:
            self._refused.add(kind)
            raise
        self.templates[kind] = template
        if template.has_cel:
            self.note(document, "cel_beside_rego", f"{kind} is judged by its Rego; its CEL is not looked at")

    def _check_dialects(self) -> None:
        modules = {part.key: part.text for template in self.templates.values() for part in template.modules}
        dialects = {p.file: p.dialect for p in self._evaluator.inspect(modules).packages}
        for kind, template in list(self.templates.items()):
            try:
                check_dialect(template, dialects)
            except ContentError as error:
                del self.templates[kind]
                self._refused.add(kind)
                if kind not in self.borrowed:
                    self.refuse(error)

    def _constraint(self, document: PolicyDocument) -> None:
        template = self.templates.get(document.kind)
        if template is None:
            if document.kind in self._refused:
                return  # the template's own gap says it
            raise wrong_constraint(document, sorted(self.templates))
        constraint = read_constraint(document, template)
        known = self.constraints.get(constraint.key)
        if known is None:
            self.constraints[constraint.key] = constraint
        elif known.document.spec != document.spec:
            raise document.error(f"{constraint.key} is already defined in {known.document.file}, differently")


def _kind_of(document: PolicyDocument) -> str:
    """Kind that a template defines."""
    names = mapping_of(mapping_of(mapping_of(document.spec.get("crd")).get("spec")).get("names"))
    return text_of(names.get("kind"))


def _step(document: PolicyDocument) -> str:
    return _NOT_STEP.sub("_", _kind_of(document))
