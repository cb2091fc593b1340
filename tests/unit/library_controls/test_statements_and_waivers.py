"""What people say is read strictly, and ends when its file says, on every machine alike."""

from __future__ import annotations

import datetime as dt
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from audit.assess.waive import WaiverIndex
from audit.errors import ContentError
from audit.library.acceptance import load_statements, load_waivers
from audit.library.authored import read_document
from audit.model.acceptance import Claim, Statement, Waiver
from tests.shared_data import shared_dir
from tests.unit.library_controls.content import shipped, written

STATEMENT = """\
statements:
  - framework: nist-ai-rmf
    control: GOVERN 2.2
    claim: met
    author: Training Office
    date: 2026-10-01
    expires: 2027-09-30
    text: All operators were trained.
"""
WAIVER = """\
waivers:
  - rule: pod/privileged
    subject: {kind: Deployment, namespace: demo, name: web}
    owner: Platform
    reason: The driver needs it until spring.
    expires: 2027-03-31
"""
RULES = ("pod/privileged", "pod/host-ports")


def statements(folder: Path, text: str, **options: object) -> tuple[Statement, ...]:
    return load_statements([written(folder, text)], shipped().catalogs, **options)  # type: ignore[arg-type]


def waivers(folder: Path, text: str, **options: object) -> tuple[Waiver, ...]:
    return load_waivers([written(folder, text)], RULES, **options)  # type: ignore[arg-type]


def test_a_statement_is_read_whole(tmp_path: Path) -> None:
    (found,) = statements(tmp_path, STATEMENT)
    assert (found.framework, found.control, found.claim) == ("nist-ai-rmf", "GOVERN 2.2", Claim.MET)
    assert found.date == dt.date(2026, 10, 1)
    assert found.expires == dt.datetime(2027, 10, 1, tzinfo=dt.UTC)
    assert (found.author, found.line, found.clusters) == ("Training Office", 2, ())
    assert found.id.startswith("S-")
    assert len(found.id) == 10


