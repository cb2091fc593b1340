"""One pooled, bounded connection to an OPA server, over the client of the package ``opa-python-client``.

The client's session is ours: no proxy or netrc of the surroundings, no redirect, our certificates, answers bounded in
size and time, and retries that know which failures pass. Bodies go as bytes, so that numbers keep their digits.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.exceptions import ReadTimeoutError

from audit.evaluate.opa_server.failures import AskError, Cause, one_line
from audit.evaluate.opa_server.settings import Secret, ServerSettings

T = TypeVar("T")

MAX_ANSWER_BYTES = 256 << 20
_DELAYS = (0.1, 0.4, 1.6)
"""Seconds before the second, third and fourth attempt."""
_LONGEST_DELAY = 10.0
_CONNECT_SECONDS = 5.0
_HEALTH_SECONDS = 2.0
_COMPILE_SECONDS = 60.0
"""A server compiles everything it has whenever a module comes or goes."""
_PASSING = frozenset({408, 429, 502, 503, 504})
_SMALLER = frozenset({400, 413, 422})
_JSON = {"Content-Type": "application/json"}


class Connection:
    """Speaks to one server; safe for several threads.

    Args:
        url: base address.
        token: bearer token.
        settings: certificates, time limits, number of connections.
    """

    def __init__(self, url: str, token: Secret, settings: ServerSettings) -> None:
        self.url = url.rstrip("/")
        self._closed = threading.Event()
        self._in_vain = False
        self._client = _client(self.url, token, settings)
        self._session: requests.Session = self._client._session  # noqa: SLF001  # made by our own subclass

    def close(self) -> None:
        """End it; waiting threads go on at once."""
        self._closed.set()
        self._client.close_connection()

    def healthy(self) -> bool:
        """Whether it answers at all, within a short time."""
        with contextlib.suppress(AskError, _PassingError):
            _translated(lambda: self._send("GET", "/health", None, _HEALTH_SECONDS))
            return True
        return False

    def ask(self, path: str, body: bytes, seconds: float) -> bytes:
        """POST JSON, get JSON.

        Raises:
            AskError: no answer that could be used.
        """
        return self._again(lambda: self._send("POST", path, body, seconds))

    def get(self, path: str, seconds: float) -> bytes:
        """GET JSON.

        Raises:
            AskError: no answer that could be used.
        """
        return self._again(lambda: self._send("GET", path, None, seconds))

    def put_data(self, path: str, body: bytes, seconds: float) -> None:
        """Create or replace a data document, given as JSON.

        Raises:
            AskError: it isn't there.
        """
        self._again(lambda: self._send("PUT", f"/v1/data/{path}", body, seconds))

    def patch_data(self, path: str, values: Mapping[str, bytes], seconds: float) -> None:
        """Set several members of a data document in one transaction; values are JSON.

        Raises:
            AskError: it isn't changed, or nobody knows.
        """
        operations = [
            b'{"op":"add","path":"/' + name.encode() + b'","value":' + value + b"}"
            for name, value in values.items()
        ]
        body = b"[" + b",".join(operations) + b"]"
        url = f"/v1/data/{path}".rstrip("/")
        self._again(lambda: self._send("PATCH", url, body, seconds))

    def put_policy(self, name: str, text: str) -> None:
        """Create or replace a policy module.

        Raises:
            AskError: it isn't there; a compile error comes with OPA's message.
        """
        self._again(lambda: self._client.update_policy_from_string(text, quote(name), rego_compat=False))

    def delete_policy(self, name: str) -> None:
        """Remove a module; one that isn't there is no error.

        Raises:
            AskError: it may still be there.
        """
        self._again(lambda: self._client.delete_policy(quote(name)))

    def delete_data(self, path: str) -> None:
        """Remove a data document; one that isn't there is no error.

        Raises:
            AskError: it may still be there.
        """
        self._again(lambda: self._client.delete_data(path))

    def _send(self, method: str, path: str, body: bytes | None, seconds: float) -> bytes:
        response = self._session.request(
            method, f"{self.url}{path}", data=body, headers=_JSON, timeout=seconds, allow_redirects=False
        )
        if response.status_code >= 300:
            raise _refusal(response)
        return response.content

    def _again(self, attempt: Callable[[], T]) -> T:
        """Attempt, and again after failures that pass: less often once all attempts were in vain."""
        delays = _DELAYS[:1] if self._in_vain else _DELAYS
        for delay in (*delays, None):
            try:
                result = _translated(attempt)
            except _PassingError as passing:
                if delay is None or self._closed.is_set():
                    self._in_vain = True
                    raise passing.error from passing
                longest = delays[-1] if self._in_vain else _LONGEST_DELAY
                self._closed.wait(min(max(delay, passing.after), longest))
            else:
                self._in_vain = False
                return result
        raise AssertionError  # the last delay is None


class _PassingError(Exception):
    """A failure that may be over in a moment."""

    def __init__(self, error: AskError, after: float = 0.0) -> None:
        super().__init__(error.message)
        self.error = error
        self.after = after


def _translated(attempt: Callable[[], T]) -> T:
    """Run, and turn everything that two libraries may raise into our own errors."""
    from opa_client import errors as opa  # noqa: PLC0415  # heavy: only runs that use a server pay for it

    try:
        return attempt()
    except (AskError, _PassingError):
        raise
    except opa.RegoParseError as error:
        raise _compile_error(error.message, error.errors) from error
    except (opa.DeletePolicyError, opa.DeleteDataError) as error:
        if error.expression == "resource_not_found":
            return None  # type: ignore[return-value]  # removals return nothing that is read
        raise AskError(
            Cause.UNFIT, "engine_failed", f"the server removes nothing: {_words(error.message)}"
        ) from error
    except requests.exceptions.SSLError as error:
        raise AskError(
            Cause.DENIED, "engine_failed", f"no secure connection: {one_line(str(error))}"
        ) from error
    except requests.exceptions.JSONDecodeError as error:
        raise AskError(Cause.UNFIT, "engine_failed", "the server's answer is no JSON") from error
    except requests.exceptions.ReadTimeout as error:
        raise AskError(Cause.SLOW, "timeout", "the server does not answer in time") from error
    except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
        if any(isinstance(one, ReadTimeoutError) for one in (error, *error.args)):
            raise AskError(Cause.SLOW, "timeout", "the server does not answer in time") from error
        raise _PassingError(
            AskError(
                Cause.LOST, "engine_failed", f"the connection to the server failed ({type(error).__name__})"
            )
        ) from error
    except (
        AttributeError,
        TypeError,
        KeyError,
    ) as error:  # the package reads answers without looking at them
        raise AskError(Cause.UNFIT, "engine_failed", "the server's answer is not OPA's") from error


class _BoundedAdapter(HTTPAdapter):
    """Reads every answer whole, within its time and a size limit, and sorts out statuses that are no answers."""

    def send(self, request: requests.PreparedRequest, *args: Any, **options: Any) -> requests.Response:
        """Send, read, and raise what is no answer."""
        seconds = float(options.get("timeout") or _CONNECT_SECONDS)
        deadline = time.monotonic() + seconds
        limits = (min(seconds, _CONNECT_SECONDS), seconds)
        response = super().send(request, *args, **{**options, "stream": True, "timeout": limits})
        with response:
            content = bytearray()
            while chunk := response.raw.read1(1 << 16, decode_content=False):
                content += chunk
                if len(content) > MAX_ANSWER_BYTES:
                    raise AskError(Cause.UNFIT, "engine_failed", "the server's answer is too long")
                if time.monotonic() > deadline:
                    raise AskError(Cause.SLOW, "timeout", "the server does not answer in time")
        response._content = bytes(content)  # noqa: SLF001  # what `content` would have read
        status = response.status_code
        if status in _PASSING:
            error = AskError(Cause.LOST, f"http_{status}", f"the server is busy or away (HTTP {status})")
            raise _PassingError(error, _retry_after(response))
        if 300 <= status < 400 or status in {401, 403}:
            raise _refusal(response)
        return response


def _client(url: str, token: Secret, settings: ServerSettings) -> Any:
    """The package's client with a session of ours."""
    from opa_client.opa import OpaClient  # noqa: PLC0415  # heavy: only runs that use a server pay for it

    class Client(OpaClient):  # type: ignore[misc]  # the package has no types
        def _init_session(self) -> requests.Session:
            session = requests.Session()
            session.trust_env = False
            session.max_redirects = 0
            session.headers.update({**(self.headers or {}), "Accept-Encoding": "identity"})
            session.verify = False if settings.insecure else (settings.ca or True)
            adapter = _BoundedAdapter(pool_maxsize=max(settings.jobs, 1) + 2, max_retries=0)
            session.mount("http://", adapter)
            session.mount("https://", adapter)
            return session

    if settings.insecure:
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    client = Client(
        host=parts.hostname or "",
        port=parts.port or (443 if secure else 80),
        ssl=secure,
        token=token.reveal() or None,
        retries=0,
        timeout=max(settings.timeout_seconds, _COMPILE_SECONDS),
    )
    client.root_url = f"{url}/v1"  # the package knows no path before /v1
    return client


