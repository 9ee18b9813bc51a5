"""Which changes a stream tells, and which task reads them."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.spark.stream_source import (
    PaimonStreamReader,
    StreamLimits,
    new_rows,
    stream_schema,
)
from support.chain_tables import chains, spec
from support.small_tables import append_table, columns, keyed_table

COLUMNS = columns(k=pa.int32(), v=pa.string())
KINDS = ["+I", "-U", "+U", "-D"]


def batches(*kinds: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Batches of rows of these kinds, numbered."""
    number = 0
    for some in kinds:
        numbers = range(number, number + len(some))
        number += len(some)
        kind = pa.array([KINDS.index(name) for name in some], pa.int8())
        yield pa.RecordBatch.from_arrays([pa.array(numbers), kind], ["n", "_VALUE_KIND"])


def told(*kinds: Sequence[str], keyed: bool = True) -> list[int]:
    found = new_rows(batches(*kinds), keyed=keyed, commit="snapshot 4 (OVERWRITE)", place="t")
    return [row["n"] for batch in found for row in batch.to_pylist()]


def test_a_new_row_tells_the_update_of_its_key() -> None:
    assert told(["+I", "-U", "+U"], ["+U"]) == [0, 2, 3]
    assert told(["+I", "-U"], ["+U", "-U", "+U"]) == [0, 2, 4]
    assert told(["+I", "+I"], keyed=False) == [0, 1]


@pytest.mark.parametrize(
    "kinds", [[["-D"]], [["-U"]], [["-U", "+I"]], [["+I", "-U"], ["+I"]], [["-U", "-U", "+U"]]]
)
def test_rows_that_are_gone_are_refused_with_the_options_that_help(kinds: list[list[str]]) -> None:
    message = r"snapshot 4 \(OVERWRITE\).*read\.changelog.*read\.ignore-deletes"
    with pytest.raises(UnsupportedFeatureError, match=message):
        told(*kinds)
    with pytest.raises(UnsupportedFeatureError, match="OVERWRITE"):
        told(["-U", "+U"], keyed=False)


def delivered(table: Table, *, ignores_deletes: bool = False) -> list[tuple[object, ...]]:
    scan = table.scan()
    reader = PaimonStreamReader(
        scan,
        stream_schema(scan, kinds=False),
        2,
        StreamLimits(),
        ignores_deletes=ignores_deletes,
    )
    latest = table._store.snapshots.latest_id()
    parts = reader.partitions({"snapshot": 0, "whole": False}, {"snapshot": latest, "whole": False})
    rows = [row for part in parts for batch in reader.read(part) for row in batch.to_pylist()]
    return sorted(tuple(row.values()) for row in rows)


@pytest.mark.parametrize("keyed", [True, False])
def test_a_stream_without_row_kinds_names_the_commit_that_deleted_rows(*, keyed: bool) -> None:
    rows = [{"k": 1, "v": "a"}, {"k": 2, "v": "b"}]
    table = keyed_table(COLUMNS, rows, primary_key=["k"]) if keyed else append_table(COLUMNS, rows)
    assert delivered(table) == [(1, "a"), (2, "b")]
    table.delete("k = 1")
    kind = "APPEND" if keyed else "OVERWRITE"
    with pytest.raises(UnsupportedFeatureError, match=rf"snapshot 2 \({kind}\), which deletes"):
        delivered(table)
    assert delivered(table, ignores_deletes=True) == [(1, "a"), (2, "b")]


def test_all_changes_of_a_key_are_read_by_one_task_in_their_order() -> None:
    options = {"bucket": "4"}
    table = keyed_table(COLUMNS, primary_key=["k"], options=options)
    for value in "abc":
        table.upsert([{"k": k, "v": value} for k in range(20)])
    table.overwrite([{"k": k, "v": "d"} for k in range(20)])
    scan = table.scan()
    reader = PaimonStreamReader(scan, stream_schema(scan, kinds=False), 2, StreamLimits())
    parts = reader.partitions({"snapshot": 0, "whole": False}, {"snapshot": 4, "whole": False})
    found = [
        [(row["k"], row["v"]) for batch in reader.read(part) for row in batch.to_pylist()]
        for part in parts
    ]
    assert len(found) == 4
    for k in range(20):
        values = [[v for key, v in rows if key == k] for rows in found]
        assert sorted(values) == [[], [], [], ["a", "b", "c", "d"]]


def test_a_stream_of_a_chain_table_starts_with_its_whole_partitions() -> None:
    catalog = chains()
    options = {"chain-table.streaming.merge-snapshot": "true"}
    scan = catalog.table("db.t", options=options).scan(where="region = 'us'")
    reader = PaimonStreamReader(scan, stream_schema(scan, kinds=False), 2, StreamLimits())
    start = reader.initialOffset()
    for expected in ([("20260104", 3), ("20260104", 4)], [("20260107", 7)]):
        end = reader.latestOffset(start)
        parts = reader.partitions(start, end)
        rows = [row for part in parts for batch in reader.read(part) for row in batch.to_pylist()]
        assert sorted((row["dt"], row["k"]) for row in rows) == expected
        catalog.table("db.t$branch_delta").upsert([{**spec("us", 7), "k": 7, "n": 7}])
        start = end
