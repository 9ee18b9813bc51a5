"""Data files in the formats lance, vortex and mosaic, which need optional packages."""

import importlib
import sys
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pytest

from paimon_explore import Catalog, Table, col
from paimon_explore.data_types.arrow_buffers import Column, Ints
from paimon_explore.encoding.data_file_reader import PositionedBatch, StoredColumn
from paimon_explore.encoding.native_libraries import PositionalSource
from paimon_explore.encoding.positional_batches import TakenRows
from paimon_explore.errors import (
    CorruptFileError,
    InvalidInputError,
    PaimonError,
    StorageError,
    UnsupportedFeatureError,
)
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.read.format_reader_registry import FileToOpen, data_file_name, open_data_file
from support.optional_formats import PACKAGES, columns_of, need, typed_rows
from support.rows import difference
from support.small_tables import new_catalog

ROWS = 150_000
"""More than one span of a Lance file."""


@pytest.fixture(params=PACKAGES)
def file_format(request: pytest.FixtureRequest) -> str:
    """A format whose package is installed."""
    name: str = request.param
    need(name)
    return name


@pytest.fixture(params=["local", "memory"])
def catalog(request: pytest.FixtureRequest, tmp_path: Path) -> Catalog:
    """An empty catalog on a disk, and one whose files have no path on a disk."""
    return new_catalog(str(tmp_path) if request.param == "local" else f"memory://{uuid4()}/wh")


def plain(catalog: Catalog, file_format: str, count: int, **options: str) -> Table:
    """A table of numbered rows."""
    rows = pa.table({"id": range(count), "s": [f"s{i % 1000}" for i in range(count)]})
    table = catalog.create_table(
        "db.plain", rows.schema, options={"file.format": file_format, **options}
    )
    table.append(rows)
    return table


def data_files(table: Table) -> list[str]:
    return [str(row["file_name"]) for row in table.files().to_arrow().to_pylist()]


def test_every_type_comes_back(file_format: str, catalog: Catalog) -> None:
    rows = typed_rows(columns_of(file_format))
    table = catalog.create_table("db.t", rows.schema, options={"file.format": file_format})
    table.append(rows)
    table.append(rows.slice(1, 1))
    assert all(name.endswith(f".{file_format}") for name in data_files(table))
    assert difference(pa.concat_tables([rows, rows.slice(1, 1)]), table.to_arrow()) == ""


def test_values_may_lie_anywhere_in_memory(file_format: str, catalog: Catalog) -> None:
    values = pa.array([Decimal("1.25"), None, Decimal("-3.00")], pa.decimal128(10, 2))
    data = values.buffers()[1]
    assert data is not None
    moved = pa.py_buffer(bytes(8) + data.to_pybytes()).slice(8)
    unaligned = pa.Array.from_buffers(values.type, 3, [values.buffers()[0], moved])
    assert moved.address % 16
    table = catalog.create_table(
        "db.t", pa.schema([("d", values.type)]), options={"file.format": file_format}
    )
    table.append(pa.table({"d": unaligned}))
    assert difference(pa.table({"d": values}), table.to_arrow()) == ""


def test_seconds_come_back(file_format: str, catalog: Catalog) -> None:
    rows = pa.table({"t": pa.array([-1, None, 1_700_000_000], pa.timestamp("s"))})
    table = catalog.create_table("db.t", rows.schema, options={"file.format": file_format})
    table.append(rows)
    assert difference(rows, table.to_arrow()) == ""


def test_columns_filters_and_limits(file_format: str, catalog: Catalog) -> None:
    table = plain(catalog, file_format, ROWS)
    assert table.scan().filter(col("id") >= ROWS - 2).to_arrow().column("id").to_pylist() == [
        ROWS - 2,
        ROWS - 1,
    ]
    assert table.scan().filter("s = 's7'").select(["id"]).to_arrow().num_rows == ROWS // 1000
    assert table.scan().limit(3).to_arrow().column("s").to_pylist() == ["s0", "s1", "s2"]
    assert table.scan().select([]).to_arrow().num_rows == ROWS


FILTERS = (
    "id = 70000",
    "id <> 5 AND s = 's7'",
    "id < 3 OR id > 149990",
    "(id >= 65530 AND id <= 65540) OR s IN ('s1', 'none')",
    "k IS NULL AND id < 40",
    "k IS NOT NULL AND NOT (id > 100)",
    "k <=> NULL AND id = 0",
    "flag AND id < 9 AND x > 2",
    "flag = FALSE AND day = DATE '1970-01-03'",
    "day IN (DATE '1970-01-02', NULL) AND k > 3",
    "x > 1000 AND id > 149998",
    "x <> x",
    "id = 9999999999",
    "k > 2 AND s LIKE 's1%' AND id < 500",
)


