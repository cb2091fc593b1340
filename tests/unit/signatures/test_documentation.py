"""What the page says is what the code does."""

from __future__ import annotations

import re

import msgspec
import yaml

from audit.collect.artifacts.signatures.settings import SignatureSettings
from audit.collect.artifacts.signatures.verdicts import CODES
from audit.config.schema import FileConfig
from tests.meta.documents import CHECKOUT, table_under

PAGE = CHECKOUT / "docs" / "signatures.md"


def test_every_code_is_listed_with_its_status_and_sentence() -> None:
    listed = {row[0].strip("`"): (row[1], row[2]) for row in table_under(PAGE, "## Codes")}
    assert listed == {code: (status.value, text) for code, (status, text) in CODES.items()}


def test_the_configuration_of_the_page_loads() -> None:
    signers, *others = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    settings = msgspec.convert(yaml.safe_load(signers), SignatureSettings)
    assert [policy.name for policy in settings.policies] == ["wheels", "images", "models"]
    assert settings.trusted_root.fetched is not None
    assert others
    for block in others:
        msgspec.convert(yaml.safe_load(block), FileConfig)
