from collections.abc import Callable, Iterator, Sequence
from datetime import date

import pyarrow as pa
import pytest

from paimon_explore.data_types import array_sizes
from paimon_explore.errors import CommitConflictError, InvalidInputError
from support.small_tables import append_table, columns, keyed_table, rows_of

COLUMNS = columns(id=pa.int32(), dt=pa.string())
A1, A2, B1 = ({"id": i, "dt": d} for i, d in ((1, "a"), (2, "a"), (3, "b")))


def test_an_overwrite_replaces_the_partitions_of_its_rows() -> None:
    table = append_table(COLUMNS, [A1, A2, B1], partition_by=["dt"])
    table.overwrite([{"id": 9, "dt": "a"}])
    assert rows_of(table.to_arrow()) == [B1, {"id": 9, "dt": "a"}]


def test_a_static_overwrite_replaces_all_rows() -> None:
    options = {"dynamic-partition-overwrite": "false"}
    table = append_table(COLUMNS, [A1, B1], partition_by=["dt"], options=options)
    table.overwrite([{"id": 9, "dt": "a"}])
    assert rows_of(table.to_arrow()) == [{"id": 9, "dt": "a"}]


def test_an_overwrite_of_a_partition_replaces_it_even_by_nothing() -> None:
    table = append_table(COLUMNS, [A1, A2, B1], partition_by=["dt"])
    table.overwrite([], partition={"dt": "a"})
    assert rows_of(table.to_arrow()) == [B1]


def test_rows_of_a_partition_may_leave_its_columns_out() -> None:
    table = append_table(COLUMNS, [A1, A2, B1], partition_by=["dt"])
    table.overwrite({"id": [8, 9]}, partition={"dt": "a"})
    assert rows_of(table.to_arrow()) == [B1, {"id": 8, "dt": "a"}, {"id": 9, "dt": "a"}]
    with pytest.raises(InvalidInputError, match="belong to other partitions"):
        table.overwrite([B1], partition={"dt": "a"})


def test_partition_values_may_be_texts_as_in_folder_names() -> None:
    day = date(2024, 1, 2)
    schema = columns(id=pa.int32(), day=pa.date32(), hour=pa.int32())
    rows: list[dict[str, object]] = [{"id": i, "day": day, "hour": i} for i in range(3)]
    table = append_table(schema, rows, partition_by=["day", "hour"])
    table.overwrite([{"id": 7}], partition={"day": "2024-01-02", "hour": "1"})
    assert rows_of(table.to_arrow().select(["id", "hour"])) == [
        {"id": 0, "hour": 0},
        {"id": 2, "hour": 2},
        {"id": 7, "hour": 1},
    ]
    table.drop_partitions({"hour": "2"})
    table.overwrite([], partition={"day": day, "hour": 0})
    assert table.to_arrow().column("id").to_pylist() == [7]
    with pytest.raises(
        InvalidInputError, match="Partition column 'day' is DATE, but 'soon' is not a valid DATE"
    ):
        table.drop_partitions({"day": "soon"})


def test_one_partition_may_stand_alone_and_several_in_a_list() -> None:
    table = append_table(COLUMNS, [A1], partition_by=["dt"])
    for row in (A2, B1, {"id": 4, "dt": "c"}):
        table.append([row])
    made = table.compact(partitions={"dt": "a"})
    assert made is not None
    assert made.commit_kind.value == "COMPACT"
    table.drop_partitions([{"dt": "a"}, {"dt": "b"}])
    assert rows_of(table.to_arrow()) == [{"id": 4, "dt": "c"}]
    with pytest.raises(InvalidInputError, match="must be a dict, not 'dt=c'"):
        table.drop_partitions(["dt=c"])  # type: ignore[list-item]  # that is the test


def test_an_overwrite_of_an_unpartitioned_table_replaces_all_rows() -> None:
    table = append_table(COLUMNS, [A1, B1])
    table.overwrite([A2])
    assert rows_of(table.to_arrow()) == [A2]


def test_partitions_are_dropped_and_tables_truncated() -> None:
    table = append_table(COLUMNS, [A1, A2, B1], partition_by=["dt"])
    table.drop_partitions({"dt": "b"})
    assert rows_of(table.to_arrow()) == [A1, A2]
    with pytest.raises(InvalidInputError, match="truncate"):
        table.drop_partitions()
    with pytest.raises(InvalidInputError, match="truncate"):
        table.drop_partitions({})
    table.truncate()
    assert table.to_arrow().num_rows == 0
    assert rows_of(table.at(snapshot=1).to_arrow()) == [A1, A2, B1]


