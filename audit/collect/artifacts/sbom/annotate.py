"""Verdicts of other tools, as annotations of an SPDX 2.3 document."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any

from audit.collect.artifacts.sbom import schemas
from audit.collect.artifacts.sbom.document import mappings
from audit.collect.artifacts.sbom.problems import FormatError
from audit.collect.artifacts.sbom.spdx2 import DOCUMENT_ID, read_spdx2


def annotations_of(kind: str, spec: Mapping[str, Any], annotator: str) -> Iterator[dict[str, str]]:
    """One annotation for each verdict in the facts of a Scorecard or TestGrid result.

    Raises:
        FormatError: the result doesn't say when it was made, and an annotation must.
    """
    texts = {"ScorecardResult": _scorecard, "TestGridSummary": _testgrid}[kind]
    for moment, comment in texts(spec):
        yield {
            "annotationDate": _utc(moment),
            "annotationType": "OTHER",
            "annotator": annotator,
            "comment": comment,
        }


def _scorecard(spec: Mapping[str, Any]) -> Iterator[tuple[str | None, str]]:
    subject, tool = spec["subject"], spec["tool"]
    of = f"of {subject['name']}" + (f" at {subject['commit']}" if subject["commit"] else "")
    by = f"OpenSSF Scorecard {tool['version']}".strip()
    moment = _known(spec["created"])
    score = spec["score"]
    said = f"{score['value']:g}/10" if score["status"] == "known" else score["status"]
    yield moment, f"{by} {of}: {said}"
    for check in spec["checks"]:
        said = f"{check['score']:g}/10" if check["status"] == "scored" else "inconclusive"
        reason = f" ({check['reason']})" if check["reason"] else ""
        yield moment, f"{by} {of}: {check['name']} {said}{reason}"


def _testgrid(spec: Mapping[str, Any]) -> Iterator[tuple[str | None, str]]:
    for tab in spec["tabs"]:
        moment = _known(tab["last_run"]) or _known(tab["last_update"])
        name = "/".join(part for part in (tab["dashboard"], tab["tab"]) if part)
        yield moment, f"TestGrid {name}: {tab['status']}"


def _known(created: Mapping[str, Any]) -> str | None:
    return created["value"] if created["status"] == "known" else None


def _utc(value: str | None) -> str:
    if value is None:
        raise FormatError("no_time", "the result doesn't say when it was made, and an annotation must")
    moment = dt.datetime.fromisoformat(value)
    moment = moment.replace(tzinfo=dt.UTC) if moment.tzinfo is None else moment.astimezone(dt.UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def annotate(document: dict[str, Any], element: str, annotations: list[dict[str, str]]) -> int:
    """Add annotations to an element of a document in JSON form; those that are there already are left.

    Returns:
        How many were added.

    Raises:
        FormatError: it is no SPDX 2.3 document, has no such element, or would not be valid.
    """
    if document.get("spdxVersion") != "SPDX-2.3":
        raise FormatError(
            "not_spdx23", f"it is {str(document.get('spdxVersion'))[:40]}, and must be SPDX-2.3"
        )
    known_before = set(_codes(document))
    target = _element(document, element)
    held = target.get("annotations")
    present = mappings(held)
    added = [one for one in annotations if one not in present]
    if added:
        target["annotations"] = [*present, *added]
    problems, _ = schemas.validate("SPDX", "2.3", document)
    if problems:
        raise FormatError("not_valid", f"it is no valid SPDX 2.3 document: {problems.rows()[0]['message']}")
    if set(_codes(document)) != known_before:
        raise FormatError("not_sound", "its structure would change")
    return len(added)


def _element(document: dict[str, Any], id_: str) -> dict[str, Any]:
    if id_ == document.get("SPDXID", DOCUMENT_ID):
        return document
    for key in ("packages", "files", "snippets"):
        for one in mappings(document.get(key)):
            if one.get("SPDXID") == id_:
                return one
    raise FormatError("no_element", f"it has no element {id_[:80]}")


def _codes(document: dict[str, Any]) -> Iterator[str]:
    for row in read_spdx2(document).structure.rows():
        yield f"{row['code']} {row['count']}"
