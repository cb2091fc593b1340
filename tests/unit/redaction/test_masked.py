"""Credentials in what people author: taken out wherever they stand, and nothing else is touched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from audit.model.gap import Gap, GapKind
from audit.redact import masked, may_hold_credentials, redacted
from tests.shared_data import CHECKOUT

CANARY = "CANARY7secret9"
MARKER = "fleetaudit:redacted:"


@pytest.mark.parametrize(
    "text",
    [
        f"https://user:{CANARY}@x.example.test/a",
        f"see https://{CANARY}@x.example.test/a for it",
        f"https://user:a/b{CANARY}@x.example.test/a",
        f"https://user:a@{CANARY}@x.example.test/a",
        f"https://x.example.test/a?b=c&token={CANARY}",
        f"https://x.example.test/a?X-Amz-Signature={CANARY}",
        f"postgres://u:{CANARY}@db",
        f"run it with --password={CANARY}",
        f"DB_PASSWORD={CANARY} and API_KEY='{CANARY}'",
        f"-----BEGIN RSA PRIVATE KEY-----\n{CANARY}",
        f"token hf_{CANARY}abcdef",
    ],
)
def test_credentials_go(text: str) -> None:
    shown = masked(text)
    assert CANARY not in shown
    assert MARKER in shown
    assert may_hold_credentials(text.encode())
    assert masked(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "https://host.example.test:8080/a@b",
        "ssh keys of the team, user@example.test",
        "set automountServiceAccountToken=false",
        "--password=$(PASSWORD) --token=<token> --secret={{ .x }} --api-key=*",
        "a token per output, secret=yes",
        f"postgres://user:{MARKER}url_credentials:9-32@db.example.test/x",
        f"--api-key={MARKER}arg_value:9-32",
    ],
)
def test_the_rest_stays(text: str) -> None:
    assert masked(text) is text


def test_what_holds_none_comes_back_itself_and_the_rest_keeps_its_type() -> None:
    plain = Gap(kind=GapKind.ABSENT, cluster="a", source="b", reason="c")
    assert masked(plain) is plain
    gap = masked(Gap(kind=GapKind.ABSENT, cluster="a", source=f"https://u:{CANARY}@x", reason="c"))
    assert isinstance(gap, Gap)
    assert CANARY not in gap.source
    assert masked(({"a": [f"https://u:{CANARY}@x"]}, 5, None)) == (
        {"a": [f"https://{MARKER}url_credentials:9-32@x"]},
        5,
        None,
    )


def test_keys_count_in_configurations_only() -> None:
    assert redacted({"api_token": "x", "list": [{"password": "y"}]}) == {
        "api_token": f"{MARKER}config_value:1-8",
        "list": [{"password": f"{MARKER}config_value:1-8"}],
    }
    assert masked({"secret/literal-in-env": "x"}) == {"secret/literal-in-env": "x"}


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


@pytest.mark.parametrize("file", sorted((CHECKOUT / "controls").rglob("*.yaml")), ids=lambda file: file.name)
def test_shipped_texts_are_shown_as_they_are(file: Path) -> None:
    for text in _texts(yaml.safe_load(file.read_text(encoding="utf-8"))):
        assert masked(text) is text
