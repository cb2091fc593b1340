"""``fleetaudit run``: audit, and write the reports."""

from __future__ import annotations

from audit.cli.asked import Asked, asking
from audit.cli.command import examples

EXAMPLES = examples(
    "fleetaudit run k8s/  # one cluster, report in fleetaudit-report/",
    "fleetaudit run --config fleet.yaml -o out  # the clusters of a configuration",
    "kubectl get deploy -A -o yaml | fleetaudit run -  # standard input",
    "fleetaudit run k8s/ --policy our-rules/ --format html,json,sarif  # your own rules too",
    "fleetaudit run k8s/ --fail-on high --min-ratio nist-ai-rmf=0.7  # gates for a pipeline",
    "fleetaudit run k8s/ -o - --format markdown  # one format to standard output",
    "fleetaudit run --config fleet.yaml --history history.db  # and keep the result",
)


@asking
def run(asked: Asked) -> int:
    """Audit manifests and write the reports.

    Without a gate the exit code is 0, or 3 when something could not be looked at. Paths are read without any connection;
    only the running clusters that are named are asked.
    """
    from audit.cli.execution import Manner, execute
    from audit.cli.settings import run_overrides

    manner = Manner(
        quiet=asked.quiet,
        verbose=asked.verbose,
        progress=not asked.no_progress,
        log_file=asked.log_file,
        history=True,
    )
    return execute(run_overrides(asked), manner)
