"""What a server is started with, what is put on it, and that nothing of it stays."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from audit.errors import EngineError
from audit.evaluate.opa_server.engine import OpaServerEngine, open_engine
from audit.evaluate.opa_server.placed import ManagedPlacement
from audit.native.binary import OPA_VERSION
from tests.opa_server.contract import INVENTORY, OBJECTS, program
from tests.opa_server.programs import (
    Remote,
    canonical,
    opa_binary,
    running,
    server_engine,
    settings,
)
from tests.opa_server.test_failures import SMALL, letters, pods
from tests.shared_data import CHECKOUT

pytestmark = pytest.mark.tools


def process_of(engine: OpaServerEngine) -> subprocess.Popen[bytes]:
    placement = engine._placement
    assert isinstance(placement, ManagedPlacement)
    assert placement._server._process
    return placement._server._process


def home_of(engine: OpaServerEngine) -> Path:
    placement = engine._placement
    assert isinstance(placement, ManagedPlacement)
    return placement._server._home


def servers_of(group: int) -> list[int]:
    """Processes of a process group."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(") ")[2].split()
                if fields[2] == str(group) and fields[0] != "Z":
                    found.append(int(entry.name))
    return found


linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")


@linux
def test_a_server_of_ours_is_closed_to_others_and_ends_with_us() -> None:
    with server_engine(program()) as engine:
        group, home = process_of(engine).pid, home_of(engine)
        placement = engine._placement
        assert isinstance(placement, ManagedPlacement)
        url = placement.connected().url
        assert url.startswith("http://127.0.0.1:")
        for path in ("/health", "/v1/data", "/v1/policies", "/metrics"):
            assert requests.get(f"{url}{path}", timeout=10).status_code == 401
        assert home.stat().st_mode & 0o077 == 0
        command = b"".join(Path(f"/proc/{pid}/cmdline").read_bytes() for pid in servers_of(group))
        token = placement._server._token.reveal().encode()
        assert token not in command
        assert not [file for file in home.rglob("*") if file.is_file() and token in file.read_bytes()]
        environment = Path(f"/proc/{max(servers_of(group))}/environ").read_bytes()
        assert b"FLEETAUDIT" not in environment
        assert f"HOME={home}".encode() in environment
        assert engine.version().version == OPA_VERSION
        assert len(engine.version().binary_sha256) == 64
    assert servers_of(group) == []
    assert not home.exists()


@linux
def test_it_ends_when_we_are_killed(tmp_path: Path) -> None:
    script = textwrap.dedent(
        """
        import sys, time
        from tests.opa_server.contract import program
        from tests.opa_server.programs import settings
        from audit.evaluate.opa_server.engine import open_engine
        engine = open_engine(program(), (), settings(), say=print)
        print(engine._placement._server._process.pid, flush=True)
        time.sleep(60)
        """
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        group = int(process.stdout.readline())
        assert len(servers_of(group)) >= 2
        process.send_signal(signal.SIGKILL)
        process.wait()
    deadline = time.monotonic() + 10
    while servers_of(group) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert servers_of(group) == []


def test_a_server_of_ours_that_dies_is_started_anew() -> None:
    with server_engine(SMALL) as engine:
        assert {letters(each) for each in engine.answers(pods(1), INVENTORY)} == {"pfp"}
        os.killpg(process_of(engine).pid, signal.SIGKILL)
        assert {letters(each) for each in engine.answers(pods(10), INVENTORY)} == {"pfp"}
        answers = engine.answers(iter(pods(2000)), INVENTORY)
        found = [next(answers)]
        os.killpg(process_of(engine).pid, signal.SIGKILL)
        found += answers
    assert [letters(each) for each in found] == ["pfp"] * 2000


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("exit 1", "it ended at once"),
        ("echo 'Error: unknown flag: --skip-version-check' >&2; exit 1", "unknown flag"),
        ('echo \'{"level":"error","msg":"cannot load","err":"x"}\'; exit 2', "cannot load x"),
    ],
)
def test_a_program_that_is_no_opa(tmp_path: Path, script: str, words: str) -> None:
    binary = tmp_path / "opa"
    binary.write_text(f"#!/bin/sh\n{script}\n")
    binary.chmod(0o755)
    with pytest.raises(EngineError, match=words):
        open_engine(program(), (), settings(binary=str(binary)), say=print)


