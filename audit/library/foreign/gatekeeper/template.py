"""ConstraintTemplates: the Rego in them, its dialect, its libraries, its parameters' schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from audit.errors import ContentError
from audit.library.foreign.adapters import ROOT
from audit.library.foreign.gatekeeper.documents import line_of_block
from audit.library.foreign.lexer import Kind, tokens
from audit.library.foreign.module import Module, module
from audit.library.foreign.reading import SourceFile
from audit.library.foreign.relocate import relocate
from audit.library.kyverno.documents import PolicyDocument, list_of, mapping_of, text_of

TARGET = "admission.k8s.gatekeeper.sh"
_CEL = "K8sNativeValidation"
_VERSIONS = frozenset({"v1", "v1beta1", "v1alpha1"})
_READABLE = frozenset({"inventory", "lib"})


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """One template whose Rego can be compiled."""

    kind: str
    document: PolicyDocument
    step: str
    """Its place below the adapters' root."""
    main: Module
    original: Module
    libraries: tuple[Module, ...]
    declared: str
    """Dialect that the template declares, v0 or v1."""
    schema: Any
    """Of the parameters; None when it has none."""
    legacy: bool
    """Parameters that the schema does not know are allowed."""
    has_cel: bool

    @property
    def annotations(self) -> Mapping[str, Any]:
        """``metadata.annotations``."""
        return mapping_of(self.document.metadata.get("annotations"))

    @property
    def modules(self) -> tuple[Module, ...]:
        """All of its Rego, moved to packages of its own."""
        return (self.main, *self.libraries)


def read_template(document: PolicyDocument, file: SourceFile, step: str) -> Template:
    """Read one template.

    Raises:
        ContentError: Gatekeeper would refuse it, or it holds no Rego.
    """
    group, _, version = document.api_version.rpartition("/")
    if group != "templates.gatekeeper.sh" or version not in _VERSIONS:
        raise document.error(f"ConstraintTemplate has no apiVersion {document.api_version}", key="apiVersion")
    names = mapping_of(mapping_of(mapping_of(document.spec.get("crd")).get("spec")).get("names"))
    kind = text_of(names.get("kind"))
    if not kind:
        raise document.error("names no kind", key="spec.crd.spec.names.kind")
    if document.name != kind.lower():
        raise document.error(f"must be called {kind.lower()}, after its kind {kind}", key="metadata.name")
    targets = [mapping_of(target) for target in list_of(document.spec.get("targets"))]
    if len(targets) != 1:
        raise document.error(f"has {len(targets)} targets; one is expected", key="spec.targets")
    if targets[0].get("target") != TARGET:
        raise document.error(f"targets {targets[0].get('target')}, not {TARGET}", key="spec.targets")
    rego, libraries, declared, has_cel = _code(document, targets[0])
    validation = mapping_of(mapping_of(mapping_of(document.spec.get("crd")).get("spec")).get("validation"))
    legacy = validation.get("legacySchema")
    template = _build(document, file, kind, step, rego, libraries)
    return msgspec.structs.replace(
        template,
        declared=declared,
        schema=validation.get("openAPIV3Schema"),
        legacy=legacy is True or (legacy is None and version != "v1"),
        has_cel=has_cel,
    )


def is_cel_only(document: PolicyDocument) -> bool:
    """Whether a template is written in CEL and in nothing else."""
    targets = [mapping_of(target) for target in list_of(document.spec.get("targets"))]
    engines = {
        text_of(mapping_of(part).get("engine")) for target in targets for part in list_of(target.get("code"))
    }
    return _CEL in engines and "Rego" not in engines and not any(target.get("rego") for target in targets)


