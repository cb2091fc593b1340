"""Names of images, as workloads write them and registries know them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.collect.artifacts.registry.references import Reference, reference_of, server_of, token_service_of
from audit.loopback import is_loopback

DIGEST = "sha256:" + "a" * 64
NAMES = {
    "nginx": "docker.io/library/nginx:latest",
    "nginx:1": "docker.io/library/nginx:1",
    "library/nginx": "docker.io/library/nginx:latest",
    "acme/app": "docker.io/acme/app:latest",
    "index.docker.io/nginx": "docker.io/library/nginx:latest",
    "docker.io/acme/app:1": "docker.io/acme/app:1",
    "Registry.Example.COM/app": "registry.example.com/app:latest",
    "registry.example.com:5000/a/b/c:1": "registry.example.com:5000/a/b/c:1",
    "localhost/app": "localhost/app:latest",
    "[::1]:5000/app": "[::1]:5000/app:latest",
    f"registry.example.com/app@{DIGEST}": f"registry.example.com/app@{DIGEST}",
    f"registry.example.com/app:1@{DIGEST}": f"registry.example.com/app:1@{DIGEST}",
    "registry.example.com/App": None,
    "a" * 64: None,
    "": None,
    "${IMAGE}": None,
    "registry.example.com/app@sha256:abc": None,
    "registry.example.com/app@md5:" + "a" * 32: None,
    "registry.example.com/../app": None,
    "registry.example.com/app:1\n": None,
    "user:pw@registry.example.com/app": None,
    "https://registry.example.com/app": None,
    "registry.example.com/" + "a" * 256: None,
}


@pytest.mark.parametrize("text", NAMES)
def test_names(text: str) -> None:
    found = reference_of(text)
    assert (str(found) if found is not None else None) == NAMES[text]


@pytest.mark.parametrize("value", [None, 1, [], {}, b"nginx", "a/" * 4000])
def test_what_is_no_name(value: object) -> None:
    assert reference_of(value) is None


@given(
    st.from_regex(
        r"([a-z]{1,5}(\.[a-z]{1,5})?(:[0-9]{1,4})?/)?[a-z0-9_.-]{1,8}(/[a-z0-9]{1,8})?(:\w{1,5})?",
        fullmatch=True,
    )
)
def test_what_is_written_out_means_the_same(text: str) -> None:
    found = reference_of(text)
    assert found is None or reference_of(str(found)) == found


@given(st.text(max_size=200))
def test_any_text_is_a_name_or_none(text: str) -> None:
    found = reference_of(text)
    assert found is None or not {*str(found)} & {*" \t\r\n?#%\\"}, "it goes into an address"


def test_a_digest_decides_and_a_tag_beside_it_does_not() -> None:
    both = Reference(host="a.example", repository="b", tag="1", digest=DIGEST)
    assert both.asked == DIGEST
    assert Reference(host="a.example", repository="b", tag="1", digest=None).asked == "1"


def test_docker_hub_answers_elsewhere() -> None:
    assert server_of("docker.io") == "registry-1.docker.io"
    assert token_service_of("docker.io") == "auth.docker.io"
    assert server_of("ghcr.io") == token_service_of("ghcr.io") == "ghcr.io"


@pytest.mark.parametrize(
    ("host", "is_it"),
    [
        ("localhost", True),
        ("LOCALHOST:5000", True),
        ("127.0.0.1:5000", True),
        ("127.8.9.1", True),
        ("[::1]:5000", True),
        ("::1", True),
        ("localhost.example.com", False),
        ("127.0.0.1.example.com", False),
        ("10.0.0.1:5000", False),
        ("0.0.0.0", False),
        ("", False),
    ],
)
def test_this_machine(host: str, is_it: bool) -> None:
    assert is_loopback(host) is is_it
