"""The build hook: when it builds, when it asks for Go, what it takes instead."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

import hatch_build
from hatch_build import Native, NativeBuildError
from tests.shared_data import CHECKOUT


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a Go program of three lines."""
    monkeypatch.delenv("FLEETAUDIT_NATIVE", raising=False)
    monkeypatch.delenv("FLEETAUDIT_TARGET", raising=False)
    source = tmp_path / "native"
    source.mkdir()
    (source / "go.mod").write_text("module example.test/native\n\ngo 1.21.0\n")
    (source / "go.sum").write_text("")
    (source / "main.go").write_text('package main\n\nfunc main() { println("hello") }\n')
    return tmp_path


def go() -> None:
    if shutil.which("go") is None:
        pytest.skip("no Go on PATH")


def test_it_builds_once_and_again_only_when_sources_change(checkout: Path) -> None:
    go()
    native = Native(checkout)
    assert not native.is_current()
    program = native.provide()
    assert program == checkout / "audit" / "native" / "bin" / native.name
    first = program.stat()
    assert Native(checkout).provide().stat().st_ino == first.st_ino
    (checkout / "native" / "main_test.go").write_text("package main\n")
    assert Native(checkout).is_current()
    (checkout / "native" / "more.go").write_text("package main\n")
    assert not Native(checkout).is_current()
    assert Native(checkout).provide().stat().st_ino != first.st_ino
    assert {file.name for file in program.parent.iterdir()} == {
        native.name,
        ".source-digest",
        "THIRD_PARTY_NOTICES.txt",
    }


def test_a_program_that_does_not_compile_says_so_and_leaves_nothing(checkout: Path) -> None:
    go()
    (checkout / "native" / "main.go").write_text("package main\n\nfunc main() { nope() }\n")
    with pytest.raises(NativeBuildError, match="undefined: nope"):
        Native(checkout).provide()
    assert list((checkout / "audit" / "native" / "bin").iterdir()) == []


def test_the_terms_of_what_is_inside_go_with_it(
    checkout: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    go()
    lines = ["module example.test/native", "", "go 1.21.0", ""]
    for name, terms in {"kind": "LICENSE.md", "silent": "README"}.items():
        folder = tmp_path_factory.mktemp(name)
        (folder / "go.mod").write_text(f"module example.test/{name}\n\ngo 1.21.0\n")
        (folder / f"{name}.go").write_text(f"package {name}\n\nfunc Say() {{}}\n")
        (folder / terms).write_text("Be kind.")
        lines.append(f"require example.test/{name} v0.0.0\n\nreplace example.test/{name} => {folder}\n")
    (checkout / "native" / "go.mod").write_text("\n".join(lines))
    (checkout / "native" / "main.go").write_text(
        'package main\n\nimport (\n\t"example.test/kind"\n\t"example.test/silent"\n)\n\n'
        "func main() { kind.Say(); silent.Say() }\n"
    )
    native = Native(checkout)
    native.provide()
    notices = native.notices.read_text()
    assert "the Go standard library" in notices
    assert "The Go Authors" in notices
    assert notices.count("Be kind.") == 1
    assert "states its licence; its repository may." in notices.partition("example.test/silent")[2]
    data: dict[str, dict[str, str]] = {"force_include": {}}
    hook(checkout).initialize("standard", data)
    assert data["force_include"][str(native.notices)] == "audit/native/bin/THIRD_PARTY_NOTICES.txt"
    native.notices.unlink()
    assert not native.is_current()


def test_another_platform_is_built_beside(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go()
    monkeypatch.setenv("FLEETAUDIT_TARGET", "windows/arm64")
    native = Native(checkout)
    assert native.platform_tag() == "win_arm64"
    program = native.provide()
    assert program == checkout / "build" / "native" / "windows-arm64" / "fleetaudit-native.exe"
    assert program.read_bytes()[:2] == b"MZ"
    assert not (checkout / "audit").exists()


def test_a_given_program_is_copied(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = checkout / "given"
    given.write_text("mine")
    monkeypatch.setenv("FLEETAUDIT_NATIVE", str(given))
    program = Native(checkout).provide()
    assert program.read_text() == "mine"
    assert program.stat().st_mode & 0o111
    monkeypatch.setenv("FLEETAUDIT_NATIVE", str(checkout / "none"))
    with pytest.raises(NativeBuildError, match="no file"):
        Native(checkout).provide()


def test_go_must_be_new_enough(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go()
    assert Native(checkout).fit_go() is not None
    (checkout / "native" / "go.mod").write_text("module example.test/native\n\ngo 99.1\n")
    assert Native(checkout).fit_go() is None
    monkeypatch.setenv("PATH", "")
    assert Native(checkout).fit_go() is None
    with pytest.raises(NativeBuildError, match=r"Go 99\.1 or newer"):
        Native(checkout).provide()


def hook(root: Path) -> hatch_build.NativeBuildHook:
    return hatch_build.NativeBuildHook(str(root), {}, None, None, str(root / "dist"), "wheel")  # type: ignore[arg-type]


def test_go_is_asked_for_only_when_nothing_at_hand_will_do(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(Path(sys.executable).parent)  # any folder without Go
    if shutil.which("go", path=path):
        pytest.skip("Go lives beside Python here")
    monkeypatch.setenv("PATH", path)
    assert hook(checkout).dependencies() == [hatch_build.GO_REQUIREMENT]
    given = checkout / "given"
    given.write_text("mine")
    monkeypatch.setenv("FLEETAUDIT_NATIVE", str(given))
    assert hook(checkout).dependencies() == []


def test_wheels_carry_the_program_and_the_content_and_editable_ones_neither(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = checkout / "given"
    given.write_text("mine")
    monkeypatch.setenv("FLEETAUDIT_NATIVE", str(given))
    (checkout / "rego").mkdir()
    native = Native(checkout)
    data: dict[str, object] = {"force_include": {}}
    hook(checkout).initialize("standard", data)
    assert data["pure_python"] is False
    assert str(data["tag"]).startswith("py3-none-")
    assert data["force_include"] == {
        str(native.output): f"audit/native/bin/{native.name}",
        str(checkout / "rego"): "audit/_content/rego",
    }
    editable: dict[str, object] = {"force_include": {}}
    hook(checkout).initialize("editable", editable)
    assert editable["force_include"] == {}
    assert editable["tag"] == data["tag"]


def test_the_checkout_asks_for_the_go_that_its_module_needs() -> None:
    needed = Native(CHECKOUT).needed_go()
    assert needed >= (1, 26)
    assert f">={'.'.join(map(str, needed))}" in hatch_build.GO_REQUIREMENT
