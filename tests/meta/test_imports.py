"""Importing anything of ours only defines things: no network, no process, no written file, no thread, nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.meta.documents import CHECKOUT

HEAVY = (
    "kubernetes",
    "sigstore",
    "spdx_tools",
    "opa_client",
    "distributed",
    "pyarrow",
    "sqlalchemy",
    "alembic",
    "psycopg",
    "playwright",
)

WATCHER = """
import importlib, sys, threading

FORBIDDEN = ("socket.connect", "socket.bind", "socket.getaddrinfo", "subprocess.Popen", "os.system", "os.fork",
             "os.posix_spawn", "os.remove", "os.mkdir", "os.rename", "shutil.", "tempfile.")

def watch(event, arguments):
    if event.startswith(FORBIDDEN):
        raise RuntimeError(f"importing does work: {event} {arguments!r}")
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        raise RuntimeError(f"importing writes: {arguments[0]!r}")

sys.addaudithook(watch)
for name in sys.argv[2:]:
    importlib.import_module(name)
assert threading.active_count() == 1, threading.enumerate()
heavy = sorted(set(sys.argv[1].split(",")) & {name.partition(".")[0] for name in sys.modules})
assert not heavy, f"imported at start: {heavy}"
"""


# What only an extra brings: here alone may it be imported, and nothing else imports from here before it is asked to.
OF_EXTRAS = {"audit.history.database": ("sqlalchemy", "alembic")}


def modules() -> list[str]:
    names = []
    for file in sorted((CHECKOUT / "audit").rglob("*.py")):
        parts = file.relative_to(CHECKOUT).with_suffix("").parts
        if "_content" not in parts and parts[-1] != "__main__":
            names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names


def import_watched(*names: str, heavy: tuple[str, ...] = HEAVY) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-B", "-c", WATCHER, ",".join(heavy), *names],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_no_module_does_work_when_imported() -> None:
    done = import_watched(*(name for name in modules() if not name.startswith(tuple(OF_EXTRAS))))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("package", OF_EXTRAS)
def test_nor_does_what_an_extra_brings(package: str) -> None:
    names = [name for name in modules() if name.startswith(package) and ".versions." not in name]
    heavy = tuple(name for name in HEAVY if name not in OF_EXTRAS[package])
    done = import_watched(*names, heavy=heavy)
    assert len(names) > 1
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        "import subprocess; subprocess.run(['true'])",
        "open('left-behind', 'w')",
        "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()",
        "import playwright",
    ],
)
def test_the_watcher_sees_work(line: str, tmp_path: Path) -> None:
    (tmp_path / "busy.py").write_text(line, encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-B",
            "-c",
            f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{WATCHER}",
            ",".join(HEAVY),
            "busy",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert not (tmp_path / "left-behind").exists()
