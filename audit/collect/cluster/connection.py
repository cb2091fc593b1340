"""One API server, as kubectl would reach it: contexts, credentials, private authorities and proxies are the client library's.

Only GET requests can be made here.
"""

from __future__ import annotations

import contextlib
import ssl
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import urllib3

from audit.collect.cluster.failures import ApiError, one_line, refusal
from audit.model.gap import GapKind

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

_MAX_BODY = 512 << 20
_CHUNK = 1 << 20


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """How a cluster is reached."""

    context: str = ""
    """Name of a kubeconfig context; empty means the current one."""
    kubeconfig: str = ""
    """Path; empty means KUBECONFIG, else ~/.kube/config."""
    in_cluster: bool = False
    """With the service account of the pod this runs in."""


class _Status(msgspec.Struct):
    message: str = ""


class Connection:
    """Requests to one server; safe for several threads.

    Args:
        access: how it is reached.
        connect_seconds: until a connection stands.
        read_seconds: between two pieces of an answer.

    Raises:
        ApiError: there is no such context, or its credentials can't be had.
    """

    def __init__(self, access: Access, *, connect_seconds: float = 10.0, read_seconds: float = 60.0) -> None:
        self._access = access
        self._timeouts = (connect_seconds, read_seconds)
        self._lock = threading.Lock()
        self._client = _client(access)
        self.requests = 0

    @property
    def host(self) -> str:
        """The server's address, without credentials."""
        return str(self._client.configuration.host).rstrip("/").rpartition("@")[2]

    @property
    def verified(self) -> bool:
        """Whether the server had to prove by its certificate who it is."""
        return bool(self._client.configuration.verify_ssl) and self.host.startswith("https:")

    def get(
        self, path: str, parameters: Mapping[str, str] | None = None, *, accept: str = "application/json"
    ) -> bytes:
        """The body of an answer.

        Raises:
            ApiError: there is none.
        """
        for again in (True, False):
            try:
                return self._get(path, parameters or {}, accept)
            except ApiError as error:
                if error.status != 401 or not again:
                    raise
                self._renew()  # a token may have ended in mid-run; a plug-in gives a new one
        raise AssertionError

    def close(self) -> None:
        """Close all connections."""
        self._client.rest_client.pool_manager.clear()

    def _renew(self) -> None:
        with self._lock, contextlib.suppress(ApiError):
            self._client = _client(self._access)

    def _get(self, path: str, parameters: Mapping[str, str], accept: str) -> bytes:
        self.requests += 1
        api = self._client
        headers = {"Accept": accept, "User-Agent": "fleetaudit", **_credentials(api)}
        connect, read = self._timeouts
        try:
            response = api.rest_client.pool_manager.request(
                "GET",
                api.configuration.host.rstrip("/") + path,
                fields=dict(parameters),
                headers=headers,
                timeout=urllib3.Timeout(connect=connect, read=read),
                retries=False,
                redirect=False,
                preload_content=False,
            )
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise _unreachable(error) from error
        try:
            body = _bounded(response)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise _unreachable(error) from error
        finally:
            response.release_conn()
        if response.status != 200:
            raise refusal(response.status, _message(body), response.headers.get("Retry-After"))
        return body


def contexts(kubeconfig: str) -> tuple[list[str], str]:
    """Names of all contexts, and the current one.

    Raises:
        ApiError: there is no such file, or it is broken.
    """
    from kubernetes import config  # half a second that only running clusters are worth

    try:
        # The library leaves its loaders without types.
        found, current = config.list_kube_config_contexts(config_file=kubeconfig or None)  # type: ignore[no-untyped-call]
    except Exception as error:  # the library raises many kinds for a broken file
        raise _no_config(error) from error
    return [str(entry["name"]) for entry in found], str((current or {}).get("name", ""))


def _client(access: Access) -> ApiClient:
    from kubernetes import client, config

    configuration = client.Configuration()
    try:
        if access.in_cluster:
            config.load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]  # as above
        else:
            config.load_kube_config(  # type: ignore[no-untyped-call]  # as above
                config_file=access.kubeconfig or None,
                context=access.context or None,
                client_configuration=configuration,
                persist_config=False,
            )
    except Exception as error:  # a plug-in, a file, a missing context: many kinds, one meaning
        raise _no_config(error) from error
    if not configuration.verify_ssl:
        # Said once, as a notice of the audit, and not with every request.
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    try:
        return client.ApiClient(configuration)
    except (ssl.SSLError, OSError, ValueError) as error:
        raise _no_config(error) from error


def _no_config(error: Exception) -> ApiError:
    return ApiError(
        GapKind.UNREACHABLE,
        f"its credentials can't be had: {one_line(str(error))}",
        hint="`kubectl config get-contexts` lists the contexts",
    )


def _credentials(api: ApiClient) -> dict[str, str]:
    settings: Mapping[str, Mapping[str, Any]] = api.configuration.auth_settings()
    return {
        str(setting["key"]): str(setting["value"])
        for setting in settings.values()
        if setting.get("in") == "header" and setting.get("value")
    }


def _bounded(response: Any) -> bytes:
    pieces: list[bytes] = []
    size = 0
    for piece in response.stream(_CHUNK, decode_content=True):
        size += len(piece)
        if size > _MAX_BODY:
            raise ApiError(GapKind.TOO_LARGE, f"an answer of more than {_MAX_BODY >> 20} MiB")
        pieces.append(piece)
    return b"".join(pieces)


def _message(body: bytes) -> str:
    try:
        return msgspec.json.decode(body, type=_Status).message
    except (msgspec.DecodeError, RecursionError):
        return body[:200].decode("utf-8", "replace")


def _unreachable(error: Exception) -> ApiError:
    reason = getattr(error, "reason", None) or error
    text = one_line(str(reason))
    hint = "check the authority in the kubeconfig" if "CERTIFICATE" in text.upper() else ""
    return ApiError(GapKind.UNREACHABLE, f"no answer: {text}", hint=hint)
