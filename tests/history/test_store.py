"""What goes into a history comes out of it, on both databases."""

from __future__ import annotations

import datetime as dt
import gzip
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from audit.compare.denominators import Basis
from audit.errors import HistoryError
from audit.history.address import Address, parse_address
from audit.history.database.connecting import open_engine, reading
from audit.history.database.reading import Stored, opened
from audit.history.database.tables import METADATA
from audit.history.database.verifying import Verdict, verify
from audit.history.database.writing import prune
from audit.history.model import Retention
from audit.model.finding import Outcome
from audit.report.json_writer import load_report
from tests import builders as b
from tests.history.conftest import new_history
from tests.history.runs import NOW, POPULATION, append, day, result, sealed_bytes
from tests.unit.report.story import story

Sql = Callable[[str], list[tuple[object, ...]]]


def verified(url: str, noted: str = "") -> Verdict:
    with opened(parse_address(url)) as stored:
        return verify(stored, noted)


def test_a_report_comes_out_as_it_went_in(url: str, tmp_path: Path) -> None:
    told = story()
    told = msgspec.structs.replace(
        told, record=msgspec.structs.replace(told.record, population_sha256=result().record.population_sha256)
    )
    link = append(url, told)
    with opened(parse_address(url)) as stored:
        (found,) = stored.links()
        stored.unpack(found, tmp_path)
        details = stored.details(1)
    assert found == link
    assert (tmp_path / "report.json").read_bytes() == sealed_bytes(told)
    loaded = load_report(tmp_path / "report.json")
    assert list(loaded.group_source.groups()) == list(told.group_source.groups())
    assert gzip.decompress((tmp_path / "population.csv.gz").read_bytes()) == POPULATION
    assert found.run.basis == Basis.of(told)
    assert found.run.open_groups == sum(told.group_source.counts().open.values())
    assert len(details.groups) == len(list(told.group_source.groups()))
    assert {state.control for state in details.controls} == {row.id for row in told.controls}
    clusters = {ratio.part for ratio in details.cluster_ratios}
    assert clusters == {name for score in told.scores for name in score.cluster_strict}


def test_the_tables_are_those_that_the_code_has(url: str) -> None:
    append(url, result())
    address = parse_address(url)
    with reading(open_engine(address), address) as connection:
        context = MigrationContext.configure(
            connection, opts={"version_table": "fleetaudit_history", "compare_type": True}
        )
        assert compare_metadata(context, METADATA) == []


def test_every_run_holds_the_digest_of_the_one_before(url: str) -> None:
    links = [append(url, result(number)) for number in range(4)]
    assert [link.number for link in links] == [1, 2, 3, 4]
    assert [link.previous for link in links] == ["", *(link.digest for link in links[:-1])]
    assert verified(url) == Verdict(runs=4, whole=4, head=links[-1].digest, broken=None)


def test_equal_files_are_kept_once(url: str, own_sql: Sql) -> None:
    for number in range(3):
        append(url, result(number))
    append(url, result(3, b.group()))
    assert own_sql("SELECT count(*) FROM blob") == [(3,)]  # two results and one population


def test_a_run_is_added_once_where_that_is_asked_for(url: str) -> None:
    first = append(url, result(), once=True)
    assert append(url, result(), once=True) == first
    assert append(url, result(1), once=True).number == 2
    assert append(url, result()).number == 3


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def three_runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Address:
    """A history in which each run has files of its own. Nobody changes it for good."""
    url = new_history(request.param, request, tmp_path_factory.mktemp("three"))
    for number in range(3):
        population = POPULATION + str(number).encode()
        gaps = (b.gap(source=f"east/{number}.yaml"),)
        append(url, result(number, b.group(), population=population, gaps=gaps), population=population)
    return parse_address(url)


class Held(Stored):
    """In one transaction to the end, so that a change can be taken back."""

    def pause(self) -> None:
        """Stay."""


def verdict_after(address: Address, *statements: str, noted: str = "") -> Verdict:
    """What verifying finds after a change, which is taken back."""
    with open_engine(address).connect() as connection:
        for statement in statements:
            assert connection.exec_driver_sql(statement).rowcount
        return verify(Held(connection), noted)


