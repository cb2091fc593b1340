"""Registries that are broken, slow, or mean it: each ends in a verdict of its own, in bounded time, and none of them in `unsigned`."""

from __future__ import annotations

import base64
import datetime as dt
import email.utils
import hashlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.collect.artifacts.registry import client as client_module
from audit.collect.artifacts.registry import transport
from audit.collect.artifacts.registry.fetching import MAX_MANIFEST, Fetched
from tests.registry.bench import fetched, verdict
from tests.registry.hostile import NAME, Answers, Hostile, Reply, Request, hostile
from tests.signatures.workbench import Workbench

MANIFEST = json.dumps(
    {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": {"digest": "sha256:" + "1" * 64},
        "layers": [],
    }
).encode()
DIGEST = f"sha256:{hashlib.sha256(MANIFEST).hexdigest()}"
JSON = (("Content-Type", "application/vnd.oci.image.manifest.v1+json"),)
ABSENT = Reply(404, b'{"errors": [{"code": "MANIFEST_UNKNOWN"}]}')
OK = Reply(200, b"{}", (("Content-Type", "application/json"),))
POLICY = {
    "name": "images",
    "artifacts": ["**"],
    "any_of": [{"name": "who", "issuer": "https://a.example", "subject": "x"}],
    "required": True,
}
Route = Callable[[Request], Reply | None]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_PAUSES", (0.01, 0.02))


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    bench = Workbench(tmp_path)
    bench.config["policies"] = [POLICY]
    return bench


def answering(special: Route) -> Answers:
    """A registry with one image that nobody has signed, but for what a test wants to be different."""

    def answers(request: Request) -> Reply:
        different = special(request)
        if different is not None:
            return different
        if request.path == "/v2/":
            return OK
        if request.path.partition("?")[0] in (f"/v2/app/manifests/{DIGEST}", "/v2/app/manifests/1"):
            return Reply(200, MANIFEST, JSON)
        return ABSENT

    return answers


def at(part: str, reply: Reply) -> Route:
    """Another answer where the path has this part."""
    return lambda request: reply if part in request.path else None


def asked(special: Route, name: str = f"app@{DIGEST}", **settings: Any) -> tuple[Fetched, Hostile]:
    with hostile(answering(special)) as server:
        return fetched(server.host, name, **settings), server


def codes(found: Fetched) -> list[str]:
    return [trouble.code for trouble in found.troubles]


def test_one_that_answers_well_has_an_unsigned_image(bench: Workbench) -> None:
    found, server = asked(lambda request: None)
    assert verdict(bench, found) == ("unsigned", "unsigned")
    base = f"/v2/app/manifests/{DIGEST.replace(':', '-')}"
    assert server.paths() == [
        "/v2/",
        f"/v2/app/manifests/{DIGEST}",
        f"{base}.sig",
        f"{base}.att",
        f"{base}.sbom",
        f"/v2/app/referrers/{DIGEST}",
        base,
    ]


