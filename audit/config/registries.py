"""Which registries may be asked about the images that run. None by default: then no connection is opened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from audit.config.fields import PathText, Section

HostText = Annotated[
    str,
    Meta(
        pattern=r"^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:]{2,45}\])(?::[0-9]{1,5})?$(?!\n)",
        description="A host with its port where it has one, as images name it; docker.io is Docker Hub.",
        examples=["registry.example.com", "localhost:5000"],
    ),
]
PLAIN = "http://"
"""Before a host on the command line: this machine, without TLS."""


class RegistryConfig(Section, frozen=True, kw_only=True):
    """A registry that may be asked for signatures, provenance and bills of materials of the images that run from it."""

    host: HostText
    ca: Annotated[
        PathText | None,
        Meta(description="Certificates in PEM, trusted beside those of the system; relative to this file."),
    ] = None
    docker_config: Annotated[
        PathText | None,
        Meta(
            description="A config.json of docker login with its credentials; relative to this file. Without it, nobody logs in."
        ),
    ] = None
    token_service: Annotated[
        HostText | None,
        Meta(description="Another host that may be told the credentials, because it issues the tokens."),
    ] = None
    insecure: Annotated[bool, Meta(description="Without TLS; only for this machine.")] = False
    seconds: Annotated[float, Meta(gt=0, le=86400, description="Time for all its images together.")] = 300.0
    image_seconds: Annotated[float, Meta(gt=0, le=3600, description="Time for one image.")] = 60.0
    connections: Annotated[int, Meta(ge=1, le=32, description="Images asked for at the same time.")] = 4
    max_images: Annotated[int, Meta(ge=1, le=100_000, description="More are not asked for.")] = 1000


def with_asked(written: list[dict[str, Any]], asked: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The registries of the file, and those of the command line that it does not describe."""
    yield from written
    known = {str(one["host"]).lower() for one in written}
    for text in dict.fromkeys(asked):
        host = text.removeprefix(PLAIN)
        if host.lower() not in known:
            yield msgspec.to_builtins(RegistryConfig(host=host, insecure=text != host))
