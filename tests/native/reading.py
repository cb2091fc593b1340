"""Reading text in tests, without the ceremony."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from audit.native.events import DocumentRead, FileDone, NoticeRead, ProblemRead, ReadEvent
from audit.native.reader import Reader, ReadLimits, SourceText


def read(*texts: str | bytes, **options: Any) -> list[ReadEvent]:
    """All events of some texts; the token is the place in the arguments."""
    limits = options.pop("limits", None) or ReadLimits()
    sources = (
        SourceText(token=token, path=f"{token}.yaml", data=text.encode() if isinstance(text, str) else text)
        for token, text in enumerate(texts)
    )
    with Reader(jobs=2, limits=limits, **options) as reader:
        return list(reader.read(sources))


def objects(events: list[ReadEvent]) -> list[DocumentRead]:
    return [event for event in events if isinstance(event, DocumentRead)]


def notices(events: list[ReadEvent]) -> list[NoticeRead]:
    return [event for event in events if isinstance(event, NoticeRead)]


def problems(events: list[ReadEvent]) -> list[ProblemRead]:
    return [event for event in events if isinstance(event, ProblemRead)]


def ends(events: list[ReadEvent]) -> list[FileDone]:
    return [event for event in events if isinstance(event, FileDone)]


def content(event: DocumentRead) -> Any:
    return json.loads(event.raw)


def manifest(name: str, kind: str = "ConfigMap", **more: Any) -> str:
    """A small object, as JSON, which is YAML too."""
    return json.dumps({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **more})


def many(count: int) -> Iterator[str]:
    """Manifests in numbered order."""
    return (manifest(f"m{n}", data={"n": str(n)}) for n in range(count))
