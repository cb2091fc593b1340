"""The JSON report: the same bytes for the same result, its own schema, and the way back."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from audit.errors import ReportError
from audit.model.assessment import HeldBack
from audit.report import schema
from audit.report.json_writer import JsonWriter, load_report, result_digest, seal
from audit.resources import content_dir
from tests import builders as b
from tests.unit.report.story import story


def _bytes(result: Any) -> bytes:
    stream = io.BytesIO()
    JsonWriter().render_to(result, stream)
    return stream.getvalue()


def test_equal_results_give_equal_bytes(tmp_path: Path) -> None:
    (path,) = JsonWriter().write(story(), tmp_path)
    assert path.read_bytes() == _bytes(story())


def test_reading_back_and_writing_again_changes_nothing(tmp_path: Path) -> None:
    (path,) = JsonWriter().write(story(), tmp_path)
    assert _bytes(load_report(path)) == path.read_bytes()


def test_the_digest_leaves_wall_clock_times_out() -> None:
    result = story()
    later = msgspec.structs.replace(
        result,
        record=msgspec.structs.replace(
            result.record, state_time="2027-01-01T00:00:00Z", started="2027-01-01T00:00:00Z", finished="x"
        ),
    )
    assert result_digest(result) == result_digest(later)
    other = msgspec.structs.replace(result, title="another fleet")
    assert result_digest(result) != result_digest(other)


def test_sealing_twice_is_sealing_once() -> None:
    sealed = seal(story())
    assert sealed.record.result_sha256 == result_digest(sealed)
    assert seal(sealed) is sealed


def test_the_order_of_dictionaries_changes_nothing() -> None:
    one = b.result(record=b.record(configuration={"a": 1, "b": {"x": 1, "y": 2}}))
    two = b.result(record=b.record(configuration={"b": {"y": 2, "x": 1}, "a": 1}))
    assert _bytes(one) == _bytes(two)


def test_the_whole_report_obeys_the_published_schema() -> None:
    published = json.loads((content_dir("reports") / "schema" / schema.FILE).read_text(encoding="utf-8"))
    validator = jsonschema_rs.validator_for(published)
    data = json.loads(_bytes(story()))
    assert [error.message for error in validator.iter_errors(data)] == []
    assert data["groups"]
    del data["groups"][0]["members"][0]["subject"]["cluster"]
    assert not validator.is_valid(data), "a lost key must be noticed"


def test_the_published_schema_is_current() -> None:
    published = (content_dir("reports") / "schema" / schema.FILE).read_text(encoding="utf-8")
    assert published == schema.text(), "run: python -m audit.report.schema"


def test_a_ratio_over_nothing_is_null() -> None:
    none = b.fraction(0, 0)
    empty = b.score(
        satisfied=0,
        not_applicable=1,
        strict=none,
        high=none,
        with_waivers=none,
        evidence_coverage=none,
        technical_only=none,
        attested=none,
        held_back=HeldBack(),
    )
    data = json.loads(_bytes(b.result(scores=(empty,))))
    assert data["scores"][0]["strict"] == {"numerator": 0, "denominator": 0, "percent": None}
    assert b"NaN" not in _bytes(b.result(scores=(empty,)))


def test_percents_are_truncated() -> None:
    data = json.loads(_bytes(b.result(scores=(b.score(strict=b.fraction(2, 3)),))))
    assert data["scores"][0]["strict"]["percent"] == "66.6"


def test_a_changed_report_is_refused(tmp_path: Path) -> None:
    (path,) = JsonWriter().write(story(), tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"failed":2', b'"failed":0'))
    with pytest.raises(ReportError, match="result_sha256") as caught:
        load_report(path)
    assert caught.value.file == str(path)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"schema": "fleetaudit.dev/report/v9"}', b"\xff\xfe", b'{"a":']
)
def test_what_is_no_report_is_refused_with_its_place(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(content)
    with pytest.raises(ReportError) as caught:
        load_report(path)
    assert caught.value.file == str(path)


def test_a_file_name_that_is_no_utf8_is_still_reported(tmp_path: Path) -> None:
    name = b"caf\xe9.yaml".decode("utf-8", "surrogateescape")
    group = b.group(b.finding(subject=b.subject(source=name), place=b.place(name)))
    result = b.result([group], gaps=(b.gap(source=name),))
    (path,) = JsonWriter().write(result, tmp_path)
    data = json.loads(path.read_bytes())
    assert data["gaps"][0]["source"] == "caf\\udce9.yaml"
    assert data["groups"][0]["members"][0]["place"]["file"] == "caf\\udce9.yaml"


def test_a_report_against_its_schema_is_not_written(tmp_path: Path) -> None:
    wrong = b.result(title=None)
    with pytest.raises(ReportError, match="schema") as caught:
        JsonWriter().write(wrong, tmp_path)
    assert caught.value.key == "title"
    assert list(tmp_path.iterdir()) == []
