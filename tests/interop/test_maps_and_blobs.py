"""Maps in shared columns, and arrays and maps of BLOB, between Java and us."""

from pathlib import Path

import pyarrow as pa
import pytest

from oracle import JavaPaimon
from oracle.wire import TypeJson
from paimon_explore import open_table
from support.rows import difference

pytestmark = pytest.mark.interop

SHREDDED = {
    "bucket": "-1",
    "fields.m.map.storage-layout": "shared-shredding",
    "fields.m.map.shared-shredding.max-columns": "2",
}
BLOBS = {"bucket": "-1", "row-tracking.enabled": "true", "data-evolution.enabled": "true"}
MAPS = pa.table(
    {
        "id": pa.array([1, 2, 3, 4], pa.int32()),
        "m": pa.array(
            [[("a", 1), ("b", None), ("c", 3)], None, [], [("c", 4)]],
            pa.map_(pa.string(), pa.int64()),
        ),
    }
)


@pytest.mark.parametrize("file_format", ["parquet", "orc"])
@pytest.mark.parametrize("policy", ["plain", "sequential", "lru"])
def test_maps_in_shared_columns(
    java: JavaPaimon, tmp_path: Path, policy: str, file_format: str
) -> None:
    key = "fields.m.map.shared-shredding.column-placement-policy"
    kind: TypeJson = {"type": "MAP", "key": "STRING NOT NULL", "value": "BIGINT"}
    options = {**SHREDDED, key: policy, "file.format": file_format}
    java.create_table(tmp_path / "t", [("id", "INT"), ("m", kind)], options=options)
    java.write(tmp_path / "t", MAPS)
    table = open_table(tmp_path / "t")
    assert difference(java.read(tmp_path / "t"), table.to_arrow()) == ""
    table.append(MAPS)
    assert table.scan().count() == 8
    assert difference(java.read(tmp_path / "t"), table.to_arrow()) == ""


KINDS: dict[str, tuple[TypeJson, pa.DataType, list[object]]] = {
    "array": (
        {"type": "ARRAY", "element": "BLOB"},
        pa.list_(pa.binary()),
        [[b"x", None, b""], [], None],
    ),
    "map by text": (
        {"type": "MAP", "key": "STRING NOT NULL", "value": "BLOB"},
        pa.map_(pa.string(), pa.binary()),
        [[("k", b"x"), ("\u00e9", None)], [], None],
    ),
    "map by number": (
        {"type": "MAP", "key": "SMALLINT NOT NULL", "value": "BLOB"},
        pa.map_(pa.int16(), pa.binary()),
        [[(-7, b"x" * 3000)], [], None],
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_columns_of_many_blobs(java: JavaPaimon, tmp_path: Path, name: str) -> None:
    kind, arrow, values = KINDS[name]
    java.create_table(tmp_path / "t", [("id", "INT"), ("b", kind)], options=BLOBS)
    rows = pa.table({"id": pa.array([1, 2, 3], pa.int32()), "b": pa.array(values, arrow)})
    java.write(tmp_path / "t", rows)
    table = open_table(tmp_path / "t")
    table.append(table.to_arrow())
    theirs = java.read(tmp_path / "t").to_pylist()
    assert theirs == table.to_arrow().to_pylist()
    assert [row["b"] for row in theirs] == values * 2
