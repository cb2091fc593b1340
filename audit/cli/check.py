"""``fleetaudit check``: the gate for a pipeline or a commit hook."""

from __future__ import annotations

from audit.cli.asked import Asked, asking_without
from audit.cli.command import examples

EXAMPLES = examples(
    "fleetaudit check k8s/  # fails on open findings of high or worse",
    "fleetaudit check k8s/ --fail-on medium  # stricter",
    "fleetaudit check k8s/ --min-objects 20  # and on an empty checkout",
    "fleetaudit check k8s/ -o out --format sarif  # keeps a report as well",
)


@asking_without("history", "no_history")
def check(asked: Asked) -> int:
    """Audit manifests and fail on findings.

    Like run, with a gate on severity (high, unless --fail-on or the configuration says otherwise), short output, and
    no report unless --output is given.
    """
    from audit.cli.execution import Manner, execute
    from audit.cli.settings import run_overrides
    from audit.errors import UsageError
    from audit.model.rule import Severity

    if asked.formats and asked.output is None:
        raise UsageError(
            "--format needs --output: check keeps no report by itself", suggestion="add --output DIR"
        )
    manner = Manner(
        quiet=asked.quiet,
        verbose=asked.verbose,
        short=not asked.verbose,
        progress=not asked.no_progress,
        log_file=asked.log_file,
        reports=asked.output is not None,
        gate=Severity.HIGH,
    )
    return execute(run_overrides(asked), manner)
