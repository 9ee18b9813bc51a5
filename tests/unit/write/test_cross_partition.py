"""Keys that move between partitions, by merge engine."""

import time
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.data_types.definitions import AtomicType, DataField, TypeRoot
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.write.buckets.cross_partition import KeyIndex, KnownKeys
from support.small_tables import columns, keyed_table, rows_of

COLUMNS = columns(k=pa.int32(), p=pa.string(), v=pa.int32())
Row = Mapping[str, object]


def row(k: int, p: str, v: int | None, kind: str | None = None) -> Row:
    told = {} if kind is None else {"_ROW_KIND": kind}
    return {"k": k, "p": p, "v": v, **told}


def table_of(
    *commits: Sequence[Row], engine: str = "deduplicate", options: Mapping[str, str] | None = None
) -> Table:
    given = {"bucket": "-1", "merge-engine": engine, **(options or {})}
    return keyed_table(COLUMNS, *commits, primary_key=["k"], partition_by=["p"], options=given)


def visible(table: Table) -> list[tuple[object, ...]]:
    return [tuple(found.values()) for found in rows_of(table.to_arrow())]


def records(table: Table) -> list[tuple[object, ...]]:
    """Kind, key, partition and value of the newest commit's records."""
    newest = table.snapshots[len(table.snapshots)].id
    rows = table.between(newest - 1, newest, mode="delta", row_kinds=True).to_arrow()
    return sorted(tuple(found.values()) for found in rows.to_pylist())


def test_a_key_that_moves_is_deleted_from_its_old_partition() -> None:
    table = table_of([row(1, "a", 1), row(2, "a", 2)], [row(1, "b", 10)])
    assert visible(table) == [(1, "b", 10), (2, "a", 2)]
    assert records(table) == [("+I", 1, "b", 10), ("-D", 1, "a", 10)]
    assert table.maintenance.fsck() == []


def test_deletions_have_the_values_of_their_partition() -> None:
    parts = [row(k, p, k) for k, p in enumerate("abcd")]
    table = table_of(parts, [row(k, "e", 9) for k in range(4)])
    deletions = [("-D", k, p, 9) for k, p in enumerate("abcd")]
    assert records(table) == sorted([*deletions, *(("+I", k, "e", 9) for k in range(4))])


def test_new_keys_are_told_apart_from_known_ones() -> None:
    added = [row(3, "b", 3), row(4, "b", 4), row(2, "b", 5)]
    table = table_of([row(1, "a", 1), row(2, "a", 2)], added)
    assert visible(table) == [(1, "a", 1), (2, "b", 5), (3, "b", 3), (4, "b", 4)]
    moved = [("+I", 2, "b", 5), ("-D", 2, "a", 5)]
    assert records(table) == sorted([("+I", 3, "b", 3), ("+I", 4, "b", 4), *moved])


def test_a_key_may_move_often_within_a_batch() -> None:
    moves = [row(1, "b", 1), row(1, "c", 2), row(1, "a", 3), row(1, "c", 4), row(2, "c", 5)]
    table = table_of([row(1, "a", 0)], moves)
    assert visible(table) == [(1, "c", 4), (2, "c", 5)]


def test_a_key_is_deleted_from_the_bucket_that_an_earlier_move_gave_it() -> None:
    options = {"dynamic-bucket.target-row-num": "1"}
    moves = [row(1, "a", 1), row(1, "b", 2), row(1, "c", 3)]
    table = table_of([row(9, "b", 0)], moves, options=options)
    assert visible(table) == [(1, "c", 3), (9, "b", 0)]


@pytest.mark.parametrize("partitions", [("a", "b"), ("ab", "c"), ("ab", "a"), ("a", "bab")])
def test_a_key_of_an_earlier_batch_of_the_same_write_moves_too(partitions: Sequence[str]) -> None:
    table = table_of()
    batches = [
        pa.RecordBatch.from_pylist([dict(row(1, p, 1)) for p in some], schema=COLUMNS)
        for some in partitions
    ]
    table.upsert(pa.RecordBatchReader.from_batches(COLUMNS, batches))
    assert visible(table) == [(1, partitions[-1][-1], 1)]


def test_a_deleted_key_may_come_back_anywhere() -> None:
    table = table_of([row(1, "a", 1)], [row(1, "a", 1, "-D")])
    assert visible(table) == []
    table.upsert([row(1, "b", 2)])
    assert visible(table) == [(1, "b", 2)]


@pytest.mark.parametrize("engine", ["partial-update", "aggregation"])
def test_engines_that_combine_write_to_where_the_key_lives(engine: str) -> None:
    old = [row(1, "a", 1), row(2, "d", 2)]
    new = [row(1, "b", 5), row(7, "b", 7), row(2, "a", 6), row(7, "c", 8)]
    table = table_of(old, new, engine=engine)
    assert visible(table) == [(1, "a", 5), (2, "d", 6), (7, "b", 8)]


def test_first_rows_stay_where_they_are() -> None:
    table = table_of([row(1, "a", 1)], [row(1, "b", 5), row(2, "c", 6)], engine="first-row")
    table.compact()
    assert visible(table) == [(1, "a", 1), (2, "c", 6)]


