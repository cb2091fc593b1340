"""What the engine is told about the server."""

from __future__ import annotations

import msgspec


class Secret:
    """Text that no print, log or error shows."""

    __slots__ = ("_text",)

    def __init__(self, text: str = "") -> None:
        self._text = text

    def __repr__(self) -> str:
        return "Secret()"

    def __bool__(self) -> bool:
        return bool(self._text)

    def reveal(self) -> str:
        """The text itself."""
        return self._text


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where the server is and what it may cost. Without `url`, a server is started on this machine."""

    url: str = ""
    token: Secret = msgspec.field(default_factory=Secret)
    """Bearer token for `url`."""
    ca: str = ""
    """PEM file of the authorities that may sign the server's certificate; the usual ones by default."""
    insecure: bool = False
    """Certificates are not checked, and tokens may travel unencrypted."""
    bundle: bool = False
    """The server has the rules already: nothing is put there."""
    binary: str = ""
    """The ``opa`` to start; the one on PATH by default."""
    timeout_seconds: float = 30.0
    """For one request about many objects."""
    object_seconds: float = 5.0
    """For one object."""
    memory_bytes: int = 512 * 1024 * 1024
    """Resident memory of a server that is started here."""
    jobs: int = 1
    """Requests under way at once, and cores of a server that is started here."""
    embedded: str = ""
    """Version of the embedded OPA: another one is stated."""
