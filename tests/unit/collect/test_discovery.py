"""The walk: every file met is read, or left out with a reason."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from audit.collect.discovery import FoundFile, FoundFolder, LeftOut, Selection, Unreadable, discover


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_yaml", ".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def names(root: Path, selection: Selection | None = None) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for item in discover(root, selection or Selection()):
        kind = item.reason if isinstance(item, LeftOut) else type(item).__name__
        found.setdefault(kind, []).append(item.path.relative_to(root).as_posix())
    return found


def test_every_file_is_read_or_left_out_with_a_reason(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.YML", "c.JSON", "notes.md", "sub/d.yaml", ".git/config.yaml", ".hidden/e.yaml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x: 1")
    found = names(tmp_path)
    assert found["FoundFile"] == [".hidden/e.yaml", "a.YML", "b.yaml", "c.JSON", "sub/d.yaml"]
    assert found["other_type"] == ["notes.md"]
    assert found["version_control"] == [".git"]


def test_file_named_directly_is_read_whatever_its_suffix(tmp_path: Path) -> None:
    path = tmp_path / "manifest.txt"
    path.write_text("x: 1")
    assert list(discover(path, Selection())) == [FoundFile(path)]


def test_missing_path_is_said(tmp_path: Path) -> None:
    assert list(discover(tmp_path / "gone", Selection())) == [
        Unreadable(tmp_path / "gone", "no such file or folder")
    ]


@pytest.mark.parametrize(
    ("respect", "expected"), [(True, ["keep.yaml"]), (False, ["keep.yaml", "skip.yaml"])]
)
def test_gitignore_is_respected_and_said(tmp_path: Path, respect: bool, expected: list[str]) -> None:
    (tmp_path / ".gitignore").write_text("skip.yaml\n")
    (tmp_path / "keep.yaml").write_text("x: 1")
    (tmp_path / "skip.yaml").write_text("x: 1")
    found = names(tmp_path, Selection(respect_gitignore=respect))
    assert found["FoundFile"] == expected
    assert ("gitignored" in found) is respect


def test_gitignore_of_a_folder_ends_with_it(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.yaml").write_text("x: 1")
    (tmp_path / "one" / ".gitignore").write_text("x.yaml\n")
    assert names(tmp_path)["FoundFile"] == ["two/x.yaml"]


def test_include_and_exclude(tmp_path: Path) -> None:
    for name in ("prod/a.yaml", "prod/b.yaml", "dev/c.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x: 1")
    found = names(tmp_path, Selection(include=("prod/*",), exclude=("prod/b.yaml",)))
    assert found["FoundFile"] == ["prod/a.yaml"]
    assert found["excluded"] == ["prod/b.yaml"]
    assert found["not_included"] == ["dev/c.yaml"]


def test_loop_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.yaml").write_text("x: 1")
    (tmp_path / "a" / "back").symlink_to(tmp_path, target_is_directory=True)
    assert names(tmp_path)["FoundFile"] == ["a/x.yaml"]


def test_link_out_of_the_folder_is_said_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "outside.yaml").write_text("x: 1")
    (tmp_path / "in" / "x.yaml").symlink_to(tmp_path / "outside.yaml")
    (tmp_path / "in" / "folder").symlink_to(tmp_path, target_is_directory=True)
    found = list(discover(tmp_path / "in", Selection()))
    assert [type(item) for item in found] == [Unreadable, Unreadable]
    assert all("leads out" in item.reason for item in found if isinstance(item, Unreadable))


def test_broken_link_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").symlink_to(tmp_path / "nowhere.yaml")
    assert names(tmp_path) == {"Unreadable": ["x.yaml"]}


def test_chart_is_one_thing_to_render_and_its_templates_are_never_read(tmp_path: Path) -> None:
    chart = tmp_path / "chart"
    for name in ("Chart.yaml", "values.yaml", "templates/x.yaml", "crds/crd.yaml", "charts/sub/Chart.yaml"):
        (chart / name).parent.mkdir(parents=True, exist_ok=True)
        (chart / name).write_text("x: 1")
    found = list(discover(tmp_path, Selection()))
    assert found == [FoundFolder(chart, "helm"), FoundFile(chart / "crds" / "crd.yaml")]


def test_kustomization_is_found_beside_its_files(tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text("resources: [x.yaml]")
    (tmp_path / "x.yaml").write_text("x: 1")
    assert list(discover(tmp_path, Selection())) == [
        FoundFolder(tmp_path, "kustomize"),
        FoundFile(tmp_path / "x.yaml"),
    ]


@pytest.mark.parametrize("name", ["kustomization.yaml", "Kustomization", "Chart.yaml", ".gitignore"])
def test_a_folder_or_pipe_with_a_telling_name_tells_nothing(tmp_path: Path, name: str) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.yaml").write_text("x: 1")
    (tmp_path / "one" / name).mkdir()
    os.mkfifo(tmp_path / "two" / name)
    found = names(tmp_path)
    assert found["FoundFile"] == ["one/x.yaml", "two/x.yaml"]
    assert "FoundFolder" not in found


@pytest.mark.parametrize("line", ["!", "/", "[", "\\", "# a remark", "", "a[b-"])
def test_an_odd_line_of_an_ignore_file_costs_nothing(tmp_path: Path, line: str) -> None:
    (tmp_path / ".gitignore").write_bytes(line.encode() + b"\nskip.yaml\n\xff\n")
    (tmp_path / "keep.yaml").write_text("x: 1")
    (tmp_path / "skip.yaml").write_text("x: 1")
    found = names(tmp_path)
    assert found["gitignored"] == ["skip.yaml"]
    assert found["FoundFile"] == ["keep.yaml"]
    assert found["IgnoreFile"] == [".gitignore"]


def test_an_ignore_file_beyond_all_measure_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("#" * (1 << 20) + "\n*.yaml\n")
    (tmp_path / "x.yaml").write_text("x: 1")
    assert names(tmp_path)["FoundFile"] == ["x.yaml"]


def test_endless_folders_end_in_a_gap(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(300):
        folder /= "d"
    folder.mkdir(parents=True)
    (folder / "x.yaml").write_text("x: 1")
    (tmp_path / "y.yaml").write_text("x: 1")
    found = names(tmp_path)
    assert found["FoundFile"] == ["y.yaml"]
    assert len(found["Unreadable"]) == 1


def test_a_second_way_to_a_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.yaml").write_text("x: 1")
    (tmp_path / "b").symlink_to(tmp_path / "a", target_is_directory=True)
    assert names(tmp_path) == {"FoundFile": ["a/x.yaml"], "already_read": ["b"]}
