"""From configuration to a running engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from audit.evaluate.opa_server.engine import OpaServerEngine, open_engine
from audit.evaluate.opa_server.program import Program
from audit.evaluate.opa_server.settings import Secret, ServerSettings
from audit.model.rule import Rule
from audit.native.evaluator import EvalRule, Evaluator


class Options(Protocol):
    """What the configuration says of the server."""

    @property
    def url(self) -> str | None:
        """Address; None when one is to be started."""
        ...

    @property
    def ca(self) -> str | None:
        """PEM file of authorities."""
        ...

    @property
    def insecure(self) -> bool:
        """Certificates are not checked."""
        ...

    @property
    def bundle(self) -> bool:
        """The server has the rules."""
        ...

    @property
    def binary(self) -> str | None:
        """The ``opa`` to start."""
        ...

    @property
    def timeout_seconds(self) -> float:
        """For one request."""
        ...


class Sources(Protocol):
    """Loaded rules."""

    @property
    def modules(self) -> Mapping[str, str]:
        """Label to source."""
        ...

    @property
    def data(self) -> Mapping[str, Any]:
        """Documents below ``data``."""
        ...


class Limits(Protocol):
    """Bounds of the run."""

    @property
    def object_seconds(self) -> float:
        """For all rules about one object."""
        ...

    @property
    def memory_bytes(self) -> int:
        """Of a server that is started here."""
        ...


def settings_from(options: Options, limits: Limits, *, token: str, jobs: int) -> ServerSettings:
    """The engine's own form of the configuration.

    Args:
        options: the server.
        limits: what an object may cost.
        token: bearer token for the server; empty for none.
        jobs: requests under way at once.
    """
    return ServerSettings(
        url=(options.url or "").rstrip("/"),
        token=Secret(token),
        ca=options.ca or "",
        insecure=options.insecure,
        bundle=options.bundle,
        binary=options.binary or "",
        timeout_seconds=options.timeout_seconds,
        object_seconds=limits.object_seconds,
        memory_bytes=limits.memory_bytes,
        jobs=jobs,
    )


def start(
    settings: ServerSettings,
    evaluator: Evaluator,
    sources: Sources,
    rules: tuple[Rule, ...],
    asked: Sequence[EvalRule],
    *,
    say: Callable[[str], None],
) -> OpaServerEngine:
    """Open the engine.

    Args:
        settings: the server.
        evaluator: the embedded engine, which has compiled `sources`; it says what packages there are.
        sources: modules and data.
        rules: the selected rules, in the order of answers.
        asked: the same, as engines know them.
        say: told what takes long, and what could not be removed.

    Raises:
        EngineError: the server can't be used.
    """
    program = Program(
        modules=sources.modules,
        data=sources.data,
        rules=tuple(asked),
        packages=evaluator.inspect(sources.modules).packages,
    )
    settings = msgspec.structs.replace(settings, embedded=evaluator.hello().opa)
    return open_engine(program, rules, settings, say=say)
