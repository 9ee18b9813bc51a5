"""Lazy scans of Polars, DuckDB and pyarrow datasets: rows, pushed columns and filters, files."""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

import paimon_explore as pe
from paimon_explore import Table
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.overlay import OverlayFileIO
from paimon_explore.store.table_store import TableStore
from paimon_explore.table.engine_scans.polars_source import polars_condition
from paimon_explore.table.engine_scans.scan_dataset import arrow_condition
from support.small_tables import append_table, columns

DAY = dt.date(2026, 1, 1)
NOON = dt.datetime.combine(DAY, dt.time(12))
SCHEMA = columns(
    p=pa.string(),
    id=pa.int32(),
    city=pa.string(),
    price=pa.decimal128(8, 2),
    day=pa.date32(),
    at=pa.timestamp("us"),
    open=pa.bool_(),
    weight=pa.float64(),
)


def row(p: str, n: int) -> dict[str, object]:
    return {
        "p": p,
        "id": n,
        "city": None if n % 7 == 0 else f'c"{n}',
        "price": Decimal(n) / 4,
        "day": DAY + dt.timedelta(days=n),
        "at": NOON + dt.timedelta(hours=n),
        "open": n % 2 == 0,
        "weight": float("nan") if n == 3 else n / 2,
    }


@dataclass(slots=True, kw_only=True, eq=False)
class Opened(OverlayFileIO):
    """A storage that records the data files that are opened."""

    names: list[str] = field(default_factory=list)

    def open(self, path: str) -> pa.NativeFile:
        self._note(path)
        return OverlayFileIO.open(self, path)

    def open_sized(self, path: str, size: int) -> pa.NativeFile:
        self._note(path)
        return OverlayFileIO.open_sized(self, path, size)

    def read(self, path: str) -> bytes:
        self._note(path)
        return OverlayFileIO.read(self, path)

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        self._note(path)
        return OverlayFileIO.read_range(self, path, offset, length)

    def _note(self, path: str) -> None:
        if "/bucket-" in path and path not in self.names:
            self.names.append(path)


@pytest.fixture(name="table", scope="module")
def make_table() -> Table:
    """Six files of ten rows, in two partitions."""
    return append_table(
        SCHEMA,
        *([row("ab"[part % 2], part * 10 + n) for n in range(10)] for part in range(6)),
        partition_by=["p"],
    )


@pytest.fixture(name="opened")
def make_opened(table: Table) -> tuple[Table, Opened]:
    below: FileIO = table._store.file_io
    files = Opened(below=below)
    return replace(table, _store=TableStore(files, table._store.paths)), files


FILTERS: Mapping[str, tuple[str, pl.Expr, pc.Expression, int]] = {
    "number": ("id >= 50", pl.col("id") >= 50, pc.field("id") >= 50, 1),
    "number first": ("50 <= id", pl.lit(50) <= pl.col("id"), pc.scalar(50) <= pc.field("id"), 1),
    "range": (
        "id BETWEEN 12 AND 21",
        pl.col("id").is_between(12, 21),
        (pc.field("id") >= 12) & (pc.field("id") <= 21),
        2,
    ),
    "partition": ("p = 'a'", pl.col("p") == "a", pc.field("p") == "a", 3),
    "and": (
        "p = 'a' AND id < 5",
        (pl.col("p") == "a") & (pl.col("id") < 5),
        (pc.field("p") == "a") & (pc.field("id") < 5),
        1,
    ),
    "or": (
        "id = 3 OR id = 57",
        (pl.col("id") == 3) | (pl.col("id") == 57),
        (pc.field("id") == 3) | (pc.field("id") == 57),
        2,
    ),
    "in": (
        "id IN (3, 57, 58)",
        pl.col("id").is_in([3, 57, 58]),
        pc.field("id").isin([3, 57, 58]),
        2,
    ),
    "in with null": (
        "city = 'c\"12' OR city IS NULL",
        pl.col("city").is_in(['c"12', None], nulls_equal=True),
        (pc.field("city") == 'c"12') | pc.field("city").is_null(),
        6,
    ),
    "text": (
        "city = 'c\"12'",
        pl.col("city") == 'c"12',
        pc.field("city") == 'c"12',
        2,
    ),
    "decimal": (
        "price >= 13.25",
        pl.col("price") >= Decimal("13.25"),
        pc.field("price") >= pa.scalar(Decimal("13.25"), pa.decimal128(8, 2)),
        1,
    ),
    "date": (
        "day < DATE '2026-01-06'",
        pl.col("day") < DAY + dt.timedelta(days=5),
        pc.field("day") < DAY + dt.timedelta(days=5),
        1,
    ),
    "time": (
        "\"at\" >= TIMESTAMP '2026-01-03 14:00:00'",
        pl.col("at") >= NOON + dt.timedelta(hours=50),
        pc.field("at") >= NOON + dt.timedelta(hours=50),
        1,
    ),
    "null": ("city IS NULL", pl.col("city").is_null(), pc.field("city").is_null(), 6),
    "boolean": ("open = true", pl.col("open") == True, pc.field("open") == True, 6),  # noqa: E712
    "half known": (
        "id > 49 AND weight > 1e6",
        (pl.col("id") > 49) & (pl.col("weight") > 1e6),
        (pc.field("id") > 49) & (pc.field("weight") > 1e6),
        1,
    ),
    "not known": (
        "weight * 2 > 100",
        pl.col("weight") * 2 > 100,
        pc.multiply(pc.field("weight"), 2) > 100,
        6,
    ),
    "or with an unknown side": (
        "id = 1 OR weight * 2 > 100",
        (pl.col("id") == 1) | (pl.col("weight") * 2 > 100),
        (pc.field("id") == 1) | (pc.multiply(pc.field("weight"), 2) > 100),
        6,
    ),
}


