"""Format tables that Java writes, read as Java reads them."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pytest

from oracle import JavaPaimon, JavaPaimonError, difference
from paimon_explore import Catalog
from paimon_explore.data_types.definitions import DataField
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.metadata.schema.table_schema import TableSchema, encode_schema

pytestmark = pytest.mark.interop

COLUMNS = {
    "k": "INT",
    "v": "STRING",
    "price": "DECIMAL(8, 2)",
    "seen": "TIMESTAMP(6)",
    "day": "DATE",
    "hour": "INT",
}
KEYS = ("day", "hour")
DAY = dt.date(2026, 1, 1)
SEEN = dt.datetime.combine(DAY, dt.time(3, 4, 5, 678000))
ROWS: list[dict[str, object]] = [
    {"k": 1, "v": 'a,"b"', "price": None, "seen": SEEN, "day": DAY, "hour": 1},
    {"k": 2, "v": None, "price": Decimal("1.50"), "seen": None, "day": DAY, "hour": None},
    {"k": 3, "v": "x", "price": Decimal("-2.25"), "seen": None, "day": None, "hour": 3},
]


def create(
    warehouse: Path,
    file_format: str,
    columns: Mapping[str, str] = COLUMNS,
    keys: tuple[str, ...] = KEYS,
    **options: str,
) -> Path:
    """The folder of the format table `db.f`, which Java does not create in a folder itself."""
    fields = tuple(
        DataField(id=at, name=name, type=parse_type_text(kind))
        for at, (name, kind) in enumerate(columns.items())
    )
    schema = TableSchema(
        id=0,
        fields=fields,
        highest_field_id=len(fields) - 1,
        partition_keys=keys,
        options={"type": "format-table", "file.format": file_format, **options},
    )
    folder = warehouse / "db.db" / "f"
    (folder / "schema").mkdir(parents=True)
    (folder / "schema" / "schema-0").write_bytes(encode_schema(schema))
    return folder


@pytest.mark.parametrize("file_format", ["parquet", "orc", "csv", "json"])
def test_what_java_writes_is_read_as_java_reads_it(
    java: JavaPaimon, warehouse: Path, file_format: str
) -> None:
    folder = create(warehouse, file_format)
    java.write(folder, ROWS)
    java.write(folder, ROWS[:1])
    table = Catalog(warehouse).format_table("db.f")
    assert table.count() == 4
    assert difference(java.read(folder), table.to_arrow()) == ""
    where = ("=", "hour", 1)  # Java finds no rows by "day", whose folders it names otherwise
    ours = table.scan(["k", "hour"], "hour = 1")
    assert difference(java.read(folder, where=where, columns=["k", "hour"]), ours.to_arrow()) == ""
    assert table.count("day = DATE '2026-01-01'") == 3
    java.write(folder, ROWS[:1], overwrite={"day": "20454", "hour": "1"})
    assert difference(java.read(folder), table.to_arrow()) == ""
    assert table.count() == 3


@pytest.mark.parametrize("file_format", ["parquet", "orc", "csv", "json"])
def test_java_reads_what_is_written_here(
    java: JavaPaimon, warehouse: Path, file_format: str
) -> None:
    folder = create(warehouse, file_format)
    table = Catalog(warehouse).format_table("db.f")
    table.append(ROWS)
    table.append(ROWS[1:])
    assert difference(table.to_arrow(), java.read(folder)) == ""
    table.overwrite(ROWS[:1])
    table.overwrite(ROWS[2:])
    assert difference(table.to_arrow(), java.read(folder)) == ""
    assert table.count() == 4


@pytest.mark.parametrize("delimiter", ["\n", "\r\n", "||"])
def test_text_files_are_the_same(java: JavaPaimon, warehouse: Path, delimiter: str) -> None:
    columns = {"line": "STRING", "hour": "INT"}
    lines = {"text.line-delimiter": delimiter}
    folder = create(warehouse, "text", columns, ("hour",), **lines)
    table = Catalog(warehouse).format_table("db.f")
    rows = [{"line": text, "hour": 1} for text in ("a", None, "ü\t", "", "d")]
    java.write(folder, rows)
    (of_java,) = folder.rglob("data-*")
    (ours,) = table.append(rows)
    assert Path(ours).read_bytes() == of_java.read_bytes()
    assert Path(ours).suffix == of_java.suffix
    of_java.write_bytes(b"\xef\xbb\xbfone\ntwo\r\nthree\rfour||five")
    assert difference(java.read(folder), table.to_arrow()) == ""
    table.append(rows[:1])
    assert difference(table.to_arrow(), java.read(folder)) == ""


@pytest.mark.parametrize("kind", ["format-table", "object-table"])
def test_neither_java_nor_we_create_them_in_a_folder(
    java: JavaPaimon, warehouse: Path, kind: str
) -> None:
    with pytest.raises(JavaPaimonError, match=f"does not support {kind.replace('-', ' ')}"):
        java.create_table(warehouse / "db.db" / "f", [("k", "INT")], options={"type": kind})
    catalog = Catalog(warehouse)
    catalog.create_database("db", if_not_exists=True)
    with pytest.raises(UnsupportedFeatureError, match=kind):
        catalog.create_table("db.f", {"k": "INT"}, options={"type": kind})
    assert catalog.tables("db") == []
