"""Programs, engines and servers for the tests."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec
import pytest
import requests

from audit.evaluate.opa_server.engine import OpaServerEngine, open_engine
from audit.evaluate.opa_server.managed import outermost
from audit.evaluate.opa_server.program import Program
from audit.evaluate.opa_server.scan import path_of
from audit.evaluate.opa_server.settings import Secret, ServerSettings
from audit.library.rules import PolicySource, RuleSet, load_rules
from audit.model.finding import PairAnswer
from audit.native.evaluator import EvalLimits, EvalRule, Evaluator
from tests.shared_data import CHECKOUT

TOKEN = "let-me-in"
Pairs = Iterable[tuple[str, bytes]]


@functools.cache
def opa_binary() -> str:
    """The real `opa`; skips the calling test when there is none."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fleetaudit" / "tools"
    tools = Path(os.environ.get("FLEETAUDIT_TOOLS") or cache)
    for found in (tools / "bin" / "opa", shutil.which("opa")):
        if found and Path(found).is_file():
            return str(found)
    pytest.skip("no opa: `make tools` builds it")


def program_of(
    modules: Mapping[str, str], rules: Iterable[EvalRule], data: Mapping[str, object] | None = None
) -> Program:
    """A program from sources."""
    with Evaluator(jobs=1) as evaluator:
        inspection = evaluator.inspect(modules)
    assert not inspection.problems, inspection.problems
    return Program(
        modules=dict(modules),
        data=dict(data if data is not None else {"parameters": {}, "pod_templates": {}}),
        rules=tuple(rules),
        packages=inspection.packages,
    )


@functools.cache
def shipped() -> tuple[RuleSet, Program]:
    """The rules of this checkout."""
    with Evaluator(jobs=1) as evaluator:
        source = PolicySource(path=CHECKOUT / "rego", label="rego", builtin=True)
        rule_set = load_rules([source], evaluator, parameters={})
    rules = rule_set.eval_rules(frozenset(rule.id for rule in rule_set.rules))
    return rule_set, program_of(rule_set.modules, rules, rule_set.data)


class Judge(Protocol):
    """An engine under test."""

    def answers(self, objects: Pairs, inventory: bytes) -> Iterator[list[PairAnswer]]: ...


class Embedded:
    """The embedded engine in the shape of the other; not strict, it is as lenient as a server's bundle."""

    def __init__(self, program: Program, limits: EvalLimits, *, strict: bool = True) -> None:
        self.evaluator = Evaluator(jobs=2, limits=limits)
        self.evaluator.load(
            program.modules, msgspec.json.encode(program.data), program.rules, strict=strict
        ).check()

    def answers(self, objects: Pairs, inventory: bytes) -> Iterator[list[PairAnswer]]:
        self.evaluator.set_inventory(inventory)
        return self.evaluator.evaluate(objects)


class Remote(NamedTuple):
    """An OPA server that is not ours."""

    url: str
    process: subprocess.Popen[bytes]
    session: requests.Session

    def state(self) -> tuple[list[str], Any]:
        """Ids of its policies, and its data."""
        policies = self.session.get(f"{self.url}/v1/policies", timeout=30).json()["result"]
        data = self.session.get(f"{self.url}/v1/data", timeout=30).json()["result"]
        return sorted(policy["id"] for policy in policies), data


AUTHZ = """package system.authz

default allow := false

allow if input.identity == "let-me-in"
"""


@contextlib.contextmanager
def remote_server(folder: Path, *arguments: str) -> Iterator[Remote]:
    """A server with token authorisation, and with policies and data of its own where ours would be."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "authz.rego").write_text(AUTHZ)
    (folder / "own.rego").write_text('package pod.privileged\n\napplies := "somebody else\'s"\n')
    (folder / "own.json").write_text('{"parameters": {"theirs": 1}, "inventory": {"theirs": 2}}')
    with running(folder, ["authz.rego", "own.rego", "own.json", *arguments]) as remote:
        yield remote


@contextlib.contextmanager
def bundle_server(folder: Path, *bundles: Path) -> Iterator[Remote]:
    """A server with token authorisation that serves bundles."""
    authz = folder / "authz"
    authz.mkdir(parents=True, exist_ok=True)
    (authz / "authz.rego").write_text(AUTHZ)
    (authz / ".manifest").write_text('{"roots": ["system/authz"]}')
    with running(folder, ["--bundle", "authz", *map(str, bundles)]) as remote:
        yield remote


@contextlib.contextmanager
def running(
    folder: Path, arguments: list[str], *, env: Mapping[str, str] | None = None, port: int = 0
) -> Iterator[Remote]:
    """`opa run --server` with arguments."""
    port = port or free_port()
    process = subprocess.Popen(
        [
            opa_binary(),
            "run",
            "--server",
            f"--addr=127.0.0.1:{port}",
            "--skip-version-check",
            "--log-level=error",
            "--authentication=token",
            "--authorization=basic",
            *arguments,
        ],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "GOMAXPROCS": "2", **(env or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    session = requests.Session()
    session.trust_env = False
    session.headers["Authorization"] = f"Bearer {TOKEN}"
    scheme = "https" if any("tls-cert" in argument for argument in arguments) else "http"
    if scheme == "https":
        session.verify = str(folder / "ca.pem")
    url = f"{scheme}://127.0.0.1:{port}"
    try:
        wait_for(process, session, url)
        yield Remote(url, process, session)
    finally:
        process.kill()
        process.communicate()
        session.close()


def wait_for(process: subprocess.Popen[bytes], session: requests.Session, url: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if process.poll() is not None:
            assert process.stderr
            raise AssertionError(process.stderr.read().decode())
        with contextlib.suppress(requests.ConnectionError):
            if session.get(f"{url}/health", timeout=5).status_code == 200:
                return
        time.sleep(0.05)
    raise AssertionError("the server does not answer")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def settings(**changes: Any) -> ServerSettings:
    """Settings for tests; `url` may be given."""
    if changes.get("url") and "token" not in changes:
        changes["token"] = Secret(TOKEN)
    base = {"jobs": 2, "binary": "" if changes.get("url") else opa_binary(), "object_seconds": 5.0}
    return ServerSettings(**(base | changes))


@contextlib.contextmanager
def server_engine(program: Program, **changes: Any) -> Iterator[OpaServerEngine]:
    """An engine of ours over a server."""
    said: list[str] = []
    engine = open_engine(program, (), settings(**changes), say=said.append)
    try:
        yield engine
    finally:
        engine.close()
        assert not [line for line in said if "not removed" in line], said


def write_bundle(program: Program, folder: Path) -> Path:
    """The bundle that docs/opa-server.md tells sites to build, made with `opa build`."""
    source = folder / f"source-{secrets.token_hex(4)}"
    for label, text in program.modules.items():
        file = source / label
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (source / "data.json").write_text(json.dumps(program.data))
    roots = outermost([*(path_of(p.package) for p in program.packages), *((key,) for key in program.data)])
    (source / ".manifest").write_text(json.dumps({"revision": "7", "roots": ["/".join(r) for r in roots]}))
    bundle = folder / f"{source.name}.tar.gz"
    subprocess.run([opa_binary(), "build", "--bundle", ".", "--output", bundle], cwd=source, check=True)
    return bundle


def canonical(answers: Iterable[list[PairAnswer]]) -> list[bytes]:
    """Answers as canonical JSON, one line for each object."""
    return [msgspec.json.encode(answer, order="deterministic") for answer in answers]
