"""Objects and inventories of cases, taken as they are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from audit.errors import ContentError
from audit.library.kyverno.go_yaml import read_documents
from audit.testing.gatekeeper.policy import read_source

_REVIEW_GROUP = "admission.k8s.io"
_REQUEST = frozenset(
    [
        "uid",
        "kind",
        "resource",
        "subResource",
        "requestKind",
        "requestResource",
        "requestSubResource",
        "name",
        "namespace",
        "operation",
        "userInfo",
        "object",
        "oldObject",
        "dryRun",
        "options",
    ]
)


def read_objects(path: Path, label: str) -> list[dict[str, Any]]:
    """All objects of a file.

    Raises:
        ContentError: it is missing or broken, holds none, or something that is none.
    """
    found: list[dict[str, Any]] = []
    for document in read_documents(read_source(path, label).text, label):
        if document.error is not None:
            raise document.error
        value = document.value
        if not isinstance(value, dict) or not all(
            isinstance(value.get(key), str) for key in ("apiVersion", "kind")
        ):
            raise ContentError("is no object: apiVersion and kind are needed", file=label, line=document.line)
        found.append(value)
    if not found:
        raise ContentError("holds no object", file=label)
    return found


def read_subject(path: Path, label: str) -> bytes:
    """The one object of a file, or the AdmissionReview in it, as JSON.

    Raises:
        ContentError: there is not exactly one, or the review asks for nothing.
    """
    objects = read_objects(path, label)
    if len(objects) != 1:
        raise ContentError(
            f"holds {len(objects)} objects; a case has one",
            file=label,
            suggestion="put the others into the case's inventory",
        )
    value = objects[0]
    if value["kind"] == "AdmissionReview" and value["apiVersion"].partition("/")[0] == _REVIEW_GROUP:
        _check_request(value.get("request"), label)
    return msgspec.json.encode(value)


def _check_request(request: Any, label: str) -> None:
    if not isinstance(request, dict):
        raise ContentError("the AdmissionReview holds no request", file=label, key="request")
    for key in request:
        if key not in _REQUEST:
            raise ContentError("no such field", file=label, key=f"request.{key}")
    if not any(isinstance(request.get(key), dict) for key in ("object", "oldObject")):
        raise ContentError("the request holds neither object nor oldObject", file=label, key="request")
    if request.get("operation") == "DELETE" and not isinstance(request.get("oldObject"), dict):
        raise ContentError("a request to delete needs an oldObject", file=label, key="request.oldObject")


def inventory_of(objects: Iterable[Mapping[str, Any]]) -> bytes:
    """``data.inventory``: objects that name a namespace lie in it, all others in the cluster."""
    tree: dict[str, Any] = {"cluster": {}, "namespace": {}}
    for value in objects:
        metadata = value.get("metadata")
        names = metadata if isinstance(metadata, dict) else {}
        namespace = names.get("namespace")
        place = tree["namespace"].setdefault(namespace, {}) if namespace else tree["cluster"]
        kinds = place.setdefault(value["apiVersion"], {})
        kinds.setdefault(value["kind"], {})[str(names.get("name", ""))] = value
    return msgspec.json.encode(tree)
