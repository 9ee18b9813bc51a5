from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import open_table
from support.small_tables import append_table, columns, new_catalog, rows_of


@pytest.mark.parametrize(
    ("file_format", "magic"), [("avro", b"Obj\x01"), ("orc", b"ORC"), ("parquet", b"PAR1")]
)
def test_manifests_have_the_format_that_the_table_asks_for_however_they_are_merged(
    file_format: str, magic: bytes, tmp_path: Path
) -> None:
    options = {
        "manifest.format": file_format,
        "manifest.merge-min-count": "3",
        "deletion-vectors.enabled": "true",
    }
    table = new_catalog(tmp_path).create_table(
        "db.t", pa.schema([("id", pa.int32())]), options=options
    )
    for number in range(8):
        table.append([{"id": number}, {"id": -1}])
        table.delete("id = -1")
    files = list((tmp_path / "db.db" / "t" / "manifest").iterdir())
    assert {path.read_bytes()[: len(magic)] for path in files} == {magic}
    assert rows_of(table.to_arrow()) == [{"id": number} for number in range(8)]


def test_each_commit_may_write_another_format() -> None:
    table = append_table(columns(id=pa.int32()))
    formats = ["avro", "orc", "parquet", "avro", "avro", "orc", "avro", "avro", "avro"]
    for number, file_format in enumerate(formats):
        options = {"manifest.format": file_format}
        open_table(table.path, options=options).append([{"id": number}])
        found = open_table(table.path)
        assert rows_of(found.to_arrow()) == [{"id": at} for at in range(number + 1)]
        assert found.maintenance.fsck() == []
