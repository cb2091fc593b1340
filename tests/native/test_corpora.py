"""Real manifests, read twice: by the reader, and by PyYAML as an independent second opinion on what is there."""

from __future__ import annotations

import collections
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from audit.native.events import DocumentRead, FileDone, NoticeRead, ProblemRead
from audit.native.reader import PathsWanted, PositionRequest, Reader, SourceText
from tests.native.reading import content
from tests.shared_data import shared_dir

pytestmark = pytest.mark.corpora


class _Lenient(yaml.CSafeLoader):
    """Unknown tags and odd scalars don't matter for counting."""


_Lenient.add_multi_constructor("", lambda loader, suffix, node: None)
_Lenient.yaml_implicit_resolvers = {
    first: [
        (tag, pattern) for tag, pattern in resolvers if not tag.endswith((":timestamp", ":int", ":float"))
    ]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def manifests() -> list[SourceText]:
    root = shared_dir("corpora", "manifests")
    files = sorted(
        path for path in root.rglob("*") if path.suffix in (".yaml", ".yml", ".json") and path.is_file()
    )
    return [
        SourceText(token=token, path=str(path.relative_to(root)), data=path.read_bytes())
        for token, path in enumerate(files)
    ]


def second_opinion(data: bytes) -> collections.Counter[tuple[str, str]] | None:
    """Kinds and names of the objects that PyYAML sees; None when it cannot read the file."""
    found: collections.Counter[tuple[str, str]] = collections.Counter()
    try:
        for document in yaml.load_all(data, _Lenient):
            for item in _unrolled(document):
                metadata = item.get("metadata")
                name = metadata.get("name") if isinstance(metadata, dict) else None
                found[item["kind"], str(name or "")] += 1
    except (yaml.YAMLError, ValueError, TypeError):
        return None
    return found


def _unrolled(document: Any) -> Iterator[dict[str, Any]]:
    if isinstance(document, list):
        for item in document:
            yield from _unrolled(item)
    elif isinstance(document, dict) and isinstance(document.get("kind"), str) and document.get("apiVersion"):
        if document["kind"].endswith("List") and isinstance(document.get("items"), list):
            yield from _unrolled(document["items"])
        else:
            yield document


def test_every_file_is_accounted_for_and_both_readers_see_the_same_objects(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sources = manifests()
    seen: dict[int, collections.Counter[tuple[str, str]]] = collections.defaultdict(collections.Counter)
    counted: collections.Counter[int] = collections.Counter()
    unread: set[int] = set()
    tally: collections.Counter[str] = collections.Counter()
    done: list[int] = []
    with Reader(jobs=2) as reader:
        for event in reader.read(sources):
            tally[type(event).__name__] += 1
            match event:
                case DocumentRead():
                    seen[event.token][event.kind, event.name] += 1
                    counted[event.token] += 1
                case ProblemRead():
                    unread.add(event.token)
                    counted[event.token] += 1
                    assert event.line >= 1
                case NoticeRead():
                    counted[event.token] += not event.code.startswith("empty")
                case FileDone():
                    done.append(event.token)
                    assert event.problem is None
                    assert event.documents == counted[event.token]
        assert reader.supervisor.restarts == 0
    assert done == list(range(len(sources)))
    with capsys.disabled():
        print(f"\n{len(sources)} files: {dict(tally)}")

    compared = 0
    for source in sources:
        opinion = second_opinion(source.data)
        if source.token in unread:
            # What Kubernetes' parser refuses is a template; PyYAML may take its braces for mappings.
            assert opinion is None or b"{{" in source.data, source.path
            continue
        assert opinion is not None, f"{source.path}: only the reader can read it"
        assert seen[source.token] == opinion, source.path
        compared += 1
    assert compared > 400
    assert tally["DocumentRead"] > 700


def test_every_place_is_on_a_line_that_shows_the_value() -> None:
    """A sample of leaves of every object: the line that is given holds the value."""
    sources = manifests()
    asked: list[PositionRequest] = []
    leaves: list[list[list[tuple[tuple[str | int, ...], Any]]]] = []
    by_token: dict[int, list[DocumentRead]] = collections.defaultdict(list)
    with Reader(jobs=2) as reader:
        for event in reader.read(sources):
            if isinstance(event, DocumentRead) and not event.redactions and not event.duplicates:
                by_token[event.token].append(event)
        for token, events in by_token.items():
            mine = [list(_leaves(content(event)))[::7] for event in events]
            wanted = tuple(
                PathsWanted(document=event.document, item=event.item, paths=tuple(path for path, _ in own))
                for event, own in zip(events, mine, strict=True)
            )
            asked.append(PositionRequest(path="", data=sources[token].data, wanted=wanted))
            leaves.append(mine)
        answers = list(reader.positions(asked))
    checked = 0
    for request, wanted_leaves, answer in zip(asked, leaves, answers, strict=True):
        lines = request.data.decode().splitlines()
        for own, places in zip(wanted_leaves, answer, strict=True):
            for (path, value), place in zip(own, places, strict=True):
                assert not place.approximate, (path, value)
                shown = lines[place.line - 1]
                word = re.split(r"[^\w./:-]", value)[0]
                if len(shown.split()) > 1 and word and "|" not in shown and ">" not in shown:
                    assert word in shown, (path, value, shown)
                    checked += 1
    assert checked > 2000


def _leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))
    elif isinstance(value, str) and value:
        yield path, value


def test_nothing_in_the_corpora_is_taken_for_a_secret_wrongly() -> None:
    """Values without a secret's name or shape stay: images, digests, paths, numbers, names."""
    innocent = re.compile(r"^(?:/[\w./-]*|\d+|true|false|[\w.-]+/[\w./-]+:[\w.-]+|sha256:[0-9a-f]{64})$")
    originals = {source.token: source for source in manifests()}
    wrong: list[tuple[str, Any]] = []
    with Reader(jobs=2) as reader:
        for event in reader.read(originals.values()):
            if not isinstance(event, DocumentRead) or event.kind == "Secret":
                continue
            for redaction in event.redactions:
                original = _find(originals[event.token].data, event, redaction.path)
                if isinstance(original, str) and innocent.match(original):
                    wrong.append((originals[event.token].path, redaction.path))
    assert wrong == []


def _find(data: bytes, event: DocumentRead, path: tuple[str | int, ...]) -> Any:
    for document in yaml.load_all(data, _Lenient):
        for item in _unrolled(document):
            if item["kind"] == event.kind and (item.get("metadata") or {}).get("name") == event.name:
                value: Any = item
                for segment in path:
                    value = value[segment]
                return value
    return None
