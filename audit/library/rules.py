"""rego/ to rules: every word shown to people is read from the METADATA beside the rule.

Shipped rules must load whole, or the run stops. A user's broken policy costs one gap, and its rules are missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml

from audit.errors import AuditError, ContentError
from audit.library.foreign.load import ForeignLoad, NothingOfThatNameError, gatekeeper_files, load_source
from audit.library.foreign.naming import source_names
from audit.library.foreign.reading import SourceFile
from audit.library.foreign.settle import policy_gap
from audit.library.kinds import impossible_kind
from audit.library.policy_source import PolicySource as PolicySource  # noqa: PLC0414  # other loaders take it from here
from audit.model.foreign import ForeignProgram, Shape
from audit.model.gap import Gap, Notice
from audit.model.rule import ContextNeed, Rule, Severity
from audit.model.subject import derived_key, kind_key
from audit.native.evaluator import EvalRule, Evaluator, PackageInfo

_ABSENT = "check the address and the commit, or clone the repository and name the folder"
_DATA_FILES = ("parameters.yaml", "pod_templates.yaml")
# libyaml, where PyYAML has it: start-up time is why it matters.
_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class RuleSet(msgspec.Struct, frozen=True, kw_only=True):
    """Everything needed to evaluate: rules, sources and their data."""

    rules: tuple[Rule, ...]
    """Of the project's own contract: shipped ones, and the user's."""
    modules: dict[str, str]
    """Label to Rego source, tests left out."""
    data: dict[str, Any]
    """``parameters`` (effective) and ``pod_templates``."""
    gaps: tuple[Gap, ...]
    notices: tuple[Notice, ...] = ()
    """What is worth knowing of the user's policies, for example how each source was read."""
    foreign: tuple[ForeignProgram, ...] = ()
    """Policies of other tools, each source on its own."""

    @property
    def all_rules(self) -> tuple[Rule, ...]:
        """Rules of every program, sorted by id."""
        foreign = (ask.rule for program in self.foreign for ask in program.asks)
        return tuple(sorted((*self.rules, *foreign), key=lambda rule: rule.id))

    @property
    def workload_kinds(self) -> tuple[str, ...]:
        """Kinds with pod templates."""
        return tuple(sorted(self.data["pod_templates"]))

    def eval_rules(self, selected: frozenset[str]) -> list[EvalRule]:
        """What the native engine is asked to answer for."""
        return [
            EvalRule(
                id=rule.id,
                package=rule.package,
                kinds=(*rule.kinds, *(derived_key(kind) for kind in rule.kinds if rule.match_derived)),
                not_applicable=rule.not_applicable,
                warn_only=rule.warn_only,
            )
            for rule in self.rules
            if rule.id in selected
        ]


def load_rules(
    sources: Sequence[PolicySource],
    evaluator: Evaluator,
    *,
    parameters: Mapping[str, Mapping[str, Any]],
    pod_template_files: Sequence[Path] = (),
) -> RuleSet:
    """Read, parse and check all rules.

    Args:
        sources: shipped folder first, then the user's.
        evaluator: a started native engine; it parses the Rego, so positions and errors are OPA's own.
        parameters: overrides by rule id.
        pod_template_files: more tables of pod templates, in the form of ``rego/pod_templates.yaml``.

    Raises:
        ContentError: a shipped file is wrong, a parameter override names no rule or no parameter, or a source is to be
            asked for a package or rule that it does not have.
    """
    modules: dict[str, str] = {}
    rules: dict[str, Rule] = {}
    gaps: list[Gap] = []
    notices: list[Notice] = []
    programs: list[ForeignProgram] = []
    data: dict[str, Any] = {"parameters": {}, "pod_templates": {}}
    names = source_names(sources)
    users = [source for source in sources if not source.builtin]
    gatekeeper = {id(source): gatekeeper_files(source) for source in users} if len(users) > 1 else {}
    for source, name in zip(sources, names, strict=True):
        try:
            if source.builtin:
                found = _read_source(source)
            else:
                beside = [f for other, files in gatekeeper.items() if other != id(source) for f in files]
                foreign = _foreign(source, name, evaluator, beside)
                gaps += foreign.gaps
                notices += foreign.notices
                programs += foreign.programs
                found = foreign.native
                if not found:
                    continue
            _merge_data(data, source)
            inspection = evaluator.inspect(found)
            if inspection.problems:
                raise inspection.problems[0].error()
            loaded = _rules_of(inspection.packages, found, source)
            _refuse_doubles(loaded, rules)
            if not source.builtin:
                _compile_alone(evaluator, modules | found, data, loaded)
        except AuditError as error:
            if source.builtin or isinstance(error, NothingOfThatNameError):
                raise
            gaps.append(policy_gap(source.label, str(error), line=error.line))
            continue
        modules |= found
        rules |= {rule.id: rule for rule in loaded}
    for file in pod_template_files:
        data["pod_templates"] |= _pod_templates(_read_yaml(file), str(file))
    _override(data["parameters"], parameters)
    workloads = tuple(sorted(data["pod_templates"]))
    finished = tuple(_finish(rule, workloads, data["parameters"]) for _, rule in sorted(rules.items()))
    return RuleSet(
        rules=finished,
        modules=modules,
        data=data,
        gaps=tuple(gaps),
        notices=tuple(notices),
        foreign=tuple(programs),
    )


