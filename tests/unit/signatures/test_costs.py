"""What is not met costs nothing, and hostile files cost little."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.collect.artifacts.reading import UnreadError
from tests.signatures.sigstore_chain import V03, Chain, b64
from tests.signatures.workbench import Workbench

WATCH = """
import datetime, pathlib, socket, sys
from audit.collect.artifacts.reading import Registry, look_at
from audit.collect.artifacts.signatures.factory import readers

def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise RuntimeError(f"network: {arguments!r}")

sys.addaudithook(watch)
folder = pathlib.Path(sys.argv[1])
registry = Registry(readers(None, base=folder, now=datetime.datetime.now(datetime.UTC)))
read = 0
for path in sorted(folder.iterdir()):
    artifact = look_at(path, path.name, max_bytes=1 << 26)
    for reader in registry.readers_of(artifact):
        read += len(list(reader.read(artifact)))
heavy = {"sigstore", "cryptography", "pydantic", "rfc3161_client", "tuf"} & {name.partition(".")[0] for name in sys.modules}
print(read, *sorted(heavy))
"""


def looked_at(folder: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", WATCH, str(folder)], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_folders_without_signatures_import_nothing(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text("kind: Pod")
    (tmp_path / "model.bin").write_bytes(b"x" * 100)
    (tmp_path / "sbom.json").write_text('{"spdxVersion": "SPDX-2.3"}')
    assert looked_at(tmp_path) == ["0"]


def test_a_bundle_imports_the_library_and_asks_no_network(tmp_path: Path) -> None:
    (tmp_path / "model.bin.sigstore.json").write_text(json.dumps(Chain().bundle(b"x")))
    read, *heavy = looked_at(tmp_path)
    assert (read, "cryptography" in heavy) == ("1", True)


def test_a_verified_bundle_asks_no_network(tmp_path: Path) -> None:
    """The library builds its clients of the log and of TUF, and must not use them."""
    bench = Workbench(tmp_path)
    bench.put("model.bin", b"x")
    bench.put("model.bin.sigstore.json", bench.chain.bundle(b"x"))
    script = (
        "import sys, json, datetime, pathlib, msgspec\n"
        "def watch(event, arguments):\n"
        "    assert event not in ('socket.connect', 'socket.getaddrinfo'), arguments\n"
        "sys.addaudithook(watch)\n"
        "from tests.signatures.workbench import Workbench, Chain\n"
        "class Here(Workbench):\n"
        "    def root(self, document): pass\n"
        "bench = Here(pathlib.Path(sys.argv[1]))\n"
        "print(bench.spec('model.bin.sigstore.json')['code'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, timeout=120, check=True
    )
    assert (done.stdout.strip(), done.stderr) == ("verified", "")


@pytest.fixture(scope="module")
def shared_bench(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workbench, bytes]:
    bench = Workbench(tmp_path_factory.mktemp("bench"))
    bench.put("model.bin", b"x")
    return bench, json.dumps(bench.chain.bundle(b"x")).encode()


@settings(max_examples=300, deadline=None)
@given(at=st.integers(0, 10_000), value=st.integers(0, 255))
def test_no_changed_byte_makes_another_signer(
    shared_bench: tuple[Workbench, bytes], at: int, value: int
) -> None:
    """A change may be harmless (a space, a field that proves nothing); what is then verified is the same as before."""
    bench, good = shared_bench
    changed = bytearray(good)
    changed[at % len(good)] = value
    bench.put("model.bin.sigstore.json", bytes(changed))
    spec = bench.spec("model.bin.sigstore.json")
    if spec["status"] == "verified":
        assert spec["identity"]["subject"] == bench.config["policies"][0]["any_of"][0]["subject"]
        assert spec["artifact"]["status"] == "matched"
    else:
        assert spec["status"] in ("invalid", "could_not_check")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.just(b64(b"x" * 40)),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "verificationMaterial",
                    "certificate",
                    "rawBytes",
                    "tlogEntries",
                    "messageSignature",
                    "signature",
                    "a",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=300, deadline=None)
@given(document=JSON)
def test_no_document_does_more_than_be_refused(
    shared_bench: tuple[Workbench, bytes], document: object
) -> None:
    bench, _ = shared_bench
    if isinstance(document, dict):
        document = {"mediaType": V03, **document}
    bench.put("odd.sigstore.json", json.dumps(document).encode())
    assert bench.spec("odd.sigstore.json")["status"] == "invalid"


HOSTILE = {
    "deep lists": b"[" * 2_000_000,
    "deep objects": b'{"mediaType":' * 500_000,
    "many entries": json.dumps(
        {
            "mediaType": V03,
            "verificationMaterial": {"certificate": {"rawBytes": "AAAA"}, "tlogEntries": [{}] * 200_000},
            "messageSignature": {"signature": "AAAA"},
        }
    ).encode(),
    "a huge number": b'{"mediaType": ' + b"9" * 4_000_000 + b"}",
    "a huge certificate": json.dumps(
        {
            "mediaType": V03,
            "verificationMaterial": {"certificate": {"rawBytes": b64(b"\x30" * 5_000_000)}},
            "messageSignature": {"signature": "AAAA"},
        }
    ).encode(),
    "many documents": b"{}" * 1_000_000,
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_bundles_end_soon(tmp_path: Path, case: str) -> None:
    bench = Workbench(tmp_path)
    bench.put("x.sigstore.json", HOSTILE[case])
    begin = time.process_time()
    assert bench.spec("x.sigstore.json")["status"] in ("invalid", "could_not_check")
    assert time.process_time() - begin < 5


def test_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    path = bench.put("x.sigstore.json", b"{")
    with path.open("r+b") as file:
        file.truncate(40 << 20)
    with pytest.raises(UnreadError):
        bench.facts("x.sigstore.json")


def test_many_lines_are_not_all_judged(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    bench.put("x.intoto.jsonl", b"{}\n" * 1001)
    with pytest.raises(UnreadError):
        bench.facts("x.intoto.jsonl")