def test_a_write_that_fails_leaves_no_data_file() -> None:
    table = append_table(COLUMNS, [A1], partition_by=["dt"])
    before = {status.path for status in table._store.file_io.walk(table.path)}
    with pytest.raises(InvalidInputError):
        table.overwrite([B1], partition={"dt": "a"})
    assert {status.path for status in table._store.file_io.walk(table.path)} == before


class Interrupted(list[dict[str, object]]):
    """Rows; while they are read for the first time, somebody else writes."""

    def __init__(self, rows: Sequence[dict[str, object]], meanwhile: Callable[[], object]) -> None:
        super().__init__(rows)
        self._meanwhile: list[Callable[[], object]] = [meanwhile]

    def __iter__(self) -> Iterator[dict[str, object]]:
        if self._meanwhile:
            self._meanwhile.pop()()
        return super().__iter__()


def test_rows_get_other_buckets_when_another_job_has_given_out_some() -> None:
    options = {"bucket": "-1", "dynamic-bucket.target-row-num": "2"}
    table = keyed_table(COLUMNS, [A1], primary_key=["id"], options=options)
    table.upsert(Interrupted([A2, B1], lambda: table.upsert([{"id": 9, "dt": "z"}, A2])))
    assert rows_of(table.to_arrow()) == [A1, A2, B1, {"id": 9, "dt": "z"}]
    assert table.maintenance.fsck() == []
    folders = {status.path for status in table._store.file_io.walk(table.path)}
    named = {row["file_path"] for row in table.inspect.system_table("files").to_arrow().to_pylist()}
    assert {p.rpartition("/")[2] for p in folders if "/bucket-" in p} == {
        str(name).rpartition("/")[2] for name in named
    }


def test_rows_that_cannot_be_read_again_meet_the_conflict() -> None:
    table = keyed_table(COLUMNS, [A1], primary_key=["id"], options={"bucket": "-1"})

    def batches() -> Iterator[pa.RecordBatch]:
        table.upsert([B1])
        yield pa.RecordBatch.from_pylist([A2], schema=COLUMNS)

    with pytest.raises(CommitConflictError, match="Another commit added keys"):
        table.upsert(pa.RecordBatchReader.from_batches(COLUMNS, batches()))
    assert rows_of(table.to_arrow()) == [A1, B1]


def test_an_upsert_of_an_append_table_merges_by_its_upsert_key() -> None:
    schema = columns(id=pa.float64(), day=pa.int32(), at=pa.float32(), note=pa.string())
    options = {"upsert-key": "id,day", "sequence.field": "at"}
    table = append_table(schema, [], options=options)
    nan, low, row = float("nan"), {"id": 0.0, "day": None}, {"id": 1.0, "day": 1}
    table.upsert([{**row, "at": 1}, {**row, "at": nan}, {**low, "at": 2}, {**low, "id": -0.0}])
    table.upsert([{**row, "at": 9, "note": "old"}, {**low, "at": 2, "note": "first"}])
    with table.transaction() as tx:
        tx.upsert([{**row, "day": 2, "note": "new"}, {**row, "day": 2, "note": "not first"}])
    found = table.to_arrow().sort_by([("day", "ascending")]).to_pylist()
    assert [(one["id"], one["day"], one["note"]) for one in found] == [
        *((1.0, 1, None), (1.0, 2, "new"), (0.0, None, "first"))
    ]
    with pytest.raises(InvalidInputError, match=r"primary key, .* 'upsert-key'"):
        append_table(schema, []).upsert([row])


def test_rows_of_one_upsert_key_may_come_in_several_batches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schema = columns(id=pa.int64(), at=pa.int64(), note=pa.string())
    table = append_table(schema, [], options={"upsert-key": "id", "sequence.field": "at"})
    batches = [pa.table({"id": [1, 2], "at": [at, -at], "note": [str(at)] * 2}) for at in range(5)]
    table.upsert(iter(batches))
    found = {row["id"]: row["note"] for row in table.to_arrow().to_pylist()}
    assert found == {1: "4", 2: "0"}
    monkeypatch.setattr(array_sizes, "_MAX_BYTES", 50)
    with pytest.raises(InvalidInputError, match=r"'id' has more than 2 GiB .* Merge parts"):
        table.upsert(iter(batches))
