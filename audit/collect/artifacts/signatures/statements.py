"""In-toto statements: what a signed envelope says, and of which files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from audit.collect.artifacts.signatures.bundle_shape import parse_json
from audit.collect.artifacts.signatures.contents import ALGORITHMS, Content
from audit.collect.artifacts.signatures.verdicts import RefusedError

MODEL = "https://model_signing/signature/v1.0"
"""The signed list of the files of a model."""
PAYLOAD_TYPE = "application/vnd.in-toto+json"
MAX_SUBJECTS = 20_000
MAX_RESOURCES = 200_000
MAX_LISTED = 50
_TYPES = {"https://in-toto.io/Statement/v0.1", "https://in-toto.io/Statement/v1"}
MODEL_ALGORITHMS = ("sha256", "blake2b", "blake3")
"""Of the files of a model, each of which has one digest."""
_LENGTHS = {"sha256": 64, "sha384": 96, "sha512": 128, "blake2b": 128, "blake3": 64}


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """One file that a statement is about."""

    name: str
    digests: dict[str, str]
    """Only those of algorithms that still hold."""


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """A statement, its predicate as it is written."""

    predicate_type: str
    subjects: tuple[Subject, ...]
    predicate: dict[str, Any]
    single_file: bool = False
    """A model that is one file."""
    whole: str = ""
    """Of a model: the digest over the digests of its files, ``sha256:...``; empty for anything else."""

    def is_about(self, content: Content) -> bool:
        """Whether one of its subjects is this content. Every digest that a subject names must fit.

        Raises:
            RefusedError: no subject names a digest that counts.
        """
        known = [subject for subject in self.subjects if subject.digests]
        if not known:
            raise RefusedError("no_subject_digest")
        return any(
            all(content.digest(name).hex() == value for name, value in subject.digests.items())
            for subject in known
        )

    def names_digest(self, value: str) -> bool:
        """Whether one of its subjects has this ``sha256:...`` digest."""
        algorithm, _, digest = value.partition(":")
        return any(subject.digests.get(algorithm) == digest for subject in self.subjects)

    def facts(self) -> dict[str, Any]:
        """As rules see it."""
        return {
            "predicate_type": self.predicate_type[:500],
            "subjects": len(self.subjects),
            "listed": [
                {"name": one.name[:500], "digests": one.digests} for one in self.subjects[:MAX_LISTED]
            ],
        }


def statement_of(payload_type: str, payload: bytes) -> Statement:
    """The statement in an envelope.

    Raises:
        RefusedError: it holds something else, or nothing that can be read.
    """
    if payload_type != PAYLOAD_TYPE:
        raise RefusedError("unsupported_form")
    try:
        document = parse_json(payload)
    except RefusedError:
        raise RefusedError("bad_statement") from None
    if not isinstance(document, Mapping) or document.get("_type") not in _TYPES:
        raise RefusedError("bad_statement")
    predicate_type, predicate = document.get("predicateType"), document.get("predicate")
    subjects = document.get("subject")
    if not isinstance(predicate_type, str) or not predicate_type:
        raise RefusedError("bad_statement")
    if not isinstance(subjects, list) or not 0 < len(subjects) <= MAX_SUBJECTS:
        raise RefusedError("bad_statement")
    named = tuple(_subject(one) for one in subjects)
    stated = dict(predicate) if isinstance(predicate, Mapping) else {}
    if predicate_type == MODEL:
        return _model(named, stated)
    return Statement(predicate_type=predicate_type, subjects=named, predicate=stated)


def _model(named: tuple[Subject, ...], predicate: dict[str, Any]) -> Statement:
    """The files of a model are what is signed; its one subject is a digest over their digests, in order."""
    resources = predicate.get("resources")
    if len(named) != 1 or not isinstance(resources, list) or not 0 < len(resources) <= MAX_RESOURCES:
        raise RefusedError("bad_statement")
    whole, files = hashlib.sha256(), []
    for resource in resources:
        try:
            name, algorithm, digest = resource["name"], resource["algorithm"], resource["digest"]
            whole.update(bytes.fromhex(digest))
            described = {"name": name, "digest": {algorithm: digest}}
        except (KeyError, TypeError, ValueError):
            raise RefusedError("bad_statement") from None
        if not isinstance(name, str) or not isinstance(algorithm, str):
            raise RefusedError("bad_statement")
        files.append(_subject(described, MODEL_ALGORITHMS))
    if named[0].digests.get("sha256") != whole.hexdigest():
        raise RefusedError("bad_statement")
    single = len(files) == 1 and files[0].name == "."
    if single:
        files = [Subject(name=named[0].name, digests=files[0].digests)]
    return Statement(
        predicate_type=MODEL,
        subjects=tuple(files),
        predicate=predicate,
        single_file=single,
        whole=f"sha256:{whole.hexdigest()}",
    )


def _subject(value: object, algorithms: Sequence[str] = ALGORITHMS) -> Subject:
    if not isinstance(value, Mapping):
        raise RefusedError("bad_statement")
    name, digests = value.get("name"), value.get("digest")
    if not isinstance(digests, Mapping) or not (name is None or isinstance(name, str)):
        raise RefusedError("bad_statement")
    kept = {}
    for algorithm in algorithms:
        digest = digests.get(algorithm)
        if digest is None:
            continue
        if not isinstance(digest, str) or len(digest) != _LENGTHS[algorithm] or not _hex(digest):
            raise RefusedError("bad_statement")
        kept[algorithm] = digest
    return Subject(name=name or "", digests=kept)


def _hex(text: str) -> bool:
    return all(char in "0123456789abcdef" for char in text)