ERROR = Reply(503, b"")
HTML = Reply(200, b"<html>Welcome</html>", (("Content-Type", "text/html"),))
OLD = b'{"schemaVersion": 1, "mediaType": "application/vnd.docker.distribution.manifest.v1+prettyjws"}'
BY_TAG: dict[str, tuple[Route, str]] = {
    "no registry at all": (lambda request: HTML, "not_a_registry"),
    "nothing at /v2/": (at("/v2/", Reply(404, b"no")), "not_a_registry"),
    "no HTTP": (at("/v2/", Reply(200, raw=b"SSH-2.0-OpenSSH_9.6\r\n")), "not_a_registry"),
    "a page instead of a manifest": (at("manifests/1", HTML), "not_a_registry"),
    "an old manifest": (at("manifests/1", Reply(200, OLD, JSON)), "unsupported_manifest"),
    "hangs up": (at("manifests/1", Reply(200, raw=b"\r\n")), "not_a_registry"),
    "breaks off": (at("manifests/1", Reply(200, MANIFEST, JSON, half=True)), "registry_unreachable"),
    "wants a log-in": (at("manifests/1", Reply(401, b"{}")), "registry_denied"),
    "wants one in a way nobody knows": (
        at("manifests/1", Reply(401, b"{}", (("WWW-Authenticate", "Negotiate"),))),
        "registry_denied",
    ),
    "forbids": (at("manifests/1", Reply(403, b"{}")), "registry_denied"),
    "does not have it": (at("manifests/1", ABSENT), "registry_has_not"),
    "is asked too often": (at("manifests/1", Reply(429, b"{}")), "registry_throttled"),
    "fails": (at("manifests/1", ERROR), "registry_failed"),
    "answers with something else": (at("manifests/1", Reply(418, b"{}")), "registry_failed"),
    "an endless manifest": (
        at("manifests/1", Reply(200, b"{" * 65536, JSON, endless=True)),
        "registry_too_large",
    ),
    "a manifest that is too large": (
        at("manifests/1", Reply(200, b"x" * (MAX_MANIFEST + 1), JSON)),
        "registry_too_large",
    ),
    "endless headers": (
        at("manifests/1", Reply(200, raw=b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 1000)),
        "registry_unreachable",
    ),
    "leads in circles": (
        at("manifests/1", Reply(307, headers=(("Location", "/v2/app/manifests/1"),))),
        "registry_leads_away",
    ),
    "leads to where there is no TLS": (
        at("manifests/1", Reply(302, headers=(("Location", "http://registry.example.com/x"),))),
        "registry_leads_away",
    ),
    "leads to a file": (
        at("manifests/1", Reply(302, headers=(("Location", "file:///etc/passwd"),))),
        "registry_leads_away",
    ),
    "leads nowhere": (at("manifests/1", Reply(302)), "registry_leads_away"),
}


@pytest.mark.parametrize("case", BY_TAG)
def test_a_manifest_that_can_not_be_had(bench: Workbench, case: str) -> None:
    special, code = BY_TAG[case]
    found, _ = asked(special, "app:1")
    assert codes(found) == [code]
    assert verdict(bench, found) == ("could_not_check", code)
    assert found.digest is None


def test_a_manifest_of_another_digest_is_wrong(bench: Workbench) -> None:
    found, server = asked(at(DIGEST, Reply(200, MANIFEST + b" ", JSON)))
    assert verdict(bench, found) == ("invalid", "blob_differs")
    assert len(server.seen) == 2, "nothing is asked about an image that is another one"


def test_a_part_of_a_manifest_is_not_a_wrong_one(bench: Workbench) -> None:
    """Without a stated end, what was cut short looks like what is short."""
    part = b"HTTP/1.1 200 OK\r\n\r\n" + MANIFEST[:20]
    for raw in (part, b"HTTP/1.1 200 OK\r\nContent-Ty"):
        found, _ = asked(at(DIGEST, Reply(200, raw=raw)))
        assert verdict(bench, found) == ("could_not_check", "registry_unreachable")


def test_a_tag_whose_manifest_is_not_what_the_registry_says(bench: Workbench) -> None:
    headers = (*JSON, ("Docker-Content-Digest", "sha256:" + "0" * 64))
    found, _ = asked(at("manifests/1", Reply(200, MANIFEST, headers)), "app:1")
    assert verdict(bench, found) == ("invalid", "blob_differs")


