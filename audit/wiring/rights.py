"""What the loaded rules need to see of a running cluster, and what follows where they may not."""

from __future__ import annotations

from typing import Any

from audit.collect.cluster.connection import Access
from audit.collect.cluster.failures import ApiError
from audit.collect.cluster.rights import Rights, least_role, rights_of
from audit.config.schema import Config
from audit.errors import CollectionError
from audit.library.library import Library
from audit.model.control import Strength
from audit.wiring.collecting import wanted_kinds
from audit.wiring.content import selected_rules


def needed_kinds(config: Config, library: Library) -> tuple[str, ...]:
    """Kinds that the selected rules judge or must see."""
    return wanted_kinds(config, library, selected_rules(config, library))


def role_for(config: Config, library: Library, *, secret_metadata: bool) -> dict[str, Any]:
    """The least ClusterRole."""
    return least_role(needed_kinds(config, library), secret_metadata=secret_metadata)


def tried_rights(
    config: Config, library: Library, *, context: str, kubeconfig: str, in_cluster: bool
) -> Rights:
    """Ask a server for one object of each kind.

    Raises:
        CollectionError: it doesn't answer.
    """
    access = Access(context=context, kubeconfig=kubeconfig, in_cluster=in_cluster)
    try:
        return rights_of(access, needed_kinds(config, library))
    except ApiError as error:
        raise CollectionError(error.reason, suggestion=error.hint or None) from error


def undecided_controls(library: Library, refused: frozenset[str]) -> tuple[str, ...]:
    """Controls with a deciding rule that judges or must see one of these kinds."""
    blind = {
        rule.id
        for rule in library.rules
        if not refused.isdisjoint((*rule.kinds, *rule.context_kinds)) or (not rule.kinds and refused)
    }
    return tuple(
        sorted(
            {
                f"{entry.framework}:{entry.control}"
                for entry in library.mappings
                if entry.strength is Strength.DECIDES and entry.rule in blind
            }
        )
    )
