"""kyverno-test files through the harness in apply mode: each expected row compared with the engine's answer."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from audit.evaluate.kyverno import KyvernoOptions, build_kyverno
from audit.evaluate.kyverno.request import load_request
from audit.library.kyverno import load_kyverno
from audit.library.kyverno.words import slug
from audit.library.rules import PolicySource
from audit.model.finding import PairAnswer
from audit.ports import CollectedObject
from tests.kyverno.objects import from_file, inventory_of

NOT_JUDGING = frozenset({"patchedResources", "generatedResource", "generatedResources"})


class Row(NamedTuple):
    """One expected row and what became of it."""

    case: str
    policy: str
    rule: str
    resource: str
    expected: str
    got: str
    detail: str

    @property
    def agrees(self) -> bool:
        return self.expected == self.got


def absent_files(file: Path) -> list[str]:
    """Files that a test names and the corpus does not hold."""
    names: list[str] = []
    for test in yaml.safe_load_all(file.read_text(encoding="utf-8")):
        for key in ("policies", "resources", "exceptions"):
            names += (test or {}).get(key) or []
    return [name for name in names if not (file.parent / name).exists()]


def case_files(root: Path) -> list[Path]:
    return sorted(root.rglob("kyverno-test.yaml"))


def run_case(file: Path, root: Path) -> Iterator[Row]:
    """All rows of one test file that are about rules which judge."""
    case = file.parent.parent.relative_to(root).as_posix()
    for test in yaml.safe_load_all(file.read_text(encoding="utf-8")):
        if test and test.get("results"):
            yield from _run(test, case, file.parent)


def _run(test: dict[str, Any], case: str, folder: Path) -> Iterator[Row]:
    def path(key: str) -> Path | None:
        return folder / test[key] if test.get(key) else None

    sources = [
        PolicySource(path=(folder / name).resolve(), label=name, builtin=False)
        for name in [*test["policies"], *test.get("exceptions", [])]
    ]
    loaded = load_kyverno(sources)
    request = load_request(path("variables"), path("userinfo"), path("context"))
    build = build_kyverno(loaded, dt.datetime.now(dt.UTC), KyvernoOptions(jobs=1, request=request))
    objects = [item for name in test.get("resources", []) for item in from_file(folder / name)]
    answers: dict[int, dict[str, PairAnswer]] = {}
    try:
        if build.start is not None:
            engine = build.start(frozenset(rule.id for rule in build.rules))
            try:
                stream = engine.evaluate("c", objects, inventory_of(build.rules, objects))
                for item, found in zip(objects, stream, strict=True):
                    answers[id(item)] = {answer.rule: answer for answer in found}
            finally:
                engine.close()
    finally:
        build.close()
    known = {rule.id for rule in loaded.rules}
    gaps = "; ".join(gap.reason for gap in build.gaps)
    for result in test["results"]:
        if not NOT_JUDGING.isdisjoint(result):
            continue
        ids = _rule_ids(result, known)
        if not ids and not gaps:
            continue  # a rule that mutates or generates
        for name in result.get("resources") or [""]:
            for item in _named(objects, name, result.get("kind", "")):
                yield _row(case, result, item, ids, answers.get(id(item), {}), gaps)


def _rule_ids(result: dict[str, Any], known: set[str]) -> list[str]:
    namespace, _, name = str(result["policy"]).rpartition("/")
    where = f"{slug(namespace)}:" if namespace else ""
    prefix = f"kyverno:{where}{slug(name)}/"
    rule = str(result.get("rule") or "")
    for stem in ("autogen-cronjob-", "autogen-"):
        if rule.startswith(stem) and f"{prefix}{slug(rule)}" not in known:
            rule = rule.removeprefix(stem)
    wanted = f"{prefix}{slug(rule)}"
    if rule and wanted in known:
        return [wanted]
    # Policies in CEL have no rule names; a policy without a namespace is looked for in every namespace.
    tail = f"{slug(name)}/"
    found = [id_ for id_ in sorted(known) if id_.removeprefix("kyverno:").rpartition(":")[2].startswith(tail)]
    return [id_ for id_ in found if not rule or id_.endswith((f"/{slug(rule)}", "/validate", "/admission"))]


def _named(objects: list[CollectedObject], name: str, kind: str) -> Iterator[CollectedObject]:
    namespace, _, last = str(name).rpartition("/")
    for item in objects:
        if kind and item.ref.kind != kind.rpartition("/")[2]:
            continue
        if name and item.ref.name != last:
            continue
        if namespace and (item.ref.namespace or "default") != namespace:
            continue
        yield item


def _row(
    case: str,
    result: dict[str, Any],
    item: CollectedObject,
    ids: list[str],
    answers: dict[str, PairAnswer],
    gaps: str,
) -> Row:
    found = [answers[id_] for id_ in ids if id_ in answers]
    got = "/".join(sorted({answer.outcome.value for answer in found})) or "none"
    detail = "; ".join(f"{a.reason} {a.message}".strip() for a in found if a.reason or a.message) or (
        gaps if not found else ""
    )
    return Row(
        case=case,
        policy=str(result["policy"]),
        rule=str(result.get("rule") or ""),
        resource=item.ref.title,
        expected=str(result.get("result") or result.get("status")),
        got=got,
        detail=detail,
    )