BEHIND: dict[str, tuple[Route, str]] = {
    "the signature's tag fails": (at(".sig", ERROR), "registry_failed"),
    "the attestation's tag is forbidden": (at(".att", Reply(403, b"")), "registry_denied"),
    "the referrers fail": (at("/referrers/", ERROR), "registry_failed"),
    "the referrers are forbidden": (at("/referrers/", Reply(401, b"")), "registry_denied"),
    "the referrers are a page": (at("/referrers/", HTML), "not_a_registry"),
    "the referrers go on elsewhere": (
        at(
            "/referrers/",
            Reply(200, b'{"manifests": []}', (("Link", '<https://evil.example/next>; rel="next"'),)),
        ),
        "registry_leads_away",
    ),
    "the referrers go on for ever": (
        at(
            "/referrers/",
            Reply(200, b'{"manifests": []}', (("Link", f'</v2/app/referrers/{DIGEST}?n=1>; rel="next"'),)),
        ),
        "too_many_signatures",
    ),
    "a referrer is not there": (
        at("/referrers/", Reply(200, json.dumps({"manifests": [{"digest": "sha256:" + "2" * 64}]}).encode())),
        "registry_has_not",
    ),
    "a signature says it is another": (
        at(".sig", Reply(200, MANIFEST, (("Docker-Content-Digest", "sha256:" + "0" * 64),))),
        "blob_differs",
    ),
    "a signature is a page": (at(".sig", HTML), "not_a_registry"),
}


@pytest.mark.parametrize("case", BEHIND)
def test_what_is_attached_and_can_not_be_had_is_never_unsigned(bench: Workbench, case: str) -> None:
    special, code = BEHIND[case]
    found, _ = asked(special)
    assert code in codes(found)
    status, seen = verdict(bench, found)
    assert seen == code
    assert status == ("invalid" if code == "blob_differs" else "could_not_check")


FAULTS = {
    "refused": Reply(401, b""),
    "forbidden": Reply(403, b""),
    "throttled": Reply(429, headers=(("Retry-After", "99"),)),
    "failing": Reply(500, headers=(("Retry-After", "99"),)),
    "strange": Reply(418, b""),
    "a page": HTML,
    "a part": Reply(200, raw=b"HTTP/1.1 200 OK\r\n\r\n{"),
}


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.sampled_from((".sig", ".att", ".sbom", "/referrers/")), st.sampled_from(sorted(FAULTS)), max_size=4
    )
)
def test_only_what_was_seen_to_its_end_is_unsigned(bench: Workbench, faults: dict[str, str]) -> None:
    def special(request: Request) -> Reply | None:
        return next((FAULTS[fault] for part, fault in faults.items() if part in request.path), None)

    found, _ = asked(special)
    assert len(found.troubles) == len(faults)
    status, code = verdict(bench, found)
    if faults.keys() <= {".sbom"}:
        assert (status, code) == ("unsigned", "unsigned"), "a bill of materials signs nothing"
    else:
        assert status == "could_not_check"
        assert code in codes(found)


def test_a_signature_of_another_digest_is_wrong(bench: Workbench) -> None:
    blob = "sha256:" + "3" * 64
    layer = {"mediaType": "application/vnd.dev.cosign.simplesigning.v1+json", "digest": blob}
    side = json.dumps({"schemaVersion": 2, "layers": [layer]}).encode()

    def special(request: Request) -> Reply | None:
        if request.path.endswith(".sig"):
            return Reply(200, side, JSON)
        return Reply(200, b"{}") if "/blobs/" in request.path else None

    found, _ = asked(special)
    assert verdict(bench, found) == ("invalid", "blob_differs")
    gone, _ = asked(at(".sig", Reply(200, side, JSON)))
    assert verdict(bench, gone) == ("could_not_check", "registry_has_not")
    large, _ = asked(
        lambda request: (
            Reply(200, b"[" * 65536, endless=True) if "/blobs/" in request.path else special(request)
        )
    )
    assert verdict(bench, large) == ("could_not_check", "registry_too_large")


SLOW: dict[str, Route] = {
    "headers": at("manifests", Reply(200, raw=b"HTTP/1.1 200 OK\r\nX: " + b"a" * 2000, pause=0.02)),
    "body": at("manifests", Reply(200, MANIFEST, JSON, pause=0.05)),
    "the first answer": at("/v2/", Reply(200, raw=b"HTTP/1.1 200 OK\r\n" * 200, pause=0.02)),
}


@pytest.mark.parametrize("case", SLOW)
def test_byte_by_byte_ends_when_the_time_is_over(bench: Workbench, case: str) -> None:
    began = time.monotonic()
    found, _ = asked(SLOW[case], image_seconds=0.7)
    assert verdict(bench, found) == ("could_not_check", "registry_slow")
    assert time.monotonic() - began < 5


