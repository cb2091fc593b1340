"""Model folders: label, card, licence, code, parts and digest."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from audit.collect.artifacts.model.label import AssetLabel, label_facts, label_schema
from audit.collect.artifacts.model.settings import ModelSettings
from audit.collect.artifacts.reading import UnreadError
from tests.meta.documents import CHECKOUT
from tests.unit.model.model_files import facts_of, gguf, reader_of, safetensors, spec_of, torch_archive
from tests.unit.signatures.test_models import statement

CARD = """---
license: apache-2.0
base_model: [owner/base]
datasets:
- owner/data
tags: [text-generation]
---
# Model

## Intended uses

Answering questions about the manual, and nothing else.

## Limitations

<!-- ask somebody -->
[More Information Needed]

### Bias

It was never tested.
"""
LABEL = {"asset_id": "models/a", "sensitivity_level": 3, "pii_fields": [], "retention_policy": "P365D"}


def folder(root: Path, files: dict[str, bytes | str | dict[str, Any]] | None = None) -> Path:
    """A model that is as it should be, with changes; empty content removes a file."""
    base: dict[str, Any] = {
        "config.json": {"model_type": "llama", "architectures": ["LlamaForCausalLM"], **LABEL},
        "model.safetensors": safetensors(metadata={"format": "pt"}),
        "README.md": CARD,
        "LICENSE": "text",
    }
    root.mkdir(exist_ok=True, parents=True)
    for name, content in {**base, **(files or {})}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content:
            raw = json.dumps(content) if isinstance(content, dict) else content
            path.write_bytes(raw if isinstance(raw, bytes) else raw.encode())
    return root


def model(root: Path, stands: str = "config.json") -> dict[str, Any]:
    return spec_of(root / stands, kind="Model", label=f"models/a/{stands}")


def test_a_whole_model(tmp_path: Path) -> None:
    spec = model(folder(tmp_path))
    assert spec["folder"] == "models/a"
    assert spec["config"]["architectures"] == ["LlamaForCausalLM"]
    assert (spec["label"]["status"], spec["label"]["asset_id"], spec["label"]["place"]) == (
        "valid",
        "models/a",
        "",
    )
    assert spec["licence"] == {
        "status": "stated",
        "names": [{"name": "apache-2.0", "source": "card"}],
        "texts": ["LICENSE"],
    }
    assert spec["card"]["fields"]["base_model"] == ["owner/base"]
    assert spec["code"]["named"]["count"] == 0
    assert spec["shards"]["status"] == "none"
    [weights] = spec["weights"]["listed"]
    assert (
        weights["digest"]
        == f"sha256:{hashlib.sha256((tmp_path / 'model.safetensors').read_bytes()).hexdigest()}"
    )


def test_the_digest_is_that_of_its_signature(tmp_path: Path) -> None:
    files = {
        "config.json": b'{"model_type": "x"}',
        "model.safetensors": safetensors(),
        "b/z": b"1",
        "README.md": b"hi",
    }
    folder(tmp_path, {**files, "LICENSE": b""})
    signed = json.loads(statement(files))["subject"][0]["digest"]["sha256"]
    assert model(tmp_path)["digest"] == {"status": "known", "value": f"sha256:{signed}"}
    for name in ("model.sig", ".git/HEAD", ".gitattributes"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    assert model(tmp_path)["digest"]["value"] == f"sha256:{signed}", "no part of the model"
    (tmp_path / "b/extra").write_bytes(b"x")
    assert model(tmp_path)["digest"]["value"] != f"sha256:{signed}"


def test_one_file_stands_for_a_folder(tmp_path: Path) -> None:
    folder(tmp_path, {"unet/config.json": {"_class_name": "UNet"}, "unet/w.safetensors": safetensors()})
    told = {
        name: [one.kind for one in facts_of(tmp_path / name, f"models/a/{name}")]
        for name in ("config.json", "model.safetensors", "README.md", "unet/w.safetensors")
    }
    assert told == {
        "config.json": ["Model"],
        "model.safetensors": ["ModelFile"],
        "README.md": ["ModelCard"],
        "unet/w.safetensors": ["ModelFile"],
    }
    assert reader_of(tmp_path / "unet/config.json", "models/a/unet/config.json") is None, (
        "a part of the model above"
    )
    assert reader_of(tmp_path / "LICENSE") is None


def test_a_folder_of_weights_alone_is_a_model_too(tmp_path: Path) -> None:
    (tmp_path / "b.gguf").write_bytes(gguf().built())
    (tmp_path / "a.pt").write_bytes(torch_archive())
    assert [one.kind for one in facts_of(tmp_path / "a.pt")] == ["ModelFile", "Model"]
    assert [one.kind for one in facts_of(tmp_path / "b.gguf")] == ["ModelFile"]
    spec = spec_of(tmp_path / "a.pt", kind="Model")
    assert spec["card"]["status"] == "absent"
    assert spec["config"]["status"] == "absent"
    assert spec["label"]["status"] == "absent"
    assert spec["licence"]["names"] == [{"name": "apache-2.0", "source": "weights"}], "of the GGUF header"


def test_arrays_and_other_json_make_no_model(tmp_path: Path) -> None:
    (tmp_path / "a.npy").write_bytes(b"\x93NUMPY\x01\x00\x02\x00{}")
    assert [one.kind for one in facts_of(tmp_path / "a.npy")] == ["ModelFile"]
    for content in ('{"apiVersion": "v1", "kind": "ConfigMap"}', '{"compilerOptions": {}}', "", "{}"):
        (tmp_path / "config.json").write_text(content)
        assert reader_of(tmp_path / "config.json") is None
    (tmp_path / "README.md").write_text("hello")
    (tmp_path / "a.npy").unlink()
    assert reader_of(tmp_path / "README.md") is None


# ---- label


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"sensitivity_level": 2}, "sensitivity_level"),
        ({"sensitivity_level": "3"}, "sensitivity_level"),
        ({"sensitivity_level": True}, "sensitivity_level"),
        ({"asset_id": ""}, "asset_id"),
        ({"asset_id": "has blanks"}, "asset_id"),
        ({"pii_fields": "name"}, "pii_fields"),
        ({"pii_fields": ["a", "a"]}, "pii_fields"),
        ({"pii_fields": [""]}, "pii_fields/0"),
        ({"retention_policy": "  "}, "retention_policy"),
        ({"retention_policy": None}, "retention_policy"),
        ({"pii_fields": ["name"], "sensitivity_level": 1}, "sensitivity_level"),
    ],
)
def test_a_wrong_label_says_where(change: dict[str, Any], place: str) -> None:
    facts = label_facts({"model_type": "x", **LABEL, **change}, adapter=False)
    assert facts["status"] == "invalid"
    assert [one["place"] for one in facts["problems"]] == [place]
    assert facts["asset_id"] is None


def test_a_label_may_be_missing_nested_or_half(tmp_path: Path) -> None:
    assert label_facts({"model_type": "x"}, adapter=False)["status"] == "absent"
    assert label_facts({"asset_label": {**LABEL, "owner": "x"}}, adapter=False)["status"] == "valid"
    assert label_facts({"asset_label": "x"}, adapter=False)["status"] == "invalid"
    assert label_facts({"asset_id": "a"}, adapter=False)["problems"]
    low = {**LABEL, "sensitivity_level": 1}
    assert label_facts(low, adapter=False)["status"] == "valid"
    assert label_facts(low, adapter=True)["status"] == "invalid", "an adapter is of level 3 at least"
    folder(
        tmp_path, {"adapter_config.json": {"peft_type": "LORA"}, "config.json": {"model_type": "x", **low}}
    )
    assert model(tmp_path)["label"]["status"] == "invalid"


def test_the_published_schema_is_the_one_that_is_used() -> None:
    published = CHECKOUT / "docs" / "schema" / "fleetaudit-asset-label-v1.schema.json"
    assert json.loads(published.read_text(encoding="utf-8")) == label_schema()
    assert set(label_schema()["required"]) == set(AssetLabel.__struct_fields__)


# ---- card


def test_sections_of_a_card(tmp_path: Path) -> None:
    card = spec_of(folder(tmp_path) / "README.md", kind="ModelCard", label="models/a/README.md")
    sections = {one["title"]: one["characters"] for one in card["sections"]}
    assert sections["Intended uses"] == len("Answeringquestionsaboutthemanual,andnothingelse.")
    assert sections["Limitations"] == sections["Bias"] == len("Itwasnevertested.")
    assert sections["Model"] == card["characters"] == sections["Intended uses"] + sections["Bias"]


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("---\nlicense: mit\nno end", "malformed"),
        ("---\n- a\n- b\n---\ntext", "malformed"),
        ("---\na: &x [1]\nb: *x\n---\ntext", "malformed"),
        (b"\xff\xfe\xff", "malformed"),
        ("---\nlicense: {a: b}\ntags: text\n---\n", "read"),
        ("no front matter", "read"),
        ("---\r\nlicense: mit\r\n---\r\ntext", "read"),
    ],
)
def test_cards_of_all_kinds(tmp_path: Path, content: str | bytes, status: str) -> None:
    spec = model(folder(tmp_path, {"README.md": content}))
    assert spec["card"]["status"] == status
    stated = isinstance(content, str) and "license: mit\r" in content
    assert spec["licence"]["status"] == (
        "stated" if stated else "unknown" if status == "malformed" else "absent"
    )


def test_a_card_that_is_a_link_out_of_the_folder_is_none(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text(CARD)
    root = folder(tmp_path / "m", {"README.md": b""})
    (root / "README.md").symlink_to(tmp_path / "other.md")
    spec = model(root)
    assert spec["card"]["status"] == "absent"
    assert spec["links"] == {"count": 1, "listed": ["README.md"]}


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ("license: other\nlicense_name: our-terms", ["our-terms"]),
        ("license: other", []),
        ("license: unknown", []),
        ("license: [mit, apache-2.0]", ["apache-2.0", "mit"]),
        ("tags: [mit]", []),
    ],
)
def test_licences_of_cards(tmp_path: Path, fields: str, names: list[str]) -> None:
    licence = model(folder(tmp_path, {"README.md": f"---\n{fields}\n---\ntext"}))["licence"]
    assert [one["name"] for one in licence["names"]] == names
    assert licence["status"] == ("stated" if names else "absent")


# ---- code and parts


def test_code_that_a_model_brings(tmp_path: Path) -> None:
    auto = {"AutoConfig": "configuration.C", "AutoModel": ["owner/other--modeling.M", None]}
    folder(
        tmp_path,
        {
            "config.json": {"model_type": "x", "auto_map": auto},
            "tokenizer_config.json": {"auto_map": {"AutoTokenizer": "tok.T"}},
            "modeling.py": "x = 1",
            "preprocessor_config.json": "{",
        },
    )
    code = model(tmp_path)["code"]
    assert {(one["file"], one["reference"], one["remote"]) for one in code["named"]["listed"]} == {
        ("config.json", "configuration.C", False),
        ("config.json", "owner/other--modeling.M", True),
        ("tokenizer_config.json", "tok.T", False),
    }
    assert (code["remote"], code["status"]) == (1, "unknown")
    assert code["unread"][0]["name"] == "preprocessor_config.json"
    assert code["python"]["listed"] == ["modeling.py"]


def test_parts_that_an_index_names(tmp_path: Path) -> None:
    def shards(weights: Any) -> dict[str, Any]:
        found: dict[str, Any] = model(
            folder(tmp_path, {"model.safetensors.index.json": json.dumps({"weight_map": weights})})
        )["shards"]
        return found

    assert shards({"a": "model.safetensors"})["status"] == "complete"
    assert shards({"a": "model.safetensors", "b": "gone"})["missing"]["listed"] == ["gone"]
    assert shards({"a": "../../etc/passwd", "b": "/etc/passwd"})["outside"]["count"] == 2
    assert shards([1])["status"] == "malformed"
    assert shards({"a": 1})["status"] == "malformed"


def test_a_configuration_that_cannot_be_read(tmp_path: Path) -> None:
    folder(tmp_path, {"config.json": '{"model_type": "x", '})
    spec = model(tmp_path)
    assert (spec["config"]["status"], spec["label"]["status"], spec["code"]["status"]) == (
        "malformed",
        "unknown",
        "unknown",
    )


def test_a_folder_with_too_many_files_has_no_digest(tmp_path: Path) -> None:
    folder(tmp_path)
    found = facts_of(tmp_path / "config.json", settings=ModelSettings(max_folder_files=2))
    assert found[0].spec["digest"]["status"] == "unknown"


def test_what_cannot_be_opened_is_an_error_of_its_reader(tmp_path: Path) -> None:
    path = folder(tmp_path) / "model.safetensors"
    reader = reader_of(path)
    assert reader is not None
    from audit.collect.artifacts.reading import look_at

    artifact = look_at(path, "m", max_bytes=1 << 20)
    path.unlink()
    with pytest.raises((OSError, UnreadError)):
        list(reader.read(artifact))
