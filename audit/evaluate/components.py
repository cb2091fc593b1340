"""Component profiles: a failure that is no more than what a named, reviewed component needs is a pass that says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from audit.model.component import Component, ComponentNeed
from audit.model.finding import Outcome, PairAnswer, Violation
from audit.model.gap import Notice
from audit.ports import CollectedObject

REASON = "component"
"""Beginning of the reason of such a pass: ``component:ID@VERSION``."""
_LISTS = ("containers", "initContainers", "ephemeralContainers")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PINNED = "@sha256:"
_NO_TWINS: Mapping[str, str] = {}


class ComponentProfiles:
    """All profiles, ready to be asked, and what they let pass so far.

    Args:
        components: loaded and checked.
    """

    def __init__(self, components: Iterable[Component] = ()) -> None:
        self._by_kind: dict[tuple[str, str], list[Component]] = {}
        for component in components:
            for kind in component.kinds:
                for namespace in component.namespaces:
                    self._by_kind.setdefault((kind, namespace), []).append(component)
        self.passed: Counter[tuple[str, str]] = Counter()
        """Pairs by component label and rule."""

    def settle(
        self, item: CollectedObject, answers: list[PairAnswer], twin_of: Mapping[str, str] = _NO_TWINS
    ) -> list[PairAnswer]:
        """The answers, with failures that a profile of this very object names turned into passes.

        Args:
            item: the object.
            answers: of every rule that is due for it.
            twin_of: rule that only takes part in another rule's pair, to that rule. Its failure passes with the pair, and never by itself:
                only the rule that counts says value by value what it found.
        """
        candidates = self._by_kind.get((item.ref.kind_key, item.ref.namespace))
        if not candidates or all(a.outcome is not Outcome.FAIL for a in answers):
            return answers
        if item.ref.kind == "Pod" and item.controller is None:
            return answers  # components are made by controllers; a pod of its own is somebody's
        value = msgspec.json.decode(item.raw)
        pod = _pod(value)
        images, programs = _images(pod), _programs(pod)
        matching = [
            component
            for component in candidates
            if images
            and all(_is_of(component, image) for image in images)
            and all(_runs(component, program) for program in programs)
        ]
        covered = [
            (component, {a.rule for a in answers if _is_covered(component, value, a)})
            for component in matching
        ]
        if not covered:
            return answers
        # Components share images. One profile speaks for the whole object: that which covers most of it.
        component, passed = max(covered, key=lambda pair: len(pair[1]))
        self.passed.update((component.label, rule) for rule in passed)
        return [
            PairAnswer(a.rule, Outcome.PASS, reason=f"{REASON}:{component.label}", caveats=a.caveats)
            if a.outcome is Outcome.FAIL and (a.rule in passed or twin_of.get(a.rule) in passed)
            else a
            for a in answers
        ]

    def notices(self) -> tuple[Notice, ...]:
        """What was let pass, by component."""
        by_component: dict[str, Counter[str]] = {}
        for (label, rule), number in self.passed.items():
            by_component.setdefault(label, Counter())[rule] += number
        return tuple(
            Notice(
                source=label,
                code="passed_by_component",
                message=f"{sum(rules.values())} pairs pass because the component needs what their rules find: "
                + ", ".join(f"{rule} {number}" for rule, number in sorted(rules.items())),
                count=sum(rules.values()),
            )
            for label, rules in sorted(by_component.items())
        )


def _is_covered(component: Component, value: Mapping[str, Any], answer: PairAnswer) -> bool:
    """Whether an answer is a failure, and all that it found is named."""
    if answer.outcome is not Outcome.FAIL or not answer.violations:
        return False
    needs = [need for need in component.needs if need.rule == answer.rule]
    return all(any(_covers(need, violation, value) for need in needs) for violation in answer.violations)


def _covers(need: ComponentNeed, violation: Violation, value: Mapping[str, Any]) -> bool:
    if need.containers and violation.container not in need.containers:
        return False
    if violation.container and not need.containers:
        return False
    if need.fields and (not violation.path or violation.path[-1] not in need.fields):
        return False
    found = _found(violation, value)
    # True is no 1 here: a switch and a number are two things.
    return any(type(found) is type(allowed) and found == allowed for allowed in need.values)


def _found(violation: Violation, value: Any) -> Any:
    """What stands at the place; of a volume of the host, its path."""
    for segment in violation.path:
        try:
            value = value[segment]
        except (KeyError, IndexError, TypeError):
            return violation.seen
    return value.get("path") if isinstance(value, dict) and "path" in value else violation.seen


def _pod(value: Mapping[str, Any]) -> Any:
    spec = value.get("spec") or {}
    template = spec.get("template")
    return (template or {}).get("spec") if isinstance(template, dict) else spec


def _images(pod: Any) -> list[str]:
    """Image of every container, equal names or not, and of every volume that an image fills; none makes the object nobody's."""
    found: list[str] = []
    names: set[str] = set()
    for key in _LISTS:
        for container in _entries(pod, key):
            name, image = container.get("name"), container.get("image")
            known = isinstance(name, str) and name not in names and isinstance(image, str)
            found.append(str(image) if known else "")
            names.add(str(name))
    for volume in _entries(pod, "volumes"):
        image = volume.get("image")
        if image is not None:
            found.append(str(image.get("reference")) if isinstance(image, dict) else "")
    return found


def _programs(pod: Any) -> Iterator[tuple[str, ...]]:
    """Command and arguments of every container, hooks and probes that run something among them."""
    for key in _LISTS:
        for container in _entries(pod, key):
            yield (*_words(container.get("command")), *_words(container.get("args")))
            lifecycle = container.get("lifecycle")
            hooks = [container.get(probe) for probe in _PROBES]
            hooks += list(lifecycle.values()) if isinstance(lifecycle, dict) else []
            for hook in hooks:
                if isinstance(hook, dict) and isinstance(hook.get("exec"), dict):
                    yield _words(hook["exec"].get("command"))


def _words(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _runs(component: Component, program: tuple[str, ...]) -> bool:
    """Whether it is the image's own program or a named one, with nothing but flags behind it."""
    known = ((), *component.commands)
    return any(
        program[: len(command)] == command and all(word.startswith("-") for word in program[len(command) :])
        for command in known
    )


def _entries(pod: Any, key: str) -> Sequence[Mapping[str, Any]]:
    entries = pod.get(key) if isinstance(pod, dict) else None
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _is_of(component: Component, image: str) -> bool:
    name, at, digest = image.partition("@")
    repository = name.rpartition(":")[0] if ":" in name.rpartition("/")[2] else name
    return any(
        image_.repository == repository
        and at == "@"
        and (digest in image_.digests if image_.digests else _PINNED in image)
        for image_ in component.images
    )


NO_PROFILES = ComponentProfiles()
