"""Signatures whose time an authority vouches for, not the log."""

from __future__ import annotations

import base64
import datetime as dt
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.signatures.sigstore_chain import Chain, b64
from tests.signatures.timestamps import TimestampAuthority
from tests.signatures.workbench import Workbench

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the timestamps")
DATA = b"weights"


class Stamped:
    """A bench whose bundles have a timestamp and no promise of the log."""

    def __init__(self, folder: Path) -> None:
        now = dt.datetime.now(dt.UTC).replace(microsecond=0) - dt.timedelta(seconds=60)
        self.chain, self.authority = Chain(now), TimestampAuthority(folder / "tsa")
        self.bench = Workbench(folder, self.chain)
        self.bench.now = dt.datetime.now(dt.UTC) + dt.timedelta(minutes=1)
        self.bench.put("model.bin", DATA)
        self.trust([self.authority.trusted()])

    def trust(self, authorities: list[Any], **window: str) -> None:
        root = self.chain.trusted_root()
        root["timestampAuthorities"] = authorities
        root["certificateAuthorities"][0]["validFor"] |= window
        self.bench.root(root)

    def bundle(self, *, over: bytes | None = None, by: TimestampAuthority | None = None, **how: Any) -> Any:
        bundle = self.chain.bundle(DATA, **how)
        entry = bundle["verificationMaterial"]["tlogEntries"][0]
        del entry["inclusionPromise"], entry["integratedTime"]
        signature = over or base64.b64decode(bundle["messageSignature"]["signature"])
        stamp = {"signedTimestamp": b64((by or self.authority).stamp(signature))}
        bundle["verificationMaterial"]["timestampVerificationData"] = {"rfc3161Timestamps": [stamp]}
        return bundle

    def verdict(self, bundle: Any) -> dict[str, Any]:
        self.bench.put("model.bin.sigstore.json", bundle)
        return self.bench.spec("model.bin.sigstore.json")


@pytest.fixture
def stamped(tmp_path: Path) -> Stamped:
    return Stamped(tmp_path)


def test_a_timestamp_gives_the_time(stamped: Stamped) -> None:
    spec = stamped.verdict(stamped.bundle())
    assert (spec["code"], spec["time"]["source"]) == ("verified", "timestamp")
    assert spec["log"]["integrated_time"] is None


def test_a_timestamp_over_something_else_gives_none(stamped: Stamped) -> None:
    assert stamped.verdict(stamped.bundle(over=b"other"))["code"] == "bad_timestamp"


def test_a_timestamp_of_a_stranger_gives_none(stamped: Stamped, tmp_path: Path) -> None:
    stranger = TimestampAuthority(tmp_path / "other")
    assert stamped.verdict(stamped.bundle(by=stranger))["code"] == "bad_timestamp"


def test_a_timestamp_after_the_certificate_ended_is_late(stamped: Stamped) -> None:
    bundle = stamped.bundle(at=stamped.chain.now - dt.timedelta(hours=2))
    assert stamped.verdict(bundle)["code"] == "signed_after_expiry"


def test_an_authority_that_was_no_longer_trusted_gives_no_time(stamped: Stamped) -> None:
    stamped.trust([stamped.authority.trusted(end=stamped.authority.now - dt.timedelta(days=1))])
    assert stamped.verdict(stamped.bundle())["code"] == "bad_timestamp"


def test_the_last_moment_of_an_authority_belongs_to_it(stamped: Stamped) -> None:
    from rfc3161_client import decode_timestamp_response

    bundle = stamped.bundle()
    stamps = bundle["verificationMaterial"]["timestampVerificationData"]["rfc3161Timestamps"]
    answer = decode_timestamp_response(base64.b64decode(stamps[0]["signedTimestamp"]))
    for end, code in ((answer.tst_info.gen_time, "verified"), (stamped.chain.now, "bad_timestamp")):
        stamped.trust([stamped.authority.trusted(end=end)])
        assert stamped.verdict(bundle)["code"] == code


def test_the_time_of_the_stamp_is_held_against_the_authority_of_the_certificate(stamped: Stamped) -> None:
    end = (stamped.chain.now - dt.timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    stamped.trust([stamped.authority.trusted()], end=end)
    assert stamped.verdict(stamped.bundle())["code"] == "ca_window"


def test_a_stamp_that_nobody_trusts_beside_one_that_is_trusted_changes_nothing(
    stamped: Stamped, tmp_path: Path
) -> None:
    bundle = stamped.bundle()
    stamps = bundle["verificationMaterial"]["timestampVerificationData"]["rfc3161Timestamps"]
    signature = base64.b64decode(bundle["messageSignature"]["signature"])
    stamps.append({"signedTimestamp": b64(TimestampAuthority(tmp_path / "other").stamp(signature))})
    assert stamped.verdict(bundle)["code"] == "verified"


@pytest.mark.parametrize("answer", [b"", b"noise", b"\x30\x03\x02\x01\x00"])
def test_noise_is_no_timestamp(stamped: Stamped, answer: bytes) -> None:
    bundle = stamped.bundle()
    stamps = bundle["verificationMaterial"]["timestampVerificationData"]["rfc3161Timestamps"]
    stamps[0]["signedTimestamp"] = b64(answer)
    assert stamped.verdict(bundle)["code"] == "bad_timestamp"
