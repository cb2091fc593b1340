"""Encodings, forms and malformed documents: each ends in a named verdict."""

from __future__ import annotations

import codecs
import json
import subprocess
import sys
from pathlib import Path

import pytest

from audit.collect.artifacts.reading import UnreadError, look_at
from audit.collect.artifacts.sbom.reader import SbomReader
from audit.collect.artifacts.sbom.settings import SbomSettings
from tests.unit.cli.terminal import CHECKOUT
from tests.unit.sbom.reading import SETTINGS, codes, cyclonedx, read, read_file, spdx

TEXT = json.dumps(spdx() | {"name": "café"}, ensure_ascii=False)
TAG_VALUE = """SPDXVersion: SPDX-2.3
DataLicense: CC0-1.0
SPDXID: SPDXRef-DOCUMENT
DocumentName: café
DocumentNamespace: https://sbom.example.test/demo
Creator: Organization: example
Creator: Tool: hand-1
Created: 2026-05-01T00:00:00Z

PackageName: registry.example.test/demo
SPDXID: SPDXRef-image
PackageVersion: 1
PackageSupplier: Organization: example
PackageDownloadLocation: NOASSERTION
FilesAnalyzed: false
PackageLicenseConcluded: Apache-2.0
PrimaryPackagePurpose: CONTAINER
PackageChecksum: SHA256: %s
PackageComment: <text>two
lines: here</text>

PackageName: lib
SPDXID: SPDXRef-lib
PackageVersion: 2
PackageSupplier: Person: Ann
PackageDownloadLocation: NOASSERTION
FilesAnalyzed: false
PackageLicenseDeclared: MIT

Relationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-image
Relationship: SPDXRef-image CONTAINS SPDXRef-lib
""" % ("ab" * 32)
XML = (
    '<?xml version="1.0"?><bom xmlns="http://cyclonedx.org/schema/bom/1.6" version="1"><components>'
    '<component type="library" bom-ref="lib"><name>café</name><version>2</version></component></components></bom>'
)


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        ("utf-8", TEXT.encode()),
        ("utf-8-bom", codecs.BOM_UTF8 + TEXT.encode()),
        ("utf-16-le", codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le")),
        ("utf-16-be", codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be")),
        ("utf-16-le", TEXT.encode("utf-16-le")),
        ("utf-16-be", TEXT.encode("utf-16-be")),
    ],
)
def test_encodings(encoding: str, data: bytes, tmp_path: Path) -> None:
    spec = read(data, tmp_path)
    assert (spec["file"]["encoding"], spec["name"]) == (encoding, "café")
    assert spec["counts"]["packages"] == 2


def test_every_form_of_spdx_says_the_same(tmp_path: Path) -> None:
    import yaml

    expected = read(TEXT.encode(), tmp_path)
    forms = {
        "yaml": yaml.safe_dump(json.loads(TEXT), allow_unicode=True).encode(),
        "tag-value": TAG_VALUE.encode(),
        "xml": b"<?xml version='1.0'?>" + _xml("Document", json.loads(TEXT)).encode(),
    }
    for name, data in forms.items():
        spec = read(data, tmp_path)
        assert spec["serialisation"] == name
        for key in expected.keys() - {"file", "serialisation", "format"}:
            assert spec[key] == expected[key], (name, key)
        assert spec["format"]["status"] == "valid", (name, spec["format"])


def _xml(name: str, value: object) -> str:
    if isinstance(value, list):
        return "".join(_xml(name, one) for one in value)
    inner = (
        "".join(_xml(key, one) for key, one in value.items())
        if isinstance(value, dict)
        else str(value).lower()
        if isinstance(value, bool)
        else str(value)
    )
    return f"<{name}>{inner}</{name}>"