@pytest.mark.parametrize("name", FILTERS)
def test_polars_reads_only_files_that_its_filter_may_match(
    opened: tuple[Table, Opened], table: Table, name: str
) -> None:
    _, where, _, files = FILTERS[name]
    expected = table.scan().to_polars().filter(where).sort("id")
    found = opened[0].scan().to_polars(lazy=True).filter(where).sort("id").collect()
    assert found.equals(expected)
    assert len(opened[1].names) == files


@pytest.mark.parametrize(
    "text", ["92964343496219408445.943790806875808821", "-9" + "9" * 19 + "." + "9" * 18, "1E-18"]
)
def test_all_digits_of_a_decimal_are_compared(text: str) -> None:
    """Python's context rounds to 28 digits."""
    value, near = Decimal(text), Decimal("92964343496219408445.943790806875808822")
    table = append_table(columns(x=pa.decimal128(38, 18)), [{"x": value}, {"x": near}])
    scan = table.scan()
    for condition in ("x + 1 > x", "x - 1 < x", "x * 2 >= 0 OR x < 0", "x + x >= 0 OR x < 0"):
        assert table.count(condition) == 2, condition
    assert table.count(pe.col("x") == value) == 1
    assert table.count(f"x = {value:f}") == 1
    assert scan.to_polars(lazy=True).filter(pl.col("x") == value).collect().height == 1
    assert scan.to_polars(lazy=True).filter(pl.col("x").is_in([value])).collect().height == 1
    where = pc.field("x") == pa.scalar(value, pa.decimal128(38, 18))
    assert scan.to_dataset().to_table(filter=where).num_rows == 1
    found = pe.sql(
        "SELECT x, :v AS v FROM t WHERE x = :v", parameters={"v": value}, t=table
    ).to_arrow()
    assert found.to_pylist() == [{"x": value, "v": value}]


@pytest.mark.parametrize("name", FILTERS)
def test_duckdb_reads_only_files_that_its_filter_may_match(
    opened: tuple[Table, Opened], table: Table, name: str
) -> None:
    sql, _, _, files = FILTERS[name]
    query = f"SELECT id, city FROM t WHERE {sql} ORDER BY id"  # noqa: S608 - of this file
    with (
        closing(table.scan().to_duckdb()) as whole,
        closing(opened[0].scan().to_duckdb(lazy=True)) as lazy,
    ):
        assert lazy.sql(query).fetchall() == whole.sql(query).fetchall()
    assert len(opened[1].names) == files


@pytest.mark.parametrize("name", FILTERS)
def test_a_dataset_reads_only_files_that_its_filter_may_match(
    opened: tuple[Table, Opened], table: Table, name: str
) -> None:
    where, files = FILTERS[name][2:]
    expected = table.to_arrow().filter(where).sort_by("id")
    dataset = opened[0].scan().to_dataset()
    found = dataset.to_table(filter=where).sort_by("id")
    assert list(map(str, found.to_pylist())) == list(map(str, expected.to_pylist()))
    assert len(opened[1].names) == files
    cities = dataset.to_table(columns=["city"], filter=where)
    assert sorted(map(str, cities["city"].to_pylist())) == sorted(
        map(str, expected["city"].to_pylist())
    )


