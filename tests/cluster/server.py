"""A real API server on loopback: etcd and kube-apiserver, without nodes."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

ADMIN, READER, NOBODY = "admin-token-1", "reader-token-1", "nobody-token-1"
_TRUSTING = ssl._create_unverified_context()
_START_SECONDS = 120


def tool(name: str) -> str:
    """A real tool that the set-up built."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fleetaudit" / "tools"
    path = Path(os.environ.get("FLEETAUDIT_TOOLS") or cache) / "bin" / name
    if not path.exists():
        pytest.fail(f"{name} is missing: run `make tools`")
    return str(path)


class ApiServer(NamedTuple):
    """A running server."""

    url: str
    folder: Path

    def token(self, user: str) -> str:
        """The token of one of the users."""
        return f"{user}-token-1"

    def kubeconfig(self, token: str, *, url: str = "", name: str = "test", context: str = "test") -> Path:
        """A kubeconfig with one context for a user."""
        path = self.folder / f"kubeconfig-{name}.yaml"
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": context,
            "clusters": [
                {"name": "c", "cluster": {"server": url or self.url, "insecure-skip-tls-verify": True}}
            ],
            "users": [{"name": "u", "user": {"token": token}}],
            "contexts": [{"name": context, "context": {"cluster": "c", "user": "u"}}],
        }
        path.write_text(yaml.safe_dump(content))
        return path

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str = ADMIN,
        content: str = "application/json",
    ) -> Any:
        """One request."""
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {token}", "Content-Type": content},
        )
        with urllib.request.urlopen(request, timeout=60, context=_TRUSTING) as answer:
            return json.load(answer)

    def apply(self, path: str, value: dict[str, Any]) -> Any:
        """Server-side apply of one object."""
        return self.ask("PATCH", path, value, content="application/apply-patch+yaml")

    def create(self, *objects: dict[str, Any]) -> None:
        """Create objects; what is there already stays."""
        for value in objects:
            try:
                self.ask("POST", _place(value), value)
            except urllib.error.HTTPError as error:
                text = error.read().decode()
                if error.code != 409:
                    raise AssertionError(f"{value['kind']}: {text}") from error


_PLURALS = {"NetworkPolicy": "networkpolicies", "Ingress": "ingresses"}
_CLUSTER_SCOPED = {"Namespace", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition"}


def _place(value: dict[str, Any]) -> str:
    group, _, version = value["apiVersion"].rpartition("/")
    root = f"/apis/{group}/{version}" if group else f"/api/{version}"
    plural = _PLURALS.get(value["kind"], value["kind"].lower() + "s")
    if value["kind"] in _CLUSTER_SCOPED:
        return f"{root}/{plural}"
    return f"{root}/namespaces/{value['metadata'].get('namespace', 'default')}/{plural}"


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextlib.contextmanager
def api_server(folder: Path) -> Iterator[ApiServer]:
    """Start both, wait until the server is ready, and stop both."""
    ports = [_free_port() for _ in range(3)]
    etcd_url, peer_url = (f"http://127.0.0.1:{port}" for port in ports[:2])
    key = folder / "sa.key"
    subprocess.run(["openssl", "genrsa", "-out", str(key), "2048"], check=True, capture_output=True)
    (folder / "tokens.csv").write_text(
        f'{ADMIN},admin,admin,"system:masters"\n{READER},reader,reader,\n{NOBODY},nobody,nobody,\nleast-token-1,least,least,\n'
    )
    etcd = [tool("etcd"), "--name=test", f"--data-dir={folder}/etcd", f"--listen-client-urls={etcd_url}"]
    etcd += [f"--advertise-client-urls={etcd_url}", f"--listen-peer-urls={peer_url}"]
    etcd += [f"--initial-advertise-peer-urls={peer_url}", f"--initial-cluster=test={peer_url}"]
    etcd += ["--unsafe-no-fsync", "--log-level=warn"]
    server = [tool("kube-apiserver"), f"--etcd-servers={etcd_url}", "--bind-address=127.0.0.1"]
    server += ["--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none", "--allow-privileged=true"]
    server += [
        f"--secure-port={ports[2]}",
        f"--cert-dir={folder}/certs",
        "--service-cluster-ip-range=10.0.0.0/24",
    ]
    server += ["--authorization-mode=RBAC", f"--token-auth-file={folder}/tokens.csv"]
    server += ["--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={key}"]
    server += [f"--service-account-signing-key-file={key}", "--disable-admission-plugins=ServiceAccount"]
    with contextlib.ExitStack() as stack:
        for command in (etcd, server):
            log = stack.enter_context((folder / f"{Path(command[0]).name}.log").open("wb"))
            process = stack.enter_context(subprocess.Popen(command, stdout=log, stderr=log))
            stack.callback(process.terminate)
        found = ApiServer(f"https://127.0.0.1:{ports[2]}", folder)
        _wait(found)
        yield found


def _wait(server: ApiServer) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        request = urllib.request.Request(f"{server.url}/readyz", headers={"Authorization": f"Bearer {ADMIN}"})
        with (
            contextlib.suppress(OSError),
            urllib.request.urlopen(request, timeout=5, context=_TRUSTING) as answer,
        ):
            if answer.read() == b"ok":
                return
        time.sleep(0.2)
    log = (server.folder / "kube-apiserver.log").read_text(errors="replace")
    raise AssertionError(f"the API server doesn't start:\n{log[-2000:]}")
