"""Members whose images are asked for in registries, where the configuration names any."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from msgspec.structs import replace

from audit.collect.artifacts.registry.settings import RegistrySettings
from audit.collect.members import Member
from audit.config.registries import RegistryConfig
from audit.config.schema import Config
from audit.library.library import Library
from audit.native.reader import Reader
from audit.normalise.identity import normalise_document
from audit.ports import ProgressSink, StopSignal
from audit.wiring.evidence import signature_settings


def with_registries(
    members: Iterable[Member],
    config: Config,
    library: Library,
    reader: Reader,
    stack: ExitStack,
    *,
    now: dt.datetime,
    progress: ProgressSink,
    stop: StopSignal,
) -> Iterator[Member]:
    """The members; with registries in the configuration, each also says what these have of its images.

    Args:
        members: what is read.
        config: which registries may be asked, and whom to trust.
        library: knows where pods are described.
        reader: the running native reader.
        stack: ends what is under way.
        now: the moment of judging.
        progress: told of every image.
        stop: asked while registries are waited for.
    """
    if not config.registries:
        yield from members
        return
    from audit.collect.artifacts.registry.asking import RegistryImages
    from audit.collect.artifacts.registry.reading import ImageFacts
    from audit.collect.artifacts.registry.source import WithRegistries
    from audit.collect.artifacts.sbom.reader import readers as sbom_readers
    from audit.collect.artifacts.sbom.settings import SbomSettings
    from audit.collect.artifacts.signatures.factory import image_judge
    from audit.collect.cluster.pages import PageReader

    base = Path(config.signatures).parent if config.signatures else Path()
    facts = ImageFacts(
        image_judge(signature_settings(config), base=base, now=now), sbom_readers(SbomSettings(now=now))
    )
    images = stack.enter_context(RegistryImages(map(_settings, config.registries)))
    for member in members:
        source = WithRegistries(
            member.name,
            member.source,
            out_of_scope=member.out_of_scope,
            table=library.rule_set.data["pod_templates"],
            images=images,
            facts=facts,
            pages=PageReader(member.name, reader, normalise_document, progress),
            stop=stop,
        )
        yield replace(member, source=source)


def _settings(one: RegistryConfig) -> RegistrySettings:
    return RegistrySettings(
        host=one.host.lower(),
        ca=Path(one.ca) if one.ca is not None else None,
        docker_config=Path(one.docker_config) if one.docker_config is not None else None,
        token_service=one.token_service,
        insecure=one.insecure,
        seconds=one.seconds,
        image_seconds=one.image_seconds,
        connections=one.connections,
        max_images=one.max_images,
    )
