"""The data source without a session: what Spark would call, called in its order."""

import inspect
import pickle
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import types as st

import paimon_explore as pe
from paimon_explore.data_types.arrow_buffers import gathered
from paimon_explore.errors import InvalidInputError, NotFoundError, StorageError
from paimon_explore.metadata.snapshot import BATCH_COMMIT_IDENTIFIER
from paimon_explore.spark import read_plan
from paimon_explore.spark.column_matching import matched_columns
from paimon_explore.spark.data_source import (
    PaimonDataSource,
    PaimonReader,
    PaimonWriter,
    WrittenFiles,
)
from paimon_explore.spark.executor_tasks import WriteJob, pack, unpack, write_rows
from paimon_explore.spark.read_plan import groups
from paimon_explore.spark.writes.driver_commit import (
    publish,
    sweep,
    took_effect,
    withdraw,
)
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import write_target
from support.small_tables import new_catalog


@pytest.fixture
def table(tmp_path: Path) -> Table:
    columns: dict[str, pa.DataType] = {"id": pa.int64(), "name": pa.string()}
    schema = pa.schema(columns)
    return new_catalog(tmp_path).create_table("db.t", schema)


TYPES: dict[str, st.DataType] = {
    "long": st.LongType(),
    "int": st.IntegerType(),
    "string": st.StringType(),
    "interval day": st.DayTimeIntervalType(0, 0),
}


def struct(text: str) -> st.StructType:
    """A schema written as in DDL, which Spark itself parses only in a session."""
    parts = [column.partition(" ") for column in text.split(", ")]
    return st.StructType([st.StructField(name, TYPES[kind]) for name, _, kind in parts])


def rows(*ids: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"id": list(ids), "name": [f"n{i}" for i in ids]})


def data_files(table: Table) -> set[str]:
    return {path.name for path in Path(table.path).rglob("data-*")}


def source_of(table: Table, **options: str) -> PaimonDataSource:
    return PaimonDataSource({"path": table.path, **options})


def writer_of(table: Table, schema: str = "id long, name string") -> PaimonWriter:
    return source_of(table).writer(struct(schema), overwrite=False)


def test_filters_are_never_pushed() -> None:
    assert "pushFilters" not in vars(PaimonReader)


def test_spark_calls_writers_by_these_names() -> None:
    """A writer is made anew for the commit, with these names for its arguments."""
    for made in (PaimonDataSource.writer, PaimonDataSource.streamWriter):
        assert list(inspect.signature(made).parameters) == ["self", "schema", "overwrite"]


def test_the_snapshot_of_the_load_stays_when_spark_pickles_the_source(table: Table) -> None:
    table.append(rows(1))
    source = pickle.loads(pickle.dumps(source_of(table)))  # noqa: S301 - our own bytes
    table.append(rows(2))
    reader = source.reader(source.schema())
    found = [batch for part in reader.partitions() for batch in reader.read(part)]
    assert pa.Table.from_batches(found).to_pydict() == {"id": [1], "name": ["n1"]}


def test_a_reader_for_the_tasks_carries_no_splits(table: Table) -> None:
    table.append(rows(1))
    source = source_of(table)
    reader = source.reader(source.schema())
    copy = pickle.loads(pickle.dumps(reader))  # noqa: S301 - our own bytes
    batches = [b for part in reader.partitions() for b in copy.read(part)]
    assert sum(batch.num_rows for batch in batches) == 1


def test_a_commit_makes_the_rows_of_all_tasks_one_snapshot(table: Table) -> None:
    writer = writer_of(table)
    messages = [writer.write([rows(1)]), writer.write([rows(2)]), None, writer.write([])]
    pickle.loads(pickle.dumps(writer)).commit(messages)  # noqa: S301 - our own bytes
    assert [s.delta_record_count for s in table.snapshots] == [2]


def test_an_abort_removes_every_file_of_the_job_also_of_lost_attempts(table: Table) -> None:
    table.append(rows(0))
    before = data_files(table)
    writer = writer_of(table)
    messages = [writer.write([rows(1)])]
    writer.write([rows(2)])  # an attempt whose message never came home
    assert len(data_files(table)) == 3
    writer.abort(messages)
    assert data_files(table) == before


def test_an_abort_after_the_commit_removes_nothing(table: Table) -> None:
    writer = writer_of(table)
    messages = [writer.write([rows(1)])]
    writer.commit(messages)
    pickle.loads(pickle.dumps(writer)).abort(messages)  # noqa: S301 - our own bytes
    assert table.to_arrow().num_rows == 1


def test_an_abort_that_cannot_look_removes_nothing(table: Table) -> None:
    writer = writer_of(table)
    messages = [writer.write([rows(1)])]
    writer.commit(messages)
    snapshot = Path(table.path) / "snapshot" / "snapshot-1"
    snapshot.write_bytes(b"{")
    writer.abort(messages)
    assert len(data_files(table)) == 1


def test_a_commit_by_another_copy_of_the_writer_is_of_the_job_that_wrote(table: Table) -> None:
    message = writer_of(table).write([rows(1)])
    other = writer_of(table)
    other.commit([message])
    other.abort([message])
    assert isinstance(message, WrittenFiles)
    assert [s.commit_user for s in table.snapshots] == [message.commit_user]
    assert table.to_arrow().num_rows == 1