def test_limits_and_columns_are_pushed(opened: tuple[Table, Opened]) -> None:
    table, files = opened
    assert table.scan().to_polars(lazy=True).select("id").head(5).collect().shape == (5, 1)
    assert len(files.names) == 1
    query = table.scan().to_polars(lazy=True).select(pl.col("id").max())
    assert query.collect().item() == 59


def test_a_limit_of_the_scan_applies_before_the_filter_of_the_engine(table: Table) -> None:
    scan = table.scan(limit=5)
    ids = scan.to_arrow()["id"].to_pylist()
    assert scan.to_dataset().to_table(filter=pc.field("id") > 1000).num_rows == 0
    found = scan.to_polars(lazy=True).filter(pl.col("id") >= 0).collect()["id"].to_list()
    assert found == ids


@pytest.mark.parametrize("scan_limit", [None, 5, 20])
def test_a_limit_of_polars_applies_where_it_stands(table: Table, scan_limit: int | None) -> None:
    scan = table.scan() if scan_limit is None else table.scan(limit=scan_limit)
    lazy, rows = scan.to_polars(lazy=True), scan.to_polars().lazy()
    late = pl.col("id") >= 3
    queries: list[Callable[[pl.LazyFrame], pl.LazyFrame]] = [
        lambda frame: frame.head(10).filter(late),
        lambda frame: frame.head(10).select("id").filter(late).select(pl.len()),
        lambda frame: frame.filter(late).head(10),
        lambda frame: frame.slice(2, 6).filter(late),
        lambda frame: frame.filter(late).head(10).filter(pl.col("id") % 2 == 0),
    ]
    for query in queries:
        assert query(lazy).collect().equals(query(rows).collect())


def test_a_lazy_scan_reads_one_snapshot(table: Table) -> None:
    own = append_table(columns(id=pa.int32()), [{"id": 1}])
    frame, dataset = own.scan().to_polars(lazy=True), own.scan().to_dataset()
    own.append([{"id": 2}])
    assert frame.collect().height == dataset.count_rows() == 1
    assert own.scan().to_polars(lazy=True).collect().height == 2
    assert table.scan(["id"], "id < 3").to_polars(lazy=True).collect().shape == (3, 1)


def test_a_dataset_has_columns_by_expression_and_no_files(table: Table) -> None:
    dataset = table.scan().to_dataset()
    assert dataset.schema == table.scan().schema
    twice = {"twice": pc.multiply(pc.field("id"), 2)}
    assert pc.max(dataset.to_table(columns=twice)["twice"]).as_py() == 118
    assert dataset.head(3).num_rows == 3
    refusals: list[Callable[[], object]] = [
        dataset.get_fragments,
        lambda: dataset.replace_schema(dataset.schema),
        lambda: dataset.partition_expression,
        dataset.__reduce__,
    ]
    for refused in refusals:
        with pytest.raises(UnsupportedFeatureError, match="of the dataset of a scan"):
            refused()


def test_a_dataset_is_filtered_sorted_joined_and_written(table: Table, tmp_path: Path) -> None:
    dataset = table.scan().to_dataset()
    plain = ds.dataset(pa.table({"id": pa.array([3], pa.int32()), "n": [7]}))
    late, even = pc.field("id") > 50, pc.field("id") < 54
    assert dataset.filter(late).filter(even).to_table()["id"].to_pylist() == [51, 52, 53]
    assert (dataset.filter(late).count_rows(), dataset.filter(late).head(2).num_rows) == (9, 2)
    assert dataset.sort_by([("id", "descending")]).head(1)["id"].to_pylist() == [59]
    joined = dataset.join(dataset.filter(late), "id", join_type="inner", right_suffix="_r")
    assert joined.count_rows() == 9
    near = table.scan(["id"], "id < 5").to_dataset().join_asof(plain, on="id", by=[], tolerance=0)
    assert near.to_table()["n"].drop_null().to_pylist() == [7]
    ds.write_dataset(dataset.filter(late), tmp_path, format="parquet")
    assert ds.dataset(tmp_path).count_rows() == 9


def test_what_arrow_does_with_a_dataset_by_itself_is_an_error(table: Table) -> None:
    dataset, plain = table.scan().to_dataset(), ds.dataset(table.to_arrow().select(["id"]))
    for refused in (
        lambda: ds.Scanner.from_dataset(dataset).to_table(),
        lambda: ds.dataset([dataset, plain]),
        lambda: plain.join(dataset, "id"),
    ):
        with pytest.raises(UnsupportedFeatureError, match="Pass the rows instead"):
            refused()
    with pytest.raises(ValueError, match="Only Dataset, Scanner"):
        ds.write_dataset(dataset.scanner(), "nowhere", format="parquet")