def test_buckets_fill_up_and_are_filled_again_when_keys_leave() -> None:
    table = table_of(
        [row(k, "a", k) for k in range(5)],
        options={"dynamic-bucket.target-row-num": "2"},
    )
    buckets = {
        found["bucket"] for found in table.inspect.system_table("files").to_arrow().to_pylist()
    }
    assert buckets == {0, 1, 2}
    table.upsert([row(0, "b", 0)])
    table.upsert([row(9, "a", 9)])
    files = table.inspect.system_table("files").to_arrow().to_pylist()
    newest = max(files, key=lambda found: (found["partition"] == "{a}", found["creation_time"]))
    assert newest["bucket"] == 0
    table.upsert([row(10, "a", 10), row(11, "a", 11)])
    files = table.inspect.system_table("files").to_arrow().to_pylist()
    assert {found["bucket"] for found in files if found["partition"] == "{a}"} == {0, 1, 2, 3}
    assert len(visible(table)) == 8


def test_full_buckets_share_further_keys_evenly() -> None:
    options = {"dynamic-bucket.target-row-num": "1", "dynamic-bucket.max-buckets": "3"}
    table = table_of([row(k, "a", k) for k in range(1, 4)], options=options)
    table.upsert([row(k, "a", k) for k in range(4, 10)])
    table.upsert([row(1, "b", 1)])
    assert visible(table) == [(1, "b", 1), *((k, "a", k) for k in range(2, 10))]
    files = table.inspect.system_table("files").to_arrow().to_pylist()
    rows: dict[tuple[str, int], int] = {}
    for file in files:
        place = file["partition"], file["bucket"]
        rows[place] = rows.get(place, 0) + file["record_count"]
    both = {("{a}", 1): 3, ("{a}", 2): 3, ("{b}", 0): 1}
    assert rows == {("{a}", 0): 4, **both}  # with the deletion of key 1


def test_a_key_may_hold_a_part_of_the_partition() -> None:
    table = keyed_table(
        columns(k=pa.int32(), p=pa.string(), q=pa.string()),
        [{"k": 1, "p": "a", "q": "x"}, {"k": 1, "p": "b", "q": "x"}],
        [{"k": 1, "p": "a", "q": "y"}],
        primary_key=["k", "p"],
        partition_by=["p", "q"],
        options={"bucket": "-1"},
    )
    assert visible(table) == [(1, "a", "y"), (1, "b", "x")]


def test_the_whole_table_is_overwritten_but_no_single_partition() -> None:
    table = table_of([row(1, "a", 1), row(2, "b", 2)])
    with pytest.raises(UnsupportedFeatureError, match="Overwriting partitions"):
        table.overwrite([row(1, "c", 3)])
    with pytest.raises(UnsupportedFeatureError, match="Overwriting partitions"):
        table.overwrite([row(1, "a", 3)], partition={"p": "a"})
    static = table_of(options={"dynamic-partition-overwrite": "false"})
    static.upsert([row(1, "a", 1)])
    static.overwrite([row(1, "c", 3)])
    assert visible(static) == [(1, "c", 3)]


def test_keys_of_old_buckets_are_forgotten_after_a_time() -> None:
    table = table_of([row(1, "a", 1)], options={"cross-partition-upsert.index-ttl": "1 ms"})
    time.sleep(0.01)
    table.upsert([row(1, "b", 2)])
    assert visible(table) == [(1, "a", 1), (1, "b", 2)]


def test_an_index_of_many_keys_is_looked_up_by_value() -> None:
    kind = AtomicType(root=TypeRoot.INT, nullable=False)
    text = AtomicType(root=TypeRoot.VARCHAR, length=10)
    schema = TableSchema(
        id=0,
        fields=(DataField(id=0, name="k", type=kind), DataField(id=1, name="p", type=text)),
        highest_field_id=1,
        partition_keys=("p",),
        primary_keys=("k",),
        options={},
    )
    partition = (1).to_bytes(4, "big") + bytes(8) + b"w" + bytes(6) + b"\x81"
    known = KnownKeys(partition=partition, bucket=3, columns=[pa.array([15, 16], pa.int32())])
    options = {"dynamic-bucket.target-row-num": "2"}
    index = KeyIndex(schema, TableOptions(options), [known])

    def buckets(*keys: tuple[int, str]) -> list[int]:
        """The buckets of new rows; those of deletions are left out."""
        rows = pa.RecordBatch.from_pylist(
            [{"k": k, "p": p, "_VALUE_KIND": 0} for k, p in keys],
            schema=columns(k=pa.int32(), p=pa.string(), _VALUE_KIND=pa.int8()),
        )
        placed = index.assign(rows)
        kinds = placed.rows.column("_VALUE_KIND").to_pylist()
        return [b for b, kind in zip(placed.buckets.tolist(), kinds, strict=True) if not kind]

    assert buckets((8, "x")) == [0]
    assert buckets((1, "x"), (2, "x"), (3, "x")) == [0, 1, 1]
    assert buckets((8, "y"), (1, "y"), (2, "y")) == [0, 0, 1], "a key leaves its bucket"
    assert buckets((4, "x"), (5, "x"), (6, "x"), (7, "x")) == [0, 0, 1, 2], "which has room again"
    assert buckets((9, "x"), (10, "x")) == [2, 3]
    index = KeyIndex(schema, TableOptions({**options, "merge-engine": "first-row"}), [known])
    assert [buckets((1, "x"), (2, "x")), buckets((1, "y"), (3, "y"))] == [[0, 0], [0]]