BAD = {
    "not_utf8": TEXT.encode("latin-1"),
    "truncated": TEXT.encode()[:-20],
    "data_after_end": TEXT.encode() * 2,
    "too_deep": TEXT.encode().replace(b'"name"', b'"x": ' + b"[" * 5000 + b"]" * 5000 + b', "name"', 1),
    "too_large": TEXT.encode().replace(b'"name"', b'"x": [' + b"[]," * 3_000_000 + b'[]], "name"', 1),
    "not_json": TEXT.encode().replace(b'"name":', b'"name"', 1),
    "truncated ": XML.encode()[:-6],
    "data_after_end ": XML.encode() * 2,
    "not_xml": XML.replace("</name>", "</nome>").encode(),
    "entities_refused": XML.replace("<bom", '<!DOCTYPE x [<!ENTITY a "b">]><bom').encode(),
    "entities_refused ": XML.replace("<bom", '<!DOCTYPE x SYSTEM "file:///etc/passwd"><bom').encode(),
    "too_deep ": XML.replace("</name>", "</name>" + "<a>" * 300 + "</a>" * 300).encode(),
    "not_tag_value": TAG_VALUE.replace("PackageVersion:", "PackageVerzion:").encode(),
    "truncated  ": TAG_VALUE.replace("</text>", "").encode(),
    "data_after_end  ": (TAG_VALUE * 2).encode(),
    "too_large ": b"spdxVersion: SPDX-2.3\nx:\n" + b"- {}\n" * 600_000,
    "too_large  ": XML.encode().replace(b"</bom>", b"<a/>" * 1_300_000 + b"</bom>"),
    "aliases_refused": b"spdxVersion: SPDX-2.3\nSPDXID: SPDXRef-DOCUMENT\npackages: &a [{name: x}]\nfiles: *a\n",
    "data_after_end   ": b"spdxVersion: SPDX-2.3\n---\nspdxVersion: SPDX-2.3\n",
    "too_deep  ": b"spdxVersion: SPDX-2.3\nname: " + b"[" * 50_000 + b"]" * 50_000 + b"\n",
    "not_yaml": b"spdxVersion: SPDX-2.3\nname: [\n",
}


