"""A source of objects with the images that they run: behind the last object, what the registries say of these."""

from __future__ import annotations

import collections
from collections.abc import Iterator

import msgspec

from audit.collect.artifacts.reading import GROUP
from audit.collect.artifacts.registry.asking import RegistryImages
from audit.collect.artifacts.registry.failures import GAPS
from audit.collect.artifacts.registry.fetching import Fetched, Trouble
from audit.collect.artifacts.registry.reading import ImageFacts, name_of
from audit.collect.artifacts.registry.references import Reference
from audit.collect.artifacts.registry.uses import MAX_REFERENCES, ImageUses, PodTable
from audit.collect.artifacts.signatures.verdicts import CODES, Status
from audit.collect.cluster.pages import PageReader
from audit.collect.scope import OutOfScope, reason_out_of_scope
from audit.model.gap import Gap, GapKind, Notice
from audit.model.run import InputFile
from audit.model.subject import kind_key
from audit.native.reader import SourceText
from audit.ports import CollectedObject, ScopeChoice, StopSignal, SubjectSource

_HIDDEN = tuple(kind_key(GROUP, kind) for kind in ("ImageSignatures", "Provenance", "Sbom"))
_SHOWN = 3


class WithRegistries:
    """A `SubjectSource` over another one.

    Args:
        cluster: whose objects they are.
        source: of the objects.
        out_of_scope: objects whose images are not asked for.
        table: where pods are described.
        images: the registries that may be asked.
        facts: makes facts of what they have.
        pages: sends facts through the native reader.
        stop: asked while registries are waited for.
    """

    def __init__(
        self,
        cluster: str,
        source: SubjectSource,
        *,
        out_of_scope: tuple[OutOfScope, ...],
        table: PodTable,
        images: RegistryImages,
        facts: ImageFacts,
        pages: PageReader,
        stop: StopSignal,
    ) -> None:
        self._cluster = cluster
        self._source = source
        self._out_of_scope = out_of_scope
        self._table = table
        self._images = images
        self._facts = facts
        self._pages = pages
        self._stop = stop
        self._found: list[Gap | Notice] = []

    def collect(self) -> Iterator[CollectedObject | Gap | Notice | ScopeChoice | InputFile]:
        """Everything of the other source, then the facts about its images, gaps and notices as they are met."""
        uses = ImageUses(self._table)
        for event in self._source.collect():
            if isinstance(event, CollectedObject) and reason_out_of_scope(self._out_of_scope, event) is None:
                uses.see(event)
            yield event
        yield from self._pages.read(self._texts(uses), self._drain)

    def _drain(self) -> Iterator[Gap | Notice]:
        found, self._found = self._found, []
        yield from found

    def _texts(self, uses: ImageUses) -> Iterator[SourceText]:
        written = uses.references()
        wanted = [reference for reference in written if self._images.may_ask(reference)]
        self._found += self._left_out(uses, [one for one in written if not self._images.may_ask(one)])
        troubles: dict[tuple[str, str], list[tuple[Trouble, Fetched]]] = collections.defaultdict(list)
        asked = 0
        for fetched in self._images.fetched(wanted, self._stop):
            asked += 1
            facts, hiding = self._facts.of(fetched, written[fetched.reference])
            for trouble in hiding:
                # A wrong signature is said in the facts about its image; what hides something is said here.
                if trouble.about_sbom or CODES[trouble.code][0] is Status.COULD_NOT_CHECK:
                    troubles[fetched.reference.host, trouble.code].append((trouble, fetched))
            for one in facts:
                self._found += [Notice(source=one.name, **notice) for notice in one.spec.get("notices", ())]
            yield self._pages.text(name_of(fetched), [msgspec.json.encode(one.document()) for one in facts])
        if asked < len(wanted):
            reason = f"stopped before {len(wanted) - asked} images were asked for"
            self._found.append(self._gap(GapKind.INTERRUPTED, "registries", reason))
        self._found += [self._hidden(host, code, found) for (host, code), found in sorted(troubles.items())]

    def _left_out(self, uses: ImageUses, others: list[Reference]) -> Iterator[Gap | Notice]:
        counts = collections.Counter(reference.host for reference in others)
        if counts:
            hosts = ", ".join(f"{host} ({count})" for host, count in sorted(counts.items())[:10])
            more = f" and {len(counts) - 10} more" if len(counts) > 10 else ""
            yield Notice(
                source=self._cluster,
                code="registry_not_listed",
                message=f"images of registries that are not listed under registries were not asked for: {hosts}{more}",
                count=len(others),
            )
        if uses.unreadable:
            yield Notice(
                source=self._cluster,
                code="image_unnamed",
                message="names of images that can't be read were not asked for",
                count=uses.unreadable,
            )
        if uses.overflowed:
            yield self._gap(GapKind.TOO_LARGE, "registries", f"more than {MAX_REFERENCES} different images")

    def _hidden(self, host: str, code: str, found: list[tuple[Trouble, Fetched]]) -> Gap:
        names = sorted({name_of(fetched) for _, fetched in found})
        shown = ", ".join(names[:_SHOWN]) + (
            f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        )
        first = found[0][0]
        count = f"{len(names)} image{'' if len(names) == 1 else 's'}"
        return self._gap(GAPS[code], host, f"{count}: {first.reason} ({code}): {shown}", hint=first.hint)

    def _gap(self, kind: GapKind, source: str, reason: str, *, hint: str = "") -> Gap:
        return Gap(kind=kind, cluster=self._cluster, source=source, reason=reason, kinds=_HIDDEN, hint=hint)