def _foreign(
    source: PolicySource, name: str, evaluator: Evaluator, beside: Sequence[SourceFile]
) -> ForeignLoad:
    """A user's source, sorted: its native modules come back, everything else is made into programs."""
    if source.absent:
        return ForeignLoad(
            native={}, programs=(), gaps=(policy_gap(source.label, source.absent, hint=_ABSENT),), notices=()
        )
    return load_source(source, name, evaluator, beside)


# Placeholder kind of rules that match every kind with a pod template; replaced once the whole table is known.
_POD_TEMPLATES = "*pod_templates"


def _compile_alone(
    evaluator: Evaluator, modules: Mapping[str, str], data: Mapping[str, Any], rules: Sequence[Rule]
) -> None:
    """Compile a user's source on top of what is known good, so that an error is its own and costs nothing else."""
    asked = [EvalRule(id=rule.id, package=rule.package) for rule in rules]
    evaluator.load(modules, msgspec.json.encode(data), asked, strict=True).check()


def _read_source(source: PolicySource) -> dict[str, str]:
    if source.path.is_file():
        files = [source.path]
        root = source.path.parent
    elif source.path.is_dir():
        files = sorted(source.path.rglob("*.rego"))
        root = source.path
    else:
        raise ContentError("no such policy file or folder", file=source.label)
    modules: dict[str, str] = {}
    for file in files:
        if file.name.endswith("_test.rego"):
            continue
        label = (
            f"{source.label}/{file.relative_to(root).as_posix()}" if source.path.is_dir() else source.label
        )
        try:
            modules[label] = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ContentError(f"cannot be read: {error}", file=label) from error
    if not modules:
        raise ContentError("holds no .rego file", file=source.label)
    return modules


def _merge_data(data: dict[str, Any], source: PolicySource) -> None:
    if not source.path.is_dir():
        return
    for name in _DATA_FILES:
        file = source.path / name
        if not file.is_file():
            continue
        label = f"{source.label}/{name}"
        content = _read_yaml(file, label)
        if name == "pod_templates.yaml":
            data["pod_templates"] |= _pod_templates(content, label)
        else:
            data["parameters"] |= _section(content, "parameters", label)


def _read_yaml(file: Path, label: str = "") -> Any:
    label = label or str(file)
    try:
        return yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER)  # noqa: S506 - a safe loader in both forms
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else None
        raise ContentError(f"cannot be read: {str(error).splitlines()[0]}", file=label, line=line) from error


def _section(content: Any, key: str, label: str) -> dict[Any, Any]:
    section = content.get(key) if isinstance(content, dict) else None
    if not isinstance(section, dict):
        raise ContentError(f"must be a mapping with the one key {key}", file=label)
    return section