@pytest.mark.parametrize("name", BAD)
def test_what_can_not_be_read_is_named(name: str, tmp_path: Path) -> None:
    spec = read(BAD[name], tmp_path)
    # What we refuse to read may well be valid.
    refused = name.strip() in {"too_deep", "too_large", "entities_refused", "aliases_refused"}
    assert spec["format"]["status"] == ("unknown" if refused else "invalid")
    assert spec["format"]["code"] == name.strip()
    assert spec["content"]["status"] == "unread"
    assert "structure" not in spec, "nothing of half a document is taken for a fact"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff\xfe",
        b"kind: Pod\napiVersion: v1\n",
        b'{"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "{\\"spdxVersion\\": \\"SPDX-2.3\\"}"}}',
        b"package main\n\nconst x = `\nSPDXVersion: SPDX-2.3\n`\n",
        b"<html><body>bom</body></html>",
        bytes(range(256)),
    ],
)
def test_what_is_no_sbom_is_none(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(data)
    assert read_file(path) is None


def test_any_cut_and_any_flipped_byte_ends_in_facts(tmp_path: Path) -> None:
    for whole in (TEXT.encode(), XML.encode(), TAG_VALUE.encode()):
        for at in range(150, len(whole), 37):
            for data in (
                whole[:at],
                whole[:at] + b"\x00" + whole[at + 1 :],
                whole[:at] + b"\xff" + whole[at + 1 :],
            ):
                path = tmp_path / "x"
                path.write_bytes(data)
                spec = read_file(path)
                assert spec is None or spec["format"]["status"] in {"valid", "invalid", "unknown"}


def test_too_large_is_a_gap(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(TEXT)
    with pytest.raises(UnreadError, match="limit 100"):
        list(SbomReader(SETTINGS).read(look_at(path, "x", max_bytes=100)))


@pytest.mark.parametrize("name", ["yaml", "xml"])
def test_forms_that_need_much_memory_have_limits_of_their_own(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes({"yaml": b"spdxVersion: SPDX-2.3\n", "xml": XML.encode()}[name])
    reader = SbomReader(SbomSettings(yaml_max_bytes=10, tree_max_bytes=10))
    with pytest.raises(UnreadError, match="limit 10"):
        list(reader.read(look_at(path, "x", max_bytes=1 << 20)))


def test_unknown_versions_are_not_called_valid(tmp_path: Path) -> None:
    for document in (spdx() | {"spdxVersion": "SPDX-2.9"}, cyclonedx() | {"specVersion": "1.99"}):
        spec = read(document, tmp_path)
        assert (spec["format"]["status"], spec["format"]["code"]) == ("unknown", "unknown_version")
        assert spec["counts"]["packages"] >= 1


def test_schema_errors_are_counted_by_kind_and_hold_no_content(tmp_path: Path) -> None:
    document = spdx()
    document["packages"] += [
        {"SPDXID": f"SPDXRef-{i}", "name": {"secret": "S3CRET" * 100}, "downloadLocation": "NONE"}
        for i in range(3000)
    ]
    found = read(document, tmp_path)["format"]
    assert (found["status"], found["code"], found["all_listed"]) == ("invalid", "schema", False)
    [problem] = found["problems"]
    assert problem["code"] == "schema:packages.[].name"
    assert problem["count"] == 1000
    assert "S3CRET" not in json.dumps(found)


def test_parts_of_xml_that_no_schema_can_be_asked_about_are_said(tmp_path: Path) -> None:
    data = XML.replace("</version>", "</version><evidence><copyright><text>a</text></copyright></evidence>")
    found = read(data.encode(), tmp_path)["format"]
    assert (found["status"], found["code"]) == ("unknown", "partly_checked")
    assert "evidence" in found["reason"]


def test_deep_validation_says_whether_it_was_done(tmp_path: Path) -> None:
    deep = read(spdx(), tmp_path, SbomSettings())["format"]["deep"]
    assert (deep["status"], deep["errors"]) == ("done", 0)
    wrong = spdx()
    wrong["packages"][1]["downloadLocation"] = "not a place"
    assert read(wrong, tmp_path)["format"]["status"] == "valid", "only spdx-tools knows better"
    found = read(wrong, tmp_path, SbomSettings())["format"]
    assert (found["status"], found["code"], found["deep"]["errors"]) == ("invalid", "deep", 1)
    small = read(spdx(), tmp_path, SbomSettings(deep_max_elements=1))["format"]["deep"]
    assert small["status"] == "left_out"
    assert "limit 1" in small["reason"]
    slow = read(spdx(), tmp_path, SbomSettings(deep_seconds=0.001))["format"]["deep"]
    assert slow["status"] == "left_out"
    assert "0.001 s" in slow["reason"]
    poor = read(spdx(), tmp_path, SbomSettings(deep_memory_bytes=1 << 20))["format"]["deep"]
    assert poor["status"] == "left_out"
    assert read(cyclonedx(), tmp_path, SbomSettings())["format"]["deep"]["status"] == "left_out"


def test_one_reader_reads_many(tmp_path: Path) -> None:
    reader = SbomReader(SbomSettings())
    for i in range(3):
        path = tmp_path / f"{i}.json"
        path.write_text(json.dumps(spdx()))
        [facts] = reader.read(look_at(path, path.name, max_bytes=1 << 20))
        assert facts.spec["format"]["deep"]["status"] == "done"
        assert codes(dict(facts.spec)) == {}


@pytest.mark.parametrize(
    ("old", "new", "number"),
    [
        ('"name": "café"', '"name": "a", "name": "café"', 1),
        ('"name": "café"', '"name"\t: "a", "name"  : "b", "name" : "café"', 2),
        ('"name": "lib"', '"name": "other", "name": "lib"', 1),
        ('"packages"', '"packages": [], "packages"', 1),
        ('"name": "café"', '"name": ":a", "comment": "x\\":y \\\\", "x\\":": ":", "": 1', 0),
        ('"name": "café"', '"name" : "a,\\": b"', 0),
    ],
)
def test_a_key_that_stands_twice_is_noticed_at_any_depth(
    old: str, new: str, number: int, tmp_path: Path
) -> None:
    assert TEXT.count(old) == 1
    assert json.loads(TEXT.replace(old, new))
    found = codes(read(TEXT.replace(old, new).encode(), tmp_path))
    assert found.get("duplicate_keys", 0) == number


def test_too_deep_for_the_schema_is_read_and_unknown(tmp_path: Path) -> None:
    found = read(
        TEXT.encode().replace(b'"name"', b'"x": ' + b"[" * 900 + b"]" * 900 + b', "name"', 1), tmp_path
    )
    assert (found["format"]["status"], found["format"]["code"]) == ("unknown", "too_deep")
    assert found["counts"]["packages"] == 2


@pytest.mark.parametrize("levels", [2, 12, 100, 400])
def test_nested_components_are_all_counted(levels: int, tmp_path: Path) -> None:
    document = cyclonedx()
    for level in range(levels):
        document["components"] = [
            {"type": "library", "name": str(level), "components": document["components"]}
        ]
    spec = read(document, tmp_path)
    assert spec["counts"]["packages"] == levels + 1
    assert spec["format"]["status"] == "valid"


CROWDS = {
    "json": b'{"spdxVersion": "SPDX-2.3", "packages": [' + b"{}," * 450_000 + b"{}]}",
    "cyclonedx": b'{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": ['
    + b"{}," * 450_000
    + b"{}]}",
    "tag-value": b"SPDXVersion: SPDX-2.3\n" + b"PackageName: a\n" * 450_000,
}


@pytest.mark.parametrize("name", CROWDS)
def test_a_crowd_of_elements_is_refused(name: str, tmp_path: Path) -> None:
    found = read(CROWDS[name], tmp_path)
    assert (found["format"]["status"], found["format"]["code"]) == ("unknown", "too_large")


MEASURED = """
import sys
from pathlib import Path
from audit.collect.artifacts.reading import look_at
from audit.collect.artifacts.sbom.reader import SbomReader
from audit.collect.artifacts.sbom.settings import SbomSettings
[facts] = SbomReader(SbomSettings(deep=False)).read(look_at(Path(sys.argv[1]), "x", max_bytes=64 << 20))
status = Path("/proc/self/status").read_text()
print(facts.spec["format"]["status"], next(int(l.split()[1]) // 1024 for l in status.splitlines() if "VmHWM" in l))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("key", ["relationships", "other"])
def test_a_document_that_is_wrong_everywhere_takes_little_memory(key: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    wrong = {"spdxElementId": "SPDXRef-lib", "relatedSpdxElement": "SPDXRef-lib", "relationshipType": "NEW"}
    path.write_text(json.dumps(spdx() | {key: [wrong] * 100_000}), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(path)], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    status, megabytes = done.stdout.split()
    assert status == "invalid"
    assert int(megabytes) < 250


def test_errors_far_down_a_list_are_found_at_their_place(tmp_path: Path) -> None:
    document = spdx()
    document["packages"] += [
        {"SPDXID": f"SPDXRef-{i}", "name": str(i), "downloadLocation": "NONE"} for i in range(20_000)
    ]
    document["packages"][15_000]["name"] = 7
    [problem] = read(document, tmp_path)["format"]["problems"]
    assert problem["examples"] == ["packages.15000.name"]
    bom = cyclonedx()
    bom["components"] = [{"type": "library", "name": str(i)} for i in range(20_000)]
    bom["components"][15_000]["type"] = "liberry"
    [problem] = read(bom, tmp_path)["format"]["problems"]
    assert problem["examples"] == ["components.15000.type"]


def test_a_fault_inside_one_element_that_holds_most_is_found(tmp_path: Path) -> None:
    bom = cyclonedx()
    inner = [{"type": "library", "name": str(i)} for i in range(20_000)]
    bom["components"].append({"type": "library", "name": "all", "components": inner})
    assert read(bom, tmp_path)["format"]["status"] == "valid"
    inner[15_000]["type"] = "liberry"
    found = read(bom, tmp_path)["format"]
    assert found["status"] == "invalid"
    assert found["problems"][0]["examples"] == ["components.1"]


def test_deep_validation_imports_nothing_from_the_folder_that_is_audited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json.py", "logging.py", "audit.py"):
        (tmp_path / name).write_text("import pathlib; pathlib.Path('ran').touch(); raise SystemExit(0)")
    monkeypatch.chdir(tmp_path)
    assert read(spdx(), tmp_path, SbomSettings(deep=True))["format"]["deep"]["status"] == "done"
    assert not (tmp_path / "ran").exists()
