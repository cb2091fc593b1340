"""A real registry on loopback, and what is put into it."""

from __future__ import annotations

import contextlib
import http.client
import json
import subprocess
from collections.abc import Iterator
from typing import NamedTuple

from tests.cluster.server import tool
from tests.signatures.image_builder import OCI_INDEX, OCI_MANIFEST, LayoutBuilder


class Registry(NamedTuple):
    """A running registry."""

    host: str

    def push(self, repository: str, layout: LayoutBuilder, *, tags: dict[str, str] | None = None) -> None:
        """Everything of a layout, as clients push it; manifests with a subject become referrers of it.

        Args:
            repository: where to.
            layout: blobs, and the index with the tags of what cosign attaches.
            tags: more tags, to digests.
        """
        named = {
            entry["annotations"]["org.opencontainers.image.ref.name"]: entry["digest"]
            for entry in layout.index
            if "org.opencontainers.image.ref.name" in entry.get("annotations", {})
        }
        for digest, data in layout.blobs.items():
            if _manifest_type(data) is None:
                self.put_blob(repository, digest, data)
        for digest, data in layout.blobs.items():
            if _manifest_type(data) is not None:
                self.put_manifest(repository, digest, data)
        for tag, digest in {**named, **(tags or {})}.items():
            self.put_manifest(repository, tag, layout.blobs[digest])

    def put_manifest(self, repository: str, name: str, data: bytes) -> None:
        kind = _manifest_type(data) or OCI_MANIFEST
        self._send("PUT", f"/v2/{repository}/manifests/{name}", data, kind)

    def put_blob(self, repository: str, digest: str, data: bytes) -> None:
        path = f"/v2/{repository}/blobs/uploads/?digest={digest}"
        self._send("POST", path, data, "application/octet-stream")

    def _send(self, method: str, path: str, data: bytes, kind: str) -> None:
        with contextlib.closing(http.client.HTTPConnection(self.host, timeout=20)) as connection:
            connection.request(method, path, data, {"Content-Type": kind})
            answer = connection.getresponse()
            assert answer.status == 201, (method, path, answer.status, answer.read())


@contextlib.contextmanager
def registry(*, referrers: bool = True) -> Iterator[Registry]:
    """A registry in memory; it ends with its standard input, so it never outlives the tests."""
    command = [tool("test-registry"), f"-referrers={str(referrers).lower()}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdin is not None
        yield Registry(running.stdout.readline().strip())
        running.stdin.close()
        assert running.wait(timeout=20) == 0


def _manifest_type(data: bytes) -> str | None:
    try:
        document = json.loads(data)
    except ValueError:
        return None
    if not isinstance(document, dict) or document.get("schemaVersion") != 2:
        return None
    return OCI_INDEX if "manifests" in document else OCI_MANIFEST