CHUNK_OF = "(SELECT content FROM blob_chunk WHERE sha256 = (SELECT {}_sha256 FROM run WHERE number = {}))"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE run SET gaps = 7 WHERE number = 2",
        "UPDATE run SET exit_code = 3 WHERE number = 2",
        "UPDATE run SET appended_at = '2020-01-01T00:00:00Z' WHERE number = 2",
        "UPDATE run SET previous = digest WHERE number = 2",
        "UPDATE ratio SET numerator = numerator + 1 WHERE run = 2 AND position = 0",
        "DELETE FROM ratio WHERE run = 2 AND position = 1",
        "UPDATE control SET status = 'satisfied', reason = 'x' WHERE run = 2",
        "UPDATE finding_group SET status = 'waived' WHERE run = 2",
        "DELETE FROM finding_group WHERE run = 2",
        "UPDATE cluster_ratio SET denominator = 99 WHERE run = 2",
        "UPDATE record SET document = '{}' WHERE run = 2",
        f"UPDATE blob_chunk SET content = {CHUNK_OF.format('result', 1)}"
        " WHERE sha256 = (SELECT result_sha256 FROM run WHERE number = 2)",
        "DELETE FROM blob_chunk WHERE sha256 = (SELECT population_sha256 FROM run WHERE number = 2)",
    ],
)
def test_what_was_changed_is_named(three_runs: Address, statement: str) -> None:
    broken = verdict_after(three_runs, statement).broken
    assert broken is not None
    assert (broken.number, broken.kind) == (2, "changed")


def without(number: int) -> list[str]:
    tables = ("ratio", "cluster_ratio", "control", "finding_group", "record")
    return [
        *(f"DELETE FROM {table} WHERE run = {number}" for table in tables),
        f"DELETE FROM run WHERE number = {number}",
    ]


@pytest.mark.parametrize("gone", [1, 2, 3])
def test_what_is_missing_is_named(three_runs: Address, gone: int) -> None:
    broken = verdict_after(three_runs, *without(gone)).broken
    assert broken is not None
    assert (broken.number, broken.kind) == (gone, "missing")


def test_a_cut_is_found_by_a_digest_that_was_noted(three_runs: Address) -> None:
    with opened(three_runs) as stored:
        links = stored.links()
    cut = (*without(3), f"UPDATE head SET number = 2, digest = '{links[1].digest}'")
    assert verdict_after(three_runs, *cut).broken is None
    assert verdict_after(three_runs, *cut, noted=links[1].digest[:8]).broken is None
    broken = verdict_after(three_runs, *cut, noted=links[2].digest).broken
    assert broken is not None
    assert broken.kind == "head"
    assert verdict_after(three_runs, "DELETE FROM head").broken is not None


def test_nobody_waits_for_a_verification(url: str) -> None:
    for number in range(3):
        append(url, result(number))

    class Watched(Stored):
        """Another process writes, and prunes what is yet to be looked at, between two runs."""

        done = False

        def pause(self) -> None:
            super().pause()
            if not self.done:
                self.done = True
                append(url, result(3), retention=Retention(keep_runs=1))

    address = parse_address(url)
    with reading(open_engine(address), address) as connection:
        verdict = verify(Watched(connection))
    assert (verdict.runs, verdict.broken) == (3, None)
    assert verified(url).whole == 1


def test_pruning_leaves_the_proof_and_the_ratios(url: str, own_sql: Sql, tmp_path: Path) -> None:
    for number in range(4):
        population = POPULATION + str(number).encode()
        append(
            url,
            result(number, b.group(), gaps=(b.gap(source=str(number)),), population=population),
            population=population,
        )
    assert prune(parse_address(url), Retention(keep_runs=2), NOW) == [1, 2]
    assert prune(parse_address(url), Retention(keep_runs=2), NOW) == []
    with opened(parse_address(url)) as stored:
        links = stored.links()
        assert [bool(link.pruned_at) for link in links] == [True, True, False, False]
        assert verify(stored) == Verdict(runs=4, whole=2, head=links[-1].digest, broken=None)
        assert all(stored.ratios_of(number) for number in (1, 2, 3, 4))
        with pytest.raises(HistoryError, match="run 1 was pruned"):
            stored.unpack(links[0], tmp_path)
        stored.unpack(links[2], tmp_path)
    assert own_sql("SELECT count(*) FROM blob") == [(4,)]
    assert own_sql("SELECT DISTINCT run FROM finding_group ORDER BY run") == [(3,), (4,)]
    assert own_sql("SELECT count(*) FROM blob_chunk") == [(4,)]