def _refusal(response: requests.Response) -> AskError:
    """What a status that is no success means."""
    status = response.status_code
    with contextlib.suppress(ValueError):
        body = json.loads(response.content)
        if isinstance(body, dict):
            if status == 500 and (error := _evaluation_error(body)):
                return error
            said = _words(body.get("message"))
            detail = body.get("errors")
            if isinstance(detail, list) and detail and isinstance(detail[0], dict):
                said = f"{said}: {_words(detail[0].get('message'))}"
            return AskError(
                _cause(status), f"http_{status}", f"the server answers HTTP {status}: {one_line(said)}"
            )
    return AskError(_cause(status), f"http_{status}", f"the server answers HTTP {status}")


def _cause(status: int) -> Cause:
    if status in _SMALLER:
        return Cause.REFUSED
    return Cause.DENIED if status < 500 else Cause.UNFIT


def _evaluation_error(body: dict[str, Any]) -> AskError | None:
    """OPA's own report of a rule that failed, or None."""
    errors = body.get("errors")
    if not isinstance(errors, list) or not errors or not isinstance(errors[0], dict):
        return None
    code, message, place = (errors[0].get(key) for key in ("code", "message", "location"))
    if not isinstance(code, str) or not code.startswith("eval_") or not isinstance(message, str):
        return None
    if code == "eval_cancel_error":
        return AskError(Cause.SLOW, "timeout", "the server stopped the evaluation")
    file, row = "", 0
    if isinstance(place, dict) and isinstance(place.get("file"), str) and isinstance(place.get("row"), int):
        file, row = place["file"], place["row"]
    return AskError(Cause.EVALUATION, code[:100], " ".join(message.split()), file=file, row=row)


def _compile_error(message: object, errors: object) -> AskError:
    said = _words(message)
    if isinstance(errors, list) and errors and isinstance(errors[0], dict):
        place = errors[0].get("location")
        where = f"{place.get('file')}:{place.get('row')}: " if isinstance(place, dict) else ""
        said = f"{where}{_words(errors[0].get('message'))}"
    return AskError(Cause.REFUSED, "rego_error", one_line(said))


def _words(value: object) -> str:
    return one_line(value) if isinstance(value, str) else "no reason given"


def _retry_after(response: requests.Response) -> float:
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0.0
