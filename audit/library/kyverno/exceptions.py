"""PolicyExceptions and when they end. Kyverno honours an exception as long as it exists; an audit asks until when."""

from __future__ import annotations

import datetime as dt
import re

import msgspec

from audit.library.kyverno.documents import PolicyDocument, list_of, mapping_of, text_of, texts_of
from audit.model.expiry import expiry_of
from audit.model.kyverno import ExceptionTarget, PolicyException

TTL_LABEL = "cleanup.kyverno.io/ttl"
EXPIRES_ANNOTATION = "fleetaudit.dev/expires"
_TTL_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{6}Z\Z", re.ASCII)
_TTL_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|us|µs|ns|s|m|h|d|w)", re.ASCII)
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def read_exception(document: PolicyDocument) -> PolicyException:
    """A PolicyException of either API.

    Raises:
        ContentError: it has no name, or names no policy.
    """
    if not document.name:
        raise document.error("the exception has no name", key="metadata.name")
    cel = document.group == "policies.kyverno.io"
    targets = _cel_targets(document) if cel else _classic_targets(document)
    if not targets:
        raise document.error("the exception names no policy")
    expires, problem = _end(document)
    namespace = document.namespace or "default"
    return PolicyException(
        id=f"{namespace}/{document.name}",
        cel=cel,
        document=msgspec.json.encode(
            {
                "apiVersion": document.api_version,
                "kind": document.kind,
                "metadata": {
                    "name": document.name,
                    "namespace": namespace,
                    "labels": mapping_of(document.metadata.get("labels")),
                },
                "spec": document.spec,
            }
        ),
        targets=targets,
        expires=expires,
        problem=problem,
        file=document.file,
        line=document.line,
    )


def _classic_targets(document: PolicyDocument) -> tuple[ExceptionTarget, ...]:
    entries = [mapping_of(entry) for entry in list_of(document.spec.get("exceptions"))]
    return tuple(
        ExceptionTarget(policy=text_of(entry.get("policyName")), rules=texts_of(entry.get("ruleNames")))
        for entry in entries
        if text_of(entry.get("policyName"))
    )


def _cel_targets(document: PolicyDocument) -> tuple[ExceptionTarget, ...]:
    entries = [mapping_of(entry) for entry in list_of(document.spec.get("policyRefs"))]
    return tuple(
        ExceptionTarget(policy=text_of(entry.get("name")), kind=text_of(entry.get("kind")))
        for entry in entries
        if text_of(entry.get("name"))
    )


def _end(document: PolicyDocument) -> tuple[dt.datetime | None, str]:
    """The earliest of the ends it declares, or the reason why one can't be told."""
    ends = []
    written = {
        "spec.expiresAt": document.spec.get("expiresAt"),
        EXPIRES_ANNOTATION: mapping_of(document.metadata.get("annotations")).get(EXPIRES_ANNOTATION),
    }
    for where, value in written.items():
        if value is None:
            continue
        try:
            ends.append(expiry_of(value))
        except ValueError as error:
            return None, f"{where}: {error}"
    ttl = mapping_of(document.metadata.get("labels")).get(TTL_LABEL)
    if ttl is not None:
        try:
            ends.append(_ttl_end(text_of(ttl), text_of(document.metadata.get("creationTimestamp"))))
        except ValueError as error:
            return None, f"label {TTL_LABEL}: {error}"
    return (min(ends) if ends else None), ""


def _ttl_end(ttl: str, created: str) -> dt.datetime:
    """When Kyverno's cleanup would delete it: the forms of its time-to-live label, a date meaning its first moment."""
    if _TTL_TIME.match(ttl):
        return dt.datetime.strptime(ttl, "%Y-%m-%dT%H%M%SZ").replace(tzinfo=dt.UTC)
    if _TTL_DATE.match(ttl):
        return dt.datetime.strptime(ttl, "%Y-%m-%d").replace(tzinfo=dt.UTC)
    parts = _DURATION_PART.findall(ttl)
    if not parts or "".join(number + unit for number, unit in parts) != ttl.replace(" ", ""):
        raise ValueError(f"{ttl!r} is no duration and no date")
    if not created:
        raise ValueError("a duration counts from the creation time, which the manifest does not have")
    seconds = sum(float(number) * _SECONDS[unit.replace("µ", "u")] for number, unit in parts)
    return expiry_of(created) + dt.timedelta(seconds=seconds)