def varied(catalog: Catalog, file_format: str, **options: str) -> Table:
    """A table of numbered rows with nulls, NaN and several types."""
    numbers = range(ROWS)
    rows = pa.table(
        {
            "id": pa.array(numbers, pa.int64()),
            "k": pa.array([None if i % 7 == 0 else i % 11 for i in numbers], pa.int8()),
            "s": [f"s{i % 1000}" for i in numbers],
            "x": pa.array([float("nan") if i == 3 else i / 2 for i in numbers]),
            "day": pa.array([i // 100 for i in numbers], pa.int32()).cast(pa.date32()),
            "flag": pa.array([None if i % 5 == 0 else i % 2 == 0 for i in numbers]),
        }
    )
    table = catalog.create_table(
        f"db.{file_format}", rows.schema, options={"file.format": file_format, **options}
    )
    table.append(rows)
    return table


@pytest.mark.parametrize("option", ["deletion-vectors.enabled", "row-tracking.enabled"])
def test_filters_keep_the_rows_that_they_keep_in_parquet(
    file_format: str, tmp_path: Path, option: str
) -> None:
    catalog = new_catalog(str(tmp_path))
    statistics = {"mosaic.stats-columns": "id,k,s,day,flag", "file.block-size": "1 mb"}
    chosen = {option: "true", **(statistics if file_format == "mosaic" else {})}
    table, same = (varied(catalog, one, **chosen) for one in (file_format, "parquet"))
    if option == "deletion-vectors.enabled":
        for one in (table, same):
            one.delete("id IN (2, 70000) OR (id > 65534 AND id < 65537)")
    for where in FILTERS:
        expected = same.scan().filter(where).to_arrow()
        assert difference(expected, table.scan().filter(where).to_arrow()) == "", where
    if option == "row-tracking.enabled":
        by_id = table.inspect.system_table("row_tracking").to_arrow()
        assert by_id.column("_ROW_ID").to_pylist() == list(range(ROWS))


FEW = [("vortex", 0.2), ("lance", 0.3), ("mosaic", 0.3)]


@pytest.mark.parametrize(("file_format", "most"), FEW)
def test_a_filter_decodes_few_values(
    file_format: str, most: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(file_format)
    statistics = {"mosaic.stats-columns": "id", "file.block-size": "1 mb"}
    options = statistics if file_format == "mosaic" else {}
    table = varied(new_catalog(str(tmp_path)), file_format, **options)
    decoded = [0]
    values = TakenRows.values

    def counted(self: TakenRows, columns: Sequence[StoredColumn], rows: Ints) -> tuple[Column, ...]:
        decoded[0] += len(rows) * len(columns)
        return values(self, columns, rows)

    module = importlib.import_module(f"paimon_explore.encoding.{file_format}_file")
    kind = getattr(module, f"{file_format.capitalize()}DataFile")
    batches = kind.batches

    def streamed(self: object, *arguments: object) -> Iterator[PositionedBatch]:
        for batch in batches(self, *arguments):
            decoded[0] += batch.rows * len(batch.columns)
            yield batch

    monkeypatch.setattr(TakenRows, "values", counted)
    monkeypatch.setattr(kind, "batches", streamed)
    assert table.to_arrow().num_rows == ROWS
    every, decoded[0] = decoded[0], 0
    assert every == ROWS * 6
    assert table.scan().filter("id = 70000").to_arrow().num_rows == 1
    assert 0 < decoded[0] < most * every
    decoded[0] = 0
    assert table.scan().filter("s = 's7' AND id > 100").to_arrow().num_rows == ROWS // 1000 - 1
    assert decoded[0] < 0.5 * every or file_format == "mosaic"


def test_vortex_reads_only_the_parts_of_a_file_that_may_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("vortex")
    rows = pa.table({"id": range(400_000), "x": np.random.default_rng(7).random(400_000).tolist()})
    table = new_catalog(str(tmp_path)).create_table(
        "db.t", rows.schema, options={"file.format": "vortex"}
    )
    table.append(rows)
    read = [0]
    read_at = PositionalSource.read_at

    def counted(self: PositionalSource, offset: int, length: int) -> bytes:
        read[0] += length
        return read_at(self, offset, length)

    monkeypatch.setattr(PositionalSource, "read_at", counted)
    assert table.to_arrow().num_rows == 400_000
    every, read[0] = read[0], 0
    assert table.scan().filter("id = 9").to_arrow().num_rows == 1
    assert read[0] < every // 2
    read[0] = 0
    assert table.scan().filter("x >= 0 AND id >= 0").to_arrow().num_rows == 400_000
    assert read[0] < every * 1.2


def test_deleted_rows_are_skipped_by_position(file_format: str, catalog: Catalog) -> None:
    options = {"deletion-vectors.enabled": "true"}
    table = plain(catalog, file_format, ROWS, **options)
    table.delete(f"id IN (0, 70000, {ROWS - 1}) OR (id > 65530 AND id < 65540)")
    assert len(data_files(table)) == 1
    ids = table.to_arrow().column("id").to_pylist()
    gone = {0, 70_000, ROWS - 1, *range(65_531, 65_540)}
    assert ids == [i for i in range(ROWS) if i not in gone]


def test_row_ids_are_positions(file_format: str, catalog: Catalog) -> None:
    table = plain(catalog, file_format, 10, **{"row-tracking.enabled": "true"})
    table.append([{"id": 10, "s": "x"}])
    found = (
        table.inspect.system_table("row_tracking").to_arrow().select(["id", "_ROW_ID"]).to_pylist()
    )
    assert found == [{"id": i, "_ROW_ID": i} for i in range(11)]


def test_columns_are_added_renamed_dropped_and_cast(file_format: str, catalog: Catalog) -> None:
    table = plain(catalog, file_format, 3)
    table.add_column("more", "INT")
    table.rename_column("s", "text")
    table.alter_column_type("id", "STRING")
    table.append([{"id": "x", "text": "new", "more": 7}])
    assert sorted(table.to_arrow().to_pylist(), key=lambda row: str(row["id"]))[2:] == [
        {"id": "2", "text": "s2", "more": None},
        {"id": "x", "text": "new", "more": 7},
    ]
    table.drop_column("text")
    assert table.scan().filter("more = 7").to_arrow().to_pylist() == [{"id": "x", "more": 7}]


def test_keys_are_merged_and_compacted(file_format: str, catalog: Catalog) -> None:
    table = catalog.create_table(
        "db.pk",
        {"id": "BIGINT NOT NULL", "s": "STRING"},
        primary_key="id",
        options={"bucket": "2", "file.format": file_format, "changelog-producer": "input"},
    )
    table.upsert([{"id": i, "s": "old"} for i in range(100)])
    table.upsert([{"id": i, "s": "new"} for i in range(50)])
    table.delete("id < 10")
    want = [{"id": i, "s": "new" if i < 50 else "old"} for i in range(10, 100)]
    key = "id"
    assert sorted(table.to_arrow().to_pylist(), key=lambda row: int(row[key])) == want
    table.compact(full=True)
    assert {Path(name).suffix for name in data_files(table)} == {f".{file_format}"}
    assert sorted(table.to_arrow().to_pylist(), key=lambda row: int(row[key])) == want


def test_statistics_skip_files(file_format: str, catalog: Catalog) -> None:
    table = plain(catalog, file_format, 10)
    table.append([{"id": 1000, "s": "far"}])
    (one,) = table.scan().filter("id = 1000").plan().splits
    assert len(one.files) == 1


def test_checks_and_views_of_such_files(file_format: str, catalog: Catalog) -> None:
    table = plain(catalog, file_format, 10)
    assert list(table.maintenance.fsck(read_rows=True)) == []
    (name,) = data_files(table)
    assert file_format in repr(table.inspect.bytes(name)).lower()
    assert name in repr(table.inspect.file(name))


def test_sizes_are_those_of_the_files(file_format: str, tmp_path: Path) -> None:
    table = plain(new_catalog(str(tmp_path)), file_format, 1000)
    (row,) = table.files().to_arrow().to_pylist()
    (file,) = tmp_path.glob(f"**/*.{file_format}")
    assert file.stat().st_size == row["file_size"]
    assert file.read_bytes()


def test_large_writes_start_new_files(file_format: str, catalog: Catalog) -> None:
    table = plain(catalog, file_format, ROWS, **{"target-file-size": "100 kb"})
    assert len(data_files(table)) > 1
    assert table.to_arrow().column("id").to_pylist() == list(range(ROWS))


@pytest.mark.parametrize("file_format", ["vortex", "mosaic"])
@pytest.mark.parametrize("kept", [0, 3, -1], ids=["empty", "start", "shorter"])
def test_truncated_files_are_corrupt(file_format: str, kept: int, tmp_path: Path) -> None:
    # pylance may end the process on such files
    need(file_format)
    table = plain(new_catalog(str(tmp_path)), file_format, 10)
    (file,) = tmp_path.glob(f"**/*.{file_format}")
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(CorruptFileError, match=file.name):
        table.to_arrow()


class Unplugged(pa.PythonFile):
    """A file whose storage fails."""

    def read(self, nbytes: int | None = None) -> bytes:  # noqa: ARG002 - as in the base
        raise StorageError("read", "d", "unplugged")


class UnpluggedFileIO(MemoryFileIO):
    """Files that cannot be read."""

    def open(self, path: str) -> pa.NativeFile:
        return Unplugged(super().open(path), mode="r")  # type: ignore[arg-type]  # any file


@pytest.mark.parametrize("file_format", PACKAGES)
def test_errors_of_the_storage_are_not_corruption(file_format: str) -> None:
    need(file_format)
    file_io = UnpluggedFileIO(name="unplugged")
    path = f"/t/d.{file_format}"
    file_io.replace(path, bytes(1000))
    file = FileToOpen(
        file_io=file_io,
        path=path,
        name=data_file_name(path),
        columns=(),
        options=TableOptions({}),
        use_threads=True,
        batch_bytes=1,
        zone=None,
    )
    with pytest.raises(StorageError, match="unplugged"), open_data_file(file):
        pass


@pytest.mark.parametrize("file_format", PACKAGES)
def test_a_missing_package_is_named(
    file_format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("encoding", "write.formats"):
        for kind in ("file", "format"):
            name = f"paimon_explore.{module}.{file_format}_{kind}"
            monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, file_format, None)
    table = new_catalog(str(tmp_path)).create_table(
        "db.t", pa.schema([("a", pa.int32())]), options={"file.format": file_format}
    )
    needs = rf"{file_format} files without the package {file_format}.*explore\[{file_format}\]"
    with pytest.raises(UnsupportedFeatureError, match=f"Writing {needs}"):
        table.append([{"a": 1}])
    assert [file.name for file in tmp_path.glob("**/*") if file.is_file()] == ["schema-0"]
    path = str(tmp_path / f"d.{file_format}")
    Path(path).write_bytes(b"1")
    file = FileToOpen(
        file_io=LocalFileIO(),
        path=path,
        name=data_file_name(path),
        columns=(StoredColumn(name="a", type=table.schema.fields[0].type),),
        options=TableOptions({}),
        use_threads=True,
        batch_bytes=1,
        zone=None,
    )
    with (
        pytest.raises(UnsupportedFeatureError, match=f"(?s)Reading .*{file_format}") as raised,
        open_data_file(file),
    ):
        pass
    assert raised.value.where == path


@pytest.mark.parametrize(
    ("file_format", "column"),
    [
        ("lance", pa.map_(pa.string(), pa.int32())),
        ("lance", pa.timestamp("us", "UTC")),
        ("vortex", pa.map_(pa.string(), pa.int32())),
        ("mosaic", pa.list_(pa.int32())),
        ("mosaic", pa.struct([("a", pa.int32())])),
    ],
)
def test_types_that_java_does_not_store_are_refused(
    file_format: str, column: pa.DataType, tmp_path: Path
) -> None:
    with pytest.raises(PaimonError, match=f"{file_format} files cannot store .* of column 'c'"):
        new_catalog(str(tmp_path)).create_table(
            "db.t", pa.schema([("c", column)]), options={"file.format": file_format}
        )


def test_a_codec_that_mosaic_does_not_have_is_refused(tmp_path: Path) -> None:
    need("mosaic")
    table = new_catalog(str(tmp_path)).create_table(
        "db.t",
        pa.schema([("a", pa.int32())]),
        options={"file.format": "mosaic", "file.compression": "rar"},
    )
    with pytest.raises(InvalidInputError, match="'rar' is not a compression codec for Mosaic"):
        table.append([{"a": 1}])
    assert not list(tmp_path.glob("**/*.mosaic"))


def test_row_groups_and_statistics_of_mosaic(tmp_path: Path) -> None:
    need("mosaic")
    options = {"file.block-size": "100 kb", "mosaic.stats-columns": "id", "mosaic.num-buckets": "2"}
    table = plain(new_catalog(str(tmp_path)), "mosaic", ROWS, **options)
    (file,) = tmp_path.glob("**/*.mosaic")
    to_open = FileToOpen(
        file_io=LocalFileIO(),
        path=str(file),
        name=data_file_name(str(file)),
        columns=(),
        options=TableOptions({}),
        use_threads=True,
        batch_bytes=1,
        zone=None,
    )
    with open_data_file(to_open) as opened:
        assert len(opened.spans) > 1
        assert sum(span.rows for span in opened.spans) == ROWS
    assert table.to_arrow().column("id").to_pylist() == list(range(ROWS))


def test_a_name_with_a_dot_is_refused_by_lance(tmp_path: Path) -> None:
    need("lance")
    table = new_catalog(str(tmp_path)).create_table(
        "db.t", pa.schema([("a.b", pa.int32())]), options={"file.format": "lance"}
    )
    with pytest.raises(UnsupportedFeatureError, match=r"dot in the name .*'a.b'"):
        table.append([{"a.b": 1}])
