"""A folder full of secrets, audited by the real command with a rule that repeats all it sees: no file holds one."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.command import Run, run
from tests.native import test_secrets_hidden as places

CANARY = places.CANARY
FORMATS = "html,json,sarif,junit,markdown,csv"
URL = f"https://user:{CANARY}@evidence.example.test/x?token={CANARY}"

ECHO = """# METADATA
# title: Repeats everything
# description: Repeats everything, see https://user:CANARY@rules.example.test
# related_resources:
# - {ref: "https://user:CANARY@rules.example.test/x"}
# custom:
#   severity: low
#   match: {kinds: [{kinds: KINDS, group: GROUP}]}
#   remediation: Look at https://user:CANARY@rules.example.test
package own.echoNUMBER

default applies := true

violations contains {"message": json.marshal(input), "seen": input, "expected": input, "path": ["spec"]}
"""


def audited() -> list[dict[str, Any]]:
    """One object for each place where people put secrets."""
    env = [{"name": name, "value": CANARY} for name in places.VARIABLES]
    objects: list[dict[str, Any]] = [
        _object("v1", "Pod", spec={"containers": [{"name": "c", "image": "i", "env": env}]}),
        _object("v1", "ConfigMap", data=dict.fromkeys(places.VARIABLES, CANARY)),
        _object("v1", "ConfigMap", data=places.FILES),
        _object(
            "v1",
            "ConfigMap",
            binaryData={
                str(n): base64.b64encode(text.encode()).decode()
                for n, text in enumerate(places.FILES.values())
            },
        ),
        _object("v1", "Secret", stringData={"a": CANARY}, data={"b": places.B64}, type="Opaque"),
    ]
    objects += [
        _object("v1", "Pod", spec={"containers": [{"name": "c", "image": "i", "args": words}]})
        for words in places.WORDS
    ]
    objects += [
        _object("argoproj.io/v1", "Application", spec={"helm": {"values": t}}) for t in places.FILES.values()
    ]
    for kind, fields in places.OBJECTS:
        group, _, short = kind.rpartition("/")
        objects.append(_object(f"{group}/v1" if group else "v1", short, **fields))
    for number, item in enumerate(objects):
        item["metadata"] = {"name": f"o-{number}", "namespace": "ml"} | {
            key: value for key, value in item["metadata"].items() if key == "annotations"
        }
    return objects


def _object(api_version: str, kind: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {}} | fields


def broken() -> dict[str, str]:
    """Files that can't be read, each for a reason whose message could quote them."""
    head = "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\nstringData:\n"
    return {
        "alias.yaml": f"{head}  password: *{CANARY}\n",
        "anchor.yaml": f"{head}  password: &{CANARY} [*{CANARY}]\n",
        "tag.yaml": f"{head}  password: !!float {CANARY}\n",
        "key.yaml": f"{head}  ? {{a: {CANARY}}}\n  : x\n",
        "at.yaml": f"{head}  password: @{CANARY}\n",
        "quote.yaml": f'{head}  password: "{CANARY}\n',
        "json.json": f'{{"apiVersion": "v1", "kind": "Secret", "stringData": {{"a": {CANARY}}}}}',
        "twice.yaml": f"{head}  password: {CANARY}\n  password: {CANARY}x\n",
        "list.yaml": f"- {CANARY}\n- password: {CANARY}\n",
        "scalar.yaml": f"{CANARY}\n",
    }


