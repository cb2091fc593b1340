"""Samples: drawn by a rule that anybody can repeat, with the evidence beside each pair."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import random
import shlex
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from audit.cli.population import draw, rank_text, read_pairs, verify_digest
from audit.cli.sampling import draw_sample
from audit.errors import UsageError
from audit.model.control import Strength
from audit.model.finding import Outcome
from audit.model.result import AssessmentResult
from audit.ports import PairAnswer
from audit.record.population import COLUMNS, PairRow, PopulationWriter, cell, neutral, original
from audit.report.json_writer import JsonWriter
from tests import builders as b
from tests.unit.cli.terminal import run

ALL = frozenset({"pass", "fail", "warn", "error"})


def pair(number: int, **changes: str) -> PairRow:
    fields = {
        "rule": "pod/privileged",
        "cluster": "east",
        "kind": "apps/Deployment",
        "namespace": "demo",
        "name": f"web-{number}",
        "source": f"east/web-{number}.yaml",
        "document": "1",
        "item": "",
        "digest": hashlib.sha256(str(number).encode()).hexdigest(),
        "outcome": "pass",
        "reason": "",
        "waiver": "",
    }
    return PairRow(**(fields | changes))


def write(folder: Path, pairs: Iterable[PairRow]) -> tuple[Path, str]:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    rows.writerows([getattr(row, column) for column in COLUMNS] for row in pairs)
    raw = text.getvalue().encode()
    path = folder / "population.csv.gz"
    path.write_bytes(gzip.compress(raw, mtime=0))
    return path, hashlib.sha256(raw).hexdigest()


def made(folder: Path, pairs: list[PairRow]) -> AssessmentResult:
    """A result whose population has these pairs; the first pair with outcome fail is a finding of it."""
    _, digest = write(folder, pairs)
    failed = next((row for row in pairs if row.outcome == "fail"), None)
    groups = []
    if failed is not None:
        subject = b.subject(failed.name, source=failed.source, cluster=failed.cluster)
        groups = [b.group(b.finding(subject=subject))]
    return b.result(
        groups,
        record=b.record(population_file="population.csv.gz", population_sha256=digest),
        mappings=(b.mapping(),),
    )


@pytest.mark.parametrize("text", ["", "a.yaml", "=x", "'=x", "'x", "''", "+1", "@a", "\tx", '=a,"b"'])
def test_what_a_spreadsheet_may_see_leads_back_to_the_text(text: str) -> None:
    (row,) = csv.reader(io.StringIO(cell(text), newline="")) if text else [[""]]
    assert row == [neutral(text)]
    assert original(neutral(text)) == text
    assert not neutral(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_the_draw_depends_on_seed_and_identity_alone() -> None:
    pairs = [pair(n) for n in range(500)]
    drawn = draw(pairs, size=20, seed=7)
    shuffled = pairs[:]
    random.Random(1).shuffle(shuffled)
    assert draw(shuffled, size=20, seed=7) == drawn
    assert [p.identity for p in draw([pair(n, outcome="fail") for n in range(500)], size=20, seed=7)] == [
        p.identity for p in drawn
    ]
    assert draw(pairs, size=20, seed=8) != drawn
    assert draw(pairs, size=10, seed=7) == drawn[:10]
    assert len(draw(pairs, size=1000, seed=7)) == 500


def test_the_draw_can_be_repeated_by_hand() -> None:
    pairs = [pair(n) for n in range(100)]
    by_hand = sorted(pairs, key=lambda p: hashlib.sha256(rank_text(p, 42).encode()).hexdigest())
    assert draw(pairs, size=5, seed=42) == by_hand[:5]
    assert (
        rank_text(pairs[0], 42)
        == "42\tpod/privileged\teast\tapps/Deployment\tdemo\tweb-0\teast/web-0.yaml\t1\t"
    )


def test_the_draw_is_fair() -> None:
    """Each pair has the same chance: over many seeds, both halves are drawn about equally often."""
    pairs = [pair(n) for n in range(100)]
    low = sum(int(p.name[4:]) < 50 for seed in range(200) for p in draw(pairs, size=10, seed=seed))
    assert 850 < low < 1150


def test_what_the_writer_writes_is_read_back(tmp_path: Path) -> None:
    writer = PopulationWriter(tmp_path)
    ref = b.subject('a,"b"\nc', source="=evil.yaml", document=3, item="items[0]")
    answer = PairAnswer(rule="pod/privileged", outcome=Outcome.SKIP, reason="no_pods")
    writer.add(ref, [(answer, ""), (PairAnswer(rule="pod/host-ports", outcome=Outcome.FAIL), "W-1")])
    digest = writer.finish()
    verify_digest(writer.path, digest)
    rows = list(read_pairs(writer.path))
    assert [(r.rule, r.outcome, r.reason, r.waiver) for r in rows] == [
        ("pod/privileged", "skip", "no_pods", ""),
        ("pod/host-ports", "fail", "", "W-1"),
    ]
    assert original(rows[0].name) == 'a,"b"\nc'
    assert rows[0].source == "'=evil.yaml"
    assert rows[0].title == 'Deployment demo/a,"b"\\u000ac'


def test_a_foreign_or_damaged_population_is_refused(tmp_path: Path) -> None:
    path, digest = write(tmp_path, [pair(n) for n in range(50)])
    verify_digest(path, digest)
    with pytest.raises(UsageError, match="not the one of this result"):
        verify_digest(path, "0" * 64)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    for read in (lambda: verify_digest(path, digest), lambda: list(read_pairs(path))):
        with pytest.raises(UsageError, match="cannot be read"):
            read()
    path.write_bytes(b"no gzip")
    with pytest.raises(UsageError, match="cannot be read"):
        list(read_pairs(path))
    path.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    with pytest.raises(UsageError, match="columns differ"):
        list(read_pairs(path))
    path.write_bytes(gzip.compress((",".join(COLUMNS) + "\na,b\n").encode()))
    with pytest.raises(UsageError, match="damaged"):
        list(read_pairs(path))
    with pytest.raises(UsageError, match="cannot be read"):
        verify_digest(tmp_path / "absent.csv.gz", digest)


def test_passes_and_failures_show_what_was_seen(tmp_path: Path) -> None:
    pairs = [pair(n) for n in range(5)] + [
        pair(9, outcome="fail"),
        pair(10, outcome="skip", reason="no_pods"),
    ]
    drawn = draw_sample(
        made(tmp_path, pairs), tmp_path, control="measure-2.7", size=100, seed=1, outcomes=ALL
    )
    assert drawn.eligible == 6
    seen = {each.pair.name: each.seen for each in drawn.pairs}
    assert seen["web-1"] == f"nothing wrong in object sha256 {pair(1).digest}"
    assert seen["web-9"] == "spec.template.spec.containers[0].securityContext.privileged = true"
    assert "web-10" not in seen
    skips = draw_sample(
        made(tmp_path, pairs),
        tmp_path,
        control="MEASURE 2.7",
        size=9,
        seed=1,
        outcomes=frozenset({"skip"}),
    )
    assert skips.pairs[0].seen.startswith("no_pods; ")


def test_each_pair_comes_with_the_command_that_repeats_it(tmp_path: Path) -> None:
    odd = pair(1, source="it's here/a b.yaml")
    derived = pair(2, source="", document="0", kind="Namespace")
    dashed = pair(3, source="'-x.yaml", item="items[4]")
    told = pair(4, outcome="skip", reason="told_of_its_controller")
    piped = pair(5, source="'-")
    result = made(tmp_path, [odd, derived, dashed, told, piped])
    record = msgspec.structs.replace(result.record, arguments=("--config", "my conf.yaml", "--policy", "p"))
    result = msgspec.structs.replace(result, record=record)
    everything = ALL | {"skip"}
    drawn = draw_sample(result, tmp_path, control="MEASURE 2.7", size=9, seed=1, outcomes=everything)
    again = {each.pair.name: shlex.split(each.again) for each in drawn.pairs}
    tail = ["--config", "my conf.yaml", "--policy", "p", "--cluster", "east", "--rule", "pod/privileged"]
    tail += ["-o", "-", "--format", "json"]
    whole = list(result.record.clusters[0].paths)
    for name, paths in {
        "web-1": ["it's here/a b.yaml"],
        "web-2": whole,
        "web-3": ["./-x.yaml"],
        "web-4": whole,
        "web-5": ["-"],
    }.items():
        assert again[name] == ["fleetaudit", "run", *paths, *tail]
    assert [each.pair.name for each in drawn.pairs if each.reads_input] == ["web-5"]


def test_of_several_contexts_the_pairs_own_is_asked(tmp_path: Path) -> None:
    result = made(tmp_path, [pair(1, source="", cluster="blue"), pair(2, source="", cluster="green")])
    record = msgspec.structs.replace(
        result.record,
        arguments=("--no-config", "--kubeconfig", "k", "--context", "ctx-b", "--context", "ctx-g"),
        configuration={
            "clusters": [
                {"name": "blue", "server": {"context": "ctx-b"}},
                {"name": "green", "server": {"context": "ctx-g"}},
            ]
        },
    )
    drawn = draw_sample(
        msgspec.structs.replace(result, record=record),
        tmp_path,
        control="MEASURE 2.7",
        size=9,
        seed=1,
        outcomes=ALL,
    )
    again = {each.pair.cluster: shlex.split(each.again) for each in drawn.pairs}
    for cluster, context in (("blue", "ctx-b"), ("green", "ctx-g")):
        assert again[cluster][:9] == [
            *("fleetaudit", "run", "--no-config", "--kubeconfig", "k", "--context", context),
            *("--cluster", cluster),
        ]


def test_rules_that_only_support_are_drawn_when_none_decides_and_it_is_said(tmp_path: Path) -> None:
    result = made(tmp_path, [pair(1)])
    weaker = msgspec.structs.replace(result, mappings=(b.mapping(strength=Strength.SUPPORTS),))
    drawn = draw_sample(weaker, tmp_path, control="MEASURE 2.7", size=1, seed=1, outcomes=ALL)
    assert drawn.strength == "supports"
    unmapped = msgspec.structs.replace(result, mappings=())
    with pytest.raises(UsageError, match="no rule is mapped"):
        draw_sample(unmapped, tmp_path, control="MEASURE 2.7", size=1, seed=1, outcomes=ALL)
    with pytest.raises(UsageError, match="no control") as caught:
        draw_sample(result, tmp_path, control="MEASURE 2.8", size=1, seed=1, outcomes=ALL)
    assert caught.value.suggestion == "did you mean MEASURE 2.7?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "out"
    place.mkdir()
    JsonWriter().write(made(place, [*(pair(n) for n in range(30)), pair(99, outcome="fail")]), place)
    return tmp_path


def test_the_command_prints_rows_and_commands(folder: Path) -> None:
    arguments = ("sample", "--control", "MEASURE 2.7", "--size", "5", "--seed", "11")
    done = run(*arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "5 of 31 pairs, seed 11" in done.stdout
    assert done.stdout.count("      again fleetaudit run ") == 5
    assert done.stdout.count("      seen  ") == 5
    assert run(*arguments, cwd=folder).stdout == done.stdout
    data = json.loads(run(*arguments, "--json", cwd=folder).stdout)
    assert [row["name"] for row in data["pairs"]] == [
        line.split()[-1].rpartition("/")[2]
        for line in done.stdout.splitlines()
        if "pod/privileged  east" in line
    ]
    assert (data["size"], data["seed"], data["eligible"]) == (5, 11, 31)


def test_the_command_filters_by_outcome(folder: Path) -> None:
    done = run("sample", "--control", "MEASURE 2.7", "--seed", "1", "--outcome", "fail", cwd=folder)
    assert "1 of 1 pair" in done.stdout
    assert "this is every pair there is" in done.stdout
    wrong = run("sample", "--control", "MEASURE 2.7", "--seed", "1", "--outcome", "fial", cwd=folder)
    assert (wrong.returncode, "did you mean fail?" in wrong.stderr) == (2, True)


def test_the_command_refuses_a_changed_population(folder: Path) -> None:
    write(folder / "out", [pair(1)])
    done = run("sample", "--control", "MEASURE 2.7", "--seed", "1", cwd=folder)
    assert done.returncode == 2
    assert "sha256 differs" in done.stderr


@pytest.mark.parametrize("arguments", [("--size", "0"), ("--size", "x"), ("--seed", "x")])
def test_sizes_and_seeds_are_numbers(folder: Path, arguments: tuple[str, str]) -> None:
    done = run("sample", "--control", "MEASURE 2.7", "--seed", "1", *arguments, cwd=folder)
    assert done.returncode == 2
    assert arguments[0] in done.stderr
