from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Catalog


@pytest.mark.parametrize(
    ("file_format", "magic"), [("avro", b"Obj\x01"), ("orc", b"ORC"), ("parquet", b"PAR1")]
)
def test_manifests_have_the_format_that_the_table_asks_for_however_they_are_merged(
    file_format: str, magic: bytes, tmp_path: Path
) -> None:
    catalog = Catalog(tmp_path)
    catalog.create_database("db")
    options = {"manifest.format": file_format, "manifest.merge-min-count": "3"}
    table = catalog.create_table("db.t", pa.schema([("id", pa.int32())]), options=options)
    for number in range(8):
        table.append([{"id": number}])
    files = list((tmp_path / "db.db" / "t" / "manifest").iterdir())
    assert {path.read_bytes()[: len(magic)] for path in files} == {magic}
    assert set(table.to_arrow().column("id").to_pylist()) == set(range(8))
