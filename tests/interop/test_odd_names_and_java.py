"""Java finds the files of odd partition values where we write them, and we where Java does."""

from pathlib import Path

import pytest

from oracle import JavaPaimon, JavaPaimonError
from paimon_explore import Catalog, Table
from paimon_explore.errors import InvalidInputError
from support.odd_names import ODD_NAMES, ODD_PARTITION_VALUES
from support.rows import difference

pytestmark = pytest.mark.interop
ROWS = [{"id": at, "p": value} for at, value in enumerate((*ODD_PARTITION_VALUES, None))]


def partition_folders(table: Table) -> list[str]:
    return sorted(one.name for one in Path(table.path).iterdir() if one.name.startswith("p="))


@pytest.mark.parametrize("legacy", ["true", "false"])
def test_folders_of_odd_partition_values_are_those_of_java(
    java: JavaPaimon, tmp_path: Path, legacy: str
) -> None:
    options = {"partition.legacy-name": legacy}
    catalog = Catalog(tmp_path)
    catalog.create_database("d")
    columns = {"id": "INT", "p": "STRING"}
    ours = catalog.create_table("d.o", columns, partition_by="p", options=options)
    ours.append(ROWS)
    folder = tmp_path / "d.db" / "j"
    java.create_table(
        folder, [("id", "INT"), ("p", "STRING")], partition_keys=["p"], options=options
    )
    java.write(folder, ROWS)
    theirs = catalog.table("d.j")
    assert partition_folders(ours) == partition_folders(theirs)
    assert difference(java.read(ours.path), theirs.to_arrow()) == ""
    for table in (ours, theirs):
        assert difference(table.to_arrow(), java.read(folder)) == ""
        assert list(table.maintenance.fsck(read_rows=True)) == []


@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_odd_names_of_columns_are_read_by_both(
    java: JavaPaimon, tmp_path: Path, file_format: str
) -> None:
    # Java 2.0 reads no ORC column whose name contains a backtick, its own neither
    names = [name for name in ODD_NAMES if file_format != "orc" or "`" not in name]
    row = {"id": 1, **{name: f"v{at}" for at, name in enumerate(names)}}
    columns = [("id", "INT NOT NULL"), *((name, "STRING") for name in names)]
    options = {"bucket": "1", "file.format": file_format}
    folder = tmp_path / "d.db" / "t"
    java.create_table(folder, columns, primary_keys=["id"], options=options)
    java.write(folder, [row])
    table = Catalog(tmp_path).table("d.t")
    assert table.to_arrow().to_pylist() == [row]
    table.upsert([{**row, "id": 2}])
    assert difference(java.read(folder), table.to_arrow()) == ""


def test_avro_refuses_the_names_that_java_refuses(java: JavaPaimon, tmp_path: Path) -> None:
    catalog = Catalog(tmp_path)
    catalog.create_database("d")
    more = ("a\u00b2", "\u00bdx", "a\u0663", "\u0663a", "\u2167", "\u02b0", "\U0001d4d0", "_", "a1")
    options = {"file.format": "avro"}
    refused: dict[str, list[str]] = {"java": [], "ours": []}
    for at, name in enumerate((*ODD_NAMES, *more)):
        folder = tmp_path / "d.db" / f"j{at}"
        try:
            java.create_table(folder, [("id", "INT"), (name, "INT")], options=options)
            java.write(folder, [{"id": 1, name: 2}])
        except JavaPaimonError:
            refused["java"].append(name)
        try:
            table = catalog.create_table(f"d.t{at}", {"id": "INT", name: "INT"}, options=options)
        except InvalidInputError:
            refused["ours"].append(name)
            continue
        table.append([{"id": 1, name: 2}])
        assert java.read(table.path).to_pylist() == [{"id": 1, name: 2}]
    assert refused["ours"] == refused["java"]
    assert len(refused["java"]) > len(ODD_NAMES) // 2
