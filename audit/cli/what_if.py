"""``fleetaudit what-if``: which decisions another set of policies would change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from audit.cli import options as o
from audit.cli.command import examples

if TYPE_CHECKING:
    from audit.config.schema import Config

EXAMPLES = examples(
    "fleetaudit what-if snapshots/prod-eu --policy today/ --against tomorrow/",
    "fleetaudit what-if snapshots/prod-eu --against tomorrow/  # the built-in rules, and those rules beside them",
    "fleetaudit what-if prod-eu/ --config now.yaml --against-config next.yaml",
)

Policies = Annotated[
    list[str] | None,
    o.option("--policy", "PATH", "Policies of the first side, besides the built-in rules.", panel=o.JUDGE),
]
Against = Annotated[
    list[str] | None,
    o.option("--against", "PATH", "Policies of the second side, besides the built-in rules.", panel=o.JUDGE),
]
AgainstConfig = Annotated[
    str | None,
    o.option(
        "--against-config",
        "FILE",
        "Configuration of the second side; that of the first by default.",
        panel=o.JUDGE,
    ),
]


def what_if(
    paths: o.Paths = None,
    *,
    policy: Policies = None,
    against: Against = None,
    config: o.ConfigFile = None,
    against_config: AgainstConfig = None,
    no_config: o.NoConfig = False,
    rule: o.SelectedRules = None,
    register: o.Register = None,
    as_json: o.AsJson = False,
    jobs: o.Jobs = None,
    no_progress: o.NoProgress = False,
) -> int:
    """Judge one snapshot (or manifests) by two sets of policies, and list each decision that flips.

    What both sides ask under the same rule id is compared; what one side alone asks flips where it fails or can't be
    judged. The exit code is 1 when anything flips, 3 when something could not be looked at, else 0.
    """
    import tempfile
    from contextlib import ExitStack
    from pathlib import Path

    import msgspec

    from audit import wiring
    from audit.cli.execution import check_scope
    from audit.cli.exits import ExitCode, code_for_outcome, winner
    from audit.cli.population import read_pairs
    from audit.cli.progress import BarProgress, SilentProgress
    from audit.cli.screen import stderr_screen, stdout_screen
    from audit.cli.settings import configuration, environment
    from audit.cli.signals import StopOnSignal
    from audit.cli.what_if_page import Side, WhatIfPage
    from audit.config.overrides import Overrides
    from audit.errors import UsageError
    from audit.record.flips import Counts, flips

    if not (policy or against or against_config):
        raise UsageError(
            "both sides are the same",
            suggestion="name policies with --against, or a file with --against-config",
        )
    surroundings = environment()
    color = not surroundings.no_color
    first = Overrides(
        config=config,
        no_config=no_config,
        paths=tuple(paths or ()),
        rules=tuple(rule or ()),
        register=register,
        jobs=jobs,
    )
    second = msgspec.structs.replace(
        first,
        config=against_config or config,
        no_config=no_config and against_config is None,
    )
    sides = [
        _with_policies(configuration(overrides, surroundings), tuple(named or ()))
        for overrides, named in ((first, policy), (second, against))
    ]
    if not paths:
        # One fleet, judged twice: what is looked at is the first side's.
        sides[1] = msgspec.structs.replace(sides[1], clusters=sides[0].clusters, paths=sides[0].paths)
    check_scope(sides[0])
    draws = not no_progress and stderr_screen(color=color).is_terminal
    now = wiring.SystemClock().now()
    page = WhatIfPage()
    with ExitStack() as stack:
        stop = stack.enter_context(StopOnSignal())
        populations: list[Path] = []
        for side in sides:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fleetaudit-")))
            with BarProgress(color=color) if draws else SilentProgress() as progress, ExitStack() as running:
                # Judged at one moment, or a waiver that ends between the two would be a difference.
                audit = running.enter_context(
                    wiring.build(side, folder=folder, progress=progress, clock=wiring.FixedClock(now))
                )
                result = audit.run(stop)
            page.sides.append(Side.of(result))
            populations.append(folder / result.record.population_file)
        counts = Counts()
        for flip in flips(read_pairs(populations[0]), read_pairs(populations[1]), counts):
            page.take(flip)
        page.finish(counts)
        codes = [code_for_outcome(complete=not page.incomplete, gates_met=not page.total)]
        codes += [stop.code] if stop.code is not None else []
    screen = stdout_screen(color=color)
    if as_json:
        screen.data(page.plain())
    else:
        page.show(screen)
    screen.flush()
    return int(winner(*codes, ExitCode.MET))


def _with_policies(config: Config, paths: tuple[str, ...]) -> Config:
    """The configuration with these policies too.

    They are called by their place and not by their folder, so that a rule has one id in today/ and in tomorrow/.
    """
    import msgspec

    from audit.config.judging import PolicySourceConfig

    shipped = tuple(path for path in paths if path.startswith("builtin:"))
    others = [path for path in paths if path not in shipped]
    sources = tuple(
        PolicySourceConfig(path=path, name="policy" if number == 1 else f"policy{number}")
        for number, path in enumerate(others, start=1)
    )
    policy = msgspec.structs.replace(
        config.policy,
        paths=(*config.policy.paths, *shipped),
        sources=(*config.policy.sources, *sources),
    )
    return msgspec.structs.replace(config, policy=policy)
