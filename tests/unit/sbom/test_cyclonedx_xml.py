"""CycloneDX in XML says what the same document says in JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audit.collect.artifacts.sbom.cyclonedx_xml import from_xml
from tests.unit.sbom.reading import DIGEST, codes, read

XML = f"""<?xml version="1.0" encoding="UTF-8"?>
<bom xmlns="http://cyclonedx.org/schema/bom/1.6" xmlns:x="urn:other" version="3" x:extra="1"
     serialNumber="urn:uuid:3e671687-395b-41f5-a30f-a58921a69b79">
  <metadata>
    <timestamp>2026-05-01T00:00:00Z</timestamp>
    <tools><components><component type="application"><name>hand</name><version>1</version></component></components></tools>
    <authors><author><name>Ann</name><email>ann@example.test</email></author></authors>
    <component type="container" bom-ref="image"><name>demo</name><version>{DIGEST}</version></component>
    <supplier><name>example</name><url>https://example.test</url><contact><name>Bob</name></contact></supplier>
    <x:note>ignored</x:note>
  </metadata>
  <components>
    <component type="library" bom-ref="lib" mime-type="text/plain">
      <supplier><name>example</name></supplier>
      <name>lib</name><version>2</version><description>a
lib</description><scope>required</scope>
      <hashes><hash alg="SHA-256">{"ab" * 32}</hash><hash alg="SHA-1">{"cd" * 20}</hash></hashes>
      <licenses><license><id>MIT</id></license><license><name>House</name><text content-type="text/plain">kind</text></license></licenses>
      <copyright>Ann</copyright><cpe>cpe:2.3:a:example:lib:2:*:*:*:*:*:*:*</cpe><purl>pkg:pypi/lib@2</purl>
      <externalReferences>
        <reference type="website"><url>https://example.test</url><hashes><hash alg="MD5">{"0" * 32}</hash></hashes></reference>
      </externalReferences>
      <properties><property name="bsi:component:executable">executable</property></properties>
      <components><component type="library" bom-ref="inner"><name>inner</name><licenses><expression>MIT OR ISC</expression></licenses></component></components>
    </component>
    <component type="machine-learning-model" bom-ref="model"><name>llm</name>
      <modelCard><modelParameters><task>text</task><datasets><dataset><type>dataset</type><name>corpus</name></dataset></datasets></modelParameters></modelCard>
    </component>
  </components>
  <services><service bom-ref="api"><name>api</name><authenticated>true</authenticated>
    <data><classification flow="inbound">PII</classification></data></service></services>
  <dependencies>
    <dependency ref="image"><dependency ref="lib"/><dependency ref="model"/></dependency>
    <dependency ref="lib"/>
  </dependencies>
  <compositions><composition><aggregate>complete</aggregate><assemblies><assembly ref="lib"/></assemblies></composition></compositions>
  <vulnerabilities><vulnerability bom-ref="v"><id>CVE-2099-1</id><ratings><rating><score>7.5</score><severity>high</severity></rating></ratings>
    <cwes><cwe>79</cwe></cwes>
    <analysis><state>not_affected</state><responses><response>update</response></responses></analysis>
    <affects><target><ref>lib</ref><versions><version><version>2</version><status>affected</status></version></versions></target></affects>
  </vulnerability></vulnerabilities>
