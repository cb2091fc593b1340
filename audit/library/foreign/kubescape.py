"""Kubescape's rule folders: ``raw.rego`` beside ``rule.metadata.json``, each compiled apart, over ``input[_]``."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from audit.library.foreign.adapters import ROOT, adapter, package_of, quoted
from audit.library.foreign.draft import Draft, exact_kinds, make_rule, whole_objects
from audit.library.foreign.kubescape_metadata import RuleMetadata, severities
from audit.library.foreign.module import Graph, Module, module
from audit.library.foreign.naming import rule_id
from audit.library.foreign.outline import Form
from audit.library.foreign.plain import FAILURE, counts_of_input
from audit.library.foreign.reading import SourceFile
from audit.library.foreign.relocate import package_in, relocate
from audit.library.foreign.settle import Wanted, policy_gap
from audit.library.foreign.steps import Path as Steps
from audit.library.foreign.steps import rego_path
from audit.library.foreign.words import Words
from audit.library.policy_source import PolicySource
from audit.model.foreign import UNRESOLVED_DATA, ForeignAsk, InventoryLayout
from audit.model.gap import Notice

METADATA = "rule.metadata.json"
_RAW, _FILTER = "raw.rego", "filter.rego"
_NOT_STEP = re.compile(r"[^A-Za-z0-9_]")
_SETTINGS = "default-config-inputs.json"
NOT_SELECTED = "not_selected_by_filter"


def is_rule_folder(file: SourceFile) -> bool:
    """Whether a Rego file belongs to a Kubescape rule."""
    return file.path.name in (_RAW, _FILTER) and file.path.with_name(METADATA).is_file()


class KubescapeReader:
    """Adds the rules of rule folders to a draft.

    Args:
        source: where they come from.
        name: beginning of the rule ids.
        draft: its modules are libraries so far.
    """

    def __init__(self, source: PolicySource, name: str, draft: Draft) -> None:
        self._source = source
        self._name = name
        self._draft = draft
        self._libraries = list(draft.modules)
        self._severities = severities(source.path)
        self._steps: set[str] = set()
        if not source.data:
            self._default_settings()

    def read(self, files: Sequence[SourceFile]) -> None:
        """Read all folders among these files."""
        folders: dict[Path, dict[str, SourceFile]] = {}
        for file in files:
            folders.setdefault(file.path.parent, {})[file.path.name] = file
        for folder, parts in sorted(folders.items()):
            raw = parts.get(_RAW)
            if raw is not None:
                self._folder(folder, raw, parts.get(_FILTER))

    def _folder(self, folder: Path, raw: SourceFile, selecting: SourceFile | None) -> None:
        draft = self._draft
        try:
            metadata = msgspec.json.decode((folder / METADATA).read_bytes(), type=RuleMetadata)
        except (OSError, msgspec.DecodeError) as error:
            label = raw.label.rpartition("/")[0] + f"/{METADATA}"
            draft.gaps.append(policy_gap(label, f"cannot be read: {str(error).splitlines()[0]}"))
            return
        if why := _never_here(metadata):
            draft.gaps.append(policy_gap(raw.label, f"{folder.name} {why}", hint=_NEEDS_KUBESCAPE))
            return
        if not self._source.kinds and metadata.kinds is None:
            message = f"{folder.name} matches no kind of object: it is reviewed by hand"
            draft.notices.append(Notice(source=raw.label, code="matches_nothing", message=message))
            return
        if until := metadata.attribute("useUntilKubescapeVersion"):
            message = f"{folder.name} is only for Kubescape before {until}"
            draft.notices.append(Notice(source=raw.label, code="rule_superseded", message=message))
            return
        step = self._step(folder.name)
        main = self._moved(raw, step, "rule")
        decisions = _decisions(main)
        if not decisions:
            draft.gaps.append(policy_gap(raw.label, "no rule of it raises an alert"))
            return
        selector = self._moved(selecting, step, "selection") if selecting else None
        for decision in decisions:
            self._want(folder, metadata, main, decision, selector)

    def _moved(self, file: SourceFile, step: str, part: str) -> Module:
        """The module in a package of its own."""
        package = package_in(file.text)
        new = (ROOT, "list", step, part, package[-1] if package else "none")
        moved = module(file.label, relocate(file.text, {package: new}), file=file.label)
        self._draft.modules.append(moved)
        self._draft.scopes[moved.key] = step
        return moved

    def _step(self, name: str) -> str:
        step = base = "r_" + _NOT_STEP.sub("_", name)
        number = 1
        while step in self._steps:
            number += 1
            step = f"{base}_{number}"
        self._steps.add(step)
        return step

    def _want(
        self, folder: Path, metadata: RuleMetadata, main: Module, decision: str, selector: Module | None
    ) -> None:
        draft, source = self._draft, self._source
        root = (main.package, decision)
        graph = Graph([*self._libraries, main])
        kinds = source.kinds or metadata.kinds or ()
        together = source.combine or counts_of_input(graph.reachable(root), root) > 1
        if together:
            kinds = exact_kinds(kinds)
            if not kinds:
                draft.gaps.append(
                    policy_gap(
                        main.file,
                        f"{folder.name} looks at all objects together, and it cannot be told of which kinds",
                        hint="name the kinds of this source in the configuration (policy.sources[].kinds)",
                    )
                )
                return
        caveats = (UNRESOLVED_DATA,) if self._unresolved(graph, root) else ()
        made = make_rule(
            draft,
            source,
            id_=rule_id(self._name, (folder.name,), decision),
            words=Words(
                description=" ".join(metadata.description.split())[:2000],
                remediation=" ".join(metadata.remediation.split())[:2000],
                severity=self._severities.get(metadata.name or folder.name),
            ),
            title=folder.name.replace("-", " "),
            file=main.file,
            line=graph.statements(root)[0][1].line,
            digest_of=[part.text for part in (main, selector, *self._libraries) if part],
            package=main.package[-1],
            kinds=kinds,
            context=whole_objects(kinds) if together else (),
            not_applicable=NOT_SELECTED,
            caveats=caveats,
            per_cluster=together,
        )
        if together:
            draft.inventory = InventoryLayout.BY_KIND
        listed = "[" + ", ".join(quoted(kind) for kind in kinds) + "]"
        given = f"whole.objects({listed})" if together else "[input]"
        number = draft.number()
        applies = "true"
        roots: tuple[tuple[Steps, str], ...] = (root,)
        if selector is not None and not together:
            names = _decisions(selector)
            counts = (
                " + ".join(f"count({rego_path(('data', *selector.package, name))})" for name in names) or "0"
            )
            applies = f"{counts} > 0 with input as [input]"
            roots = (root, *((selector.package, name) for name in names))
        draft.wanted.append(
            Wanted(
                ask=ForeignAsk(
                    rule=made,
                    package=package_of(number),
                    undefined=f"{decision} is undefined for this object: not evaluated",
                    unmatched="the filter gives no answer for this object",
                    bad_answer=f"{decision} gives no set of alerts",
                ),
                adapter=adapter(
                    package_of(number),
                    (*main.package, decision),
                    reading="messages",
                    given=given,
                    applies=applies,
                ),
                roots=roots,
                scope=draft.scopes[main.key],
            )
        )

    def _unresolved(self, graph: Graph, root: tuple[Steps, str]) -> bool:
        missing = graph.unresolved(root, self._draft.data)
        for owner, reference in missing[:1]:
            what = ".".join(step for step in reference.path if step != "*")
            self._draft.gaps.append(
                policy_gap(
                    owner.file,
                    f"{what} is read and nothing defines it, so what needs it never fires",
                    line=owner.line(reference.line),
                    hint="give the data or the library of this source in the configuration "
                    "(policy.sources[].data, libraries)",
                )
            )
        return bool(missing)

    def _default_settings(self) -> None:
        """Kubescape's default inputs, where they lie beside the rules."""
        for folder in (self._source.path, self._source.path.parent):
            file = folder / _SETTINGS
            if not file.is_file():
                continue
            try:
                settings = json.loads(file.read_text(encoding="utf-8"))["settings"]
                inputs = settings["postureControlInputs"]
            except (OSError, ValueError, KeyError, TypeError):
                return
            self._draft.data.setdefault("postureControlInputs", inputs)
            message = f"the default inputs of {_SETTINGS} are used"
            self._draft.notices.append(
                Notice(source=self._source.label, code="default_inputs", message=message)
            )
            return


_NEEDS_KUBESCAPE = "judged by Kubescape alone"


def _decisions(part: Module) -> list[str]:
    """Rules that raise alerts. Kubescape asks the whole package, whatever its rules are called."""
    return sorted(
        {
            statement.name
            for statement in part.outline.statements
            if statement.form is Form.SET
            and ("alertMessage" in statement.strings or FAILURE.match(statement.name))
        }
    )


def _never_here(metadata: RuleMetadata) -> str:
    """Why a rule cannot be asked outside Kubescape; empty when it can."""
    if aggregator := metadata.attribute("resourcesAggregator"):
        return f"needs Kubescape's resource aggregator {aggregator}"
    if metadata.attribute("imageScanRelated") == "true":
        return "needs the results of Kubescape's image scan"
    return ""
