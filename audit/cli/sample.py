"""``fleetaudit sample``: pairs for an auditor to test again, passes included."""

from __future__ import annotations

from typing import Annotated

from audit.cli import options as o
from audit.cli.command import examples

EXAMPLES = examples(
    "fleetaudit sample --control 'MEASURE 2.7' --size 25 --seed 2026  # of the last run",
    "fleetaudit sample --control lfai:LFAI-SCC-02 --size 5 --seed 7 --outcome pass  # passes only",
    "fleetaudit sample --control 'MEASURE 2.7' --seed 2026 --result out --json  # for other programs",
)
OUTCOMES = ("pass", "fail", "warn", "error", "skip")


def sample(
    *,
    control: Annotated[str, o.option("--control", "ID", "Control whose pairs are drawn.")],
    size: Annotated[
        int, o.option("--size", "N", "Number of pairs; 25 by default.", least=1, most=100_000)
    ] = 25,
    seed: Annotated[int, o.option("--seed", "S", "Any number; the same one draws the same pairs.")],
    outcome: Annotated[
        list[str] | None,
        o.option(
            "--outcome",
            "NAME",
            f"Only this outcome ({', '.join(OUTCOMES)}), repeatable; all but skip by default.",
            words=OUTCOMES,
        ),
    ] = None,
    result: o.ResultFile = None,
    config: o.ConfigFile = None,
    no_config: o.NoConfig = False,
    as_json: o.AsJson = False,
) -> int:
    """Draw pairs that decide a control from the population file of a run.

    The draw is deterministic: the pairs with the smallest sha256 over the seed and their identity. Each row shows the
    value seen and the command that repeats the test.
    """
    from audit.cli.choices import one_of
    from audit.cli.results import load_result, result_path
    from audit.cli.sampling import draw_sample, print_sample, sample_facts
    from audit.cli.screen import stdout_screen
    from audit.cli.settings import content_configuration, environment

    effective = content_configuration(config, no_config=no_config)
    outcomes = frozenset(one_of("--outcome", name, OUTCOMES) for name in outcome or ()) or frozenset(
        OUTCOMES[:4]
    )
    path = result_path(result, effective)
    drawn = draw_sample(
        load_result(path), path.parent, control=control, size=size, seed=seed, outcomes=outcomes
    )
    screen = stdout_screen(color=not environment().no_color)
    if as_json:
        screen.data(sample_facts(drawn))
    else:
        print_sample(screen, drawn)
    screen.flush()
    return 0
