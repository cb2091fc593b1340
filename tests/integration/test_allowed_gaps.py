"""A tolerated gap spares exit 3 and nothing else."""

from __future__ import annotations

from pathlib import Path

from tests.integration.command import run


def test_tolerated_gap_is_printed_and_its_pairs_stay_errors(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: ml}\n---\n"
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ml}\nspec: {containers: [{name: c, image: a/b:1}]}\n"
    )
    (tmp_path / "bad.yaml").write_text("kind: [")
    allow = "- {kind: unreadable, source: '*bad.yaml', reason: known, expires: '2036-12-31'}"
    for allowed, code in (("", 3), (f"allow_gaps:\n{allow}\n", 0)):
        config = tmp_path / "fleetaudit.cfg"
        config.write_text(f"paths: [{tmp_path}/*.yaml]\n{allowed}")
        done = run(tmp_path / "out", "--config", config)
        assert done.code == code, done.out + done.err
        assert len(done.gaps) == 1
        assert done.gaps[0]["allowed"] is bool(allowed)
        errors = [g for g in done.report["groups"] if g["outcome"] == "error"]
        assert {member["error"] for group in errors for member in group["members"]} == {"context_incomplete"}