def test_a_blob_stays_while_one_run_wants_it(url: str, tmp_path: Path) -> None:
    append(url, result(0))
    append(url, result(1))
    prune(parse_address(url), Retention(keep_runs=1), NOW)
    with opened(parse_address(url)) as stored:
        stored.unpack(stored.links()[1], tmp_path)
        assert verify(stored).broken is None
    assert (tmp_path / "report.json").read_bytes() == sealed_bytes(result(1))


def test_appending_prunes_each_fleet_by_itself(url: str) -> None:
    kept = Retention(keep_runs=1)
    append(url, result(0, title="nightly"), retention=kept)
    for number in range(1, 4):
        append(url, result(number, title="of a pipeline"), retention=kept)
    with opened(parse_address(url)) as stored:
        assert [link.number for link in stored.links() if not link.pruned_at] == [1, 4]


def test_days_are_counted_to_now_and_either_wish_keeps(url: str) -> None:
    for number in (0, 300, 330):
        append(url, result(number), now=NOW)  # 334 days after the first of January
    assert prune(parse_address(url), Retention(keep_days=40), NOW) == [1]
    assert prune(parse_address(url), Retention(keep_days=1, keep_runs=2), NOW) == []
    assert prune(parse_address(url), Retention(keep_days=1), NOW + dt.timedelta(days=60)) == [
        2
    ]  # not the newest


def test_hostile_text_goes_in_and_comes_out(url: str, tmp_path: Path) -> None:
    nasty = "a\x00b\u202e\\u0000 '; DROP TABLE run; --\x1b[31m"
    subject = b.subject(nasty, owner_name=nasty)
    told = result(0, b.group(b.finding(subject=subject)), title=nasty)
    append(url, told)
    with opened(parse_address(url)) as stored:
        (found,) = stored.links()
        stored.unpack(found, tmp_path)
        (group,) = stored.details(1).groups
        assert verify(stored).broken is None
    assert (tmp_path / "report.json").read_bytes() == sealed_bytes(told)
    assert found.run.title.isprintable()
    assert group.owner.isprintable()


def test_the_statuses_of_groups(url: str) -> None:
    waived = b.finding(subject=b.subject("waived"), waiver="W-1")
    error = b.finding(subject=b.subject("error"), outcome=Outcome.ERROR, error="timeout")
    listed = b.display_order([b.group(), b.group(waived), b.group(error)])
    append(url, result(0, *listed))
    with opened(parse_address(url)) as stored:
        assert sorted(group.status for group in stored.details(1).groups) == ["error", "open", "waived"]
        (link,) = stored.links()
    assert (link.run.open_groups, link.run.waived_groups, link.run.error_groups) == (1, 1, 1)


def test_many_groups_are_written_in_batches(url: str) -> None:
    many = [b.group(b.finding(subject=b.subject(f"web-{number}"))) for number in range(2_500)]
    append(url, result(0, *many))
    with opened(parse_address(url)) as stored:
        assert len(stored.details(1).groups) == 2_500
        assert verify(stored).broken is None


def test_ratios_are_found_by_what_they_are_of(url: str) -> None:
    append(url, result(0))
    append(url, result(1))
    with opened(parse_address(url)) as stored:
        found = stored.ratios(measure="strict", part="")
        assert set(found) == {1, 2}
        score = result().scores[0]
        assert [ratio.fraction for ratio in found[1]] == [score.strict]
        assert isinstance(stored, Stored)
    assert day(0) == "2026-01-01T00:00:00Z"
