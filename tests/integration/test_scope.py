"""What is audited and what is not: through the real command, told, counted, and part of the scope digest."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.integration.command import Run, fleetaudit, run

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: NAME, namespace: ml}\nspec: {containers: [{name: c, image: i}]}\n"


def pod(name: str) -> str:
    return POD.replace("NAME", name)


def notices(done: Run, code: str) -> list[dict[str, Any]]:
    return [notice for notice in done.report["notices"] if notice["code"] == code]


def scope(done: Run) -> str:
    digest: str = done.report["record"]["scope_sha256"]
    return digest


def objects(done: Run) -> int:
    number: int = done.report["record"]["denominator"]["objects"]
    return number


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    source = tmp_path / "in"
    (source / "sub").mkdir(parents=True)
    (source / "a.yaml").write_text(pod("a"))
    (source / "sub" / "b.yaml").write_text(pod("b"))
    return source


def audited(tree: Path, *arguments: str) -> Run:
    done = run(tree.parent / "out", tree, "--no-config", "--no-cache", *arguments)
    assert done.code in (0, 3), done.err
    return done


# --- the scope digest


def test_the_scope_digest_is_that_of_the_scope_wherever_it_is(tree: Path, tmp_path: Path) -> None:
    first = audited(tree)
    moved = tmp_path / "elsewhere" / "in"
    moved.parent.mkdir()
    tree.rename(moved)
    assert scope(audited(moved)) == scope(first)
    (moved / "notes.md").write_text("not a manifest")
    assert scope(audited(moved)) == scope(first)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--exclude", "sub/"),
        ("--exclude", "nothing-like-it/"),
        ("--include", "*.yaml"),
        ("--include", "a.yaml"),
    ],
)
def test_globs_change_the_digest_whatever_they_match(tree: Path, arguments: tuple[str, str]) -> None:
    assert scope(audited(tree, *arguments)) != scope(audited(tree))


def test_ignore_files_and_what_they_hide_change_the_digest(tree: Path) -> None:
    digests = [scope(audited(tree))]
    ignore = tree / ".gitignore"
    for text in ("nothing-like-it/\n", "sub/\n", "sub/\n# a remark\n"):
        ignore.write_text(text)
        digests.append(scope(audited(tree)))
    ignored = audited(tree)
    assert objects(ignored) == 1
    assert notices(ignored, "gitignored")[0]["count"] == 1
    assert ignored.report["record"]["denominator"]["excluded"] == 1
    (tree / "sub" / ".gitignore").write_text("")
    assert scope(audited(tree)) == digests[-1]  # below what is ignored nothing is looked at
    assert len(set(digests)) == 4
    assert scope(audited(tree, "--no-gitignore")) == digests[0]
    ignore.unlink()
    (tree / "sub" / ".gitignore").write_text("b.yaml\n")
    assert scope(audited(tree)) not in digests


@pytest.mark.parametrize("option", ["--include", "--exclude"])
def test_a_glob_that_is_none_is_a_usage_error(tree: Path, option: str) -> None:
    done = run(tree.parent / "out", tree, "--no-config", option, "!")
    assert done.code == 2
    assert "no pattern" in done.err


# --- fleetaudit's own files


def test_a_second_run_over_its_own_output_is_the_first_run_again(tree: Path) -> None:
    formats = "html,json,sarif,junit,markdown,csv"
    for _ in range(2):
        done = fleetaudit("run", ".", "--no-config", "--format", formats, cwd=tree)
        assert done.code in (0, 3), done.err
    report = json.loads((tree / "fleetaudit-report" / "report.json").read_bytes())
    assert report["record"]["denominator"]["objects"] == 2
    assert report["record"]["denominator"]["files"] == 2
    assert report["record"]["denominator"]["not_objects"] == 0
    [own] = [notice for notice in report["notices"] if notice["code"] == "own_output"]
    assert "fleetaudit-report" in own["message"]
    assert not [notice for notice in report["notices"] if notice["code"] in ("not_an_object", "other_type")]


def test_output_does_not_change_the_result_of_what_is_audited(tree: Path) -> None:
    digests = set()
    for _ in range(3):
        done = fleetaudit("run", ".", "--no-config", "-o", "out", cwd=tree)
        assert done.code in (0, 3), done.err
        digests.add(json.loads((tree / "out" / "report.json").read_bytes())["record"]["result_sha256"])
    assert len(digests) == 1


def test_output_of_another_run_is_recognised_by_its_content(tree: Path) -> None:
    old = tree / "old"
    made = run(old, tree / "a.yaml", "--no-config", "--format", "html,json,sarif,junit,markdown,csv")
    assert made.code in (0, 3), made.err
    (old / "report.json").rename(old / "last-week.json")
    (old / "report.sarif").rename(old / "upload.json")
    (old / "report.html").rename(old / "index.html")
    done = audited(tree)
    assert objects(done) == 2
    [own] = notices(done, "own_output")
    assert own["count"] == len(list(old.iterdir()))
    assert done.report["record"]["denominator"]["excluded"] == own["count"]
    assert notices(done, "not_an_object") == []


@pytest.mark.parametrize(
    "text",
    [
        '{"schema": "fleetaudit.dev/report/v1", "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {}}',
        '{"schema": "fleetaudit.dev/report/v1", "kind": "List", "apiVersion": "v1", "items": []}',
        '{"schema": "fleetaudit.dev/report/v1"} {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}}',
        '{"schema": "fleetaudit.dev/report/v1", "\\u006bind": "Pod", "api\\u0056ersion": "v1"}',
        '# "fleetaudit.dev/report/v1"\napiVersion: v1\nkind: Pod\nmetadata: {name: x}\n',
        '{"schema": "fleetaudit.dev/report/v1", ',
    ],
)
def test_no_manifest_hides_behind_a_marker(tree: Path, text: str) -> None:
    for folder in (tree, tree / "out"):
        folder.mkdir(exist_ok=True)
        (folder / "report.json").write_text(text)
    done = run(tree / "out", tree, "--no-config", "--format", "html,json")
    read = {file["path"] for file in done.report["record"]["inputs"]}
    assert str(tree / "report.json") in read
    assert notices(done, "own_output")[0]["count"] == 1


def test_manifests_in_the_output_folder_are_read(tree: Path) -> None:
    (tree / "out").mkdir()
    (tree / "out" / "mine.yaml").write_text(pod("mine"))
    assert objects(run(tree / "out", tree, "--no-config")) == 3


@pytest.mark.parametrize("into", [".", "out"])
def test_output_into_the_audited_folder_itself(tree: Path, into: str) -> None:
    for _ in range(2):
        done = fleetaudit("run", ".", "--no-config", "-o", into, cwd=tree)
        assert done.code in (0, 3), done.err
        report = json.loads((tree / into / "report.json").read_bytes())
        assert report["record"]["denominator"]["objects"] == 2
        assert report["record"]["denominator"]["files"] == 2


def test_configuration_that_init_writes_is_no_gap_and_no_document(tree: Path) -> None:
    assert fleetaudit("init", cwd=tree).code == 0
    written = {"fleetaudit.yaml", "waivers.yaml", "statements.yaml", "fleetaudit.schema.json"}
    assert written <= {path.name for path in tree.iterdir()}
    (tree / "fleetaudit.yaml").write_text((tree / "fleetaudit.yaml").read_text() + "mappings: [map.yaml]\n")
    (tree / "map.yaml").write_text(
        "framework: nist-ai-rmf\nedition: '1.0'\nauthor: me\ndate: 2026-01-01\n"
        "mappings:\n- {control: GOVERN 1.3, rule: pod/privileged, strength: supports, rationale: r, limits: l}\n"
    )
    done = fleetaudit("run", "-o", "../out", cwd=tree)
    assert done.code in (0, 3), done.err
    report = json.loads((tree.parent / "out" / "report.json").read_bytes())
    assert report["record"]["denominator"]["files"] == 2
    assert report["record"]["denominator"]["not_objects"] == 0
    assert report["gaps"] == []
    [said] = [notice for notice in report["notices"] if notice["code"] == "configuration"]
    assert said["count"] == 5


def test_a_pod_does_not_hide_in_a_configuration_file(tree: Path) -> None:
    (tree / "templates.yaml").write_text(pod("hidden") + "pod_templates: {}\n")
    (tree / "fleetaudit.yaml").write_text("paths: ['.']\npod_templates: [templates.yaml]\n")
    done = fleetaudit("run", "-o", "../out", cwd=tree)
    if done.code != 2:  # the loader may refuse it, too
        report = json.loads((tree.parent / "out" / "report.json").read_bytes())
        assert report["record"]["denominator"]["objects"] == 3


# --- the same file twice


@pytest.mark.parametrize(
    "paths",
    [
        (".", "."),
        (".", "./sub"),
        ("sub", "."),
        ("a.yaml", "a.yaml", "sub"),
        ("a.yaml", "sub/../a.yaml", "sub"),
        ("*.yaml", "a.yaml", "sub"),
        (".", "linked.yaml"),
        (".", "link"),
    ],
)
def test_a_file_reached_twice_counts_once_and_that_is_said(tree: Path, paths: tuple[str, ...]) -> None:
    if any("link" in path for path in paths):
        (tree / "linked.yaml").symlink_to(tree / "a.yaml")
        (tree / "link").symlink_to(tree / "sub", target_is_directory=True)
    done = fleetaudit("run", *paths, "--no-config", "-o", "../out", cwd=tree)
    assert done.code in (0, 3), done.err
    report = json.loads((tree.parent / "out" / "report.json").read_bytes())
    assert report["record"]["denominator"]["objects"] == 2
    assert report["record"]["denominator"]["files"] == 2
    assert [notice for notice in report["notices"] if notice["code"] == "already_read"]
    assert not report["gaps"]


def test_copies_are_no_links(tree: Path) -> None:
    (tree / "copy.yaml").write_text(pod("a"))
    os.link(tree / "a.yaml", tree / "hard.yaml")
    done = audited(tree)
    assert objects(done) == 4
    assert not notices(done, "already_read")


def test_what_one_path_leaves_out_another_may_name(tree: Path) -> None:
    done = run(tree.parent / "out", tree, tree / "sub" / "b.yaml", "--exclude", "sub/", "--no-config")
    assert objects(done) == 2
    assert notices(done, "excluded")


def test_clusters_may_share_a_file(tree: Path, tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(f"clusters: [{{name: one, paths: [{tree}]}}, {{name: two, paths: [{tree}]}}]\n")
    done = run(tmp_path / "out", "--config", config)
    assert objects(done) == 4
    assert not notices(done, "already_read")


def test_standard_input_twice(tmp_path: Path) -> None:
    done = run(tmp_path / "out", "-", "-", "--no-config", stdin=pod("a").encode())
    assert objects(done) == 1
    assert notices(done, "already_read")


# --- gaps of what is out of scope


def test_an_object_out_of_scope_takes_its_gap_with_it(tree: Path, tmp_path: Path) -> None:
    (tree / "w.yaml").write_text(
        "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {containers: [{image: i}]}\n"
    )
    assert [gap["kind"] for gap in audited(tree).gaps] == ["unknown_pod_template"]
    config = tmp_path / "c.yaml"
    config.write_text(
        f"paths: [{tree}]\nscope: {{exclude: [{{selector: {{kind: Widget}}, reason: not ours}}]}}\n"
    )
    done = run(tmp_path / "out", "--config", config)
    assert done.gaps == []
    assert done.report["record"]["denominator"]["excluded"] == 1
