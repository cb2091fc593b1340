"""Everything authored, loaded and checked together: rules, catalogs, mappings, checks, waivers, statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from audit.library.acceptance import load_statements, load_waivers
from audit.library.components import load_components
from audit.library.controls import load_controls
from audit.library.kyverno import load_kyverno
from audit.library.rules import PolicySource, RuleSet, load_rules
from audit.library.scores import read_scores, scores_file, with_scores
from audit.library.twins import load_twins
from audit.model.acceptance import Statement, Waiver
from audit.model.component import Component
from audit.model.control import Catalog, Check, MappingEntry
from audit.model.gap import Gap, Notice
from audit.model.kyverno import LoadedPolicies
from audit.model.rule import Rule
from audit.model.twin import Twin
from audit.native.evaluator import Evaluator


class Library(msgspec.Struct, frozen=True, kw_only=True):
    """The authored content of one run."""

    rule_set: RuleSet
    kyverno: LoadedPolicies
    """Kyverno policies, bindings and exceptions."""
    rules: tuple[Rule, ...]
    """Rego rules, foreign ones too, Kyverno rules and the reader's own, sorted by id."""
    catalogs: tuple[Catalog, ...]
    mappings: tuple[MappingEntry, ...]
    mappings_sha256: dict[str, str]
    checks: tuple[Check, ...]
    twins: tuple[Twin, ...]
    """Rules that ask the same question as another one."""
    components: tuple[Component, ...]
    """Profiles of components, by id."""
    waivers: tuple[Waiver, ...]
    statements: tuple[Statement, ...]
    gaps: tuple[Gap, ...]
    """The user's policies that could not be loaded."""
    signatures: Mapping[str, str] = {}
    """Ids of rules from outside the package to what the signatures of their source are worth; empty when nobody asked."""
    notices: tuple[Notice, ...] = ()
    """Mapping entries that lead nowhere, and what is worth knowing of the user's policies."""


class LibrarySources(msgspec.Struct, frozen=True, kw_only=True):
    """Where authored content is, besides what is shipped."""

    policies: Sequence[PolicySource]
    kyverno: Sequence[PolicySource] = ()
    """Shipped Kyverno policies that were asked for."""
    parameters: Mapping[str, Mapping[str, Any]]
    pod_templates: Sequence[Path] = ()
    mappings: Sequence[Path] = ()
    twins: Sequence[Path] = ()
    components: Sequence[Path] = ()
    """Profiles of components, the shipped file first."""
    waivers: Sequence[Path] = ()
    statements: Sequence[Path] = ()
    clusters: frozenset[str] = frozenset()
    """Registered clusters that waivers and statements may name."""


def load_all(sources: LibrarySources, evaluator: Evaluator, document_rules: Sequence[Rule]) -> Library:
    """Load all of it, or say what is wrong.

    Args:
        sources: where to look.
        evaluator: a started native engine, which parses the Rego.
        document_rules: rules that are no Rego (the reader's own).

    Raises:
        ContentError: anything shipped, or any mapping, twin, waiver or statement, is wrong.
    """
    rule_set = load_rules(
        sources.policies,
        evaluator,
        parameters=sources.parameters,
        pod_template_files=sources.pod_templates,
    )
    kyverno = load_kyverno(
        [*sources.kyverno, *(source for source in sources.policies if _may_hold_kyverno(source))]
    )
    everything = sorted((*rule_set.all_rules, *kyverno.rules, *document_rules), key=lambda rule: rule.id)
    rules = with_scores(everything, read_scores(scores_file()))
    ids = {rule.id for rule in rules}
    twins = load_twins(sources.twins, kyverno.twins, rules)
    controls = load_controls(
        ids, warn_only={rule.id for rule in rules if rule.warn_only}, user_mappings=sources.mappings
    )
    return Library(
        rule_set=rule_set,
        kyverno=kyverno,
        rules=rules,
        catalogs=controls.catalogs,
        mappings=controls.mappings.entries,
        mappings_sha256=dict(controls.mappings.digests),
        checks=controls.checks,
        twins=twins.declared,
        components=load_components(sources.components, ids),
        waivers=load_waivers(sources.waivers, ids, clusters=sources.clusters or None),
        statements=load_statements(sources.statements, controls.catalogs, clusters=sources.clusters or None),
        gaps=rule_set.gaps,
        notices=(*rule_set.notices, *controls.mappings.notices, *twins.notices),
    )


def _may_hold_kyverno(source: PolicySource) -> bool:
    """A source that is not there is the Rego loader's gap; one whose shape is stated holds nothing else."""
    return not source.builtin and source.shape is None and source.path.exists()
