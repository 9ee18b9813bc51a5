from dataclasses import replace

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import as_python, string_array
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.scan.live_entries import PartitionFilter, live_files
from paimon_explore.scan.splits.file_locations import data_file_paths, index_file_paths
from support.entries import entries, entry, index_row
from support.small_tables import append_table, columns

PLAIN = append_table(columns(k=pa.int32())).schema
NO_OPTIONS = TableOptions({})


def test_files_lie_in_the_folder_of_their_partition_and_bucket() -> None:
    table = append_table(
        columns(k=pa.int32(), dt=pa.string(), d=pa.date32()),
        [{"k": 1, "dt": "x/y", "d": None}],
        partition_by=["dt", "d"],
    )
    assert table.snapshot is not None
    cut = PartitionFilter(row_type=table.schema.partition_type)
    files = live_files(table._store, table.snapshot, cut)
    found = data_file_paths(files, table.schema, NO_OPTIONS, table._store.paths)
    folder = f"{table.path}/dt=x%2Fy/d=__DEFAULT_PARTITION__/bucket-0/"
    assert [str(path).rpartition("/")[0] + "/" for path in as_python(found)] == [folder]
    assert all(table._store.file_io.exists(str(path)) for path in as_python(found))


def test_buckets_have_folders_of_their_own_in_the_order_of_the_entries() -> None:
    found = data_file_paths(
        entries(entry("a", bucket=1), entry("b", bucket=0), entry("c", bucket=-2)),
        PLAIN,
        NO_OPTIONS,
        TablePaths("/t"),
    )
    assert found.to_pylist() == ["/t/bucket-1/a", "/t/bucket-0/b", "/t/bucket-postpone/c"]


def test_external_files_lie_where_their_entry_says() -> None:
    found = data_file_paths(
        entries(entry("a", external_path="s3://b/x/a"), entry("b")),
        PLAIN,
        NO_OPTIONS,
        TablePaths("/t"),
    )
    assert found.to_pylist() == ["s3://b/x/a", "/t/bucket-0/b"]


def test_no_files_have_no_paths() -> None:
    assert data_file_paths(entries(), PLAIN, NO_OPTIONS, TablePaths("/t")).to_pylist() == []


def test_index_files_lie_in_the_index_folder_or_beside_their_data() -> None:
    index = IndexEntries.from_rows([index_row("i", bucket=2)])
    assert index_file_paths(index, PLAIN, NO_OPTIONS, TablePaths("/t")).to_pylist() == [
        "/t/index/i"
    ]
    beside = TablePaths("/t", index_in_data_directory=True)
    assert index_file_paths(index, PLAIN, NO_OPTIONS, beside).to_pylist() == ["/t/bucket-2/i"]


def test_indexes_over_row_ids_never_lie_beside_data() -> None:
    over = {"row_range_start": 0, "row_range_end": 9, "index_field_id": 1}
    index = IndexEntries.from_rows(
        [index_row("g", bucket=0, global_index=over), index_row("i", bucket=2)]
    )
    beside = TablePaths("/t", index_in_data_directory=True)
    assert index_file_paths(index, PLAIN, NO_OPTIONS, beside).to_pylist() == [
        "/t/index/g",
        "/t/bucket-2/i",
    ]
    keyed = replace(PLAIN, primary_keys=("k",))
    assert index_file_paths(index, keyed, NO_OPTIONS, beside).to_pylist()[0] == "/t/bucket-0/g"


def test_texts_become_an_array() -> None:
    assert string_array(["a", "", "é"]).to_pylist() == ["a", "", "é"]  # type: ignore[misc]  # in stubs
