"""``fleetaudit consistency``: the same policies everywhere?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from audit.cli import options as o
from audit.cli.command import examples

if TYPE_CHECKING:
    from audit.config.schema import Config
    from audit.model.consistency import PolicyConsistency

EXAMPLES = examples(
    "fleetaudit consistency clusters/*  # each folder is a cluster",
    "fleetaudit consistency snapshots/ --baseline policies/ --fail-on any",
    "fleetaudit consistency --all-contexts --baseline policies/ --markdown",
    "fleetaudit consistency --config fleet.yaml --json",
)
ANY = "any"
STATES = ("weakened", "widened", "missing", "extra", "other_version", "not_served", "engine")

Paths = Annotated[
    list[str] | None,
    o.argument(
        "PATH",
        "Folders or files with manifests, each a cluster, or snapshots. Without a path, the configuration says what is "
        "compared.",
    ),
]
Baseline = Annotated[
    str | None,
    o.option(
        "--baseline",
        "PATH|GIT",
        "What should be there: manifests, a snapshot, or a pinned git address. Without it, clusters are compared with each "
        "other.",
        panel=o.JUDGE,
    ),
]
FailOn = Annotated[
    list[str] | None,
    o.option(
        "--fail-on",
        "STATE",
        f"Exit with 1 when a policy is in this state anywhere: {', '.join(STATES)}, or {ANY}. Give it again for more.",
        panel=o.GATES,
        words=(*STATES, ANY),
    ),
]
AsMarkdown = Annotated[bool, o.option("--markdown", "", "Print Markdown, for a comment.")]


def consistency(
    paths: Paths = None,
    *,
    baseline: Baseline = None,
    context: o.Contexts = None,
    all_contexts: o.AllContexts = False,
    kubeconfig: o.Kubeconfig = None,
    in_cluster: o.InCluster = False,
    cluster: o.Clusters = None,
    register: o.Register = None,
    config: o.ConfigFile = None,
    no_config: o.NoConfig = False,
    fail_on: FailOn = None,
    as_json: o.AsJson = False,
    as_markdown: AsMarkdown = False,
    jobs: o.Jobs = None,
    no_progress: o.NoProgress = False,
) -> int:
    """Compare the policies of all clusters with each other, or with what should be there.

    RBAC, Kyverno, Gatekeeper, admission policies, network and mesh policies: what is missing, extra, weakened, widened or
    another version, and which engine is missing, stopped or older. What could not be seen is not comparable, and never the
    same. The exit code is 3 when anything was not comparable, 1 when --fail-on is met, else 0.
    """
    from contextlib import ExitStack

    import msgspec

    from audit.cli.choices import one_of
    from audit.cli.consistency_page import ConsistencyPage
    from audit.cli.exits import ExitCode, code_for_outcome, winner
    from audit.cli.progress import BarProgress, SilentProgress
    from audit.cli.screen import stderr_screen, stdout_screen
    from audit.cli.settings import configuration, contexts_of, environment
    from audit.cli.signals import StopOnSignal
    from audit.config.overrides import Overrides
    from audit.errors import UsageError
    from audit.wiring.consistency import clusters_of, compare_policies
    from audit.wiring.moment import SystemClock

    if as_json and as_markdown:
        raise UsageError("--json and --markdown exclude each other")
    asked = tuple(one_of("--fail-on", word, (*STATES, ANY)) for word in fail_on or ())
    surroundings = environment()
    color = not surroundings.no_color
    overrides = Overrides(
        config=config,
        no_config=no_config,
        paths=tuple(paths or ()),
        clusters=tuple(cluster or ()),
        contexts=contexts_of(context, kubeconfig, every=all_contexts),
        kubeconfig=kubeconfig,
        in_cluster=in_cluster,
        register=register,
        jobs=jobs,
    )
    effective = configuration(overrides, surroundings)
    if paths and not cluster:
        clusters = clusters_of(paths, registered=bool(effective.fleet))
        effective = msgspec.structs.replace(effective, clusters=clusters)
    effective = _with_baseline(effective, baseline)
    screen = stdout_screen(color=color)
    draws = not no_progress and stderr_screen(color=color).is_terminal
    with ExitStack() as stack:
        stop = stack.enter_context(StopOnSignal())
        with BarProgress(color=color) if draws else SilentProgress() as progress:
            found = compare_policies(effective, clock=SystemClock(), progress=progress, stop=stop)
        stopped = [stop.code] if stop.code is not None else []
    page = ConsistencyPage(found)
    if as_json:
        screen.data(page.plain())
    elif as_markdown:
        page.markdown(screen)
    else:
        page.show(screen)
    screen.flush()
    met = not any(_found(found.consistency, word) for word in asked)
    return int(winner(*stopped, code_for_outcome(complete=page.complete, gates_met=met), ExitCode.MET))


def _with_baseline(config: Config, baseline: str | None) -> Config:
    """The configuration with this baseline, and with something to compare.

    Raises:
        UsageError: there is nothing to compare.
    """
    import msgspec

    from audit.cli.execution import check_scope
    from audit.config.consistency import ConsistencyConfig

    said = config.consistency or ConsistencyConfig()
    if baseline is not None:
        said = msgspec.structs.replace(said, baseline=baseline)
    check_scope(config)
    return msgspec.structs.replace(config, consistency=said)


def _found(consistency: PolicyConsistency, word: str) -> bool:
    """Whether a state that was asked for is anywhere."""
    from audit.model.consistency import ConsistencyState

    if word == ANY:
        return consistency.differs
    if word == "engine":
        return any(one.engines for one in consistency.clusters)
    return consistency.count(ConsistencyState(word)) > 0
