"""Rego rules, answered by the embedded OPA."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from audit.model.finding import PairAnswer
from audit.model.rule import Rule
from audit.model.run import EngineVersion
from audit.model.subject import derived_key
from audit.native.binary import binary_sha256, find_binary
from audit.native.binary import version as native_version
from audit.native.evaluator import Evaluator
from audit.ports import CollectedObject


def embedded_version() -> EngineVersion:
    """The embedded engine, asked without starting it.

    Raises:
        EngineError: it is missing, or not the one this package was made for.
    """
    hello = native_version()
    return EngineVersion(
        name="opa",
        version=hello.opa,
        binary_sha256=binary_sha256(find_binary()),
        details={"go": hello.go, "platform": hello.platform},
    )


class RegoEngine:
    """An `Engine` over a native evaluator that has the rules loaded.

    Args:
        evaluator: started and loaded; closed with the engine.
        rules: the selected rules, in the order of answers.
    """

    def __init__(self, evaluator: Evaluator, rules: tuple[Rule, ...]) -> None:
        self._evaluator = evaluator
        self._rules = rules

    def version(self) -> EngineVersion:
        """OPA's own version, and the digest of the binary that ran."""
        hello = self._evaluator.hello()
        return EngineVersion(
            name="opa",
            version=hello.opa,
            binary_sha256=self._evaluator.binary_sha256(),
            details={"go": hello.go, "platform": hello.platform},
        )

    def rules(self) -> tuple[Rule, ...]:
        """The selected Rego rules."""
        return self._rules

    def evaluate(
        self, cluster: str, objects: Iterable[CollectedObject], inventory: bytes
    ) -> Iterator[list[PairAnswer]]:
        """One list per object, in order."""
        del cluster
        self._evaluator.set_inventory(inventory)
        # Derived subjects must not be asked rules that are not meant for them.
        return self._evaluator.evaluate(
            (derived_key(item.ref.kind_key) if item.ref.derived else item.ref.kind_key, item.raw)
            for item in objects
        )

    def close(self) -> None:
        """Stop the child."""
        self._evaluator.close()
