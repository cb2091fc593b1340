"""Every mistake in fleetaudit.yaml is refused with its line, its key and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.config.load import load_file, parse_config
from audit.config.schema import FileConfig
from audit.errors import ConfigError, UsageError
from audit.model.rule import Severity


def errors_of(text: str | bytes) -> list[ConfigError]:
    raw = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(ConfigError) as caught:
        parse_config(raw, "fleetaudit.yaml")
    return [caught.value, *(error for error in caught.value.others if isinstance(error, ConfigError))]


def only_error(text: str | bytes) -> ConfigError:
    errors = errors_of(text)
    assert len(errors) == 1, [str(error) for error in errors]
    assert errors[0].file == "fleetaudit.yaml"
    return errors[0]


# (text, line, key, part of the message, part of the suggestion)
CASES = [
    ("titel: x\n", 1, "titel", "unknown key", "did you mean title?"),
    ("title: x\ngates:\n  fail-on: high\n", 3, "gates.fail-on", "unknown key", "gates.fail_on"),
    ("fail_on: high\n", 1, "fail_on", "unknown key", "gates.fail_on"),
    ("exclude: []\n", 1, "exclude", "unknown key", "scope.exclude"),
    ("zzzzzz: 1\n", 1, "zzzzzz", "unknown key", "known keys here"),
    (
        "clusters:\n- name: a\n  paths: [x]\n  Owner: me\n",
        4,
        "clusters.0.Owner",
        "unknown key",
        "clusters.0.owner",
    ),
    ("clusters:\n- name: a\n", 2, "clusters.0", "needs either paths, a server or a snapshot", None),
    ("clusters:\n- name: a\n  path: [x]\n", 3, "clusters.0.path", "unknown key", "clusters.0.paths"),
    ("clusters:\n- paths: [x]\n  name: false\n", 3, "clusters.0.name", "expected text, got false", "quotes"),
    (
        "clusters:\n- {paths: [x], name: a, server: {context: c}}\n",
        2,
        "clusters.0",
        "needs either paths, a server or a snapshot",
        None,
    ),
    (
        "clusters:\n- {name: a, server: {context: c, in_cluster: true}}\n",
        2,
        "clusters.0.server",
        "takes neither a context",
        None,
    ),
    ("clusters:\n- {paths: [], name: a}\n", 2, "clusters.0.paths", "length", None),
    ("clusters:\n- {paths: [x], name: 'a|b'}\n", 2, "clusters.0.name", "not accepted", None),
    ("clusters: {}\n", 1, "clusters", "expected a list, got a mapping", None),
    ("paths: k8s\n", 1, "paths", "expected a list, got 'k8s'", "[k8s]"),
    ("paths:\n- a\n- 7\n", 3, "paths.1", "expected text, got 7", "quotes"),
    ("title:\n", 1, "title", "expected text, got nothing", None),
    ("title: 12\n", 1, "title", "expected text, got 12", "quotes"),
    ("policy: [rules]\n", 1, "policy", "expected a mapping, got a list", None),
    ("profile: tecnical\n", 1, "profile", "technical, full", "did you mean technical?"),
    ("profile:\n  lfai: SBOM-1\n", 1, "profile", "mapping from framework", None),
    ("gates:\n  min_ratio: 0.7\n", 2, "gates.min_ratio", "never averaged", "nist-ai-rmf: 0.7"),
    ("gates:\n  min_coverage: 1\n", 2, "gates.min_coverage", "never averaged", "nist-ai-rmf"),
    ("gates: {min_ratio: {lfai: 70}}\n", 1, "gates.min_ratio.lfai", "from 0 to 1", "0.7 for 70 percent"),
    ("gates: {min_ratio: {lfai: -1}}\n", 1, "gates.min_ratio.lfai", ">= 0", None),
    ("gates: {min_ratio: {lfai: .nan}}\n", 1, "gates.min_ratio.lfai", "expected a number, got '.nan'", None),
    ("gates: {fail_on: hihg}\n", 1, "gates.fail_on", "critical, high", "did you mean high?"),
    ("gates: {fail_on: 'new:high'}\n", 1, "gates.fail_on", "earlier result", "write high"),
    ("gates: {min_objects: 0}\n", 1, "gates.min_objects", ">= 1", None),
    ("output: {formats: [htm]}\n", 1, "output.formats.0", "html, json", "did you mean html?"),
    ("output: {lang: de}\n", 1, "output.lang", "en, zh-CN", None),
    ("limits: {object_seconds: 0}\n", 1, "limits.object_seconds", "> 0", None),
    ("jobs: many\n", 1, "jobs", "whole number", None),
    ("jobs: 0\n", 1, "jobs", ">= 1", None),
    (
        "scope:\n  exclude:\n  - {reason: r}\n",
        3,
        "scope.exclude.0",
        "either a path or a selector",
        None,
    ),
    (
        "scope: {exclude: [{reason: r, path: x, selector: {kind: Pod}}]}\n",
        1,
        "scope.exclude.0",
        "either a path or a selector",
        None,
    ),
    ("scope: {exclude: [{reason: r, selector: {}}]}\n", 1, "scope.exclude.0.selector", "everything", None),
    ("scope: {exclude: [{path: x}]}\n", 1, "scope.exclude.0.reason", "required", None),
    ("scope: {exclude: [{path: x, reason: ''}]}\n", 1, "scope.exclude.0.reason", "length", None),
    (
        "allow_gaps: [{kind: unreadble, source: x, reason: r, expires: 2026-01-01}]\n",
        1,
        "allow_gaps.0.kind",
        "not_rendered",
        "did you mean unreadable?",
    ),
    (
        "allow_gaps:\n- kind: absent\n  source: x\n  reason: r\n  expires: 2026-02-30\n",
        5,
        "allow_gaps.0.expires",
        "not in the calendar",
        None,
    ),
    (
        "allow_gaps: [{kind: absent, source: x, reason: r, expires: '2026-02-20T10:00:00'}]\n",
        1,
        "allow_gaps.0.expires",
        "needs its zone",
        None,
    ),
    (
        "paths: [a]\nclusters:\n- {name: a, paths: [x]}\n",
        1,
        "paths",
        "exclude each other",
        "cluster of their own",
    ),
    (
        "clusters:\n- {name: a, paths: [x]}\n- {name: a, paths: [y]}\n",
        3,
        "clusters.1.name",
        "already number 1",
        "its own name",
    ),
    ("title: a\npaths: []\ntitle: b\n", 3, "title", "stands twice, first in line 1", "keep one"),
    ("gates:\n  min_ratio:\n    lfai: 1\n    lfai: 0\n", 4, "gates.min_ratio.lfai", "stands twice", None),
    ("title: [a\n", 2, None, "no valid YAML", None),
    ("title:\n\t- a\n", 2, None, "no valid YAML", "spaces, not tabs"),
    ("title: a\n---\ntitle: b\n", 2, None, "second document", "one document"),
    ("title: !!python/object:os.system x\n", 1, "title", "tag", None),
    ("title: !!binary aGk=\n", 1, "title", "tag", None),
    ("1: a\n", 1, "1", "unknown key", None),
    ("? [a]\n: b\n", 1, None, "a key must be plain text", None),
    ("output: {<<: {lang: en}}\n", 1, "output", "merge keys", None),
    ("- a\n", 1, None, "expected a mapping, got a list", None),
    ("just text\n", 1, None, "expected a mapping, got 'just text'", None),
    ("title: a\nowner: \ufffe\n", 2, None, "no valid YAML", None),
]


@pytest.mark.parametrize(
    ("text", "line", "key", "message", "suggestion"), CASES, ids=[case[0][:40] for case in CASES]
)
def test_a_mistake_is_named(
    text: str, line: int, key: str | None, message: str, suggestion: str | None
) -> None:
    error = only_error(text)
    assert message in error.message
    assert error.key == key
    # A syntax error without a mark has no line; everything else has.
    assert error.line in {line, None if message == "no valid YAML" else line}
    if suggestion is not None:
        assert suggestion in (error.suggestion or "")


def test_every_mistake_is_listed_in_file_order() -> None:
    errors = errors_of("gates:\n  fail_on: x\ntitel: y\npaths: z\njobs: 0\n")
    assert [(error.line, error.key) for error in errors] == [
        (2, "gates.fail_on"),
        (3, "titel"),
        (4, "paths"),
        (5, "jobs"),
    ]


def test_bytes_that_are_no_text() -> None:
    error = only_error(b"title: a\npaths: [\xff\xfe]\n")
    assert (error.line, error.message) == (2, "the file is not valid UTF-8")


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
        + "".join(
            f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 10)}]\n" for n in range(8)
        ),
        "title: " + "[" * 2000 + "]" * 2000 + "\n",
        "title: " + "{a: " * 3000 + "x" + "}" * 3000 + "\n",
        "x: &x\n  y: *x\n",
        "title: " + "a" * 1_100_000 + "\n",
        "jobs: " + "9" * 5000 + "\n",
    ],
    ids=["alias bomb", "deep lists", "deep maps", "recursion", "huge", "huge number"],
)
def test_hostile_files_end_in_one_error(text: str) -> None:
    assert errors_of(text)


def test_empty_files_are_empty_configurations() -> None:
    for raw in (b"", b"# nothing\n", b"---\n", b"null\n", b"\xef\xbb\xbf", b"{}\n"):
        assert parse_config(raw, "f") == FileConfig()


def test_yaml_is_read_as_people_mean_it() -> None:
    config = parse_config(
        b"\xef\xbb\xbftitle: &t Fleet\r\nclusters:\r\n- name: '01'\r\n  paths: [.]\r\n  owner: *t\r\n"
        b"gates: {fail_on: high, min_ratio: {lfai: 1}}\r\n"
        b"allow_gaps: [{kind: absent, source: '*', reason: r, expires: 2026-12-31}]\r\n",
        "f",
    )
    assert config.title == config.clusters[0].owner == "Fleet"
    assert config.clusters[0].name == "01"
    assert config.gates.fail_on is Severity.HIGH
    assert config.gates.min_ratio == {"lfai": 1.0}
    assert config.allow_gaps[0].expires == "2026-12-31"


def test_an_absent_or_unreadable_file_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "no.yaml", tmp_path):
        with pytest.raises((ConfigError, UsageError)) as caught:
            load_file(path)
        assert caught.value.file == str(path)
        assert "cannot be read" in caught.value.message
