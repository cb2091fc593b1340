"""``fleetaudit twins``: do the engines agree where several are asked the same question?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from audit.cli import options as o
from audit.cli.command import examples

if TYPE_CHECKING:
    from audit.config.schema import Config

EXAMPLES = examples(
    "fleetaudit twins k8s/  # the shipped Kyverno policies against the Rego rules",
    "fleetaudit twins k8s/ --rule 'pod/*'  # one family",
    "fleetaudit twins k8s/ --policy builtin:kyverno-cel --json",
    "fleetaudit twins k8s/ --policy our-policies/  # policies that say whose twins they are",
)
SHIPPED = "builtin:kyverno"


def twins(
    paths: o.Paths = None,
    *,
    config: o.ConfigFile = None,
    no_config: o.NoConfig = False,
    policy: o.Policies = None,
    rule: o.SelectedRules = None,
    as_json: o.AsJson = False,
    jobs: o.Jobs = None,
    no_progress: o.NoProgress = False,
) -> int:
    """Ask both sides of every declared twin, and show each object on which they differ.

    One side finds a failure and the other none: that is a difference. Without policies of your own, the shipped Kyverno
    policies are compared with the Rego rules. The exit code is 1 when they differ anywhere, 3 when something could not be
    asked, else 0.
    """
    import tempfile
    from contextlib import ExitStack
    from pathlib import Path

    from audit import wiring
    from audit.cli.execution import check_scope
    from audit.cli.exits import ExitCode, code_for_outcome, winner
    from audit.cli.progress import BarProgress, SilentProgress
    from audit.cli.screen import stderr_screen, stdout_screen
    from audit.cli.settings import configuration, environment
    from audit.cli.signals import StopOnSignal
    from audit.cli.twins_page import TwinsPage
    from audit.config.overrides import Overrides

    surroundings = environment()
    color = not surroundings.no_color
    overrides = Overrides(
        config=config,
        no_config=no_config,
        paths=tuple(paths or ()),
        policy=tuple(policy or ()),
        jobs=jobs,
    )
    asked = _only_twins(configuration(overrides, surroundings), tuple(rule or ()))
    check_scope(asked)
    draws = not no_progress and stderr_screen(color=color).is_terminal
    page = TwinsPage()
    with ExitStack() as stack:
        stop = stack.enter_context(StopOnSignal())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fleetaudit-")))
        with BarProgress(color=color) if draws else SilentProgress() as progress:
            audit = stack.enter_context(wiring.build(asked, folder=folder, progress=progress))
            audit.twins.tell = page.tell
            result = audit.run(stop)
        page.finish(audit.twins.counts(), result)
        codes = [code_for_outcome(complete=result.complete, gates_met=not page.differences)]
        codes += [stop.code] if stop.code is not None else []
    screen = stdout_screen(color=color)
    if as_json:
        screen.data(page.plain())
    else:
        page.show(screen)
    screen.flush()
    return int(winner(*codes, ExitCode.MET))


def _only_twins(config: Config, patterns: tuple[str, ...]) -> Config:
    """The configuration with nothing selected but twins, the shipped ones when no policies are configured.

    Raises:
        UsageError: there are no twins, or none of the rules asked for.
    """
    import msgspec

    from audit import wiring
    from audit.config.check import rule_matches
    from audit.config.judging import RulesConfig
    from audit.errors import UsageError

    if not (config.policy.paths or config.policy.sources):
        config = msgspec.structs.replace(
            config, policy=msgspec.structs.replace(config.policy, paths=(SHIPPED,))
        )
    library = wiring.load_library(msgspec.structs.replace(config, rules=RulesConfig()))
    chosen = [
        twin
        for twin in library.twins
        if not patterns
        or any(rule_matches(pattern, id_) for pattern in patterns for id_ in (twin.rule, *twin.others))
    ]
    if not chosen:
        raise UsageError(
            "no rule asked for has a twin" if library.twins else "no policy says whose twin it is",
            suggestion="see docs/kyverno-policies.md for the annotation and for files of twins",
        )
    ids = sorted({id_ for twin in chosen for id_ in (twin.rule, *twin.others)})
    return msgspec.structs.replace(config, rules=RulesConfig(select=tuple(ids)))