def test_a_control_of_one_framework_needs_no_framework(tmp_path: Path) -> None:
    (found,) = statements(
        tmp_path, STATEMENT.replace("  - framework: nist-ai-rmf\n    control", "  - control")
    )
    assert found.framework == "nist-ai-rmf"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("nist-ai-rmf", "nist", "unknown framework nist"),
        ("GOVERN 2.2", "GOVERN 2.9", "no control is called GOVERN 2.9"),
        ("claim: met", "claim: yes", "yes"),
        ("claim: met", "claim: not-met", 'did you mean "not_met"?'),
        ("    author: Training Office\n", "", "'author' is missing"),
        ("author: Training Office", 'author: " "', "may not be empty"),
        ("    date: 2026-10-01\n", "", "'date' is missing"),
        ("    expires: 2027-09-30\n", "", "'expires' is missing"),
        ("expires: 2027-09-30", "expires: 2026-09-30", "ends before it was made"),
        ("expires: 2027-09-30", "expires: 2027-02-29", "2027-02-29 is not in the calendar"),
        ("expires: 2027-09-30", "expires: 2027-09-30T12:00:00", "needs its zone"),
        ("expires: 2027-09-30", "expires: next year", "write a date"),
        ("date: 2026-10-01", "date: 2026-13-01", "no day of the calendar"),
        ("date: 2026-10-01", "date: 2026-10-01T00:00:00Z", "no day of the calendar"),
        ("text: All", "txt: All", 'did you mean "text"?'),
        ("statements:", "statement:", 'did you mean "statements"?'),
    ],
)
def test_a_wrong_statement_stops(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in STATEMENT
    with pytest.raises(ContentError) as caught:
        statements(tmp_path, STATEMENT.replace(old, new))
    assert words in str(caught.value)
    assert caught.value.line is not None


def test_not_applicable_needs_a_reason(tmp_path: Path) -> None:
    text = STATEMENT.replace("claim: met", "claim: not_applicable")
    assert statements(tmp_path, text)[0].claim is Claim.NOT_APPLICABLE
    with pytest.raises(ContentError, match="needs the reason"):
        statements(tmp_path, text.replace("    text: All operators were trained.\n", ""))


def test_unknown_clusters_are_refused_where_clusters_are_known(tmp_path: Path) -> None:
    text = STATEMENT + "    clusters: [east, wset]\n"
    assert statements(tmp_path, text)[0].clusters == ("east", "wset")
    with pytest.raises(ContentError, match=r'registered as wset.*did you mean "west"'):
        statements(tmp_path, text, clusters={"east", "west"})


def test_one_id_twice_is_refused_and_different_claims_have_different_ids(tmp_path: Path) -> None:
    entry = STATEMENT.removeprefix("statements:\n")
    with pytest.raises(ContentError, match="stands twice"):
        statements(tmp_path, STATEMENT + entry)
    both = statements(tmp_path, STATEMENT + entry.replace("GOVERN 2.2", "GOVERN 2.3"))
    assert both[0].id != both[1].id


def test_empty_files_say_nothing(tmp_path: Path) -> None:
    assert statements(tmp_path, "") == () == statements(tmp_path, "statements:\n")
    assert waivers(tmp_path, "# none\n") == ()


def test_a_waiver_is_read_whole(tmp_path: Path) -> None:
    (found,) = waivers(tmp_path, WAIVER)
    assert (found.rule, found.kind, found.namespace, found.name) == (
        "pod/privileged",
        "Deployment",
        "demo",
        "web",
    )
    assert (found.cluster, found.container, found.line) == ("", "", 2)
    assert found.expires == dt.datetime(2027, 4, 1, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("pod/privileged", "pod/privilege", 'did you mean "pod/privileged"?'),
        ("    owner: Platform\n", "", "'owner' is missing"),
        ("owner: Platform", 'owner: ""', "may not be empty"),
        ("    reason: The driver needs it until spring.\n", "", "'reason' is missing"),
        (", name: web", "", "'name' is missing"),
        ("name: web", "name: ''", "may not be empty"),
        ("name: web", "name: '*'", "wildcard"),
        ("name: web", "name: w*b", "wildcard"),
        ("name: web", "name: 'web?'", "wildcard"),
        ("namespace: demo", "namespace: 'demo*'", "wildcard"),
        ("kind: Deployment", "kind: '*'", "wildcard"),
        ("kind: Deployment, ", "", "'kind' is missing"),
        ("namespace: demo", "namspace: demo", 'did you mean "namespace"?'),
        ("expires: 2027-03-31", "expires: 2027-03-31 10:00", "needs its zone"),
        ("expires: 2027-03-31", "expires: 20270331", "quotes"),
    ],
)
def test_a_wrong_waiver_stops(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in WAIVER
    with pytest.raises(ContentError) as caught:
        waivers(tmp_path, WAIVER.replace(old, new))
    assert words in str(caught.value)


def test_a_generated_name_may_end_in_its_star(tmp_path: Path) -> None:
    assert waivers(tmp_path, WAIVER.replace("name: web", "name: web-*"))[0].name == "web-*"


def test_all_errors_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    one = written(tmp_path, WAIVER.replace("pod/privileged", "no/rule"), "one.yaml")
    two = written(tmp_path, WAIVER.replace("owner: Platform", 'owner: ""'), "two.yaml")
    with pytest.raises(ContentError) as caught:
        load_waivers([one, tmp_path / "missing.yaml", two], RULES)
    assert {error.file for error in (caught.value, *caught.value.others)} == {
        str(one),
        str(tmp_path / "missing.yaml"),
        str(two),
    }


# --- when a waiver ends ----------------------------------------------------------------------------------------------


@pytest.fixture(params=["Pacific/Kiritimati", "America/Los_Angeles", "UTC"])
def machine_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The same file must mean the same on every machine."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def _case(folder: Path, refused: list[str]) -> tuple[Path, list[str]]:
    """The shared case in our own file format, without the entries that must not load; and those entries."""
    source = read_document(shared_dir("cases", "41-waiver-expiry-and-time-zones", "waivers.yaml")).value
    entries = [
        {
            "id": item["id"],
            "rule": item["rule"],
            "subject": {"kind": item["object"].split("/")[0], "name": item["object"].split("/")[1]},
            "owner": "o",
            "reason": "r",
            **({"expires": item["expires"]} if "expires" in item else {}),
        }
        for item in source
    ]
    good = [entry for entry in entries if entry["id"] not in refused]
    path = folder / "good.yaml"
    path.write_text(yaml.safe_dump({"waivers": good}), encoding="utf-8")
    bad = []
    for entry in entries:
        if entry["id"] in refused:
            bad.append(str(folder / f"{entry['id']}.yaml"))
            Path(bad[-1]).write_text(yaml.safe_dump({"waivers": [entry]}), encoding="utf-8")
    return path, bad


def test_the_shared_case_holds_in_every_zone(tmp_path: Path, machine_zone: str) -> None:
    table = json.loads(
        shared_dir("cases", "41-waiver-expiry-and-time-zones", "expect.json").read_text(encoding="utf-8")
    )
    good, bad = _case(tmp_path, table["refused_at_load"])
    rules = [f"R{number}" for number in range(1, 10)]
    for path in bad:
        with pytest.raises(ContentError):
            load_waivers([Path(path)], rules)
    loaded = load_waivers([good], rules)
    for moment, expected in table["at"].items():
        now = dt.datetime.fromisoformat(moment)
        live = {state.waiver.id for state in WaiverIndex(loaded, now).states() if state.live}
        assert live == set(expected["active"]), (machine_zone, moment)
        if "expired" in expected:
            assert {waiver.id for waiver in loaded} - live == set(expected["expired"])
    warned = {
        s.waiver.id for s in WaiverIndex(loaded, dt.datetime.now(dt.UTC)).states() if "no end" in s.warning
    }
    assert warned == {"w-none"}


def test_a_date_written_plain_or_in_quotes_is_the_same_day(tmp_path: Path, machine_zone: str) -> None:
    plain = waivers(tmp_path, WAIVER)[0].expires
    quoted = waivers(tmp_path, WAIVER.replace("2027-03-31", '"2027-03-31"'))[0].expires
    zoned = waivers(tmp_path, WAIVER.replace("2027-03-31", "2027-04-01T02:00:00+02:00"))[0].expires
    assert plain == quoted == zoned
