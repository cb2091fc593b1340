"""The batch child against the CLI, row by row: the public policy library and the policies that ship."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from audit.evaluate.kyverno import KyvernoOptions, build_kyverno
from audit.evaluate.kyverno.batch.runs import COMPARED, LEFT
from audit.evaluate.kyverno.binary import KyvernoCli
from audit.library.kyverno import load_kyverno
from audit.library.rules import PolicySource
from audit.ports import CollectedObject
from tests.kyverno.corpus_cases import absent_files, case_files
from tests.kyverno.objects import collected, from_file, inventory_of
from tests.shared_data import CHECKOUT, shared_dir

pytestmark = pytest.mark.tools
TOGETHER = 6
"""Cases in one run: the CLI costs half a second before it judges anything, and ten milliseconds a pair in CEL."""
SAMPLE = 6
"""One run in so many, by default; ``FLEETAUDIT_KYVERNO_CORPUS=full`` makes all of them."""
WITH_CONTEXT = ("variables", "userinfo", "context")
"""Such cases are the CLI's alone."""


class Compared(NamedTuple):
    """One run in which every object was judged by both."""

    answers: Counter[str]
    differences: list[str]
    compared: int
    left: list[str]


def compare(sources: Sequence[PolicySource], objects: Sequence[CollectedObject]) -> Compared:
    build = build_kyverno(
        load_kyverno(sources),
        dt.datetime.now(dt.UTC),
        KyvernoOptions(jobs=2, batch="required", compare_every=1),
    )
    assert build.start is not None, build.gaps
    engine = build.start(frozenset(rule.id for rule in build.rules))
    try:
        found = list(engine.evaluate("c", objects, inventory_of(build.rules, objects)))
        notices = engine.notices()
    finally:
        engine.close()
        build.close()
    answers = [(item, answer) for item, own in zip(objects, found, strict=True) for answer in own]
    said = [notice.message for notice in notices if notice.code == COMPARED]
    return Compared(
        answers=Counter(answer.outcome.value for _, answer in answers),
        differences=[
            f"{answer.rule} {item.ref.title}: {answer.message}"
            for item, answer in answers
            if answer.reason == "engines_differ"
        ],
        compared=sum(int(text.split("; ")[1].split()[0]) for text in said),
        left=[notice.message for notice in notices if notice.code == LEFT],
    )


def unique(objects: Iterable[CollectedObject]) -> Iterator[CollectedObject]:
    """Objects of several cases together: a name that stands already gets a number."""
    seen: Counter[tuple[str, str, str]] = Counter()
    for item in objects:
        value: dict[str, Any] = json.loads(item.raw)
        metadata = value.setdefault("metadata", {})
        key = (item.ref.kind, item.ref.namespace, item.ref.name)
        seen[key] += 1
        if seen[key] > 1 and isinstance(metadata, dict):
            metadata["name"] = f"{metadata.get('name', 'it')}-{seen[key]}"
        yield collected(value, source=item.ref.source)


def test_the_policy_library(
    cli: KyvernoCli,
    batch: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = shared_dir("corpora", "kyverno-policies")
    files = [file for file in case_files(root) if not absent_files(file)]
    total: Counter[str] = Counter()
    differences: list[str] = []
    compared = left = 0
    by_folder = itertools.groupby(files, lambda file: file.relative_to(root).parts[0])
    # Policies of one folder have names of their own.
    folders = [list(folder) for _, folder in by_folder]
    groups = [
        folder[start : start + TOGETHER] for folder in folders for start in range(0, len(folder), TOGETHER)
    ]
    everything = os.environ.get("FLEETAUDIT_KYVERNO_CORPUS") == "full"
    for group in groups if everything else groups[::SAMPLE]:
        tests = [(file, test) for file in group for test in yaml.safe_load_all(file.read_text()) if test]
        plain = [(file, test) for file, test in tests if not any(test.get(key) for key in WITH_CONTEXT)]
        paths = {(file.parent / name).resolve() for file, test in plain for name in test.get("policies", [])}
        manifests = {
            (file.parent / name).resolve() for file, test in plain for name in test.get("resources", [])
        }
        sources = [PolicySource(path=path, label=path.name, builtin=False) for path in sorted(paths)]
        if not load_kyverno(sources).rules:
            continue
        objects = [item for path in sorted(manifests) for item in from_file(path)]
        found = compare(sources, list(unique(objects)))
        total += found.answers
        differences += found.differences
        compared += found.compared
        left += len(found.left)
    with capsys.disabled():
        print(
            f"\nBatch child and CLI {cli.version}, policy library: {compared} answers compared, "
            f"{len(differences)} differ; {left} policies left to the CLI; {dict(total)}"
        )
        print("\n".join(differences))
    assert differences == []
    assert compared > (1_000 if everything else 200)
    assert total["fail"] > (300 if everything else 50)
    assert total["pass"] > (300 if everything else 50)


def test_the_policies_that_ship(cli: KyvernoCli, batch: Path) -> None:
    folders = sorted(path.parent for path in CHECKOUT.glob("policies/*/*/kyverno-test.yaml"))
    runs = [folders[start : start + TOGETHER] for start in range(0, len(folders), TOGETHER)]
    answers: Counter[str] = Counter()
    compared = 0
    for run in runs if os.environ.get("FLEETAUDIT_KYVERNO_CORPUS") == "full" else runs[::SAMPLE]:
        policies = [folder / f"{folder.name}.yaml" for folder in run]
        files = [file for folder in run for file in sorted(folder.glob("*.yaml"))]
        manifests = [file for file in files if file not in policies and file.name != "kyverno-test.yaml"]
        sources = [PolicySource(path=path, label=path.name, builtin=False) for path in policies]
        found = compare(sources, list(unique(item for path in manifests for item in from_file(path))))
        assert found.differences == []
        assert all("it reads other objects" in message for message in found.left)
        answers += found.answers
        compared += found.compared
    assert compared > 300
    assert answers["fail"] > 30
    assert answers["pass"] > 30