</bom>"""
JSON: dict[str, Any] = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.6",
    "version": 3,
    "serialNumber": "urn:uuid:3e671687-395b-41f5-a30f-a58921a69b79",
    "metadata": {
        "timestamp": "2026-05-01T00:00:00Z",
        "tools": {"components": [{"type": "application", "name": "hand", "version": "1"}]},
        "authors": [{"name": "Ann", "email": "ann@example.test"}],
        "component": {"type": "container", "bom-ref": "image", "name": "demo", "version": DIGEST},
        "supplier": {"name": "example", "url": ["https://example.test"], "contact": [{"name": "Bob"}]},
    },
    "components": [
        {
            "type": "library",
            "bom-ref": "lib",
            "mime-type": "text/plain",
            "supplier": {"name": "example"},
            "name": "lib",
            "version": "2",
            "description": "a\nlib",
            "scope": "required",
            "hashes": [{"alg": "SHA-256", "content": "ab" * 32}, {"alg": "SHA-1", "content": "cd" * 20}],
            "licenses": [
                {"license": {"id": "MIT"}},
                {"license": {"name": "House", "text": {"contentType": "text/plain", "content": "kind"}}},
            ],
            "copyright": "Ann",
            "cpe": "cpe:2.3:a:example:lib:2:*:*:*:*:*:*:*",
            "purl": "pkg:pypi/lib@2",
            "externalReferences": [
                {
                    "type": "website",
                    "url": "https://example.test",
                    "hashes": [{"alg": "MD5", "content": "0" * 32}],
                }
            ],
            "properties": [{"name": "bsi:component:executable", "value": "executable"}],
            "components": [
                {
                    "type": "library",
                    "bom-ref": "inner",
                    "name": "inner",
                    "licenses": [{"expression": "MIT OR ISC"}],
                }
            ],
        },
        {
            "type": "machine-learning-model",
            "bom-ref": "model",
            "name": "llm",
            "modelCard": {
                "modelParameters": {"task": "text", "datasets": [{"type": "dataset", "name": "corpus"}]}
            },
        },
    ],
    "services": [
        {
            "bom-ref": "api",
            "name": "api",
            "authenticated": True,
            "data": [{"flow": "inbound", "classification": "PII"}],
        }
    ],
    "dependencies": [{"ref": "image", "dependsOn": ["lib", "model"]}, {"ref": "lib"}],
    "compositions": [{"aggregate": "complete", "assemblies": ["lib"]}],
    "vulnerabilities": [
        {
            "bom-ref": "v",
            "id": "CVE-2099-1",
            "ratings": [{"score": 7.5, "severity": "high"}],
            "cwes": [79],
            "analysis": {"state": "not_affected", "response": ["update"]},
            "affects": [{"ref": "lib", "versions": [{"version": "2", "status": "affected"}]}],
        }
    ],
}


def test_the_json_form_is_made() -> None:
    found, left_out = from_xml(XML.encode())
    assert found == JSON
    assert left_out == []


def test_the_facts_are_the_same(tmp_path: Path) -> None:
    of_xml, of_json = read(XML.encode(), tmp_path), read(JSON, tmp_path)
    assert of_xml["format"]["status"] == of_json["format"]["status"] == "valid", of_xml["format"]
    for key in of_json.keys() - {"file", "format", "serialisation"}:
        assert of_xml[key] == of_json[key], key
    assert codes(of_xml) == {}
    assert of_xml["profiles"] == ["software", "ai", "services", "vulnerabilities"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('type="library" bom-ref="inner"', 'type="liberry" bom-ref="inner"'),
        ("<name>inner</name>", ""),
        ('alg="SHA-256"', 'alg="SHA-257"'),
        ("<id>MIT</id>", "<id>MIT</id><id>ISC</id>"),
        ("<id>MIT</id>", "<id>Mitt</id>"),
        ("<scope>required</scope>", "<scope>needed</scope>"),
        ("<scope>required</scope>", "<scoop>required</scoop>"),
        ('version="3"', 'version="three"'),
        ("<score>7.5</score>", "<score>much</score>"),
        ("<score>7.5</score>", "<score>1e999</score>"),
        ("<score>7.5</score>", "<score>nan</score>"),
    ],
)
def test_what_the_schema_forbids_is_invalid_in_xml_too(old: str, new: str, tmp_path: Path) -> None:
    assert old in XML
    assert read(XML.replace(old, new).encode(), tmp_path)["format"]["status"] == "invalid"


def test_another_namespace_is_another_version(tmp_path: Path) -> None:
    found = read(XML.replace("bom/1.6", "bom/1.1").encode(), tmp_path)
    assert (found["version"], found["format"]["code"]) == ("1.1", "unknown_version")
