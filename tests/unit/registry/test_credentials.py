"""What a config.json says of one registry, and what is not supported of it."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from audit.collect.artifacts.registry.challenges import Challenge, challenge_of, token_of
from audit.collect.artifacts.registry.credentials import credentials_of

AUTH = base64.b64encode(b"robot:s3cret:with-colon").decode()
HOST = "registry.example.com"


def found(folder: Path, document: Any, host: str = HOST) -> tuple[str, str]:
    path = folder / "config.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    one = credentials_of(host, path)
    text = one.credentials.header() if one.credentials is not None else ""
    return base64.b64decode(text.removeprefix("Basic ")).decode(), one.why_not


@pytest.mark.parametrize(
    ("key", "host"),
    [
        (HOST, HOST),
        (f"https://{HOST}", HOST),
        (f"https://{HOST}/v1/", HOST),
        ("https://index.docker.io/v1/", "docker.io"),
        ("127.0.0.1:5000", "127.0.0.1:5000"),
    ],
)
def test_where_they_stand(tmp_path: Path, key: str, host: str) -> None:
    assert found(tmp_path, {"auths": {key: {"auth": AUTH}}}, host) == ("robot:s3cret:with-colon", "")
    assert found(tmp_path, {"auths": {key: {"username": "a", "password": "b"}}}, host) == ("a:b", "")


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({"auths": {"other.example.com": {"auth": AUTH}}}, "no credentials for it"),
        ({"auths": {f"{HOST}.evil.example": {"auth": AUTH}}}, "no credentials for it"),
        ({"auths": {HOST: {}}, "credHelpers": {HOST: "ecr-login"}}, "none is started"),
        ({"credsStore": "desktop", "auths": {HOST: {}}}, "none is started"),
        ({"auths": {HOST: {"identitytoken": "t"}}}, "identity token"),
        ({"auths": {HOST: {"auth": "no base64"}}}, "no credentials for it"),
        ({"auths": {HOST: {"auth": base64.b64encode(b"nobody").decode()}}}, "no credentials for it"),
        ({"auths": {HOST: {"auth": 7}}}, "no credentials for it"),
        ({"auths": [HOST]}, "no credentials for it"),
        ([], "no credentials for it"),
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_what_is_not_there_or_not_supported_is_named(tmp_path: Path, document: Any, why: str) -> None:
    text, reason = found(tmp_path, document)
    assert text == ""
    assert why in reason


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert "can't be read" in credentials_of(HOST, tmp_path / "none.json").why_not
    assert credentials_of(HOST, None).why_not == ""


def test_printing_shows_nothing(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"auths": {HOST: {"auth": AUTH}}}))
    one = credentials_of(HOST, path)
    token = token_of(b'{"token": "s3cret"}')
    assert one.credentials is not None
    for text in (repr(one), str(one.credentials), f"{one.credentials!r}", repr(token), str(token)):
        assert "s3cret" not in text
        assert AUTH not in text


@pytest.mark.parametrize(
    ("text", "challenge"),
    [
        (
            'Bearer realm="https://auth.example.com/token",service="a",scope="repository:x:pull,push"',
            Challenge(scheme="bearer", realm="https://auth.example.com/token", service="a"),
        ),
        ('bearer  service=a , realm="https://t"', Challenge(scheme="bearer", realm="https://t", service="a")),
        ('Bearer realm="https://t",realm="https://u"', Challenge(scheme="bearer", realm="https://t")),
        ('Basic realm="x"', Challenge(scheme="basic", realm="x")),
        ("Basic", Challenge(scheme="basic")),
        ("Bearer", Challenge(scheme="bearer")),
        ('Bearer realm="unclosed', Challenge(scheme="bearer")),
        ("Negotiate abc", None),
        ("", None),
        (None, None),
    ],
)
def test_challenges(text: str | None, challenge: Challenge | None) -> None:
    assert challenge_of(text) == challenge


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        (b'{"token": "a.b-c", "expires_in": 300}', 300),
        (b'{"access_token": "a.b-c"}', 60),
        (b'{"token": "a.b-c", "expires_in": 1}', 60),
        (b'{"token": "a.b-c", "expires_in": 1e99}', 60),
        (b'{"token": "a.b-c", "expires_in": 999999999}', 3600),
    ],
)
def test_tokens(body: bytes, seconds: float) -> None:
    token = token_of(body)
    assert token is not None
    assert (token.header, token.seconds) == ("Bearer a.b-c", seconds)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"token": 1}', b'{"token": "a\\nb"}', b'{"token": ""}']
)
def test_no_token(body: bytes) -> None:
    assert token_of(body) is None
