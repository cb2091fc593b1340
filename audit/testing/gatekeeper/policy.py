"""A template and a constraint, made ready for the embedded OPA."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from audit.errors import ContentError
from audit.library.foreign.adapters import support_modules
from audit.library.foreign.gatekeeper.constraint import GROUP, Constraint, read_constraint, wrong_constraint
from audit.library.foreign.gatekeeper.documents import gatekeeper_documents
from audit.library.foreign.gatekeeper.template import Template, check_dialect, is_cel_only, read_template
from audit.library.foreign.reading import SourceFile
from audit.library.foreign.steps import rego_path
from audit.library.kyverno.documents import PolicyDocument, list_of, mapping_of, text_of
from audit.native.evaluator import EvalRule, Evaluator, LoadReport

RULE = EvalRule(id="case", package="fleetaudit_testing.gatekeeper")
PURE_BUILTINS = ("rand.intn", "rego.parse_module", "time.now_ns", "uuid.rfc4122")
"""Refused in an audit because it must be repeatable; a suite may use them, as nothing outside is reached."""
_REVIEW = Path(__file__).with_name("review.rego")
_STEP = "tested"
_MAX_BYTES = 8 << 20


class NotEvaluableError(ContentError):
    """The template is right, and nothing here can judge it."""


class InvalidConstraintError(ContentError):
    """The template or Gatekeeper refuses the constraint: what a test with ``invalid`` wants."""


def read_source(path: Path, label: str) -> SourceFile:
    """Read one file.

    Raises:
        ContentError: it is missing, or cannot be read.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ContentError(f"is larger than {_MAX_BYTES >> 20} MiB", file=label)
        return SourceFile(path, label, path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise ContentError("no such file", file=label) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ContentError(f"cannot be read: {error}", file=label) from error


def load_policy(evaluator: Evaluator, template_file: SourceFile, constraint_file: SourceFile) -> Constraint:
    """Load a template with its constraint; the evaluator is ready for cases afterwards.

    Raises:
        NotEvaluableError: the template is written in CEL.
        InvalidConstraintError: the constraint does not fit the template.
        ContentError: one of the files holds something else, or the Rego does not compile.
    """
    document = _first(template_file, "ConstraintTemplate")
    if is_cel_only(document):
        raise NotEvaluableError(
            "the template is written in CEL, which is not judged here",
            file=document.file,
            line=document.line,
            suggestion="give the template a Rego source too, or run the case with gator",
        )
    template = read_template(document, template_file, _STEP)
    inspected = evaluator.inspect({part.key: part.text for part in template.modules})
    _check(template, LoadReport(modules=(), problems=inspected.problems))
    check_dialect(template, {package.file: package.dialect for package in inspected.packages})
    constraint = _constraint(constraint_file, template)
    _check(template, evaluator.load(_modules(template), _data(constraint), [RULE]))
    return constraint


def asked_by_gator(constraint: Constraint) -> bool:
    """Whether the constraint is enforced at the point where gator stands: only scoped actions name points."""
    spec = constraint.document.spec
    if spec.get("enforcementAction") != "scoped":
        return True
    points = {
        text_of(mapping_of(point).get("name"))
        for action in list_of(spec.get("scopedEnforcementActions"))
        for point in list_of(mapping_of(action).get("enforcementPoints"))
    }
    return not points.isdisjoint(("*", "gator.gatekeeper.sh"))


def _first(file: SourceFile, kind: str) -> PolicyDocument:
    """The first object of a kind, or of the group of constraints when the kind is empty."""
    for found in gatekeeper_documents([file]):
        if isinstance(found, ContentError):
            raise found
        document, _ = found
        if document.kind == kind or (not kind and document.group == GROUP):
            return document
    raise ContentError(f"holds no {kind or 'constraint'}", file=file.label)


def _constraint(file: SourceFile, template: Template) -> Constraint:
    document = _first(file, "")
    if document.kind != template.kind:
        raise wrong_constraint(document, [template.kind])
    try:
        return read_constraint(document, template)
    except ContentError as error:
        raise InvalidConstraintError(
            error.message, file=error.file, line=error.line, key=error.key, suggestion=error.suggestion
        ) from error


def _modules(template: Template) -> dict[str, str]:
    said = rego_path(("data", *template.main.package, "violation"))
    given = '{"review": review, "parameters": data.fleetaudit_tested.parameters}'
    asked = f"\nsaid := found if found := {said} with input as {given}\n"
    return {
        **{part.key: part.text for part in template.modules},
        **support_modules(),
        "review.rego": _REVIEW.read_text(encoding="utf-8") + asked,
    }


def _data(constraint: Constraint) -> bytes:
    tested: dict[str, Any] = {"match": constraint.match, "parameters": constraint.parameters}
    return msgspec.json.encode({"fleetaudit_kinds": {}, "fleetaudit_tested": tested})


def _check(template: Template, report: LoadReport) -> None:
    """Raise the first problem, at its place in the template's file."""
    if not report.problems:
        return
    problem = report.problems[0]
    part = next((part for part in template.modules if part.key == problem.file), None)
    line = part.line(problem.line) if part is not None and problem.line else template.document.line
    raise ContentError(
        problem.message,
        file=template.document.file,
        line=line,
        suggestion="mend the template's Rego; `fleetaudit validate --policy FILE` shows every error",
    )