class _TemplatePlace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of the pod template table; meanings stand at the head of ``rego/pod_templates.yaml``."""

    path: list[str]
    holds: Literal["template", "spec", "container", "argo_template"]
    inherits: list[list[str]] = []
    merged: list[str] = []
    partial: bool = False
    runs: Literal["", "once"] = ""
    probes: Literal["", "injected"] = ""
    service_account: bool = True


def _pod_templates(content: Any, label: str) -> dict[str, Any]:
    """The table of one file, as written, once every entry is known to be well-formed."""
    table = _section(content, "pod_templates", label)
    try:
        msgspec.convert(table, dict[str, list[_TemplatePlace]])
    except msgspec.ValidationError as error:
        raise ContentError(
            str(error), file=label, key="pod_templates", suggestion="see the head of rego/pod_templates.yaml"
        ) from error
    return table


def _rules_of(
    packages: Sequence[PackageInfo], modules: Mapping[str, str], source: PolicySource
) -> list[Rule]:
    rules = []
    for package in packages:
        if not package.package.startswith("lib."):
            rules.append(_rule(package, modules[package.file], source))
        elif not source.builtin:
            raise ContentError(
                "packages below lib. are fleetaudit's own", file=package.file, line=package.line
            )
    return rules


class _Match(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pod_templates: bool = False
    kinds: tuple[_Kinds, ...] = ()
    derived: bool = False


class _Kinds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kinds: tuple[str, ...]
    group: str = ""


class _Custom(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    severity: Severity
    match: _Match
    remediation: str
    not_applicable: str = "does_not_apply"
    fix: str = ""
    warn_only: bool = False
    context: tuple[ContextNeed, ...] = ()


def _rule(package: PackageInfo, text: str, source: PolicySource) -> Rule:
    annotations = package.annotations or {}

    def wrong(
        message: str, *, key: str | None = None, suggestion: str = "see rego/README.md"
    ) -> ContentError:
        return ContentError(message, file=package.file, line=package.line, key=key, suggestion=suggestion)

    family, _, name = package.package.partition(".")
    if not name or "." in name:
        raise wrong(f"package {package.package} must be family.rule_name")
    title, description = annotations.get("title"), annotations.get("description")
    if not isinstance(title, str) or not isinstance(description, str) or "custom" not in annotations:
        raise wrong("the package needs METADATA with title, description and custom")
    try:
        custom = msgspec.convert(annotations["custom"], _Custom)
    except msgspec.ValidationError as error:
        raise wrong(str(error), key="custom") from error
    named = [(entry.group, kind) for entry in custom.match.kinds for kind in entry.kinds]
    for group, kind in named:
        if impossible := impossible_kind(group, kind):
            raise wrong(impossible[0], key="custom.match.kinds", suggestion=impossible[1])
    kinds = {kind_key(group, kind) for group, kind in named}
    if custom.match.pod_templates:
        kinds.add(_POD_TEMPLATES)
    if not kinds:
        raise wrong("match names no kind", key="custom.match")
    references = annotations.get("related_resources") or []
    return Rule(
        id=f"{family}/{name.replace('_', '-')}",
        engine="rego",
        title=title.strip(),
        description=" ".join(description.split()),
        severity=custom.severity,
        remediation=" ".join(custom.remediation.split()),
        fix=custom.fix.rstrip(),
        references=tuple(str(r["ref"]) for r in references if isinstance(r, dict) and "ref" in r),
        kinds=tuple(sorted(kinds)),
        match_derived=custom.match.derived,
        not_applicable=custom.not_applicable,
        warn_only=custom.warn_only,
        context=custom.context,
        package=package.package,
        file=package.file,
        line=package.line,
        digest=hashlib.sha256(text.encode()).hexdigest(),
        builtin=source.builtin,
        shape="" if source.builtin else Shape.NATIVE.value,
    )


def _refuse_doubles(loaded: Sequence[Rule], known: Mapping[str, Rule]) -> None:
    seen = dict(known)
    for rule in loaded:
        if rule.id in seen:
            raise ContentError(
                f"rule {rule.id} is already defined in {seen[rule.id].file}", file=rule.file, line=rule.line
            )
        seen[rule.id] = rule


def _override(parameters: dict[str, Any], overrides: Mapping[str, Mapping[str, Any]]) -> None:
    for rule_id, values in overrides.items():
        known = parameters.get(rule_id)
        if not isinstance(known, dict):
            raise ContentError(f"rule {rule_id} has no parameters", key=f"parameters.{rule_id}")
        for name in values:
            if name not in known:
                listed = ", ".join(sorted(known))
                raise ContentError(
                    f"no such parameter; {rule_id} has {listed}", key=f"parameters.{rule_id}.{name}"
                )
        for name, value in values.items():
            _check_type(f"parameters.{rule_id}.{name}", known[name], value)
        parameters[rule_id] = {**known, **values}


def _check_type(key: str, default: Any, value: Any) -> None:
    """A parameter of another type than its default would quietly switch its rule off.

    Raises:
        ContentError: wrong type, or a list with an element of another type than the default's elements (text when
            the default is empty).
    """
    kind, given = _kind(default), _kind(value)
    if kind != given:
        raise ContentError(f"takes {kind}, found {given}", key=key)
    if isinstance(default, list):
        wanted = {_kind(element) for element in default} or {"text"}
        for index, element in enumerate(value):
            if _kind(element) not in wanted:
                raise ContentError(
                    f"takes {' or '.join(sorted(wanted))}, found {_kind(element)}", key=f"{key}.{index}"
                )


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    names = {str: "text", list: "a list", dict: "a mapping", type(None): "nothing"}
    return names.get(type(value), type(value).__name__)


def _finish(rule: Rule, workloads: tuple[str, ...], parameters: Mapping[str, Any]) -> Rule:
    kinds = set(rule.kinds)
    if _POD_TEMPLATES in kinds:
        kinds = kinds - {_POD_TEMPLATES} | set(workloads)
    return msgspec.structs.replace(
        rule, kinds=tuple(sorted(kinds)), parameters=dict(parameters.get(rule.id) or {})
    )
