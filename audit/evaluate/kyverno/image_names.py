"""Whether an object has an image that a verification rule is about. Only then does the rule need a registry."""

from __future__ import annotations

from audit.evaluate.kyverno.facts import ObjectFacts
from audit.evaluate.kyverno.labels import wildcard
from audit.model.kyverno import KyvernoRule


def has_image(rule: KyvernoRule, facts: ObjectFacts | None) -> bool:
    """In doubt, yes: an image counts when any way of completing its name matches."""
    images = facts.images if facts is not None else ()
    return any(
        references.computed
        or any(wildcard(glob, form) for glob in references.globs for form in forms_of(image))
        for references in rule.images
        for image in images
    )


def forms_of(image: str) -> list[str]:
    """An image reference as written and as Kyverno may complete it."""
    first, slash, _ = image.partition("/")
    has_registry = bool(slash) and ("." in first or ":" in first or first == "localhost")
    full = image if has_registry else f"docker.io/{image}"
    forms = {image, full, full.replace("docker.io/", "index.docker.io/", 1)}
    if not slash:
        forms |= {f"docker.io/library/{image}", f"index.docker.io/library/{image}"}
    tagged = "@" in image or ":" in image.rpartition("/")[2]
    return sorted(forms if tagged else forms | {f"{form}:latest" for form in forms})
