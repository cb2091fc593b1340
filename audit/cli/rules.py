"""``fleetaudit rules``: what the loaded rules ask."""

from __future__ import annotations

from typing import Annotated, Any

from audit.cli import mutate
from audit.cli import options as o
from audit.cli.command import examples

EXAMPLES = examples(
    "fleetaudit rules  # all of them",
    "fleetaudit rules list 'gpu/*' --json",
    "fleetaudit rules show pod/privileged",
)
LIST_EXAMPLES = examples(
    "fleetaudit rules list  # id, severity, question",
    "fleetaudit rules list 'rbac/*'  # one family",
    "fleetaudit rules list --json  # for other programs",
)
SHOW_EXAMPLES = examples(
    "fleetaudit rules show pod/privileged  # parameters, fix, controls",
    "fleetaudit rules show image/registry-allowed --json",
)

Glob = Annotated[str | None, o.argument("GLOB", "Only rule ids that match.")]


def list_rules(
    pattern: Glob = None,
    *,
    config: o.ConfigFile = None,
    no_config: o.NoConfig = False,
    as_json: o.AsJson = False,
) -> int:
    """List the loaded rules with severity and title."""
    from audit.cli.screen import stdout_screen
    from audit.cli.settings import content_library, environment
    from audit.config.check import rule_matches
    from audit.config.suggest import did_you_mean
    from audit.errors import UsageError

    library = content_library(config, no_config=no_config)
    chosen = [rule for rule in library.rules if pattern is None or rule_matches(pattern, rule.id)]
    if not chosen and pattern is not None:
        known = [rule.id for rule in library.rules]
        raise UsageError(f"no rule id matches {pattern}", suggestion=did_you_mean(pattern, known))
    screen = stdout_screen(color=not environment().no_color)
    mapped = {entry.rule for entry in library.mappings}
    if as_json:
        screen.data([_plain(rule, library.mappings) for rule in chosen])
    else:
        rows = [
            (
                rule.id,
                rule.severity.value,
                "" if rule.builtin else rule.shape or "yours",
                f"{rule.mutation.noticed}/{rule.mutation.planted}" if rule.mutation else "",
                "" if rule.id in mapped else "no control",
                rule.title,
            )
            for rule in chosen
        ]
        screen.table(("RULE", "SEVERITY", "", "FAULTS", "", "TITLE"), rows)
        screen.line(f"{len(chosen)} of {len(library.rules)} rules; fleetaudit rules show ID tells more")
    screen.flush()
    return 0


def show_rule(
    rule_id: Annotated[str, o.argument("ID", "Rule id, for example pod/privileged.")],
    *,
    config: o.ConfigFile = None,
    no_config: o.NoConfig = False,
    as_json: o.AsJson = False,
) -> int:
    """Show one rule: question, kinds, parameters, fix, controls."""
    from audit.cli.lookup import require_rule
    from audit.cli.screen import stdout_screen
    from audit.cli.settings import content_library, environment

    library = content_library(config, no_config=no_config)
    rule = require_rule(library.rules, rule_id)
    screen = stdout_screen(color=not environment().no_color)
    if as_json:
        screen.data(_plain(rule, library.mappings))
    else:
        from audit.cli.rule_page import print_rule

        print_rule(screen, rule, library.mappings)
    screen.flush()
    return 0


def _plain(rule: Any, mappings: Any) -> dict[str, Any]:
    import msgspec

    data: dict[str, Any] = msgspec.to_builtins(rule)
    data["controls"] = [
        {"framework": entry.framework, "control": entry.control, "strength": entry.strength.value}
        for entry in mappings
        if entry.rule == rule.id
    ]
    return data


COMMANDS = (
    ("list", list_rules, LIST_EXAMPLES),
    ("show", show_rule, SHOW_EXAMPLES),
    ("mutate", mutate.mutate, mutate.EXAMPLES),
)