def authored(folder: Path) -> None:
    """Configuration, statements, waivers, mappings and rules that hold credentials."""
    (folder / "rules").mkdir()
    kinds: dict[str, set[str]] = {}
    for item in audited():
        group = item["apiVersion"].rpartition("/")[0]
        kinds.setdefault(group, set()).add(item["kind"])
    for number, (group, names) in enumerate(sorted(kinds.items())):
        text = ECHO.replace("CANARY", CANARY).replace("KINDS", json.dumps(sorted(names)))
        text = text.replace("GROUP", json.dumps(group)).replace("NUMBER", str(number))
        (folder / "rules" / f"echo{number}.rego").write_text(text)
    (folder / "fleetaudit.yaml").write_text(
        f"title: Audit of {URL}\n"
        "clusters:\n"
        "- name: one\n"
        f"  owner: {URL}\n"
        f"  labels: {{password: {CANARY}, wiki: '{URL}'}}\n"
        "  paths: [in]\n"
        "policy: {paths: [rules]}\n"
        "mappings: [mappings.yaml]\n"
        "waivers: [waivers.yaml]\n"
        "statements: [statements.yaml]\n"
        "profile: full\n"
        "scope:\n"
        "  exclude:\n"
        f"  - {{path: left-out/, reason: 'see {URL}'}}\n"
        f"  - {{selector: {{kind: Application, name: o-3*}}, reason: 'see {URL}'}}\n"
        f"allow_gaps:\n- {{kind: unreadable, source: '*alias.yaml', reason: 'see {URL}', expires: 2036-12-31}}\n"
    )
    (folder / "statements.yaml").write_text(
        "statements:\n"
        "- framework: nist-ai-rmf\n"
        "  control: GOVERN 1.3\n"
        "  claim: met\n"
        f"  author: A. Example, {URL}\n"
        "  date: 2026-01-01\n"
        "  expires: 2036-01-01\n"
        f"  text: approved, {URL} and --password={CANARY}\n"
        f"  evidence: {URL}\n"
    )
    (folder / "waivers.yaml").write_text(
        "waivers:\n"
        "- rule: pod/privilege-escalation\n"
        "  subject: {kind: Pod, namespace: ml, name: o-0}\n"
        f"  owner: team, {URL}\n"
        f"  reason: accepted, {URL}\n"
        "  expires: 2036-01-01\n"
    )
    (folder / "mappings.yaml").write_text(
        "framework: nist-ai-rmf\n"
        "edition: '1.0'\n"
        f"author: me, {URL}\n"
        "date: 2026-01-01\n"
        "mappings:\n"
        "- control: GOVERN 1.3\n"
        "  rule: pod/privileged\n"
        "  strength: supports\n"
        f"  rationale: see {URL}\n"
        f"  limits: see {URL}\n"
    )


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    """The run, and the folder with everything that it wrote."""
    folder = tmp_path_factory.mktemp("canaries")
    source = folder / "in"
    source.mkdir()
    (source / "all.yaml").write_text("\n---\n".join(map(json.dumps, audited())))
    for name, text in broken().items():
        (source / name).write_text(text)
    (source / "left-out").mkdir()
    (source / "left-out" / "x.yaml").write_text(f"password: {CANARY}\n")
    (source / "remote").mkdir()
    (source / "remote" / "kustomization.yaml").write_text(
        f"resources: ['https://u:{CANARY}@git.example.test/x?ref=v1']\n"
    )
    (source / "odd").mkdir()
    (source / "odd" / "kustomization.yaml").write_text(f"resources: *{CANARY}\n")
    authored(folder)
    written = folder / "written"
    done = run(
        written / "out",
        *("--config", folder / "fleetaudit.yaml"),
        *("--format", FORMATS, "--log-file", written / "log.txt", "--verbose"),
        env={"FLEETAUDIT_CACHE": str(written / "cache"), "XDG_CACHE_HOME": str(written / "cache")},
    )
    assert done.code == 3, done.out + done.err
    (written / "stdout.txt").write_text(done.out)
    (written / "stderr.txt").write_text(done.err)
    return done, written


def test_no_file_holds_a_secret(audit: tuple[Run, Path]) -> None:
    _, written = audit
    names = set()
    for path in sorted(written.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            text = gzip.decompress(data) if path.suffix == ".gz" else data
            for needle in (CANARY, CANARY.upper(), CANARY.lower(), places.B64):
                at = text.find(needle.encode())
                assert at < 0, f"{path.relative_to(written)}: {text[max(0, at - 200) : at + 60]!r}"
            names.add(path.suffix)
    assert names >= {".html", ".json", ".sarif", ".xml", ".md", ".csv", ".gz", ".txt"}


def test_everything_was_repeated_and_the_authored_texts_are_there(audit: tuple[Run, Path]) -> None:
    """The test above would prove nothing if the texts had not been on their way."""
    done, _ = audit
    told = {
        member["subject"]["name"]
        for group in done.report["groups"]
        if group["rule"].startswith("own/echo")
        for member in group["members"]
    }
    left_out = {
        f"o-{n}"
        for n in range(len(audited()))
        if str(n).startswith("3") and audited()[n]["kind"] == "Application"
    }
    assert told >= {f"o-{n}" for n in range(len(audited()))} - left_out
    [statement] = done.report["statements"]
    assert statement["statement"]["evidence"].startswith("https://fleetaudit:redacted:url_credentials:")
    assert statement["statement"]["text"].startswith("approved, https://fleetaudit:redacted:url_credentials:")
    assert done.report["title"].startswith("Audit of https://fleetaudit:redacted:")
    assert [gap for gap in done.gaps if "would download https://" in gap["reason"]]
