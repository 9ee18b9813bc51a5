"""Commits to S3 while requests fail: nothing is lost or doubled, and nearly all succeed."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count

import pyarrow as pa
import pytest

from paimon_explore import Catalog, Table, open_table
from paimon_explore.errors import CommitOutcomeUnknownError, PaimonError, StorageError
from support.acts import ACTS
from support.cuts import rows_of
from support.depth import DEEP, some
from support.figures import Figures
from support.s3 import S3Place, s3_place
from support.s3_faults import FaultyS3, S3Fault, s3_faults

WRITERS, COMMITS = (4, 60) if DEEP else (2, 6)
SCHEMA = pa.schema({"a": pa.int64()})
PATIENT = {"commit.max-retries": "1000", "commit.max-retry-wait": "200 ms"}
STALLED = {"timeout": "300ms"}
_NUMBER = count()
_TURN = count()


@pytest.fixture(scope="module")
def place() -> Iterator[S3Place]:
    with s3_place("commits") as found:
        yield found


@dataclass(slots=True)
class Reported:
    """What writers were told of their rows."""

    done: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)
    failed: dict[int, PaimonError] = field(default_factory=dict)


def new_table(place: S3Place) -> Table:
    """An empty table, made without faults."""
    catalog = Catalog(place.location, place.options)
    catalog.create_database("db", if_not_exists=True)
    return catalog.create_table(f"db.t{next(_NUMBER)}", SCHEMA, options=PATIENT)


def appends(table: Table, values: range) -> Reported:
    """Append single rows, each in a commit of its own."""
    told = Reported()
    for value in values:
        try:
            table.append([{"a": value}])
        except CommitOutcomeUnknownError:
            told.unknown.append(value)
        except PaimonError as error:
            told.failed[value] = error
        else:
            told.done.append(value)
    return told


def of_writers(faulty: FaultyS3, path: str) -> Reported:
    """What several writers at the same time were told."""
    tables = [open_table(path, storage_options=faulty.options) for _ in range(WRITERS)]
    ranges = [range(turn * COMMITS, (turn + 1) * COMMITS) for turn in range(WRITERS)]
    told = Reported()
    with ThreadPoolExecutor(WRITERS) as pool:
        for found in pool.map(appends, tables, ranges):
            told.done += found.done
            told.unknown += found.unknown
            told.failed |= found.failed
    return told


@pytest.mark.parametrize(("rate", "share"), [(0.2, 235 / 240), (0.01, 1.0)])
def test_nearly_all_commits_succeed_and_none_is_lost_or_doubled(
    place: S3Place, rate: float, share: float, figures: Figures
) -> None:
    table = new_table(place)
    with s3_faults(place, rate=rate, seed=7) as faulty:
        told = of_writers(faulty, table.path)
        assert sum(faulty.faults.values()) >= rate * sum(faulty.requests.values()) / 2
    rows = sorted(map(int, table.to_pandas()["a"]))
    assert len(rows) == len(set(rows)), "doubled"
    assert not set(told.done) - set(rows), "lost"
    assert not set(rows) & told.failed.keys(), "reported as failed, but there"
    assert len(told.done) >= share * WRITERS * COMMITS, list(told.failed.values())[:5]
    assert table.maintenance.fsck() == []
    figures.tell(
        f"commits to S3 with {rate:.0%} faults",
        f"{len(told.done)} of {WRITERS * COMMITS}, "
        f"{sum(faulty.faults.values())} faults in {sum(faulty.requests.values())} requests",
    )


def test_a_commit_survives_each_fault_at_each_of_its_requests(
    place: S3Place, figures: Figures
) -> None:
    table = new_table(place)
    with s3_faults(place, stall_seconds=0.6) as faulty:
        writer = open_table(table.path, storage_options={**faulty.options, **STALLED})
        writer.append([{"a": -1}])
        faulty.log.clear()
        writer.append([{"a": -2}])
        requests = len(faulty.log)
        assert any(method == "PUT" and "snapshot-" in path for method, path, _ in faulty.log)
        cases = [(fault, step) for fault in S3Fault for step in range(requests)]
        chosen = list(some(cases, 11, next(_TURN)))
        for value, (fault, step) in enumerate(chosen):
            faulty.script = [*[None] * step, fault]
            writer.append([{"a": value}])
            faulty.script = []
    rows = sorted(map(int, table.to_pandas()["a"]))
    assert rows == [-2, -1, *range(len(chosen))]
    figures.add("S3 faults at a request of a commit", len(chosen))


@pytest.mark.parametrize("name", some(list(ACTS), 50))
def test_every_act_gets_through_faults_with_the_same_result(
    place: S3Place, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", place.options["s3.endpoint"])
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "k")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    act = ACTS[name]
    results = []
    for rate in (0.0, 0.2):
        warehouse = f"{place.location}/{next(_NUMBER)}"
        with s3_faults(place, rate=rate, seed=11) as faulty:
            table = act.table(warehouse)
            act.run(open_table(table.path, storage_options=faulty.options))
        results.append((rows_of(table), table._store.snapshots.ids(), table._store.tags.names()))
    assert results[0] == results[1]


def test_failures_end_when_the_time_for_retries_is_over(place: S3Place) -> None:
    table = new_table(place)
    with s3_faults(place) as faulty:
        writer = open_table(table.path, storage_options={**faulty.options, "retry_timeout": "0.4s"})
        faulty.rate, faulty.kinds = 1.0, [S3Fault.SLOW_DOWN]
        before = sum(faulty.requests.values())
        with pytest.raises(StorageError, match="SlowDown"):
            writer.append([{"a": 1}])
        assert sum(faulty.requests.values()) - before >= 3
    assert table.count() == 0


def test_retries_can_be_counted_instead(place: S3Place) -> None:
    table = new_table(place)
    with s3_faults(place) as faulty:
        options = {**faulty.options, "max_retries": "0"}
        file_io = open_table(table.path, storage_options=options)._store.file_io
        faulty.rate, faulty.kinds = 1.0, [S3Fault.SLOW_DOWN]
        faulty.log.clear()
        with pytest.raises(StorageError, match="SlowDown"):
            file_io.read(f"{table.path}/schema/schema-0")
        assert len(faulty.log) == 1