def test_files_of_lost_attempts_are_swept_after_the_commit_and_no_others(table: Table) -> None:
    writer = writer_of(table)
    foreign = writer_of(table).write([rows(9)])
    messages = [writer.write([rows(1)])]
    writer.write([rows(1)])
    writer.commit(messages)
    assert isinstance(foreign, WrittenFiles)
    assert len(data_files(table)) == 2
    assert any(f"-{foreign.job}-" in name for name in data_files(table))


def test_a_task_that_raises_leaves_no_file(table: Table) -> None:
    def broken() -> object:
        yield rows(1)
        raise StorageError("read", "/x", "the task fails")

    with pytest.raises(StorageError, match="the task fails"):
        writer_of(table).write(broken())  # type: ignore[arg-type]  # a generator
    assert data_files(table) == set()


def test_a_job_is_known_by_its_user_and_its_identifier_is_that_of_batches(table: Table) -> None:
    target = write_target(table, replaces=False)
    job = WriteJob(target=target, columns=("id", "name"))
    assert not took_effect(target)
    made = publish(target, unpack(pack(write_rows(job, [rows(1)]))), None)
    assert made is not None
    assert made.commit_identifier == BATCH_COMMIT_IDENTIFIER
    assert took_effect(target)
    assert sweep(target, []) == []
    withdraw(target, [])
    assert table.to_arrow().num_rows == 1


def test_files_with_the_contents_of_blobs_are_kept_with_their_rows(tmp_path: Path) -> None:
    columns = {"id": "BIGINT", "b": "BLOB"}
    table = new_catalog(tmp_path).create_table(
        "db.t", columns, primary_key="id", options={"bucket": "1"}
    )
    target = write_target(table, replaces=False)
    job = WriteJob(target=target, columns=("id", "b"))
    batch = pa.RecordBatch.from_pydict({"id": [1], "b": pa.array([b"x"], pa.binary())})
    messages = [unpack(pack(write_rows(job, [batch]))) for _ in range(2)]
    assert len(data_files(table)) == 6
    publish(target, messages[0], None)
    assert len(data_files(table)) == 3
    assert table.to_arrow().to_pylist() == [{"id": 1, "b": b"x"}]
    withdraw(write_target(table, replaces=False), unpack(pack(write_rows(job, [batch]))))
    assert len(data_files(table)) == 3


def test_an_empty_batch_of_a_stream_creates_a_snapshot_if_asked(table: Table) -> None:
    assert publish(write_target(table, replaces=False), [], None, 1) is None
    forced = pe.open_table(table.path, options={"commit.force-create-snapshot": "true"})
    made = publish(write_target(forced, replaces=False), [], None, 2)
    assert made is not None
    assert (made.id, made.commit_identifier, made.delta_record_count) == (1, 2, 0)
    assert publish(write_target(forced, replaces=False), [], None) is None


def test_small_batches_are_gathered() -> None:
    many = [rows(*range(i * 1000, i * 1000 + 1000)) for i in range(70)]
    assert [batch.num_rows for batch in gathered(many, 65_536)] == [66_000, 4_000]
    assert list(gathered([], 1)) == []


def test_raw_splits_are_taken_apart_and_spread_evenly(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    for start in range(6):
        table.append(rows(start))
    splits = table.scan().plan().splits
    assert [len(group) for group in groups(splits, 4)] == [1]
    monkeypatch.setattr(read_plan, "_ONE_TASK_ROWS", 5)
    assert [len(group) for group in groups(splits, 4)] == [2, 2, 1, 1]
    assert len(groups(splits, 100)) == 6
    assert groups((), 4) == []


@pytest.mark.parametrize(
    ("schema", "columns"),
    [
        ("name string, id long", ("name", "id")),
        ("ID int", ("id",)),
        ("col1 long, col2 string", ("id", "name")),
    ],
)
def test_columns_are_matched_by_name(schema: str, columns: tuple[str, ...], table: Table) -> None:
    assert matched_columns(struct(schema), table.schema) == columns


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("id long, x int", "no column 'x'"),
        ("id string", "'id'"),
        ("id long, Id long", "Two columns"),
        ("name interval day", "'name' has type interval day"),
        ("col1 long", "no column 'col1'"),
        ("id long, _ROW_KIND string", "_ROW_KIND"),
    ],
)
def test_columns_that_do_not_fit_are_refused(schema: str, message: str, table: Table) -> None:
    with pytest.raises(InvalidInputError, match=message):
        matched_columns(struct(schema), table.schema)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "CREATE TEMPORARY VIEW"),
        ({"path": "/x", "scan.snapshotid": "1"}, "Did you mean 'scan.snapshot-id'?"),
        ({"path": "/x", "qwertzuiop": "1"}, "Unknown option 'qwertzuiop'"),
        ({"path": "/x", "columns": "[1]"}, "JSON list of names"),
        ({"path": "/x", "columns": "["}, "must be a JSON list"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message.replace("?", r"\?")):
        PaimonDataSource(options)


def test_reading_options_are_refused_when_writing(table: Table) -> None:
    with pytest.raises(InvalidInputError, match="Option 'where' only applies to reads"):
        source_of(table, where="id = 1").writer(struct("id long"), overwrite=False)


def test_a_branch_that_is_not_there_is_named(table: Table) -> None:
    with pytest.raises(NotFoundError, match="Branch 'b'"):
        source_of(table, branch="b").schema()
