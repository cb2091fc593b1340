"""Three separate answers about one bill of materials: is the format valid, is it sound, is it complete."""

from __future__ import annotations

import datetime as dt
from typing import Any

from audit.collect.artifacts.sbom.completeness import completeness_of
from audit.collect.artifacts.sbom.created import created_facts
from audit.collect.artifacts.sbom.document import Document
from audit.collect.artifacts.sbom.graph import shape_of
from audit.collect.artifacts.sbom.licence_facts import licence_facts
from audit.collect.artifacts.sbom.problems import EXAMPLES, FormatError, Problems, short
from audit.collect.artifacts.sbom.subjects import subject_facts

MAX_PROBLEMS = 50
REFUSED = frozenset({"too_deep", "too_large", "entities_refused", "aliases_refused"})
"""Why we don't read a document that may well be valid."""
MAX_NAMES = 50


def format_facts(
    problems: Problems, *, whole: bool, checked_by: str, unchecked: list[str], deep: dict[str, Any]
) -> dict[str, Any]:
    """The first answer, when there was a schema to ask."""
    invalid = bool(problems) or deep["errors"] > 0
    return {
        "status": "invalid" if invalid else "unknown" if unchecked else "valid",
        "code": "schema" if problems else "deep" if invalid else "partly_checked" if unchecked else "",
        "reason": f"not checked: {', '.join(unchecked)}" if unchecked else "",
        "checked_by": checked_by,
        "all_listed": whole,
        "problems": problems.rows()[:MAX_PROBLEMS],
        "deep": deep,
    }


def unchecked_format(code: str, reason: str) -> dict[str, Any]:
    """The first answer, when nothing can say whether it is valid."""
    return {
        "status": "unknown",
        "code": code,
        "reason": reason,
        "checked_by": "",
        "all_listed": True,
        "problems": [],
        "deep": left_out(reason),
    }


def left_out(reason: str) -> dict[str, Any]:
    """Deep validation was not done."""
    return {"status": "left_out", "reason": reason, "errors": 0, "problems": []}


def content_facts(document: Document, standard: str, now: dt.datetime) -> dict[str, Any]:
    """The other two answers, and all that rules want to know besides."""
    shape = shape_of([one.id for one in document.components], document.edges, document.subjects)
    if shape.unreachable and document.subjects:
        first, number = shape.unreachable[:EXAMPLES], len(shape.unreachable)
        for id_ in first:
            document.structure.add("unreachable", "a component is not connected with what is described", id_)
        document.structure.add("unreachable", "", times=number - len(first))
    kinds = [one.kind for one in document.components]
    return {
        "content": {"status": "read", "reason": ""},
        "name": short(document.name or ""),
        "namespace": short(document.namespace or ""),
        "profiles": document.profiles,
        "counts": document.counts
        | {"models": kinds.count("model"), "datasets": kinds.count("dataset"), "edges": len(document.edges)},
        "structure": {
            "status": "unsound" if document.structure else "sound",
            "problems": document.structure.rows(),
            "depth": shape.depth,
            "cycles": {
                "count": len(shape.cycles),
                "examples": [[short(id_) for id_ in cycle[:MAX_NAMES]] for cycle in shape.cycles[:EXAMPLES]],
            },
        },
        "completeness": completeness_of(document, standard),
        "licences": licence_facts(document),
        "subjects": subject_facts(document),
        "created": created_facts(document.created, now),
        "authors": [short(one) for one in document.authors[:MAX_NAMES]],
        "tools": [short(one) for one in document.tools[:MAX_NAMES]],
    }


def unread_facts(error: FormatError) -> dict[str, Any]:
    """The answers about a document that can't be read: its format is the finding, or unknown; all else is unknown."""
    return {
        "format": {
            "status": "unknown" if error.code in REFUSED else "invalid",
            "code": error.code,
            "reason": error.message,
            "checked_by": "reading it",
            "all_listed": False,
            "problems": [{"code": error.code, "message": error.message, "count": 1, "examples": []}],
            "deep": left_out("the document can't be read"),
        },
        "content": {"status": "unread", "reason": error.message},
    }