def test_a_handshake_that_never_ends(bench: Workbench) -> None:
    """What answers takes the connection and says nothing: TLS waits, and is cut off."""
    with hostile(lambda request: OK) as server:
        began = time.monotonic()
        found = fetched(server.host, f"app@{DIGEST}", insecure=False, image_seconds=0.7)
        assert time.monotonic() - began < 5
    assert codes(found)[0] in ("registry_slow", "registry_untrusted")


def test_nobody_listens(bench: Workbench) -> None:
    with hostile(lambda request: OK) as server:
        host = server.host
    found = fetched(host, f"app@{DIGEST}")
    assert verdict(bench, found) == ("could_not_check", "registry_unreachable")
    assert verdict(bench, fetched("localhost:1", "app:1")) == ("could_not_check", "registry_unreachable")


def test_it_is_asked_again_and_then_given_up() -> None:
    for status, code in ((429, "registry_throttled"), (503, "registry_failed")):
        found, server = asked(at("manifests/1", Reply(status)), "app:1")
        assert (codes(found), server.paths().count("/v2/app/manifests/1")) == ([code], 3)


def test_trouble_that_passes_is_none(bench: Workbench) -> None:
    times: list[str] = []

    def special(request: Request) -> Reply | None:
        times.append(request.path)
        soon = email.utils.format_datetime(dt.datetime.now(dt.UTC), usegmt=True)
        if times.count(request.path) == 1:
            return Reply(429, headers=(("Retry-After", "0"),))
        return Reply(503, headers=(("Retry-After", soon),)) if times.count(request.path) == 2 else None

    found, _ = asked(special)
    assert verdict(bench, found) == ("unsigned", "unsigned")


def test_a_pause_longer_than_the_time_left_is_not_waited_for() -> None:
    began = time.monotonic()
    reply = Reply(429, headers=(("Retry-After", "86400"),))
    found, server = asked(at("manifests/1", reply), "app:1")
    assert codes(found) == ["registry_throttled"]
    assert server.paths().count("/v2/app/manifests/1") == 1
    assert time.monotonic() - began < 3


def test_answers_about_one_image_are_bounded_together(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "MAX_IMAGE_BYTES", len(MANIFEST) + 100)
    found, _ = asked(at(".sig", Reply(404, b"x" * 200)))
    assert verdict(bench, found) == ("could_not_check", "registry_too_large")


# ---- certificates


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[Hostile]:
    with hostile(answering(lambda request: None), tls=tmp_path) as server:
        yield server


def test_an_authority_of_ones_own(bench: Workbench, secure: Hostile, tmp_path: Path) -> None:
    named = {"insecure": False, "ca": tmp_path / "ca.pem"}
    assert verdict(bench, fetched(secure.host, f"app@{DIGEST}", **named)) == ("unsigned", "unsigned")
    found = fetched(secure.host, f"app@{DIGEST}", insecure=False)
    assert verdict(bench, found) == ("could_not_check", "registry_untrusted")
    assert "registries.ca" in found.troubles[0].hint
    other = fetched(
        secure.host.replace("127.0.0.1", "localhost"), f"app@{DIGEST}", insecure=False, ca=tmp_path / "ca.pem"
    )
    assert codes(other) == ["registry_untrusted"], "the certificate is for another name"
    for name, content in (("none.pem", None), ("empty.pem", b"")):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        assert codes(fetched(secure.host, "app:1", insecure=False, ca=path)) == ["registry_untrusted"]


# ---- proxies


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hostile]:
    """The proxy of the surroundings."""
    for name in ("http_proxy", "https_proxy", "no_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with hostile(lambda request: Reply(500)) as server:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:pass%20word@{server.host}")
        monkeypatch.setenv("HTTP_PROXY", f"http://{server.host}")
        yield server


