"""Which registries may be asked, and how."""

from __future__ import annotations

from pathlib import Path

import msgspec


class RegistrySettings(msgspec.Struct, frozen=True, kw_only=True):
    """One registry that may be asked."""

    host: str
    """As images name it, with its port."""
    ca: Path | None = None
    """Certificates in PEM that are trusted beside those of the system."""
    docker_config: Path | None = None
    """Where its credentials are; without it everything is asked as anybody."""
    token_service: str | None = None
    """Another host that may be told the credentials, because it issues the registry's tokens."""
    insecure: bool = False
    """Without TLS; only for this machine."""
    seconds: float = 300.0
    """For all its images together."""
    image_seconds: float = 60.0
    connections: int = 4
    """Images asked for at the same time."""
    max_images: int = 1000
