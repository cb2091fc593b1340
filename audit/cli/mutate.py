"""``fleetaudit rules mutate``: how good the tests of rules are, by planting faults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from audit.cli import options as o
from audit.cli.command import examples

if TYPE_CHECKING:
    from audit.cli.screen import Screen
    from audit.testing.mutation import RuleScore

EXAMPLES = examples(
    "fleetaudit rules mutate pod/privileged  # every fault that its tests miss",
    "fleetaudit rules mutate 'image/*' --min-score 0.8  # a gate for tests",
    "fleetaudit rules mutate --policy our-rules/ 'own/*' --json",
)

Globs = Annotated[list[str] | None, o.argument("GLOB", "Only rules whose ids match; all of them by default.")]
MinScore = Annotated[
    str | None, o.option("--min-score", "FRACTION", "Fail when a rule's tests notice less, for example 0.8.")
]


def mutate(
    patterns: Globs = None,
    *,
    min_score: MinScore = None,
    policy: o.Policies = None,
    config: o.ConfigFile = None,
    no_config: o.NoConfig = False,
    jobs: o.Jobs = None,
    as_json: o.AsJson = False,
) -> int:
    """Plant one fault after the other in each rule, and say which ones its tests don't notice.

    A fault swaps a comparison, drops a negation or a condition, turns true and false, or moves a number by one. Some change
    nothing that can be seen, so not every rule can reach 100 %.
    """
    from audit import wiring
    from audit.cli.exits import ExitCode
    from audit.cli.screen import stdout_screen
    from audit.cli.settings import configuration, environment
    from audit.config.overrides import Overrides
    from audit.wiring.mutation import mutation_scores

    least = _fraction(min_score)
    surroundings = environment()
    overrides = Overrides(config=config, no_config=no_config, policy=tuple(policy or ()), jobs=jobs)
    effective = configuration(overrides, surroundings)
    library = wiring.load_library(effective)
    screen = stdout_screen(color=not surroundings.no_color)
    scores: list[RuleScore] = []
    for found in mutation_scores(effective, library, tuple(patterns or ())):
        scores.append(found)
        if not as_json:
            _print(screen, found)
            screen.flush()
    if as_json:
        screen.data([_plain(found) for found in scores])
    else:
        planted, noticed = sum(s.score.planted for s in scores), sum(s.score.noticed for s in scores)
        screen.line(f"{len(scores)} rules: {noticed} of {planted} planted faults noticed")
    screen.flush()
    low = [s for s in scores if least is not None and (s.score.share is None or s.score.share < least)]
    return int(ExitCode.GATE_FAILED if low else ExitCode.MET)


def _print(screen: Screen, found: RuleScore) -> None:
    from audit.cli.wording import mutation_words

    screen.line(f"{found.rule}  {mutation_words(found.score)}")
    for mutant in found.missed:
        change = f"{mutant.before}  ->  {mutant.after}" if mutant.after else f"{mutant.before}  taken out"
        screen.line(("  missed", "yellow"), f"  {found.file}:{mutant.line}  {mutant.fault}: {change}")


def _plain(found: RuleScore) -> dict[str, Any]:
    return {
        "rule": found.rule,
        "tests": found.score.tests,
        "planted": found.score.planted,
        "noticed": found.score.noticed,
        "missed": [
            {"file": found.file, "line": m.line, "fault": m.fault, "before": m.before, "after": m.after}
            for m in found.missed
        ],
    }


def _fraction(text: str | None) -> float | None:
    from audit.errors import UsageError

    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise UsageError(f"--min-score takes a fraction from 0 to 1, not {text[:40]}")
    return value
