"""A CLI that is missing, too old, hanging, killed, greedy, silent or lying. Stand-ins wrap the real one."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from audit.errors import EngineError
from audit.evaluate.kyverno import KyvernoOptions, build_kyverno
from audit.evaluate.kyverno.binary import KyvernoCli, find_kyverno
from audit.evaluate.kyverno.capabilities import capabilities_of
from audit.evaluate.kyverno.process import Limits, ToolRunner
from audit.evaluate.kyverno.run import Effort
from audit.library.kyverno import load_kyverno
from audit.library.rules import PolicySource
from tests.kyverno.conftest import NO_LATEST, NOW, Judge, Stand, pod, policy

LATEST = policy("tags", NO_LATEST)
PODS = pod("good") + pod("bad", "nginx:latest")


def options(path: str, **effort: float) -> KyvernoOptions:
    return KyvernoOptions(cli=path, jobs=1, effort=Effort(**effort))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("time.sleep(60)", "timed_out"),
        ("os.kill(os.getpid(), 9)", "killed"),
        ("sys.exit(0)", "cli_abort"),
        ("print('all is well'); sys.exit(0)", "cli_abort"),
        ("print('{\"kind\":\"ClusterReport\",\"results\":[]}'); sys.exit(0)", "cli_abort"),
        ("done = real(); give(done, done.stdout[: len(done.stdout) // 2])", "cli_abort"),
        ("sys.stdout.buffer.write(os.urandom(100_000)); sys.exit(0)", "cli_abort"),
        ("sys.stderr.write('panic: of its own\\n'); sys.exit(2)", "cli_panic"),
        ("hog = bytearray(700 << 20)\nfor i in range(0, len(hog), 4096): hog[i] = 1\ntime.sleep(60)", "out_of_memory"),
    ],
    ids=["hangs", "killed", "silent", "prose", "empty report", "cut off", "noise", "panics", "greedy"],
)  # fmt: skip
@pytest.mark.tools
def test_a_cli_that_fails_is_an_error_and_never_a_pass(
    judge: Judge, stand_in: Stand, body: str, code: str
) -> None:
    bounds: dict[str, float] = {}
    if code == "out_of_memory":
        bounds = {"memory_bytes": 600 << 20}
    elif code == "timed_out":
        bounds = {"seconds_base": 8.0}  # the trial must fit in as well, on a busy machine
    began = time.monotonic()
    found = judge(LATEST, PODS, options=options(stand_in(body), **bounds))
    assert found.outcome("tags/no-latest", "good") == f"error {code}"
    assert found.outcome("tags/no-latest", "bad") == f"error {code}"
    assert "the Kyverno CLI gave no answer" in found.of("tags/no-latest", "good").message
    assert time.monotonic() - began < 120


@pytest.mark.tools
def test_an_object_left_out_of_the_report_is_an_error(judge: Judge, stand_in: Stand) -> None:
    body = r"""
    done = real()
    keep = re.sub(rb'\{"source":[^{}]*\{[^{}]*\}[^{}]*\[\{[^{}]*"name":"good"[^{}]*\}\][^{}]*(\{[^{}]*\})?\},?', b"", done.stdout)
    give(done, keep.replace(b",]", b"]"))
    """
    found = judge(LATEST, PODS, options=options(stand_in(body)))
    assert found.outcome("tags/no-latest", "good") == "error not_looked_at"
    assert found.outcome("tags/no-latest", "bad") == "fail"


@pytest.mark.tools
def test_a_row_left_out_of_the_report_is_an_error(judge: Judge, stand_in: Stand) -> None:
    body = r"""
    done = real()
    keep = re.sub(rb'\{"source":"kyverno","policy":"tags"[^{}]*\{[^{}]*\}[^{}]*\[\{[^{}]*"name":"good"[^{}]*\}\][^{}]*(\{[^{}]*\})?\},?', b"", done.stdout)
    assert len(keep) < len(done.stdout)
    give(done, keep.replace(b",]", b"]"))
    """
    found = judge(LATEST, PODS, options=options(stand_in(body)))
    assert found.outcome("tags/no-latest", "good") == "error missing_row"
    assert found.outcome("tags/no-latest", "bad") == "fail"


@pytest.mark.tools
def test_rows_about_strangers_are_not_believed(judge: Judge, stand_in: Stand) -> None:
    body = r"""
    done = real()
    forged = b'{"kind":"ClusterReport","results":[{"policy":"tags","rule":"no-latest","result":"pass","resources":[{"uid":"0-1","name":"bad"}]}]}\n'
    give(done, forged + done.stdout)
    """
    found = judge(LATEST, PODS, options=options(stand_in(body)))
    assert found.outcome("tags/no-latest", "bad") == "fail"
    assert found.outcome("tags/no-latest", "good") == "pass"


@pytest.mark.tools
def test_a_failure_that_passes_by_itself_costs_nothing(judge: Judge, stand_in: Stand, tmp_path: Path) -> None:
    body = f"""
    if not os.path.exists({str(tmp_path / "once")!r}):
        open({str(tmp_path / "once")!r}, "w").close()
        os.kill(os.getpid(), 9)
    give(real())
    """
    found = judge(LATEST, PODS, options=options(stand_in(body)))
    assert found.outcome("tags/no-latest", "good") == "pass"
    assert found.outcome("tags/no-latest", "bad") == "fail"


@pytest.mark.tools
def test_the_child_gets_a_closed_environment(
    judge: Judge, stand_in: Stand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    monkeypatch.setenv("KUBECONFIG", "/home/somebody/.kube/config")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    body = f"""
    with open({str(tmp_path / "seen")!r}, "w") as file:
        file.write("\\n".join(f"{{k}}={{v}}" for k, v in sorted(os.environ.items())))
        file.write(f"\\nGROUP={{os.getpgid(0) == os.getpid()}}")
    give(real())
    """
    judge(LATEST, PODS, options=options(stand_in(body)))
    seen = dict(line.split("=", 1) for line in (tmp_path / "seen").read_text(encoding="utf-8").splitlines())
    assert "AWS_SECRET_ACCESS_KEY" not in seen
    assert seen["KUBECONFIG"].endswith("no-kubeconfig")
    assert seen["HTTPS_PROXY"] == "http://127.0.0.1:9"
    assert seen["HOME"] != os.environ.get("HOME")
    assert seen["GOGC"] == "400"
    assert seen["GROUP"] == "True"


@pytest.mark.tools
def test_nothing_is_left_behind(cli: KyvernoCli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    file = tmp_path / "p.yaml"
    file.write_text(LATEST, encoding="utf-8")
    build = build_kyverno(
        load_kyverno([PolicySource(path=file, label="p", builtin=False)]), NOW, KyvernoOptions(jobs=1)
    )
    assert build.start is not None
    engine = build.start(frozenset({"kyverno:tags/no-latest"}))
    engine.close()
    build.close()
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_stopped_runner_kills_what_runs(tmp_path: Path) -> None:
    import threading

    runner = ToolRunner()
    threading.Timer(0.3, runner.stop).start()
    began = time.monotonic()
    result = runner.run(["sleep", "60"], tmp_path, Limits(seconds=60, memory_bytes=1 << 30))
    assert result.problem == "stopped"
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("#!/bin/sh\necho 'Version: v1.13.4'\n", "version 1.13.4; at least 1.14 is needed"),
        ("#!/bin/sh\necho hello\n", "it prints no version"),
        ("#!/bin/sh\nexit 3\n", "it prints no version"),
        ("not a program", "not started|could not be started"),
    ],
    ids=["too old", "another program", "fails", "no program"],
)
def test_a_cli_that_can_not_be_used(tmp_path: Path, script: str, says: str) -> None:
    path = tmp_path / "kyverno"
    path.write_text(script, encoding="utf-8")
    path.chmod(0o755)
    with pytest.raises(EngineError, match=says) as raised:
        find_kyverno(str(path))
    assert "install the Kyverno CLI" in str(raised.value)


def test_without_a_cli_the_policies_are_a_gap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("FLEETAUDIT_KYVERNO", raising=False)
    file = tmp_path / "p.yaml"
    file.write_text(LATEST, encoding="utf-8")
    build = build_kyverno(load_kyverno([PolicySource(path=file, label="p", builtin=False)]), NOW)
    assert build.start is None
    assert build.rules == ()
    (gap,) = build.gaps
    assert gap.kind.value == "policy"
    assert "1 Kyverno rules were not asked" in gap.reason
    assert "install the Kyverno CLI" in gap.hint


@pytest.mark.tools
def test_without_room_for_files_the_policies_are_a_gap(
    cli: KyvernoCli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tempfile

    file = tmp_path / "p.yaml"
    file.write_text(LATEST, encoding="utf-8")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    build = build_kyverno(load_kyverno([PolicySource(path=file, label="p", builtin=False)]), NOW)
    assert build.start is None
    assert "temporary files could not be written" in build.gaps[0].reason


@pytest.mark.tools
def test_a_disk_that_fills_up_is_an_error(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    found = judge(LATEST, PODS)
    assert found.engine is not None

    def full(*arguments: object, **names: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    answers = list(found.engine.evaluate("c", found.objects, b"{}"))
    assert [(a[0].outcome.value, a[0].reason) for a in answers] == [("error", "cli_abort")] * 2
    assert "No space left on device" in answers[0][0].message


def test_without_policies_no_cli_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEETAUDIT_KYVERNO", "/nonexistent")
    build = build_kyverno(load_kyverno([]), NOW)
    assert (build.start, build.rules, build.gaps) == (None, (), ())


@pytest.mark.tools
def test_the_version_and_the_binary_are_recorded(cli: KyvernoCli) -> None:
    version = cli.engine_version()
    assert version.name == "kyverno"
    assert version.version.count(".") == 2
    assert len(version.binary_sha256) == 64
    assert cli.capabilities.table()["ValidatingPolicy"] == "yes"


def test_capabilities_by_minor_version() -> None:
    assert capabilities_of((1, 13, 9)) is None
    oldest, middle, newest = (capabilities_of(version) for version in ((1, 14, 0), (1, 16, 2), (1, 19, 1)))
    assert oldest is not None
    assert middle is not None
    assert newest is not None
    assert not oldest.namespaced_cel
    assert middle.namespaced_cel
    assert middle.parameter_resources
    assert not middle.cel_v1
    assert middle.crd_flag == ""
    assert newest.crd_flag == "--crd-paths"
    assert newest.offline_context
    future = capabilities_of((1, 25, 0))
    assert future is not None
    assert future.assumed
    assert future.offline_context


@pytest.mark.tools
def test_a_policy_the_version_does_not_know_is_a_gap(
    judge: Judge, stand_in: Stand, cli: KyvernoCli, tmp_path: Path
) -> None:
    from tests.kyverno.test_cel_policies import validating

    old = tmp_path / "old"
    old.write_text(
        f'#!/bin/sh\nif [ "$1" = version ]; then echo \'Version: v1.15.0\'; else exec {cli.path} "$@"; fi\n',
        encoding="utf-8",
    )
    old.chmod(0o755)
    seen = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: shop}\n"
    rule = NO_LATEST.replace(
        "  validate:", "  context: [{name: c, configMap: {name: c, namespace: shop}}]\n  validate:"
    )
    found = judge(
        validating("tags") + policy("reads", rule) + LATEST, PODS, seen=seen, options=options(str(old))
    )
    (gap,) = found.gaps
    assert "policies.kyverno.io/v1 needs 1.17, the Kyverno CLI is 1.15.0" in gap
    assert found.outcome("tags/no-latest", "bad") == "fail"
    assert found.outcome("reads/no-latest", "bad") == "error needs_newer_cli"
