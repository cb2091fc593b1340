"""The files that ``fleetaudit init`` writes. Tests load them with the real loaders."""

from __future__ import annotations

import json

from audit.config.json_schema import FILE_NAME as SCHEMA_NAME
from audit.config.json_schema import configuration_schema

_CONFIGURATION = """\
# yaml-language-server: $schema={schema}
# Configuration of fleetaudit. Paths are relative to this file. Unknown keys are refused.
title: {title}

# What is audited: one cluster as a list of paths ...
paths:
{paths}
# ... or a register of the clusters you expect. One that cannot be read stays in the report as undecided.
# clusters:
#   - name: eu-central-01
#     paths: [clusters/eu-central-01]
#     owner: team-platform

# Which controls are in the ratio: technical (those that a scan can decide, at least in part), full, or your own list.
profile: technical
# profile:
#   nist-ai-rmf: ["MEASURE 2.6", "MEASURE 2.7"]

# Accepted failures and statements by people. Both end; neither changes what a rule found.
waivers: [waivers.yaml]
statements: [statements.yaml]

# Your own rules, besides the built-in ones.
# policy:
#   paths: [rules]

# Rules that are not asked leave their controls undecided.
# rules:
#   skip: [pod/read-only-root-filesystem]

# Parameters of rules; `fleetaudit rules show image/registry-allowed` prints them.
# parameters:
#   image/registry-allowed:
#     registries: [registry.example.com]

# What is out of scope, and why. The report prints it.
# scope:
#   exclude:
#     - path: "**/load-tests/"
#       reason: Rendered for load tests only, never deployed.
#     - selector: {{kind: Namespace, name: "sandbox-*"}}
#       reason: Personal sandboxes without data.

# Gaps tolerated until a date. Their controls stay undecided.
# allow_gaps:
#   - kind: not_rendered
#     source: charts/legacy*
#     reason: Retired in the third quarter.
#     expires: 2027-06-30

# When a run fails with exit code 1. No gate by default.
# gates:
#   fail_on: high
#   min_coverage: {{nist-ai-rmf: 0.6}}
#   min_objects: 20

# output:
#   folder: fleetaudit-report
#   formats: [html, json, sarif]
"""

_WAIVERS = """\
# Accepted failures. A waived finding stays a failure in every report; its control is "waived" at best.
# The subject is literal: no wildcards. A date is good through the end of that day in UTC.
waivers: []
# waivers:
#   - id: W-0001
#     rule: pod/host-path-volume
#     subject:
#       kind: DaemonSet
#       namespace: gpu-system
#       name: nvidia-device-plugin
#     owner: team-platform
#     reason: The kubelet's device folder is the only place where the plugin can register.
#     expires: 2027-06-30
"""

_STATEMENTS = """\
# What people state about controls that no scan can decide. Shown as "recorded by" their author.
# claim: met, not_met, or not_applicable (which needs its reason in text).
statements: []
# statements:
#   - id: S-0001
#     framework: nist-ai-rmf
#     control: GOVERN 1.3
#     claim: met
#     author: A. Example, Risk Office
#     date: 2026-10-01
#     expires: 2027-09-30
#     text: The risk appetite was approved by the board.
#     evidence: minutes of 2026-09-14
"""


def starter_files(paths: tuple[str, ...], title: str = "Our fleet") -> dict[str, str]:
    """File name to content: configuration, waivers, statements, and the schema that editors check with."""
    # JSON strings are YAML strings, whatever is in them.
    listed = "".join(f"  - {json.dumps(path, ensure_ascii=False)}\n" for path in paths)
    return {
        "fleetaudit.yaml": _CONFIGURATION.format(schema=SCHEMA_NAME, title=title, paths=listed.rstrip("\n")),
        "waivers.yaml": _WAIVERS,
        "statements.yaml": _STATEMENTS,
        SCHEMA_NAME: configuration_schema(),
    }
