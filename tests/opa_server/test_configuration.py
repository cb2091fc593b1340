"""From fleetaudit.yaml to a run: what the configuration refuses, and what the command answers with."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from audit.config.environment import read_secret
from audit.config.load import parse_config
from audit.errors import ConfigError
from audit.native.binary import OPA_VERSION
from tests.integration.command import Run, run
from tests.opa_server.programs import TOKEN, Remote, free_port, opa_binary
from tests.proxy import Reply, proxy_before
from tests.shared_data import CHECKOUT

MANIFESTS = CHECKOUT / "examples" / "fleet" / "us-east-02"


def write(folder: Path, **opa: Any) -> Path:
    file = folder / "fleetaudit.yaml"
    text = {"paths": [str(MANIFESTS)], "engine": {"rego": "opa-server", "opa": opa}}
    file.write_text(json.dumps(text), encoding="utf-8")
    return file


def judged(folder: Path, **opa: Any) -> Run:
    folder.mkdir(exist_ok=True)
    return run(
        folder / "out",
        "--config",
        write(folder, **opa),
        "--format",
        "json,html",
        env={"OPA_TOKEN": TOKEN, "OPA_WRONG": "wrong", "OPA_EMPTY": ""},
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("engine: {opa: {url: https://opa.example}}", "only used with rego: opa-server"),
        ("engine: {rego: opa-server, opa: {bundle: true}}", "needs the url"),
        ("engine: {rego: opa-server, opa: {token_env: X}}", "needs the url"),
        ("engine: {rego: opa-server, opa: {ca: x.pem}}", "needs the url"),
        ("engine: {rego: opa-server, opa: {insecure: true}}", "needs the url"),
        (
            "engine: {rego: opa-server, opa: {url: https://opa.example, binary: /opa}}",
            "no server is started",
        ),
        (
            "engine: {rego: opa-server, opa: {url: http://opa.example, token_env: X}}",
            "would travel unencrypted",
        ),
        ("engine: {rego: opa-server, opa: {url: 'https://user:pass@opa.example'}}", "engine.opa.url"),
        ("engine: {rego: opa-server, opa: {url: 'file:///etc/passwd'}}", "engine.opa.url"),
        ("engine: {rego: opa-server, opa: {url: 'https://opa.example/?token=x'}}", "engine.opa.url"),
        ("engine: {rego: opa-server, opa: {token: abc}}", "token"),
        ("engine: {rego: regorus}", "engine.rego"),
        ("engine: {rego: opa-server, opa: {timeout_seconds: 0}}", "timeout_seconds"),
    ],
)
def test_configurations_that_contradict_themselves(text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(text.encode(), "fleetaudit.yaml")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "engine: {rego: embedded}",
        "engine: {rego: opa-server}",
        "engine: {rego: opa-server, opa: {binary: ./opa, timeout_seconds: 5}}",
        "engine: {rego: opa-server, opa: {url: 'http://127.0.0.1:8181', token_env: X}}",
        "engine: {rego: opa-server, opa: {url: 'https://opa.example/path', token_env: X, ca: a.pem, bundle: true}}",
    ],
)
def test_configurations_that_are_fine(text: str) -> None:
    parse_config(text.encode(), "fleetaudit.yaml")


def test_the_secret_is_read_from_the_variable_named() -> None:
    assert read_secret("T", {"T": " abc\n"}) == "abc"
    for variables in ({}, {"T": ""}, {"T": " "}):
        with pytest.raises(ConfigError, match="T is not set"):
            read_secret("T", variables)


def test_the_embedded_engine_imports_nothing_of_the_other(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom audit.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    code = end.code\n"
        "heavy = {'opa_client', 'requests', 'aiohttp'} & set(sys.modules)\n"
        "assert not heavy, heavy\nassert not [m for m in sys.modules if 'opa_server' in m]\nsys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "run", "--no-config", str(MANIFESTS), "--output", str(tmp_path)],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("embedded")
    done = run(folder, "--no-config", MANIFESTS, "--format", "json")
    assert done.code == 0, done.err
    return done.report


def findings(report: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(report[key] for key in ("groups", "scores", "controls", "tally", "due", "complete"))


@pytest.mark.tools
def test_a_run_on_a_server_of_its_own(tmp_path: Path, embedded: dict[str, Any]) -> None:
    done = judged(tmp_path, binary=opa_binary())
    assert done.code == 0, done.err
    assert findings(done.report) == findings(embedded)
    [engine] = [engine for engine in done.report["record"]["engines"] if engine["name"] == "opa"]
    assert engine["version"] == OPA_VERSION
    assert engine["details"] == {"interface": "server, started here", "embedded": OPA_VERSION}


@pytest.mark.tools
def test_a_run_on_a_remote_server(tmp_path: Path, embedded: dict[str, Any], remote: Remote) -> None:
    before = remote.state()
    done = judged(tmp_path, url=remote.url, token_env="OPA_TOKEN")
    assert done.code == 0, done.err
    assert findings(done.report) == findings(embedded)
    assert remote.state() == before
    written = b"".join(file.read_bytes() for file in done.folder.iterdir())
    assert TOKEN.encode() not in written
    assert TOKEN not in done.out + done.err


@pytest.mark.tools
def test_another_version_stands_in_the_report(
    tmp_path: Path, embedded: dict[str, Any], remote: Remote
) -> None:
    with proxy_before(remote.url) as proxy:
        proxy.edit = lambda request, body: body.replace(OPA_VERSION.encode(), b"1.0.1")
        done = judged(tmp_path, url=proxy.url, token_env="OPA_TOKEN")
    assert done.code == 0, done.err
    assert findings(done.report) == findings(embedded)
    assert [n["message"] for n in done.report["notices"] if n["code"] == "engine_version"]
    assert "1.0.1" in (done.folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.tools
def test_servers_that_cannot_be_used_end_the_run_with_3(tmp_path: Path, remote: Remote) -> None:
    gone = f"http://127.0.0.1:{free_port()}"
    for number, (opa, words) in enumerate(
        [
            ({"url": gone}, f"the OPA server {gone} can't be used"),
            ({"url": remote.url, "token_env": "OPA_WRONG"}, "does not let us in"),
            ({"binary": "/nowhere/opa"}, "no executable /nowhere/opa"),
            ({"url": remote.url, "token_env": "OPA_TOKEN", "bundle": True}, "has none of the rules"),
        ]
    ):
        done = judged(tmp_path / str(number), **opa)
        assert done.code == 3, (opa, done.err)
        assert words in done.err
        assert not (done.folder / "report.json").exists()


@pytest.mark.tools
def test_a_token_that_is_not_there_is_a_mistake_of_the_user(tmp_path: Path, remote: Remote) -> None:
    done = judged(tmp_path, url=remote.url, token_env="OPA_EMPTY")
    assert done.code == 2
    assert "OPA_EMPTY is not set" in done.err


@pytest.mark.tools
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(503, b""), "http_503"),
        (Reply(401, b"{}"), "http_401"),
        (Reply(200, b"<html>"), "engine_failed"),
    ],
)
def test_a_server_that_fails_in_mid_run_leaves_nothing_green(
    tmp_path: Path, remote: Remote, reply: Reply, reason: str
) -> None:
    with proxy_before(remote.url) as proxy:
        proxy.plan = lambda r: reply if r.path.partition("?")[0].endswith("/reply") else None
        done = judged(tmp_path, url=proxy.url, token_env="OPA_TOKEN")
    assert done.code == 3, done.err
    report = done.report
    assert report["complete"] is False
    errors = {
        member["error"]
        for group in report["groups"]
        if group["outcome"] == "error"
        for member in group["members"]
    }
    assert reason in errors
    rego = {rule["rule"]["id"] for rule in report["rules"] if rule["rule"]["engine"] == "rego"}
    assert rego
    decided = {group["rule"] for group in report["groups"] if group["outcome"] != "error"}
    assert not decided & rego
    assert not [control for control in report["controls"] if control.get("state") == "met"]
