"""``fleetaudit trend``: one number over the runs of a history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from audit.cli import options as o
from audit.cli.command import examples

if TYPE_CHECKING:
    from audit.history.database.reading import Stored
    from audit.history.model import Link
    from audit.history.trend import Series

EXAMPLES = examples(
    "fleetaudit trend --history history.db  # the strict ratio of each framework",
    "fleetaudit trend --measure coverage --framework nist-ai-rmf",
    "fleetaudit trend --function MEASURE --last 30  # one function",
    "fleetaudit trend --measure open --format csv > open.csv  # open groups",
)
MEASURES = (
    "strict",
    "range-high",
    "with-waivers",
    "coverage",
    "technical-only",
    "attested",
    "classic",
    "scope-coverage",
    "open",
    "open-critical",
    "open-high",
    "waived",
    "errors",
    "gaps",
    "objects",
    "pairs",
)
FORMATS = ("console", "json", "csv")


def trend(
    *,
    measure: Annotated[
        str,
        o.option(
            "--measure",
            "NAME",
            f"What is shown, strict by default: {', '.join(MEASURES)}.",
            words=MEASURES,
        ),
    ] = "strict",
    framework: o.Framework = None,
    function: Annotated[
        str | None,
        o.option("--function", "NAME", "Of this function or family, such as GOVERN: strict or classic."),
    ] = None,
    cluster: Annotated[str | None, o.option("--cluster", "NAME", "Of this cluster alone: strict.")] = None,
    fleet: o.Fleet = None,
    last: Annotated[int | None, o.option("--last", "N", "Only the newest N runs.", least=1)] = None,
    history: o.Past = None,
    config: o.ConfigFile = None,
    no_config: o.NoConfig = False,
    format_name: Annotated[
        str,
        o.option("--format", "NAME", f"One of {', '.join(FORMATS)}; console by default.", words=FORMATS),
    ] = "console",
) -> int:
    """Show a ratio, a coverage or a count over the runs of one fleet.

    Where two neighbours were not counted over the same scope, rules, catalogs, mappings and profile, the line breaks and
    says what differs: there is no difference to state between them.
    """
    from audit.cli.choices import one_of
    from audit.cli.past import one_fleet, past
    from audit.cli.screen import stdout_screen
    from audit.cli.settings import environment
    from audit.cli.trend_page import TrendPage
    from audit.errors import UsageError

    wanted = one_of("--measure", measure, MEASURES)
    chosen = one_of("--format", format_name, FORMATS)
    if function is not None and cluster is not None:
        raise UsageError("--function and --cluster exclude each other: no ratio is kept for both at once")
    if (function is not None and wanted not in {"strict", "classic"}) or (
        cluster is not None and wanted != "strict"
    ):
        part = "function" if function is not None else "cluster"
        raise UsageError(
            f"--measure {wanted} is not kept for a {part}",
            suggestion="strict and classic are kept for functions, strict for clusters",
        )
    with past(history, config, no_config=no_config) as stored:
        links = one_fleet(stored.links(), fleet)
        links = links[-last:] if last else links
        series = _series(stored, links, wanted, framework=framework, function=function, cluster=cluster)
    if not series and links:
        raise UsageError(
            "no run of the history has such a ratio",
            suggestion="fleetaudit trend --format json shows those there are",
        )
    page = TrendPage(series)
    screen = stdout_screen(color=not environment().no_color)
    if chosen == "json":
        screen.data(page.plain())
    elif chosen == "csv":
        page.csv(screen)
    else:
        page.show(screen)
    screen.flush()
    return 0


def _series(
    stored: Stored,
    links: list[Link],
    measure: str,
    *,
    framework: str | None,
    function: str | None,
    cluster: str | None,
) -> list[Series]:
    from audit.harmless import reversibly_escaped
    from audit.history.trend import COUNTS, RATIOS, SCOPE, count_series, ratio_series, scope_series

    if measure in COUNTS:
        return [count_series(measure, links)] if links else []
    if measure == SCOPE:
        return [scope_series(links)] if links else []
    wanted = {"measure": RATIOS[measure], "part": reversibly_escaped(cluster or function or "")}
    if framework is not None:
        wanted["framework"] = framework
    return ratio_series(measure, links, stored.ratios(clusters=cluster is not None, **wanted))
