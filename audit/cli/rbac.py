"""``fleetaudit rbac``: the least role that the loaded rules need on a running cluster."""

from __future__ import annotations

from typing import Annotated

from audit.cli import options as o
from audit.cli.command import examples

EXAMPLES = examples(
    "fleetaudit rbac | kubectl apply -f -  # the role; bind it to whoever audits",
    "fleetaudit rbac --config fleet.yaml  # for the rules of that configuration",
)

SecretMetadata = Annotated[
    bool,
    o.option(
        "--secret-metadata",
        "",
        "Secrets too. Who may list them may read their values, even if fleetaudit never asks for them.",
    ),
]


def rbac(
    *,
    config: o.ConfigFile = None,
    no_config: o.NoConfig = False,
    policy: o.Policies = None,
    secret_metadata: SecretMetadata = False,
) -> int:
    """Print the least ClusterRole for the loaded rules: get and list, nothing else."""
    import sys

    import yaml

    from audit import wiring
    from audit.cli.settings import configuration
    from audit.config.overrides import Overrides
    from audit.wiring.rights import role_for

    effective = configuration(Overrides(config=config, no_config=no_config, policy=tuple(policy or ())))
    role = role_for(effective, wiring.load_library(effective), secret_metadata=secret_metadata)
    yaml.safe_dump(role, sys.stdout, sort_keys=False)
    return 0
