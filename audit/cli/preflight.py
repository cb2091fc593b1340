"""``fleetaudit preflight``: what an audit of a running cluster will not be shown, before it is run."""

from __future__ import annotations

from typing import Annotated

from audit.cli import options as o
from audit.cli.command import examples

EXAMPLES = examples(
    "fleetaudit preflight --context prod-eu  # which kinds may be read, and what stays undecided",
    "fleetaudit preflight --in-cluster --json",
)

Context = Annotated[
    str | None, o.option("--context", "NAME", "Context of the kubeconfig; the current one by default.")
]


def preflight(
    *,
    context: Context = None,
    kubeconfig: o.Kubeconfig = None,
    in_cluster: o.InCluster = False,
    config: o.ConfigFile = None,
    no_config: o.NoConfig = False,
    policy: o.Policies = None,
    as_json: o.AsJson = False,
) -> int:
    """Ask a running cluster for one object of each kind that the loaded rules need.

    The exit code is 3 when something would not be seen: the controls that rest on it stay undecided.
    """
    from audit import wiring
    from audit.cli.exits import ExitCode
    from audit.cli.screen import stdout_screen
    from audit.cli.settings import configuration, environment
    from audit.config.overrides import Overrides
    from audit.wiring.rights import tried_rights, undecided_controls

    surroundings = environment()
    overrides = Overrides(config=config, no_config=no_config, policy=tuple(policy or ()))
    effective = configuration(overrides, surroundings)
    library = wiring.load_library(effective)
    rights = tried_rights(
        effective, library, context=context or "", kubeconfig=kubeconfig or "", in_cluster=in_cluster
    )
    undecided = undecided_controls(library, frozenset(rights.refused))
    screen = stdout_screen(color=not surroundings.no_color)
    if as_json:
        screen.data(
            {
                "allowed": list(rights.allowed),
                "refused": rights.refused,
                "not_served": list(rights.not_served),
                "undecided_controls": list(undecided),
            }
        )
    else:
        screen.line(f"Allowed     {len(rights.allowed)} kinds can be read")
        screen.line(
            f"Not served  {len(rights.not_served)} kinds are unknown to the server: there are no such objects"
        )
        for kind, reason in sorted(rights.refused.items()):
            screen.line(("Refused", "red"), f"     {kind}: {reason}")
        if undecided:
            screen.line(("Undecided", "yellow"), f"   {len(undecided)} controls: {', '.join(undecided)}")
            screen.line("            fleetaudit rbac prints the role that is needed")
    screen.flush()
    return int(ExitCode.INCOMPLETE if rights.refused else ExitCode.MET)
