"""File indexes are built for files that lack them; data files stay."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import paimon_explore as pe
from paimon_explore import Catalog, Table
from paimon_explore.errors import (
    InvalidInputError,
    StorageError,
    UnsupportedFeatureError,
)
from support.faulty_file_io import Fault, FaultyFileIO
from support.lifecycle import files_of, plain_table
from support.table_kinds import PARTITIONS, TABLE_KINDS
from support.through import interrupted, through

BLOOM = {"file-index.bloom-filter.columns": "v"}
BESIDE = {"file-index.in-manifest-threshold": "1 b"}
FIRST, SECOND, _ = PARTITIONS


def rows(partition: str, *keys: int) -> list[dict[str, object]]:
    return [{"p": partition, "k": k, "v": k, "w": ""} for k in keys]


@pytest.mark.parametrize("name", [name for name in TABLE_KINDS if name != "append, evolving"])
def test_files_of_every_kind_of_table_get_their_indexes(tmp_path: Path, name: str) -> None:
    kind = TABLE_KINDS[name]
    table = kind.create(str(tmp_path))
    write = table.append if kind.merge is None else table.upsert
    write(rows(FIRST, 1, 2, 3))
    write(rows(SECOND, 1))
    if kind.deletes:
        table.delete("k = 2")
    before = sorted(table.to_arrow().to_pylist(), key=str)
    data = {file for file in files_of(table) if "/data-" in file}
    table.set_options({**BLOOM, **BESIDE})
    report = table.maintenance.rewrite_file_index()
    is_postponed = table.options["bucket"] == "-2" if "bucket" in table.options else False
    assert report.partitions == (0 if is_postponed else 2)
    assert sorted(table.to_arrow().to_pylist(), key=str) == before
    found = {file for file in files_of(table) if "/data-" in file}
    assert {file for file in found if not file.endswith(".index")} == data
    assert len(found - data) == len(report.files)
    assert table.maintenance.fsck(read_rows=True) == []
    assert table.maintenance.rewrite_file_index().snapshot_id is None


def test_a_scan_skips_files_by_the_new_indexes(tmp_path: Path) -> None:
    table = plain_table(tmp_path, {"metadata.stats-mode": "none"})
    for word in ("apple", "pear"):
        table.append([{"k": 1, "v": word}])
    table.set_options({"file-index.bloom-filter.columns": "v"})
    report = table.maintenance.rewrite_file_index(dry_run=True)
    assert (len(report.files), report.snapshot_id, report.partitions) == (2, None, 1)
    assert repr(report).startswith("would rewrite the indexes of 2 files in 1 partitions\n  /")
    table.maintenance.rewrite_file_index()
    Path(next(path for path in report.files if _word(path) == "pear")).unlink()
    assert table.scan(where="v = 'apple'").to_arrow().num_rows == 1


def _word(path: str) -> object:
    return pq.read_table(path).column("v")[0].as_py()


def test_a_renamed_column_keeps_its_index_and_a_new_one_has_none(tmp_path: Path) -> None:
    table = plain_table(tmp_path)
    table.append([{"k": 1, "v": "a"}])
    table.rename_column("v", "word")
    table.add_column("n", "INT")
    table.append([{"k": 2, "word": "b", "n": 1}])
    table.set_options({"file-index.bitmap.columns": "word,n", **BESIDE})
    assert len(table.maintenance.rewrite_file_index().files) == 2
    assert table.maintenance.rewrite_file_index().files == ()
    assert table.scan(["k"], "word = 'a'").to_arrow().to_pylist() == [{"k": 1}]
    assert table.scan(["k"], "n = 1").to_arrow().to_pylist() == [{"k": 2}]


def test_indexes_that_are_not_asked_for_are_removed(tmp_path: Path) -> None:
    table = plain_table(tmp_path, {"file-index.bloom-filter.columns": "v", **BESIDE})
    table.append([{"k": 1, "v": "a"}])
    table.set_options({"file-index.bloom-filter.columns": None})
    table.maintenance.rewrite_file_index()
    table.maintenance.expire_snapshots(retain_max=1)
    assert [name for name in files_of(table) if name.endswith(".index")] == []
    assert table.count() == 1
    assert table.maintenance.fsck(read_rows=True) == []


@pytest.mark.parametrize("threshold", ["500 b", "1 b"])
@pytest.mark.parametrize("merged", ["2", "4", "30"])
def test_indexes_that_a_file_had_before_come_back_without_losing_it(
    tmp_path: Path, threshold: str, merged: str
) -> None:
    options = {"file-index.in-manifest-threshold": threshold, "manifest.merge-min-count": merged}
    table = plain_table(tmp_path, options)
    table.append([{"k": k, "v": str(k)} for k in (1, 2, 3)])
    expected = table.to_arrow().to_pylist()
    for column in ["v", "k", "v", None, "k", None, "v", "k,v", "k"]:
        table.set_options({"file-index.bloom-filter.columns": column})
        table = pe.open_table(table.path)
        table.maintenance.rewrite_file_index()
        assert table.to_arrow().to_pylist() == expected
        assert table.maintenance.fsck(read_rows=True) == []
        table.maintenance.expire_snapshots(retain_min=1, retain_max=1)
        assert table.scan(where="k = 2").to_arrow().num_rows == 1


def test_rows_of_others_stay_and_files_removed_meanwhile_get_no_index(tmp_path: Path) -> None:
    table = plain_table(tmp_path)
    table.append([{"k": 1, "v": "a"}])
    table.set_options({**BLOOM, **BESIDE})
    interrupted(table, lambda: table.append([{"k": 2, "v": "b"}])).maintenance.rewrite_file_index()
    assert table.count() == 2
    table.set_options({"file-index.bitmap.columns": "k"})
    before = files_of(table)
    late = interrupted(table, table.truncate)
    assert late.maintenance.rewrite_file_index().files == ()
    assert {name for name in files_of(table) - before if name.endswith(".index")} == set()
    assert table.count() == 0


def test_a_failure_leaves_no_index_files(tmp_path: Path) -> None:
    table = plain_table(tmp_path)
    for number in range(3):
        table.append([{"k": number, "v": "a"}])
    table.set_options({**BLOOM, **BESIDE})
    before = files_of(table)
    for step in (2, 3, 4):
        broken = FaultyFileIO(table._store.file_io, step, Fault.BEFORE)
        with pytest.raises(StorageError, match="injected"):
            through(table, broken).maintenance.rewrite_file_index()
        assert {name for name in files_of(table) - before if ".index" in name} == set()
    assert len(table.maintenance.rewrite_file_index().files) == 3


def test_what_cannot_be_indexed_is_refused(tmp_path: Path) -> None:
    table = TABLE_KINDS["append, evolving"].create(str(tmp_path))
    with pytest.raises(UnsupportedFeatureError, match="table with data evolution"):
        table.maintenance.rewrite_file_index()
    catalog = Catalog(tmp_path)
    other: Table = catalog.create_table("db.o", {"id": "INT"})
    other.append([{"id": 1}])
    with pytest.raises(InvalidInputError, match="'dt' is not a partition column"):
        other.maintenance.rewrite_file_index({"dt": 1})
