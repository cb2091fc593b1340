"""``fleetaudit run``: audit, and write the reports."""

from __future__ import annotations

from audit.cli import options as o
from audit.cli.command import examples

EXAMPLES = examples(
    "fleetaudit run k8s/  # one cluster, report in fleetaudit-report/",
    "fleetaudit run --config fleet.yaml -o out  # the clusters of a configuration",
    "kubectl get deploy -A -o yaml | fleetaudit run -  # standard input",
    "fleetaudit run k8s/ --policy our-rules/ --format html,json,sarif  # your own rules too",
    "fleetaudit run k8s/ --fail-on high --min-ratio nist-ai-rmf=0.7  # gates for a pipeline",
    "fleetaudit run k8s/ -o - --format markdown  # one format to standard output",
)


def run(
    paths: o.Paths = None,
    *,
    config: o.ConfigFile = None,
    no_config: o.NoConfig = False,
    cluster: o.Clusters = None,
    include: o.Include = None,
    exclude: o.Exclude = None,
    no_gitignore: o.NoGitignore = False,
    policy: o.Policies = None,
    rule: o.SelectedRules = None,
    skip_rule: o.SkippedRules = None,
    profile: o.ProfileName = None,
    fail_on: o.FailOn = None,
    min_ratio: o.MinRatio = None,
    min_coverage: o.MinCoverage = None,
    min_objects: o.MinObjects = None,
    output: o.Output = None,
    formats: o.Formats = None,
    lang: o.Lang = None,
    jobs: o.Jobs = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    log_file: o.LogFile = None,
    no_progress: o.NoProgress = False,
) -> int:
    """Audit manifests and write the reports.

    Without a gate the exit code is 0, or 3 when something could not be looked at. No connection is opened: everything
    is read from the paths given.
    """
    from audit.cli.execution import Manner, execute
    from audit.cli.settings import run_overrides

    overrides = run_overrides(
        paths=paths,
        config=config,
        no_config=no_config,
        clusters=cluster,
        include=include,
        exclude=exclude,
        no_gitignore=no_gitignore,
        policy=policy,
        rules=rule,
        skip_rules=skip_rule,
        profile=profile,
        fail_on=fail_on,
        min_ratio=min_ratio,
        min_coverage=min_coverage,
        min_objects=min_objects,
        output=output,
        formats=formats,
        lang=lang,
        jobs=jobs,
    )
    return execute(
        overrides, Manner(quiet=quiet, verbose=verbose, progress=not no_progress, log_file=log_file)
    )
