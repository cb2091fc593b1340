"""What is said of files that are not read."""

from __future__ import annotations

from pathlib import Path

from audit.collect.discovery import Selection
from audit.collect.gathering import ManifestScope, gather
from audit.model.gap import Notice


def test_a_left_out_folder_says_how_many_manifests_lie_in_it(tmp_path: Path) -> None:
    for name in ("kept.yaml", "dev/a.yaml", "dev/b/c.json", "dev/readme.md", "dev/node_modules/d.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    (tmp_path / ".gitignore").write_text("dev/\n")
    scope = ManifestScope(cluster="c", paths=(".",), base=tmp_path, selection=Selection())
    notices = [note for note in gather(scope, frozenset()).notes if isinstance(note, Notice)]
    (said,) = [notice for notice in notices if notice.code == "gitignored"]
    assert "dev/ (2 YAML or JSON files in it)" in said.message


def test_blobs_of_an_image_layout_are_no_files_that_nobody_knew(tmp_path: Path) -> None:
    blob = f"blobs/sha256/{'a' * 64}"
    for name in (f"app/{blob}", "app/index.json", "app/oci-layout", f"other/{blob}", "app/notes.rst"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    scope = ManifestScope(cluster="c", paths=(".",), base=tmp_path, selection=Selection())
    found = {note.code: note for note in gather(scope, frozenset()).notes if isinstance(note, Notice)}
    assert (found["part_of_layout"].count, found["other_type"].count) == (2, 2)
    assert f"other/{blob}" in found["other_type"].message
    assert "app/notes.rst" in found["other_type"].message