def test_the_way_leads_through_the_proxy_of_the_surroundings(
    bench: Workbench, secure: Hostile, proxy: Hostile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = {"insecure": False, "ca": tmp_path / "ca.pem"}
    proxy.tunnel = secure.host
    assert verdict(bench, fetched(NAME, f"app@{DIGEST}", **named)) == ("unsigned", "unsigned")
    assert set(proxy.paths()) == {f"{NAME}:443"}
    told = base64.b64encode(b"me:pass word").decode()
    assert {request.headers.get("Proxy-Authorization") for request in proxy.seen} == {f"Basic {told}"}
    assert not any("Proxy-Authorization" in request.headers for request in secure.seen)
    proxy.tunnel = ""
    assert verdict(bench, fetched(NAME, f"app@{DIGEST}", **named)) == (
        "could_not_check",
        "registry_unreachable",
    )
    monkeypatch.setenv("NO_PROXY", NAME)
    proxy.seen.clear()
    assert codes(fetched(NAME, f"app@{DIGEST}", **named)) == ["registry_unreachable"]
    assert not proxy.seen


def test_this_machine_is_never_asked_through_a_proxy(bench: Workbench, proxy: Hostile) -> None:
    found, server = asked(lambda request: None)
    assert verdict(bench, found) == ("unsigned", "unsigned")
    assert server.seen
    assert not proxy.seen


# ---- who asks


def config_json(folder: Path, host: str, **other: Any) -> Path:
    auth = base64.b64encode(b"robot:s3cret-password").decode()
    path = folder / "config.json"
    path.write_text(json.dumps({"auths": {host: {"auth": auth}}, **other}))
    return path


def header(request: Request) -> str:
    return request.headers.get("Authorization", "")


BASIC = "Basic " + base64.b64encode(b"robot:s3cret-password").decode()


def bearer(realm: str) -> Reply:
    challenge = f'Bearer realm="{realm}",service="registry.test",scope="repository:app:pull"'
    return Reply(401, b"{}", (("WWW-Authenticate", challenge),))


def test_a_token_is_fetched_with_the_credentials_and_used(bench: Workbench, tmp_path: Path) -> None:
    def answers(request: Request) -> Reply:
        if request.path.startswith("/token"):
            good = header(request) == BASIC
            return Reply(200, b'{"token": "tok.en", "expires_in": 300}') if good else Reply(401)
        if header(request) != "Bearer tok.en":
            return bearer(f"http://{server.host}/token?account=x")
        return answering(lambda request: None)(request)

    with hostile(answers) as server:
        found = fetched(
            server.host, f"app@{DIGEST}", docker_config=config_json(tmp_path, f"https://{server.host}")
        )
        tokens = [path for path in server.paths() if path.startswith("/token")]
        assert tokens == ["/token?account=x&service=registry.test&scope=repository%3Aapp%3Apull"]
        assert verdict(bench, found) == ("unsigned", "unsigned")
        nobody = fetched(server.host, f"app@{DIGEST}")
        assert verdict(bench, nobody) == ("could_not_check", "registry_denied")
        assert "registries.docker_config" in nobody.troubles[0].hint


def test_a_password_is_asked_for_directly(bench: Workbench, tmp_path: Path) -> None:
    def special(request: Request) -> Reply | None:
        if request.path != "/v2/" and header(request) != BASIC:
            return Reply(401, b"{}", (("WWW-Authenticate", 'Basic realm="here"'),))
        return None

    with hostile(answering(special)) as server:
        found = fetched(server.host, f"app@{DIGEST}", docker_config=config_json(tmp_path, server.host))
        assert verdict(bench, found) == ("unsigned", "unsigned")
        assert codes(fetched(server.host, f"app@{DIGEST}")) == ["registry_denied"]


@pytest.fixture
def elsewhere() -> Iterator[Hostile]:
    """Another server, which must not learn anything."""
    with hostile(lambda request: Reply(200, b'{"token": "from-elsewhere"}')) as server:
        yield server


def test_a_token_service_elsewhere_is_told_no_credentials(elsewhere: Hostile, tmp_path: Path) -> None:
    def special(request: Request) -> Reply | None:
        return (
            None if header(request) == "Bearer from-elsewhere" else bearer(f"http://{elsewhere.host}/token")
        )

    with hostile(answering(special)) as server:
        config = config_json(tmp_path, server.host)
        assert not fetched(server.host, f"app@{DIGEST}", docker_config=config).troubles
        assert elsewhere.seen
        assert not any(header(request) for request in elsewhere.seen)
        elsewhere.answers = lambda request: Reply(401)
        found = fetched(server.host, f"app@{DIGEST}", docker_config=config)
        assert codes(found) == ["registry_denied"]
        assert f"{elsewhere.host} is not told" in found.troubles[0].hint
        assert not any(header(request) for request in elsewhere.seen)
        # Named by whoever wrote the configuration, it is.
        elsewhere.answers = lambda request: Reply(200, b'{"token": "from-elsewhere"}')
        fetched(server.host, f"app@{DIGEST}", docker_config=config, token_service=elsewhere.host)
        assert header(elsewhere.seen[-1]) == BASIC


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(200, b"{}"), "registry_failed"),
        (Reply(200, b'{"token": "a b\\r\\nX: y"}'), "registry_failed"),
        (Reply(200, b"[1, 2"), "registry_failed"),
        (Reply(200, b"x" * 65536, endless=True), "registry_too_large"),
        (Reply(302, headers=(("Location", "https://evil.example"),)), "registry_failed"),
        (Reply(503), "registry_failed"),
        (Reply(429), "registry_throttled"),
    ],
)
def test_a_token_service_that_gives_none(elsewhere: Hostile, reply: Reply, code: str) -> None:
    elsewhere.answers = lambda request: reply
    found, _ = asked(at("manifests", bearer(f"http://{elsewhere.host}/token")))
    assert codes(found) == [code]