ODD = ['"a" or (id > 1', "(id > )", "(id ~ 5)", "is_in(id, {})", "((", "", "id", "(id > x)"]


@pytest.mark.parametrize("text", ODD)
def test_a_filter_that_is_not_understood_excludes_nothing(table: Table, text: str) -> None:
    assert arrow_condition(text, table.schema.row_type) is None


def test_a_python_function_of_polars_excludes_nothing(table: Table) -> None:
    where = pl.col("id").map_elements(
        lambda n: len(str(n)) > 1 and int(str(n)) > 55, return_dtype=pl.Boolean
    )
    assert polars_condition(where, table.schema.row_type) is None


BACKENDS: Mapping[str | None, Mapping[str, str]] = {
    None: {"id": "int32", "open": "bool", "weight": "float64"},
    "pyarrow": {"id": "int32[pyarrow]", "open": "bool[pyarrow]", "day": "date32[day][pyarrow]"},
    "numpy_nullable": {"id": "Int32", "open": "boolean", "weight": "Float64", "city": "string"},
}


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_data_frame_has_the_types_of_the_backend(table: Table, backend: str | None) -> None:
    frames: Iterator[pd.DataFrame] = iter(
        [
            table.to_pandas(dtype_backend=backend),
            table.scan().to_pandas(dtype_backend=backend),
        ]
    )
    for frame in frames:
        found = {name: str(frame.dtypes[name]) for name in BACKENDS[backend]}
        assert found == BACKENDS[backend]
        assert len(frame) == 60


def test_integers_with_nulls_stay_integers_with_a_backend() -> None:
    table = append_table(columns(id=pa.int64()), [{"id": 2**60 + 1}, {"id": None}])
    for backend in ("pyarrow", "numpy_nullable"):
        assert table.to_pandas(dtype_backend=backend)["id"].max() == 2**60 + 1
    with pytest.raises(InvalidInputError, match="Unknown dtype_backend 'arrow'"):
        table.to_pandas(dtype_backend="arrow")


def test_a_table_is_exchanged_by_both_protocols(table: Table) -> None:
    for source in (table, table.scan()):
        exchanged = source.__dataframe__()
        assert exchanged.num_rows() == 60  # type: ignore[attr-defined] # of the protocol
        assert pa.RecordBatchReader.from_stream(source).read_all().num_rows == 60


EXACT = [
    "r.x = 2",
    "r.x IS NULL",
    "r.y = 'b' AND r.x < 3",
    "d < 1.5",
    "d = 1.5",
    "d <= 0",
    "d > 1.0",
    "d IS NULL",
    "id NOT IN (1, 2)",
    "id IN (1, 2) OR r.x = 4",
    "id = 1 OR id IS NULL",
    "NOT (id = 1 AND d < 9)",
]


@pytest.mark.parametrize("where", EXACT)
def test_filters_of_nested_fields_nulls_and_nan_give_the_rows_of_duckdb(where: str) -> None:
    inner = pa.struct([("x", pa.int32()), ("y", pa.string())])
    rows: list[Mapping[str, object]] = [
        {"id": 1, "d": float("nan"), "r": {"x": 1, "y": "a"}},
        {"id": 2, "d": 1.5, "r": {"x": 2, "y": "b"}},
        {"id": None, "d": -0.0, "r": None},
        {"id": 4, "d": None, "r": {"x": None, "y": "b"}},
        {"id": 5, "d": 0.5, "r": {"x": 4, "y": None}},
    ]
    table = append_table(columns(id=pa.int32(), d=pa.float64(), r=inner), rows)
    query = f"SELECT id FROM t WHERE {where} ORDER BY id"  # noqa: S608 - of this file
    with (
        closing(table.scan().to_duckdb()) as whole,
        closing(table.scan().to_duckdb(lazy=True)) as lazy,
    ):
        assert lazy.sql(query).fetchall() == whole.sql(query).fetchall()


def test_a_scanner_takes_heads_counts_and_batches_of_a_size(table: Table) -> None:
    scanner = (
        table.scan().to_dataset().scanner(columns=["id"], filter=pc.field("id") >= 10, batch_size=4)
    )
    assert scanner.projected_schema.names == ["id"]
    assert max(batch.num_rows for batch in scanner.to_batches()) == 4
    assert scanner.head(3).num_rows == 3
    assert scanner.count_rows() == 50
    assert scanner.take(pa.array([0, 49])).num_rows == 2
    with pytest.raises(UnsupportedFeatureError, match="of the dataset of a scan"):
        scanner.scan_batches()
