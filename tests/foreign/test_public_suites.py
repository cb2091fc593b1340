"""Public policy libraries with the tests they ship, where somebody has them at hand.

FLEETAUDIT_PUBLIC_POLICIES names a folder with checkouts: gatekeeper-library, regolibrary (with its libraries' Rego in
kubescape-libraries). Nothing of them is part of this repository.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from audit.library.foreign.load import load_source
from audit.library.policy_source import PolicySource
from audit.model.foreign import ForeignAsk, ForeignProgram
from audit.native.evaluator import Evaluator
from tests.foreign.gator_suites import run_suite
from tests.foreign.kubescape_cases import cases, run_case

pytestmark = pytest.mark.corpora

# Cases whose objects the rule's own metadata does not match: Kubescape would not hand them to the rule either.
NOT_MATCHED = frozenset(
    {
        "audit-policy-content",
        "exposure-to-internet-via-istio-ingress",
        "resources-secret-in-default-namespace",
        "unauthenticated-service",
        "validate-kubelet-tls-configuration-updated",
        "workload-mounted-pvc",
    }
)


def checkout(*parts: str) -> Path:
    root = os.environ.get("FLEETAUDIT_PUBLIC_POLICIES")
    path = Path(root or "/nonexistent").joinpath(*parts)
    if not path.exists():
        pytest.skip(f"FLEETAUDIT_PUBLIC_POLICIES has no {'/'.join(parts)}")
    return path


def test_gatekeepers_library(evaluator: Evaluator) -> None:
    suites = sorted(checkout("gatekeeper-library", "library").rglob("suite.yaml"))
    rows = [row for suite in suites for row in run_suite(evaluator, suite)]
    requests = [row for row in rows if row.why.startswith("the case is a request")]
    wrong = [row for row in rows if not row.agrees and row not in requests]
    print(
        f"{len(suites)} suites: {len(rows) - len(requests) - len(wrong)} of {len(rows) - len(requests)} rows agree; "
        f"{len(requests)} rows are requests, which an audit does not have"
    )
    assert not wrong
    assert len(rows) - len(requests) > 200


def test_kubescapes_library(evaluator: Evaluator) -> None:
    root = checkout("regolibrary", "rules")
    libraries = checkout("kubescape-libraries")
    source = PolicySource(path=root, label="rules", builtin=False, libraries=(libraries,))
    (program,) = load_source(source, "k", evaluator).programs
    by_folder: dict[str, list[ForeignAsk]] = {}
    for one in program.asks:
        by_folder.setdefault(one.rule.id.partition(":")[2].rpartition("/")[0], []).append(one)
    counts: Counter[str] = Counter()
    wrong: list[tuple[str, str, str]] = []
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        for case in cases(folder):
            if folder.name not in by_folder:
                counts["not loaded"] += 1
                continue
            agrees, why = run_case(evaluator, _only(program, folder.name, by_folder[folder.name]), case)
            counts["agree" if agrees else "differ"] += 1
            if not agrees and folder.name not in NOT_MATCHED:
                wrong.append((case.rule, case.name, why))
    print(f"{len(program.asks)} rules: {dict(counts)}")
    assert not wrong
    assert counts["agree"] > 900


def _only(program: ForeignProgram, folder: str, asks: list[ForeignAsk]) -> ForeignProgram:
    """One rule of the program: a test case is about that alone, and compiles in no time."""
    own = {f"adapter of {one.rule.id}" for one in asks}
    modules = {
        key: text
        for key, text in program.modules.items()
        if key in own
        or f"/{folder}/" in key
        or key.startswith("fleetaudit_foreign/")
        or not key.startswith(("adapter", "rules/"))
    }
    return msgspec.structs.replace(program, modules=modules, asks=tuple(asks))