@pytest.mark.parametrize(
    "realm", ["http://tokens.example.com/", "file:///etc/passwd", "//x", "", "http://user:pw@127.0.0.1:1/"]
)
def test_a_token_service_that_is_not_asked(realm: str) -> None:
    found, _ = asked(at("manifests", bearer(realm)))
    assert codes(found) == ["registry_leads_away"]


def test_a_token_that_is_refused_is_not_fetched_for_ever() -> None:
    tokens: list[str] = []

    def answers(request: Request) -> Reply:
        if request.path.startswith("/token"):
            tokens.append(request.path)
            return Reply(200, b'{"token": "never-good"}')
        return OK if request.path == "/v2/" else bearer(f"http://{server.host}/token")

    with hostile(answers) as server:
        assert codes(fetched(server.host, f"app@{DIGEST}")) == ["registry_denied"]
    assert len(tokens) == 1


def test_a_redirect_takes_no_credentials_along(tmp_path: Path) -> None:
    """Blobs often lie elsewhere. There, the address alone lets them be read."""
    with hostile(answering(lambda request: None), tls=tmp_path) as store:

        def special(request: Request) -> Reply | None:
            if request.path != "/v2/" and header(request) != BASIC:
                return Reply(401, b"{}", (("WWW-Authenticate", "Basic"),))
            if DIGEST in request.path and "manifests" in request.path:
                return Reply(
                    307, headers=(("Location", f"https://{store.host}{request.path}?signature=abc"),)
                )
            return None

        with hostile(answering(special)) as server:
            config = config_json(tmp_path, server.host)
            found = fetched(server.host, f"app@{DIGEST}", docker_config=config, ca=tmp_path / "ca.pem")
        assert not found.troubles
        assert found.digest == DIGEST
        assert store.paths() == [f"/v2/app/manifests/{DIGEST}?signature=abc"]
        assert header(store.seen[0]) == ""
        # What it refuses is no question of the registry's, and nobody logs in there.
        store.answers = lambda request: bearer(f"https://{store.host}/token")
        with hostile(answering(special)) as server:
            config = config_json(tmp_path, server.host)
            found = fetched(server.host, f"app@{DIGEST}", docker_config=config, ca=tmp_path / "ca.pem")
        assert codes(found) == ["registry_denied"]
        assert not any(path.startswith("/token") for path in store.paths())