def test_no_opa_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match="no `opa` on PATH") as caught:
        open_engine(program(), (), settings(binary=""), say=print)
    assert "engine.opa.binary" in (caught.value.suggestion or "")


def test_nothing_of_a_run_stays_on_a_server_that_is_not_ours(remote: Remote) -> None:
    before = remote.state()
    with server_engine(SMALL, url=remote.url) as engine:
        list(engine.answers(OBJECTS, INVENTORY))
        policies, data = remote.state()
        added = set(policies) - set(before[0])
        assert added
        assert all(name.startswith("fleetaudit/") for name in added)
        [root] = set(data) - set(before[1])
        assert root.startswith("fleetaudit_")
        # What is theirs has their values all the time.
        assert {key: data[key] for key in before[1]} == before[1]
    assert remote.state() == before


def test_two_runs_on_one_server_do_not_meet(remote: Remote) -> None:
    before = remote.state()
    with server_engine(program(), url=remote.url) as one:
        with server_engine(program(), url=remote.url) as other:
            first = one.answers(OBJECTS, INVENTORY)
            second = other.answers(OBJECTS, b'{"v1/Node":{"":[]}}')
            got, others = list(first), list(second)
            assert canonical(got) != canonical(others)
        assert canonical(one.answers(OBJECTS, INVENTORY)) == canonical(got)
    assert remote.state() == before


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    """A server with a certificate of an authority nobody knows."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Test authority")  # fmt: skip
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "server.key",
            "-out", "server.csr", "-subj", "/CN=127.0.0.1")  # fmt: skip
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-days", "2", "-extfile", "names", "-out", "server.pem")  # fmt: skip
    (folder / "authz.rego").write_text(
        'package system.authz\n\ndefault allow := false\n\nallow if input.identity == "let-me-in"\n'
    )
    with running(
        folder, ["authz.rego", "--tls-cert-file=server.pem", "--tls-private-key-file=server.key"]
    ) as server:
        yield server


def test_tls_with_the_authority_named(tls: Remote) -> None:
    ca = str(Path(str(tls.session.verify)))
    with server_engine(program(), url=tls.url, ca=ca) as engine:
        assert list(engine.answers(OBJECTS[:1], INVENTORY))
        assert engine.version().details["server"] == tls.url


def test_tls_of_an_unknown_authority_is_refused(tls: Remote) -> None:
    with pytest.raises(EngineError, match="no secure connection"):
        open_engine(program(), (), settings(url=tls.url), say=print)


def test_insecure_tls_is_possible_and_noticed(tls: Remote) -> None:
    with server_engine(program(), url=tls.url, insecure=True) as engine:
        assert list(engine.answers(OBJECTS[:1], INVENTORY))
        assert [notice.code for notice in engine.notices] == ["insecure_engine"]


def test_a_missing_authority_file_is_said(remote: Remote) -> None:
    with pytest.raises(EngineError, match=r"nowhere\.pem"):
        open_engine(program(), (), settings(url="https://127.0.0.1:1", ca="/nowhere.pem"), say=print)


def test_the_binary_of_the_tests_is_the_one_the_engine_embeds() -> None:
    """Differences found by the other tests are differences between ways, not between versions."""
    said = subprocess.run([opa_binary(), "version"], capture_output=True, text=True, check=True).stdout
    assert f"Version: {OPA_VERSION}" in said


def test_a_path_at_which_no_server_is(remote: Remote) -> None:
    with pytest.raises(EngineError, match=r"can't be used: the server answers HTTP 404"):
        open_engine(program(), (), settings(url=f"{remote.url}/gateway"), say=print)
