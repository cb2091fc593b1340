"""Which rules of fleetaudit a Kyverno policy repeats, by its own annotation."""

from __future__ import annotations

from collections.abc import Sequence

from audit.library.kyverno.documents import PolicyDocument, mapping_of
from audit.library.kyverno.words import slug
from audit.model.kyverno import KyvernoPolicy
from audit.model.twin import Twin

ANNOTATION = "fleetaudit.dev/twin"
_KEY = f"metadata.annotations.{ANNOTATION}"


def twins_of(document: PolicyDocument, policies: Sequence[KyvernoPolicy]) -> tuple[Twin, ...]:
    """The twins that a policy names: ``pod/privileged`` for all its rules together, else ``rule=pod/privileged, ...``.

    Raises:
        ContentError: the annotation is no text of this form, or names a rule that the policy does not have.
    """
    written = mapping_of(document.metadata.get("annotations")).get(ANNOTATION)
    if written is None:
        return ()
    own = {rule.rule.id.rpartition("/")[2]: rule.rule.id for policy in policies for rule in policy.rules}
    parts = written.replace(",", " ").split() if isinstance(written, str) else []
    if not parts:
        raise document.error("names no rule", key=_KEY)
    if len(parts) == 1 and "=" not in parts[0]:
        return (_twin(document, parts[0], sorted(own.values())),)
    by_target: dict[str, list[str]] = {}
    for part in parts:
        name, equals, target = part.partition("=")
        if not equals or not target:
            raise document.error(
                f"{part} is not of the form rule=id",
                key=_KEY,
                suggestion="one rule id for the whole policy, or rule=id for each of its rules",
            )
        if slug(name) not in own:
            raise document.error(f"the policy has no rule {name}", key=_KEY)
        by_target.setdefault(target, []).append(own[slug(name)])
    return tuple(_twin(document, target, others) for target, others in by_target.items())


def _twin(document: PolicyDocument, target: str, others: Sequence[str]) -> Twin:
    return Twin(
        rule=target,
        others=tuple(others),
        reason=f"the annotation {ANNOTATION} says so",
        file=document.file,
        line=document.line,
    )