def test_a_refusal_says_nothing_secret(tmp_path: Path) -> None:
    with hostile(lambda request: Reply(403, b"s3cret-of-theirs")) as server:
        config = config_json(tmp_path, server.host)
        found = fetched(server.host, f"app@{DIGEST}", docker_config=config)
    assert codes(found) == ["registry_denied"]
    assert "s3cret" not in repr(found)


# ---- several images


def test_the_time_of_a_registry_is_for_all_its_images(bench: Workbench) -> None:
    from audit.collect.artifacts.registry.asking import RegistryImages
    from audit.collect.artifacts.registry.references import reference_of
    from audit.collect.artifacts.registry.settings import RegistrySettings

    slow = at("manifests", Reply(200, MANIFEST, JSON, pause=0.2))
    with hostile(answering(slow)) as server:
        settings = RegistrySettings(
            host=server.host, insecure=True, seconds=1.0, image_seconds=0.8, connections=1, max_images=3
        )
        names = [reference_of(f"{server.host}/app:{number}") for number in range(4)]
        with RegistryImages([settings]) as images:
            began = time.monotonic()
            found = list(images.fetched([one for one in names if one is not None], server.over))
            assert time.monotonic() - began < 5
    assert [codes(one)[0] for one in found] == [
        "registry_slow",
        "registry_slow",
        "registry_not_asked",
        "registry_not_asked",
    ]
    assert ["limit of 3" in one.troubles[0].reason for one in found] == [False, False, False, True]


def test_an_image_is_asked_for_once_by_whatever_name() -> None:
    from audit.collect.artifacts.registry.asking import RegistryImages
    from audit.collect.artifacts.registry.references import reference_of
    from audit.collect.artifacts.registry.settings import RegistrySettings

    with hostile(answering(lambda request: None)) as server:
        names = [f"app@{DIGEST}", f"app:1@{DIGEST}", f"app:2@{DIGEST}"]
        references = [reference_of(f"{server.host}/{name}") for name in names]
        with RegistryImages([RegistrySettings(host=server.host, insecure=True)]) as images:
            for _ in range(2):
                found = list(images.fetched([one for one in references if one is not None], server.over))
                assert [str(one.reference) for one in found] == [f"{server.host}/{name}" for name in names]
        assert server.paths().count(f"/v2/app/manifests/{DIGEST}") == 1


def test_a_registry_that_is_not_there_is_given_up() -> None:
    from audit.collect.artifacts.registry.asking import RegistryImages
    from audit.collect.artifacts.registry.references import reference_of
    from audit.collect.artifacts.registry.settings import RegistrySettings

    with hostile(lambda request: HTML) as server:
        references = [reference_of(f"{server.host}/app:{number}") for number in range(6)]
        with RegistryImages([RegistrySettings(host=server.host, insecure=True, connections=1)]) as images:
            found = list(images.fetched([one for one in references if one is not None], server.over))
        assert len(server.seen) == 2
    assert [codes(one) for one in found] == [["not_a_registry"]] * 2 + [["registry_unreachable"]] * 4


def test_a_stopped_run_does_not_wait() -> None:
    import threading

    from audit.collect.artifacts.registry.asking import RegistryImages
    from audit.collect.artifacts.registry.references import reference_of
    from audit.collect.artifacts.registry.settings import RegistrySettings

    stop = threading.Event()

    def special(request: Request) -> Reply | None:
        stop.set()
        return Reply(200, MANIFEST, JSON, pause=0.2)

    with hostile(answering(special)) as server:
        reference = reference_of(f"{server.host}/app:1")
        assert reference is not None
        began = time.monotonic()
        with RegistryImages([RegistrySettings(host=server.host, insecure=True)]) as images:
            assert list(images.fetched([reference], stop)) == []
        assert time.monotonic() - began < 3
