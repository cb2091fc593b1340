"""``fleetaudit collect``: running clusters into snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from audit.cli import options as o
from audit.cli.command import examples

if TYPE_CHECKING:
    from audit.cli.screen import Screen
    from audit.config.overrides import Overrides
    from audit.config.schema import Config
    from audit.wiring.snapshots import Taken

EXAMPLES = examples(
    "fleetaudit collect --context prod-eu --to snapshots/  # then: fleetaudit run snapshots/prod-eu",
    "fleetaudit collect --all-contexts --to snapshots/2026-11-30 --sign-key key.pem",
    "fleetaudit collect --in-cluster --cluster prod-eu --to s3://audit/2026-11-30",
)

To = Annotated[
    str,
    o.option(
        "--to",
        "DIR|URL",
        "Folder, or address that fsspec knows, below which each cluster gets a folder of its own.",
        panel=o.OUTPUT,
    ),
]
SignKey = Annotated[
    str | None,
    o.option(
        "--sign-key",
        "FILE",
        "Sign each manifest with this private key: PEM with ECDSA, RSA or Ed25519, no passphrase.",
        panel=o.OUTPUT,
    ),
]
Names = Annotated[
    list[str] | None,
    o.option(
        "--cluster",
        "NAME",
        "Name of the cluster, in the order of the contexts; alone, collect only this cluster of the configuration.",
        panel=o.SCOPE,
    ),
]


def collect(
    *,
    to: To,
    context: o.Contexts = None,
    all_contexts: o.AllContexts = False,
    kubeconfig: o.Kubeconfig = None,
    in_cluster: o.InCluster = False,
    cluster: Names = None,
    config: o.ConfigFile = None,
    no_config: o.NoConfig = False,
    sign_key: SignKey = None,
    as_json: o.AsJson = False,
    jobs: o.Jobs = None,
    no_progress: o.NoProgress = False,
) -> int:
    """Write a redacted inventory of each running cluster: all that the role allows, to be judged by ``run`` later.

    The exit code is 3 when a cluster was not reached, or a list ended before its end. Kinds that the role forbids are told,
    and are gaps for the rules that need them; they are no failure of collecting.
    """
    from contextlib import ExitStack

    from audit.cli.exits import ExitCode, winner
    from audit.cli.failures import print_error
    from audit.cli.logs import logging_to
    from audit.cli.progress import BarProgress, SilentProgress
    from audit.cli.screen import stderr_screen, stdout_screen
    from audit.cli.settings import configuration, contexts_of, environment
    from audit.cli.signals import StopOnSignal
    from audit.config.overrides import Overrides
    from audit.wiring.moment import SystemClock
    from audit.wiring.snapshots import take_snapshots

    surroundings = environment()
    color = not surroundings.no_color
    overrides = Overrides(
        config=config,
        no_config=no_config,
        contexts=contexts_of(context, kubeconfig, every=all_contexts),
        kubeconfig=kubeconfig,
        in_cluster=in_cluster,
        clusters=tuple(cluster or ()),
        jobs=jobs,
    )
    effective = configuration(overrides, surroundings)
    _check_scope(effective, overrides)
    screen, errors = stdout_screen(color=color), stderr_screen(color=color)
    codes: list[ExitCode] = []
    taken: list[Taken] = []
    with ExitStack() as stack:
        stop = stack.enter_context(StopOnSignal())
        draws = not no_progress and errors.is_terminal
        stack.enter_context(logging_to(None, verbose=False))
        with BarProgress(color=color) if draws else SilentProgress() as progress:
            taken += take_snapshots(
                effective, to=to, sign_key=sign_key, clock=SystemClock(), progress=progress, stop=stop
            )
        codes += [stop.code] if stop.code is not None else []
    for one in taken:
        if one.error is not None:
            print_error(errors, one.error)
            codes.append(ExitCode.USAGE)
        elif _missing(one):
            codes.append(ExitCode.INCOMPLETE)
    if as_json:
        screen.data([_plain(one) for one in taken])
    else:
        for one in taken:
            _show(one, screen)
    screen.flush()
    return int(winner(*codes, ExitCode.MET))


def _check_scope(config: Config, overrides: Overrides) -> None:
    from audit.errors import UsageError

    if not any(cluster.server for cluster in config.members()):
        raise UsageError(
            "no running cluster is named, and only those are collected",
            suggestion="name one with --context, or with clusters[].server in a configuration",
        )
    if overrides.in_cluster and not overrides.clusters:
        raise UsageError(
            "the cluster has no name yet, and every cluster of a fleet writes to the same place",
            suggestion="add --cluster NAME",
        )


def _missing(taken: Taken) -> list[str]:
    """What should have been told and was not; a refusal is an answer."""
    from audit.model.gap import GapKind

    if taken.manifest is None:
        return []
    gaps = [*taken.manifest.gaps, *(gap for entry in taken.manifest.listed for gap in entry.gaps)]
    missing = [f"{gap.source}: {gap.reason}" for gap in gaps if gap.kind is not GapKind.FORBIDDEN]
    missing += [f"{group}: the server behind this API group doesn't answer" for group in taken.manifest.stale]
    if taken.manifest.server is None and not missing:
        missing += [f"{gap.source}: {gap.reason}" for gap in gaps]
    return missing


def _refused(taken: Taken) -> list[str]:
    from audit.model.gap import GapKind

    rights = taken.manifest.rights if taken.manifest else {}
    return [kind for kind, right in rights.items() if right == GapKind.FORBIDDEN.value]


def _plain(taken: Taken) -> dict[str, object]:
    manifest = taken.manifest
    return {
        "cluster": taken.cluster,
        "place": taken.place,
        "written": manifest is not None,
        "uid": manifest.uid if manifest else "",
        "objects": manifest.objects if manifest else 0,
        "kinds": len(manifest.listed) if manifest else 0,
        "refused": _refused(taken),
        "missing": _missing(taken),
        "error": str(taken.error) if taken.error else "",
    }


def _show(taken: Taken, screen: Screen) -> None:
    from audit.cli.wording import count

    manifest = taken.manifest
    if manifest is None:
        screen.line((taken.cluster, "bold"), "  nothing was written")
        return
    told = f"{count(manifest.objects, 'object')} of {count(len(manifest.listed), 'kind')}"
    screen.line((taken.cluster, "bold"), f"  {told} in {taken.place}")
    refused = _refused(taken)
    if refused:
        more = f" and {len(refused) - 6} more" if len(refused) > 6 else ""
        screen.line("  not allowed  ", f"{', '.join(refused[:6])}{more}")
    for text in _missing(taken):
        screen.line(("  incomplete   ", "yellow"), text)