def _code(document: PolicyDocument, target: Mapping[str, Any]) -> tuple[str, list[str], str, bool]:
    """(Rego, libraries, dialect, whether there is CEL beside it)."""
    parts = {
        text_of(mapping_of(part).get("engine")): mapping_of(part) for part in list_of(target.get("code"))
    }
    has_cel = _CEL in parts
    if "Rego" in parts:
        source = mapping_of(parts["Rego"].get("source"))
        version = text_of(source.get("version")) or "v0"
        return _rego(document, source), _texts(source.get("libs")), "v1" if version == "v1" else "v0", has_cel
    if text_of(target.get("rego")):
        return _rego(document, target), _texts(target.get("libs")), "v0", has_cel
    if has_cel:
        raise document.error(
            f"is written in CEL ({_CEL}), which is not judged here",
            suggestion="give the template a Rego source too, or audit it as a ValidatingAdmissionPolicy",
        )
    raise document.error("holds no Rego", key="spec.targets")


def _rego(document: PolicyDocument, source: Mapping[str, Any]) -> str:
    text = text_of(source.get("rego"))
    if not text.strip():
        raise document.error("holds no Rego", key="spec.targets")
    return text


def _texts(value: Any) -> list[str]:
    return [text for text in list_of(value) if isinstance(text, str)]


def _build(
    document: PolicyDocument, file: SourceFile, kind: str, step: str, rego: str, libraries: list[str]
) -> Template:
    def embedded(text: str, name: str) -> Module:
        key = f"{file.label}#{name}"
        return module(key, text, file=file.label, first_line=line_of_block(file.text, document.line, text))

    original = embedded(rego, kind)
    moved = {original.package: (ROOT, "template", step, "main"), ("lib",): (ROOT, "template", step, "lib")}
    parts = [original, *(embedded(text, f"{kind} lib {number}") for number, text in enumerate(libraries, 1))]
    for part in parts:
        _check_references(part)
    for part in parts[1:]:
        if part.package[:1] != ("lib",):
            raise _at(part, part.outline.package_line, "a library's package must begin with lib")
    if "violation" not in original.outline.defined():
        raise _at(original, original.outline.package_line, "defines no violation")
    return Template(
        kind=kind,
        document=document,
        step=step,
        main=_moved(original, moved),
        original=original,
        libraries=tuple(_moved(part, moved) for part in parts[1:]),
        declared="v0",
        schema=None,
        legacy=False,
        has_cel=False,
    )


def _moved(part: Module, moved: Mapping[tuple[str, ...], tuple[str, ...]]) -> Module:
    return module(part.key, relocate(part.text, moved), file=part.file, first_line=part.first_line)


def _check_references(part: Module) -> None:
    """Gatekeeper lets templates read data.inventory and data.lib, nothing else."""
    for reference in part.outline.references:
        if reference.path[0] == "data" and len(reference.path) > 1 and reference.path[1] not in _READABLE:
            raise _at(part, reference.line, f"data.{reference.path[1]} may not be read in a template")


def check_dialect(template: Template, dialects: Mapping[str, str]) -> None:
    """Refuse what Gatekeeper would not parse under the dialect that the template declares.

    Raises:
        ContentError: the declared dialect and the text disagree.
    """
    for part in template.modules:
        found = dialects.get(part.key)
        if template.declared == "v1" and found == "v0":
            raise _at(part, part.outline.package_line, "declares Rego v1 and is written in v0")
        if template.declared == "v0" and found == "v1" and _needs_v1(part):
            raise _at(
                part,
                part.outline.package_line,
                "is written in Rego v1, and the template does not say so",
                "set version: v1 beside the Rego, or import rego.v1",
            )


def _needs_v1(part: Module) -> bool:
    """Whether keywords of v1 are used that no import brings to v0."""
    if any(path[:1] in (("rego",), ("future",)) for path in part.outline.imports.values()):
        return False
    all_tokens = tokens(part.text)
    return any(
        token.kind is Kind.NAME
        and token.text in ("if", "contains")
        and (index + 1 == len(all_tokens) or all_tokens[index + 1].text not in ("(", "."))
        and (index == 0 or all_tokens[index - 1].text != ".")
        for index, token in enumerate(all_tokens)
    )


def _at(part: Module, line: int, message: str, suggestion: str = "") -> ContentError:
    return ContentError(message, file=part.file, line=part.line(line or 1), suggestion=suggestion or None)
