"""``fleetaudit explain``: one finding, rule or control on a page that fits the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from audit.cli import options as o
from audit.cli.command import examples

if TYPE_CHECKING:
    from audit.cli.explanation import Explanation
    from audit.config.schema import Config
    from audit.model.result import AssessmentResult

EXAMPLES = examples(
    "fleetaudit explain G-77a5800e  # a finding of the last run",
    "fleetaudit explain pod/privileged  # a rule",
    "fleetaudit explain 'MEASURE 2.6' --result out/report.json  # a control",
)


def explain(
    what: Annotated[str, o.argument("FINDING|RULE|CONTROL", "Id of what to explain.")],
    *,
    result: o.ResultFile = None,
    config: o.ConfigFile = None,
    no_config: o.NoConfig = False,
) -> int:
    """Explain a finding, a rule or a control in at most 25 lines.

    Place, value seen, value expected, why, the smallest fix, controls and owner, as far as there is a result to look
    in.
    """
    from audit.cli.results import last_result, result_path
    from audit.cli.screen import stderr_screen, stdout_screen
    from audit.cli.settings import content_configuration, environment
    from audit.errors import UsageError

    effective = content_configuration(config, no_config=no_config)
    loaded = last_result(result, effective)
    if loaded is None and what.startswith("G-"):
        raise UsageError(
            f"{what} is a finding, and there is no result to look it up in",
            file=str(result_path(result, effective)),
            suggestion="run fleetaudit first, or name a report with --result",
        )
    color = not environment().no_color
    if loaded is None:
        page = _from_library(what, effective)
    else:
        path, assessed = loaded
        if result is None:
            stderr_screen(color=color).line(("note: ", "cyan"), f"as found in {path}")
        page = _from_result(what, assessed)
    screen = stdout_screen(color=color)
    page.print(screen)
    screen.flush()
    return 0


def _from_result(what: str, result: AssessmentResult) -> Explanation:
    from audit.cli.explain_control import control_in_result
    from audit.cli.explain_finding import finding_in_result
    from audit.cli.explain_rule import rule_in_result
    from audit.config.suggest import did_you_mean
    from audit.errors import UsageError

    page = finding_in_result(what, result) or rule_in_result(what, result) or control_in_result(what, result)
    if page is None:
        known = [state.rule.id for state in result.rules] + [row.id for row in result.controls]
        if what.startswith("G-"):
            known = [group.id for group in result.group_source.groups()]
        raise UsageError(
            f"the result knows no finding, rule or control called {what}",
            suggestion=did_you_mean(
                what, known, otherwise="`fleetaudit rules` and `fleetaudit controls` list ids"
            ),
        )
    return page


def _from_library(what: str, config: Config) -> Explanation:
    from audit import wiring
    from audit.cli.explain_control import control_in_library
    from audit.cli.explain_rule import rule_in_library
    from audit.cli.lookup import find_control, find_rule
    from audit.config.suggest import did_you_mean
    from audit.errors import UsageError

    library = wiring.load_library(config)
    rule = find_rule(library.rules, what)
    if rule is not None:
        return rule_in_library(rule, library.mappings)
    found = find_control(library.catalogs, what)
    if found is not None:
        return control_in_library(found.framework, found.control, library)
    known = [rule.id for rule in library.rules]
    known += [control.id for catalog in library.catalogs for control in catalog.controls]
    raise UsageError(
        f"no finding, rule or control is called {what}",
        suggestion=did_you_mean(
            what, known, otherwise="`fleetaudit rules` and `fleetaudit controls` list ids"
        ),
    )
