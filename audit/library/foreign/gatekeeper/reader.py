"""Templates and constraints of a source to rules: one rule a constraint."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from audit.errors import ContentError
from audit.library.foreign.adapters import adapter, package_of, quoted
from audit.library.foreign.draft import Draft, make_rule, whole_objects
from audit.library.foreign.gatekeeper.collection import Collection
from audit.library.foreign.gatekeeper.constraint import Constraint
from audit.library.foreign.gatekeeper.kinds import unknown_kinds
from audit.library.foreign.gatekeeper.sync import synced_kinds
from audit.library.foreign.gatekeeper.template import Template
from audit.library.foreign.naming import rule_id
from audit.library.foreign.reading import SourceFile
from audit.library.foreign.settle import Wanted, policy_gap
from audit.library.foreign.words import Words, severity_of
from audit.library.kyverno.documents import mapping_of, text_of
from audit.library.policy_source import PolicySource
from audit.model.foreign import ForeignAsk, InventoryLayout
from audit.model.rule import ContextNeed
from audit.native.evaluator import Evaluator

NOT_MATCHED = "not_matched_by_constraint"
_CONSTRAINTS = "fleetaudit_constraints"
_NOT_STEP = re.compile(r"[^A-Za-z0-9_]")
_CHANGES_OBJECTS = frozenset({"mutations.gatekeeper.sh", "expansion.gatekeeper.sh"})


class GatekeeperReader:
    """Adds the constraints of a source to a draft.

    Args:
        source: where they come from.
        name: beginning of the rule ids.
        draft: an empty one.
        evaluator: finds out the dialect of each template.
    """

    def __init__(self, source: PolicySource, name: str, draft: Draft, evaluator: Evaluator) -> None:
        self._source = source
        self._name = name
        self._draft = draft
        self._found = Collection(draft, source.label, evaluator)

    def read(self, files: Sequence[SourceFile], beside: Sequence[SourceFile] = ()) -> None:
        """Read everything; what is wrong costs itself.

        Args:
            files: of the source.
            beside: of the user's other sources: templates and constraints often lie in folders of their own.
        """
        self._found.read_beside(beside)
        self._found.read(files)
        self._finish()

    def _finish(self) -> None:
        draft = self._draft
        by_kind: dict[str, list[Constraint]] = {}
        for _, constraint in sorted(self._found.constraints.items()):
            by_kind.setdefault(constraint.kind, []).append(constraint)
        table: dict[str, Any] = {}
        for kind, template in sorted(self._found.templates.items()):
            constraints = by_kind.get(kind, [])
            if constraints or kind not in self._found.borrowed:
                draft.modules += template.modules
                draft.scopes |= {part.key: template.step for part in template.modules}
            if not constraints:
                self._unasked(template)
                continue
            try:
                synced = synced_kinds(template, self._found.synced)
            except ContentError as error:
                self._found.refuse(error)
                continue
            if synced.unknown is not None:
                draft.gaps.append(
                    policy_gap(
                        template.document.file,
                        f"{kind} reads data.inventory, and it cannot be told of which kinds",
                        line=synced.unknown,
                        hint="list them in the template's annotation metadata.gatekeeper.sh/requires-sync-data",
                    )
                )
                continue
            if synced.inferred:
                listed = ", ".join(sorted(synced.kinds)) or "nothing that is known"
                self._found.note(
                    template.document, "inventory_inferred", f"{kind} does not say what it reads: {listed}"
                )
            for constraint in constraints:
                table[constraint.key] = {
                    "match": self._match(constraint),
                    "parameters": constraint.parameters,
                }
                self._want(template, constraint, sorted(synced.kinds))
        draft.data[_CONSTRAINTS] = table

    def _unasked(self, template: Template) -> None:
        kind = template.kind
        if kind in self._found.borrowed:
            return
        if kind in self._found.asked_elsewhere:
            message = f"{kind} is asked by constraints of another source"
            self._found.note(template.document, "asked_elsewhere", message)
        else:
            message = f"{kind} has no constraint, so it is never asked"
            self._found.note(template.document, "no_constraint", message)

    def _match(self, constraint: Constraint) -> dict[str, Any]:
        if not self._found.excluded:
            return constraint.match
        excluded = [*constraint.match.get("excludedNamespaces", []), *self._found.excluded]
        return {**constraint.match, "excludedNamespaces": excluded}

    def _want(self, template: Template, constraint: Constraint, synced: Sequence[str]) -> None:
        draft = self._draft
        document = constraint.document
        where = f"data.{_CONSTRAINTS}[{quoted(constraint.key)}]"
        context = whole_objects(synced)
        reads_namespace = any(
            "namespaceObject" in s.members for p in template.modules for s in p.outline.statements
        )
        if (constraint.needs_namespaces or reads_namespace) and "Namespace" not in synced:
            fields = ("*",) if reads_namespace else ()
            context = (*context, ContextNeed(kinds=("Namespace",), fields=fields))
        if context:
            draft.inventory = InventoryLayout.GATEKEEPER
        kinds = self._source.kinds or constraint.kinds
        self._vacuous(constraint)
        number = draft.number()
        draft.wanted.append(
            Wanted(
                ask=ForeignAsk(
                    rule=make_rule(
                        draft,
                        self._source,
                        id_=rule_id(self._name, (constraint.kind,), constraint.name),
                        words=_words(template, constraint),
                        title=f"{constraint.kind} {constraint.name}",
                        file=document.file,
                        line=document.line,
                        digest_of=[*(part.text for part in template.modules), repr(constraint.parameters)],
                        package=".".join(template.original.package),
                        kinds=kinds,
                        context=context,
                        not_applicable=NOT_MATCHED,
                        warn_only=constraint.warn_only,
                        parameters=constraint.parameters,
                    ),
                    package=package_of(number),
                    undefined="violation is undefined for this object: not evaluated",
                    unmatched="the constraint selects namespaces by their labels, "
                    "and the object's Namespace was not collected",
                    bad_answer="violation gives no set of objects with msg",
                ),
                adapter=adapter(
                    package_of(number),
                    (*template.main.package, "violation"),
                    reading="messages",
                    given=f'{{"review": gatekeeper.review, "parameters": {where}.parameters}}',
                    applies=f"gatekeeper.matches({where}.match)",
                ),
                roots=((template.main.package, "violation"),),
                scope=template.step,
            )
        )

    def _vacuous(self, constraint: Constraint) -> None:
        """Say what a constraint can never match."""
        document = constraint.document
        if constraint.never_matches:
            self._found.note(
                document, "matches_nothing", f"{constraint.key} wants generated objects, and here are none"
            )
        unknown = unknown_kinds(constraint.match)
        for kind, hint in unknown.items():
            every = " and nothing else" if len(unknown) == _count_kinds(constraint.match) else ""
            self._found.note(
                document,
                "matches_unknown_kind",
                f"{constraint.key} matches {kind}{every}, which does not exist{hint}",
            )


def _count_kinds(match: Mapping[str, Any]) -> int:
    return sum(len(entry.get("kinds") or ["*"]) for entry in match.get("kinds", []))


def _words(template: Template, constraint: Constraint) -> Words:
    annotations = mapping_of(constraint.document.metadata.get("annotations"))
    severity = None
    for found in (annotations, template.annotations):
        for key, value in found.items():
            if key.rpartition("/")[2].lower() == "severity":
                severity = severity or severity_of(value)
    title = text_of(template.annotations.get("metadata.gatekeeper.sh/title"))
    described = " ".join(text_of(template.annotations.get("description")).split())
    return Words(
        title=f"{title}: {constraint.name}" if title else "",
        description=f"{described[:1500]} Enforcement action: {constraint.action}.".strip(),
        severity=severity,
    )
