"""Small files that are read at once give what the reader of single files gives, in its order."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimon_explore import Table
from paimon_explore.errors import CorruptFileError, MissingFileError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.read import small_files, split_reader
from paimon_explore.read.data_file import DataFileSource, ReadRequest, read_data_file
from paimon_explore.scan.splits.data_split import DataSplit
from support.small_tables import append_table, columns, keyed_table

Rows = Sequence[Mapping[str, object]]
START = datetime(2026, 1, 1)  # noqa: DTZ001 - a TIMESTAMP
SCHEMA = columns(
    p=pa.string(),
    id=pa.int64(),
    k=pa.string(),
    n=pa.int32(),
    d=pa.decimal128(9, 2),
    at=pa.timestamp("us"),
    tags=pa.list_(pa.string()),
)


def commits(count: int, *, ids: int = 40) -> list[Rows]:
    """The same rows in every run; ids repeat from commit to commit, not within one."""
    chance = random.Random(5)  # noqa: S311 - the same rows in every run
    return [
        [
            {
                "p": f"p{number % 3}",
                "id": number,
                "k": f"k{number % 3}",
                "n": chance.choice([None, *range(9)]),
                "d": Decimal(chance.randrange(-999, 999)) / 100,
                "at": START + timedelta(days=chance.randrange(28)),
                "tags": chance.choice([None, [], ["a", None]]),
            }
            for number in sorted(chance.sample(range(ids), 25))
        ]
        for _ in range(count)
    ]


def evolved() -> Table:
    """Files of four schemas: a column renamed, one added, one of another type."""
    table = append_table(SCHEMA, *commits(6), partition_by=["p"])
    for schema in (1, 2, 3):
        if schema == 1:
            table.rename_column("n", "m")
        elif schema == 2:
            table.add_column("z", "INT")
        else:
            table.alter_column_type("m", "BIGINT")
        rows = [{**row, "m": row["n"]} for row in commits(1)[0]]
        table.append([{k: v for k, v in row.items() if k != "n"} for row in rows])
    return table


def with_vectors() -> Table:
    """Some files have deletion vectors, others have none."""
    table = append_table(SCHEMA, *commits(6), options={"deletion-vectors.enabled": "true"})
    table.delete("id = 7 AND n = 3")
    return table


def with_deletes() -> Table:
    """Rows are upserted, deleted and upserted again in several partitions and buckets."""
    table = keyed({"bucket": "2"})
    table.delete("id % 4 = 1")
    for rows in commits(2)[1:]:
        table.upsert([dict(row) for row in rows])
    return table


def keyed(options: Mapping[str, str], key: Sequence[str] = ("p", "id")) -> Table:
    return keyed_table(
        SCHEMA, *commits(5), primary_key=key, partition_by=["p"], options={**options}
    )


def deletes_ignored() -> Table:
    """Deletes were written before the table ignored them."""
    table = with_deletes()
    table.set_options({"ignore-delete": "true"})
    return table


def compacted_first_rows() -> Table:
    """Rows of a first-row table are read once they are compacted."""
    table = keyed({"merge-engine": "first-row"})
    table.compact()
    return table


ID = columns(id=pa.int64(), text=pa.string())
RANDOM = random.Random(5)  # noqa: S311 - the same rows in every run
ID_ROWS = [
    [{"id": number, "text": RANDOM.randbytes(90).hex()} for number in range(start, start + 10)]
    for start in (0, 10, 20, 30, 40)
]
TABLES: dict[str, Callable[[], Table]] = {
    "append": lambda: append_table(SCHEMA, *commits(20)),
    "append, partitioned": lambda: append_table(SCHEMA, *commits(6), partition_by=["p"]),
    "append, evolved": evolved,
    "append, deletion vectors": with_vectors,
    "append, file index": lambda: append_table(
        SCHEMA, *commits(6), options={"file-index.bloom-filter.columns": "id,k"}
    ),
    "append, ORC": lambda: append_table(SCHEMA, *commits(6), options={"file.format": "orc"}),
    "append, row tracking": lambda: append_table(
        SCHEMA, *commits(6), options={"row-tracking.enabled": "true"}
    ),
    "keyed": lambda: keyed({"bucket": "2"}),
    "keyed, deletes": with_deletes,
    "keyed, text key": lambda: keyed({}, key=("p", "k", "id")),
    "keyed, sequence field": lambda: keyed({"sequence.field": "at,n"}),
    "keyed, first row": compacted_first_rows,
    "keyed, partial update": lambda: keyed({"merge-engine": "partial-update"}),
    "keyed, aggregation": lambda: keyed(
        {
            "merge-engine": "aggregation",
            "fields.n.aggregate-function": "sum",
            "fields.tags.aggregate-function": "collect",
        }
    ),
    "keyed, deletes ignored": deletes_ignored,
    "keyed, thin": lambda: keyed({"data-file.thin-mode": "true"}),
}
READS: dict[str, dict[str, object]] = {
    "all": {},
    "two columns": {"columns": ["d", "k"]},
    "by key": {"where": "id >= 10 AND id < 20"},
    "by value": {"columns": ["id"], "where": "n > 4 OR tags IS NULL"},
    "partitions": {"columns": ["p"], "where": "p <> 'p1'"},
    "none match": {"where": "id = 1000"},
    "limit": {"limit": 13},
}


@cache
def made(name: str) -> Table:
    """A table for tests that do not change it."""
    return TABLES[name]()


def read(table: Table, how: str) -> list[dict[str, object]]:
    asked = READS[how]
    if how == "by value" and "n" not in table.schema.row_type.names:
        asked = {**asked, "where": "m > 4 OR tags IS NULL"}
    scan = table.scan(**asked)  # type: ignore[arg-type]  # by name
    rows = scan.to_arrow().to_pylist()
    assert [row for batch in scan.to_batches() for row in batch.to_pylist()] == rows
    return rows


@pytest.mark.parametrize("how", READS)
@pytest.mark.parametrize("name", TABLES)
def test_many_files_at_once_give_the_rows_of_each_alone(
    name: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = made(name)
    found = read(table, how)
    counted = table.scan(where="id >= 10 AND id < 20").count()
    monkeypatch.setattr(small_files, "MAX_FILE_BYTES", 0)
    wanted = read(table, how)
    if how == "limit":
        assert len(found) == len(wanted) == 13
    else:
        assert sorted(found, key=repr) == sorted(wanted, key=repr)
    if not table.schema.primary_keys:
        assert found == wanted
    assert counted == table.scan(where="id >= 10 AND id < 20").count() > 0


def opened_alone(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that the reader of single files opens from now on."""
    opened: list[str] = []

    def noted(source: DataFileSource, request: ReadRequest) -> Iterator[pa.RecordBatch]:
        opened.append(source.path)
        return read_data_file(source, request)

    monkeypatch.setattr(split_reader, "read_data_file", noted)
    return opened


