"""Findings one by one, as the line-oriented formats want them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from audit.model.finding import Finding, FindingGroup
from audit.model.result import AssessmentResult


def findings(result: AssessmentResult) -> Iterator[tuple[FindingGroup, Finding]]:
    """Every finding with its group, in display order."""
    for group in result.group_source.groups():
        for finding in group.members:
            yield group, finding


def finding_id(group: FindingGroup, finding: Finding) -> str:
    """16 hex digits over rule, object, container and path shape: the same in the next run, on any line of any file."""
    key = "|".join((group.id, finding.subject.key, finding.violation.container, finding.violation.path_text))
    return hashlib.sha256(key.encode("utf-8", "backslashreplace")).hexdigest()[:16]
