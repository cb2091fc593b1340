"""Reading what the CLI prints: rows out of a noisy stream, reasons out of a coloured log, paths out of messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.evaluate.kyverno.handover import join, subject_document, to_document
from audit.evaluate.kyverno.log_lines import clean, failure_reason, log_lines
from audit.evaluate.kyverno.messages import container_of, segments, sorted_parts, violations_of
from audit.evaluate.kyverno.process import RunResult
from audit.evaluate.kyverno.report_stream import read_printed
from audit.library.kyverno.go_yaml import read_documents

ROW = {
    "source": "kyverno",
    "policy": "p",
    "rule": "r",
    "timestamp": {"seconds": 1, "nanos": 0},
    "result": "fail",
    "scored": True,
    "resources": [{"kind": "Pod", "namespace": "n", "name": "a", "uid": "x-1", "apiVersion": "v1"}],
    "message": 'no {"kind": braces}',
}
REPORT = json.dumps(
    {"kind": "ClusterReport", "apiVersion": "openreports.io/v1alpha1", "results": [ROW]},
    separators=(",", ":"),
)
OLD = json.dumps(
    {"apiVersion": "wgpolicyk8s.io/v1alpha2", "kind": "PolicyReport", "summary": {}, "results": [ROW]},
    separators=(",", ":"),
)
SKIPPED = (
    "-" * 70 + "\nPolicies Skipped:\n1. one: spec.rules: it is wrong\n2. two\n" + "-" * 70 + "\n"
    + "-" * 70 + "\nInvalid Policies:\n1. three: variable 'element.name'\n" + "-" * 70 + "\n"
)  # fmt: skip


def printed(tmp_path: Path, text: str) -> object:
    file = tmp_path / "stdout"
    file.write_text(text, encoding="utf-8")
    return read_printed(file)


@pytest.mark.parametrize(
    ("text", "rows", "reports"),
    [
        (REPORT + "\n", 1, 1),
        ("Warning: p.yaml: deprecated\n" + SKIPPED + REPORT + "\n---\n" + OLD + "\n", 2, 2),
        ("Mutation has been applied successfully." + REPORT + "\n", 1, 1),
        (REPORT + "exit as warnExitCode is 3", 1, 1),
        ("Error: no unique match for kind Pod" * 3 + REPORT + "\n", 1, 1),
        ("", 0, 0),
        ("nothing to see\n", 0, 0),
        ('{"kind":"Pod","metadata":{}}\n' + REPORT + "\n", 1, 1),
    ],
    ids=["one", "stream", "glued before", "glued after", "errors", "empty", "prose", "an object first"],
)
def test_rows_are_found_in_the_stream(tmp_path: Path, text: str, rows: int, reports: int) -> None:
    found = printed(tmp_path, text)
    assert len(found.rows) == rows  # type: ignore[attr-defined]
    assert found.reports == reports  # type: ignore[attr-defined]
    assert not found.broken  # type: ignore[attr-defined]
    assert all(row.uid == "x-1" and row.result == "fail" for row in found.rows)  # type: ignore[attr-defined]


def test_a_report_that_breaks_off_is_said_to_be_broken(tmp_path: Path) -> None:
    found = printed(tmp_path, REPORT[: len(REPORT) // 2])
    assert found.broken  # type: ignore[attr-defined]
    assert found.rows == []  # type: ignore[attr-defined]


@pytest.mark.parametrize("before", ["", "Error: not foundError: not found", "Warning: w\n"])
def test_refused_policies_are_harvested_with_their_reasons(tmp_path: Path, before: str) -> None:
    found = printed(tmp_path, before + SKIPPED + REPORT)
    assert found.refused == {  # type: ignore[attr-defined]
        "one": "spec.rules: it is wrong",
        "two": "refused without a reason",
        "three": "variable 'element.name'",
    }


def test_the_older_words_for_skipped_policies(tmp_path: Path) -> None:
    old = SKIPPED.replace("Skipped:", "Skipped (as required variables are not provided by the user):")
    assert "two" in printed(tmp_path, old + OLD).refused  # type: ignore[attr-defined]


LOG = (
    "\x1b[90m2026-11-30T14:35:27Z\x1b[0m \x1b[31mERR\x1b[0m \x1b[1mgithub.com/kyverno/a.go:567\x1b[0m\x1b[36m >\x1b[0m "
    '\x1b[1mpolicy validation error\x1b[0m \x1b[36merror=\x1b[0m\x1b[31m\x1b[1m"it \\"is\\" wrong"\x1b[0m\x1b[0m \x1b[36mlogger=\x1b[0mx\n'
    "some other text\n"
    "\x1b[90m2026-11-30T14:35:27Z\x1b[0m -3 \x1b[1mgithub.com/kyverno/engine.go:242\x1b[0m\x1b[36m >\x1b[0m rule not matched "
    '\x1b[36mnew.kind=\x1b[0mPod \x1b[36mnew.name=\x1b[0ma \x1b[36mreason=\x1b[0m"rule r not matched:\\n 1. no" \x1b[36mrule.name=\x1b[0mr\n'
)


def test_log_lines_lose_their_colours_and_keep_their_fields() -> None:
    first, second = log_lines(LOG)
    assert (first.level, first.message) == ("ERR", "policy validation error")
    assert first.fields["error"] == 'it "is" wrong'
    assert second.fields == {
        "new.kind": "Pod",
        "new.name": "a",
        "reason": "rule r not matched:\n 1. no",
        "rule.name": "r",
    }


@pytest.mark.parametrize(
    ("stderr", "code", "reason"),
    [
        (
            'panic: pods "a" already exists\n\ngoroutine 1 [running]:\nmain.go\n',
            2,
            'panic: pods "a" already exists',
        ),
        ("log\nError: failed to load resources (x)\n", 1, "Error: failed to load resources (x)"),
        ("fatal error: stack overflow\n", 2, "fatal error: stack overflow"),
        ("last words\n", 7, "exit code 7: last words"),
        ("", 0, "exit code 0: nothing was said"),
    ],
)
def test_why_a_run_failed(tmp_path: Path, stderr: str, code: int, reason: str) -> None:
    (tmp_path / "stderr").write_text(stderr, encoding="utf-8")
    result = RunResult(code=code, stdout=tmp_path / "stdout", stderr=tmp_path / "stderr")
    assert failure_reason(result) == reason


def test_quoted_text_is_neutralised_and_bounded() -> None:
    assert clean("a\x1b[31mred\x1b[0m\nb\x07\u202e") == "ared b\ufffd\ufffd"
    long = clean("head " + "x" * 1000 + " tail")
    assert len(long) <= 300
    assert long.startswith("head ")
    assert long.endswith(" tail")


POD = {
    "metadata": {"annotations": {"a/b": "1"}},
    "spec": {
        "containers": [{"name": "main", "image": "i", "env": [{"name": "X", "value": "v"}]}],
        "0": {"x": 1},
    },
}


def test_paths_follow_the_object() -> None:
    assert segments("/spec/containers/0/image/", POD) == ("spec", "containers", 0, "image")
    assert segments("/metadata/annotations/a/b/", POD) == ("metadata", "annotations", "a/b")
    assert segments("/spec/0/x", POD) == ("spec", "0", "x")
    assert segments("/spec/containers/7/image/", POD) == ("spec", "containers", 7, "image")
    assert segments("/spec/hostPID/", POD) == ("spec", "hostPID")
    assert segments("/", POD) == ()
    assert container_of(("spec", "containers", 0, "env", 0, "value"), POD) == "main"
    assert container_of(("spec", "containers", 9), POD) == ""


def test_each_path_of_a_message_is_a_violation() -> None:
    message = "validation error: no. rule r[0] failed at path /spec/a/ rule r[1] failed at path /spec/containers/0/image/"
    one, two = violations_of(message, POD)
    assert (one.path, one.seen) == (("spec", "a"), None)
    assert (two.path, two.seen, two.container) == (("spec", "containers", 0, "image"), "i", "main")
    (none,) = violations_of("no path here", POD)
    assert (none.path, none.message) == ((), "no path here")
    assert violations_of("", POD)[0].message == "the rule failed without a message"


def test_pod_security_parts_get_an_order() -> None:
    parts = ["(Forbidden reason: b, field error list: [x (y)])", "(Forbidden reason: a)"]
    message = "Validation rule failed: " + "".join(parts)
    assert sorted_parts(message) == sorted_parts("Validation rule failed: " + "".join(reversed(parts)))
    assert sorted_parts(message).startswith("Validation rule failed: (Forbidden reason: a)")
    assert sorted_parts("one (Forbidden reason: a)") == "one (Forbidden reason: a)"


def test_documents_are_json_on_one_line_that_yaml_reads_back() -> None:
    value = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "uid": "old", "resourceVersion": "7"},
    }
    value["data"] = {"text": "---\n\x7f\u2028\ufeff😀 é", "<<": "m", "n": "y"}
    document = subject_document(value, namespace="shop", uid="new-1")
    assert b"\n" not in document
    first, second = read_documents(join([document, to_document({"a": 1})]).decode(), "f")
    assert first.value["metadata"] == {"name": "a", "uid": "new-1", "namespace": "shop"}
    assert first.value["data"] == value["data"]
    assert second.value == {"a": 1}
    assert value["metadata"]["uid"] == "old"