@pytest.mark.parametrize("name", ["append", "append, partitioned", "keyed", "keyed, deletes"])
def test_no_small_file_is_opened_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = made(name)
    opened = opened_alone(monkeypatch)
    assert table.to_arrow().num_rows
    assert table.scan().to_batches().read_all().num_rows
    assert opened == []


def test_partition_columns_come_without_the_files() -> None:
    table = TABLES["append, partitioned"]()
    expected = table.to_arrow().select(["p"])
    for name in data_files(table):
        table._store.file_io.delete(name)
    assert table.scan(["p"]).to_arrow() == expected
    some = table.scan(["p"], "p = 'p2'").to_batches().read_all()
    assert some.num_rows == expected["p"].to_pylist().count("p2") > 0


CHANGES: dict[str, Callable[[Table], object]] = {
    "delta": lambda table: table.between(0, 6, mode="delta").to_arrow(),
    "changelog": lambda table: table.between(0, 4, mode="changelog").to_arrow(),
    "difference": lambda table: table.between(2, 5, mode="diff").to_arrow(),
    "commits": lambda table: [change.rows for change in table.changes()],
    "stream": lambda table: [change.rows for change in table.follow(1, timeout=0)],
    "audit log": lambda table: table.inspect.system_table("audit_log").to_arrow(),
    "read optimized": lambda table: table.inspect.system_table("ro").to_arrow(),
}


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("name", ["append, partitioned", "append, evolved", "keyed, deletes"])
def test_changes_of_many_files_at_once_are_those_of_each_alone(
    name: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = made(name)
    opened = opened_alone(monkeypatch)
    found = CHANGES[how](table)
    assert name != "append, partitioned" or opened == []
    monkeypatch.setattr(small_files, "MAX_FILE_BYTES", 0)
    assert found == CHANGES[how](table)


def test_a_limit_reads_few_files(monkeypatch: pytest.MonkeyPatch) -> None:
    table = made("append")
    reads: list[str] = []
    io = table._store.file_io
    whole = type(io).read_range

    def noted(self: FileIO, path: str, offset: int, length: int) -> bytes:
        reads.append(path)
        return whole(self, path, offset, length)

    monkeypatch.setattr(type(io), "read_range", noted)
    assert table.scan(limit=10).to_arrow().num_rows == 10
    assert len({path for path in reads if path.endswith(".parquet")}) <= 1


def data_files(table: Table) -> list[str]:
    splits = table.scan().plan().splits
    return [path for split in splits if isinstance(split, DataSplit) for path in split.paths]


@pytest.mark.parametrize("name", ["append", "keyed"])
@pytest.mark.parametrize("damage", ["cut", "overwritten", "missing"])
def test_the_error_names_the_damaged_file(name: str, damage: str) -> None:
    table = TABLES[name]()
    path = data_files(table)[5]
    io = table._store.file_io
    content = io.read(path)
    io.delete(path)
    if damage == "cut":
        io.create(path, content[:-20])
    elif damage == "overwritten":
        io.create(path, b"\xff" * len(content))
    with pytest.raises(MissingFileError if damage == "missing" else CorruptFileError) as raised:
        table.to_arrow()
    assert path.rpartition("/")[2] in str(raised.value)


def parquet_without_rows(like: bytes) -> bytes:
    """A Parquet file with the columns and the size of another, but without rows."""
    sink = pa.BufferOutputStream()
    pq.write_table(pq.read_table(pa.BufferReader(like)).slice(0, 0), sink, store_schema=False)
    found = sink.getvalue().to_pybytes()
    return found[:4] + bytes(len(like) - len(found)) + found[4:]


@pytest.mark.parametrize("name", ["append", "keyed"])
def test_a_file_without_rows_among_others_changes_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = keyed_table(ID, *ID_ROWS, primary_key=["id"]) if name == "keyed" else None
    table = table or append_table(ID, *ID_ROWS)
    path = data_files(table)[2]
    io = table._store.file_io
    content = io.read(path)
    io.delete(path)
    io.create(path, parquet_without_rows(content))
    found = table.to_arrow().to_pylist()
    monkeypatch.setattr(small_files, "MAX_FILE_BYTES", 0)
    assert sorted(found, key=repr) == sorted(table.to_arrow().to_pylist(), key=repr)
    assert len(found) == 40


def test_values_that_may_not_fit_into_memory_are_left_to_the_reader_of_single_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = made("append, partitioned")
    opened = opened_alone(monkeypatch)
    monkeypatch.setattr("paimon_explore.encoding.parquet.small_files.memory_limit", lambda: 100)
    assert table.to_arrow().num_rows == 150
    assert len(opened) == 18


def test_small_files_that_decode_to_much_are_left_to_the_reader_of_single_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [{**row, "k": "x" * 4000} for row in commits(1)[0]]
    table = append_table(SCHEMA, *[[{**row, "id": at} for row in rows] for at in range(3)])
    opened = opened_alone(monkeypatch)
    monkeypatch.setattr("paimon_explore.encoding.parquet.small_files._DECODED_BYTES", 1 << 10)
    assert table.to_arrow().num_rows == 3 * len(rows)
    assert len(opened) == 3
