"""One registry: who it is asked as, where it may lead, how often it is asked again, and when it is given up.

Credentials go to the registry itself, and to a token service only where that is the registry, is known to be its own, or is named in the
configuration. A redirect is followed to HTTPS or back to the registry, and takes no credentials along.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import email.utils
import re
import ssl
import threading
import time
from collections.abc import Iterator
from urllib.parse import SplitResult, parse_qsl, urlencode, urljoin, urlsplit

from audit.collect.artifacts.registry.challenges import Challenge, Token, challenge_of, token_of
from audit.collect.artifacts.registry.credentials import Credentials, Found, credentials_of
from audit.collect.artifacts.registry.failures import RegistryError
from audit.collect.artifacts.registry.references import server_of, token_service_of
from audit.collect.artifacts.registry.settings import RegistrySettings
from audit.collect.artifacts.registry.transport import Answer, Transport, trust_of
from audit.loopback import is_loopback

_ATTEMPTS = 3
_AGAIN = frozenset({429, 500, 502, 503, 504})
_PAUSES = (0.3, 1.5)
_LONGEST_PAUSE = 30.0
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MAX_REDIRECTS = 5
_MAX_TOKEN = 64 << 10
_MAX_PING = 64 << 10
_GIVEN_UP_AFTER = 2
_PASSING = frozenset({"registry_unreachable", "registry_failed", "registry_throttled"})
_LOST = frozenset({"registry_unreachable", "registry_untrusted", "registry_slow", "not_a_registry"})
_NAME = re.compile(r"[A-Za-z0-9.:\[\]-]{1,253}")


class RegistryClient:
    """Asks one registry; safe for several threads.

    Args:
        settings: of the registry.
    """

    def __init__(self, settings: RegistrySettings) -> None:
        self.settings = settings
        scheme = "http" if settings.insecure else "https"
        self.base = urlsplit(f"{scheme}://{server_of(settings.host)}/v2/")
        self._lock = threading.Lock()
        self._found: Found | None = None
        self._trust: ssl.SSLContext | None = None
        self._tokens: dict[str, tuple[Token, float]] = {}
        self._basic = False
        self._known = False
        self._lost = 0
        self._ends: float | None = None
        self._open: set[Transport] = set()
        self._closed = False

    def close(self) -> None:
        """End what is under way; nothing is asked afterwards."""
        with self._lock:
            self._closed = True
            transports = list(self._open)
        for transport in transports:
            transport.cut()

    @contextlib.contextmanager
    def image(self, repository: str) -> Iterator[Asking]:
        """Questions about one image.

        Raises:
            RegistryError: nothing is asked any more, or nothing that is a registry answers.
        """
        with Transport(self._trusted(), self._seconds()) as transport:
            with self._lock:
                self._open.add(transport)
            try:
                asking = Asking(self, transport, repository)
                self._meet(asking)
                yield asking
            finally:
                with self._lock:
                    self._open.discard(transport)

    def _trusted(self) -> ssl.SSLContext:
        with self._lock:
            if self._trust is None:
                try:
                    self._trust = trust_of(self.settings.ca)
                except OSError:
                    raise RegistryError(
                        "registry_untrusted", "registries.ca can't be read as certificates in PEM"
                    ) from None
            return self._trust

    def _seconds(self) -> float:
        """Time for the next image."""
        with self._lock:
            now = time.monotonic()
            if self._ends is None:
                self._ends = now + self.settings.seconds
            if self._closed or now >= self._ends:
                raise RegistryError(
                    "registry_not_asked",
                    f"its time of {self.settings.seconds:.0f} seconds was over",
                    hint="give it more under registries.seconds",
                )
            if self._lost >= _GIVEN_UP_AFTER:
                raise RegistryError(
                    "registry_unreachable", "it was given up after it could not be reached several times"
                )
            return min(self.settings.image_seconds, self._ends - now)

    def _meet(self, asking: Asking) -> None:
        """Whether a registry answers at all, asked once."""
        if self._known:
            return
        try:
            _meet(asking)
        except RegistryError as error:
            if error.code in _LOST:
                with self._lock:
                    self._lost += 1
            raise
        with self._lock:
            self._known, self._lost = True, 0

    # ---- who asks

    def authorization(self, repository: str) -> str | None:
        """The header for a repository, as far as it is known what is wanted."""
        with self._lock:
            token, until = self._tokens.get(repository, (None, 0.0))
            if token is not None and time.monotonic() < until:
                return token.header
            login = self._login() if self._basic else None
            return login.header() if login is not None else None

    def log_in(self, transport: Transport, answer: Answer, repository: str) -> str:
        """The header that a refusal asks for.

        Raises:
            RegistryError: it can't be had.
        """
        challenge = challenge_of(answer.headers.get("WWW-Authenticate"))
        if challenge is None:
            raise self._denied("it asks for credentials in a way that is not supported")
        if challenge.scheme == "bearer":
            asked = time.monotonic()
            token = self._token(transport, challenge, repository)
            with self._lock:
                self._tokens[repository] = (token, asked + token.seconds - 5)
            return token.header
        with self._lock:
            login = self._login()
            self._basic = login is not None
        if login is None:
            raise self._denied("it wants credentials")
        return login.header()

    def _login(self) -> Credentials | None:
        if self._found is None:
            self._found = credentials_of(self.settings.host, self.settings.docker_config)
        return self._found.credentials

    def _token(self, transport: Transport, challenge: Challenge, repository: str) -> Token:
        realm = _address(challenge.realm)
        if realm is None or not self._may_ask(realm):
            raise RegistryError("registry_leads_away", "it names a token service that is not asked: no HTTPS")
        headers = {"Accept": "application/json"}
        told = realm.netloc.lower() in self._told()
        with self._lock:
            login = self._login()
        if login is not None and told:
            headers["Authorization"] = login.header()
        query = [(key, value) for key, value in parse_qsl(realm.query) if key not in ("service", "scope")]
        if challenge.service:
            query.append(("service", challenge.service))
        query.append(("scope", f"repository:{repository}:pull"))
        answer = transport.get(realm._replace(query=urlencode(query), fragment=""), headers, limit=_MAX_TOKEN)
        if answer.status in (401, 403):
            raise self._denied("its token service refuses", realm=None if told or login is None else realm)
        if answer.status != 200:
            raise _refused(answer, "its token service answers")
        token = token_of(answer.body)
        if token is None:
            raise RegistryError("registry_failed", "its token service answers without a token")
        return token

    def _told(self) -> frozenset[str]:
        """Hosts that may be told the credentials."""
        named = self.settings.token_service or token_service_of(self.settings.host)
        return frozenset({self.base.netloc.lower(), named.lower()})

    def _may_ask(self, address: SplitResult) -> bool:
        """HTTPS, or no TLS where this machine is asked without it anyway."""
        return address.scheme == "https" or (self.settings.insecure and is_loopback(address.netloc))

    def _denied(self, reason: str, *, realm: SplitResult | None = None) -> RegistryError:
        hint = self._found.why_not if self._found is not None else ""
        if realm is not None and _NAME.fullmatch(realm.netloc):
            hint = f"{realm.netloc} is not told the credentials unless registries.token_service names it"
        if not hint and self.settings.docker_config is None:
            hint = "name a config.json with credentials under registries.docker_config"
        return RegistryError("registry_denied", reason, hint=hint)

    def denied(self, answer: Answer) -> RegistryError:
        """What is said of a refusal that stays one."""
        return self._denied(f"it does not let the image be read (HTTP {answer.status})")


class Asking:
    """Questions about one image, in one thread.

    Args:
        client: of the registry.
        transport: carries them.
        repository: of the image.
    """

    def __init__(self, client: RegistryClient, transport: Transport, repository: str) -> None:
        self._client = client
        self._transport = transport
        self._repository = repository

    def get(
        self,
        path: str,
        *,
        accept: str,
        limit: int,
        anybody: bool = False,
        allowed: frozenset[int] = frozenset(),
    ) -> Answer:
        """A GET below ``/v2/``.

        Args:
            path: without a slash at its beginning; or an absolute address of the same registry.
            accept: media types.
            limit: bytes of the body.
            anybody: take a refusal for an answer.
            allowed: statuses that are answers, beside 200 and 404.

        Raises:
            RegistryError: there is no answer with one of these statuses.
        """
        address = urlsplit(urljoin(self._client.base.geturl(), path))
        for attempt in range(_ATTEMPTS):
            last = attempt + 1 == _ATTEMPTS
            pause = _PAUSES[min(attempt, len(_PAUSES) - 1)]
            try:
                answer = self._as_somebody(address, accept, limit, anybody=anybody)
            except RegistryError as error:
                if error.code not in _PASSING or last or not self._transport.wait(pause):
                    raise
                continue
            if answer.status in {200, 404, *allowed} or (anybody and answer.status in (401, 403)):
                return answer
            if answer.status in (401, 403):
                raise self._client.denied(answer)
            wished = _wished_pause(answer)
            pause = pause if wished is None else wished
            if (
                answer.status not in _AGAIN
                or last
                or pause > _LONGEST_PAUSE
                or not self._transport.wait(pause)
            ):
                raise _refused(answer, "it answers")
        raise AssertionError("the last attempt returns or raises")

    def _as_somebody(self, address: SplitResult, accept: str, limit: int, *, anybody: bool) -> Answer:
        header = self._client.authorization(self._repository)
        answer, at_home = self._followed(address, accept, limit, header)
        if answer.status != 401 or anybody or not at_home:
            return answer
        header = self._client.log_in(self._transport, answer, self._repository)
        return self._followed(address, accept, limit, header)[0]

    def _followed(
        self, address: SplitResult, accept: str, limit: int, authorization: str | None
    ) -> tuple[Answer, bool]:
        """The answer at the end of redirects, and whether the registry itself gave it."""
        base = self._client.base
        for _ in range(_MAX_REDIRECTS + 1):
            at_home = (address.scheme, address.netloc) == (base.scheme, base.netloc)
            headers = {"Accept": accept}
            if at_home and authorization is not None:
                headers["Authorization"] = authorization
            answer = self._transport.get(address, headers, limit=limit)
            if answer.status not in _REDIRECTS:
                return answer, at_home
            following = _address(urljoin(address.geturl(), answer.headers.get("Location", "")))
            if following is None:
                raise RegistryError("registry_leads_away", "it leads to an address that can't be read")
            home_again = (following.scheme, following.netloc) == (base.scheme, base.netloc)
            if following.scheme != "https" and not home_again:
                raise RegistryError("registry_leads_away", "it leads to an address without HTTPS")
            address = following
        raise RegistryError("registry_leads_away", f"it leads on more than {_MAX_REDIRECTS} times")


def _meet(asking: Asking) -> None:
    answer = asking.get("", accept="application/json", limit=_MAX_PING, anybody=True)
    kind = answer.headers.get("Content-Type", "").lower()
    if answer.status not in (200, 401, 403) or (answer.status == 200 and "html" in kind):
        raise RegistryError("not_a_registry", "what answers is no registry: /v2/ is not there")


def _address(text: str) -> SplitResult | None:
    """An address of http or https, without a user; None for anything else."""
    try:
        parsed = urlsplit(text)
        _ = parsed.port
    except ValueError:
        return None
    if parsed.scheme not in ("http", "https") or "@" in parsed.netloc or not _NAME.fullmatch(parsed.netloc):
        return None
    return parsed._replace(fragment="")


def _refused(answer: Answer, who: str) -> RegistryError:
    status = answer.status
    if status == 429:
        return RegistryError("registry_throttled", f"{who} that it was asked too often (HTTP 429)")
    return RegistryError("registry_failed", f"{who} HTTP {status}")


def _wished_pause(answer: Answer) -> float | None:
    """Seconds of ``Retry-After``; None when nothing is wished."""
    text = answer.headers.get("Retry-After", "").strip()
    if re.fullmatch(r"[0-9]{1,6}", text):
        return float(text)
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if moment.tzinfo is None:
        return None
    return max(0.0, (moment - dt.datetime.now(dt.UTC)).total_seconds())
