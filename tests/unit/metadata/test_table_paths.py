"""Where the files of a table lie."""

import pytest

from paimon_explore.errors import CorruptFileError, InvalidInputError
from paimon_explore.metadata.table_paths import TablePaths

MAIN = TablePaths("/w/d.db/t")


def test_metadata_of_main_lies_below_the_table() -> None:
    assert MAIN.schema(0) == "/w/d.db/t/schema/schema-0"
    assert MAIN.snapshot(1) == "/w/d.db/t/snapshot/snapshot-1"
    assert MAIN.latest_hint == "/w/d.db/t/snapshot/LATEST"
    assert MAIN.earliest_hint == "/w/d.db/t/snapshot/EARLIEST"
    assert MAIN.changelog(3) == "/w/d.db/t/changelog/changelog-3"
    assert MAIN.changelog_latest_hint == "/w/d.db/t/changelog/LATEST"
    assert MAIN.changelog_earliest_hint == "/w/d.db/t/changelog/EARLIEST"
    assert MAIN.tag("v1") == "/w/d.db/t/tag/tag-v1"
    assert MAIN.tag_success("v1") == "/w/d.db/t/tag/tag-success-file/v1_SUCCESS"
    assert MAIN.consumer("c") == "/w/d.db/t/consumer/consumer-c"


def test_a_branch_has_its_own_metadata_but_shares_the_rest() -> None:
    dev = MAIN.for_branch("dev")
    assert dev.snapshot(1) == "/w/d.db/t/branch/branch-dev/snapshot/snapshot-1"
    assert dev.schema(0) == "/w/d.db/t/branch/branch-dev/schema/schema-0"
    assert dev.tag("v1") == "/w/d.db/t/branch/branch-dev/tag/tag-v1"
    assert dev.manifest("manifest-a-0") == "/w/d.db/t/manifest/manifest-a-0"
    assert dev.statistics("stat-a-0") == "/w/d.db/t/statistics/stat-a-0"
    assert dev.index("index-a-0") == "/w/d.db/t/index/index-a-0"


def test_data_files_lie_in_partition_and_bucket() -> None:
    assert MAIN.data_file("", 0, "f") == "/w/d.db/t/bucket-0/f"
    assert MAIN.data_file("dt=1", -2, "f") == "/w/d.db/t/dt=1/bucket-postpone/f"
    moved = TablePaths("s3://b/t", data_directory="data")
    assert moved.data_file("dt=1", 3, "f") == "s3://b/t/data/dt=1/bucket-3/f"


def test_external_files_keep_their_path_and_their_extra_files_lie_beside_them() -> None:
    assert MAIN.data_file("dt=1", 0, "f", "s3://x/dt=1/bucket-0/f") == "s3://x/dt=1/bucket-0/f"
    assert MAIN.extra_file("dt=1", 0, "f.index", "s3://x/f") == "s3://x/f.index"
    assert MAIN.extra_file("dt=1", 0, "f.index") == "/w/d.db/t/dt=1/bucket-0/f.index"


def test_index_files_lie_where_the_options_say() -> None:
    beside = TablePaths("/t", index_in_data_directory=True)
    assert beside.index_file("dt=1", 2, "i") == "/t/dt=1/bucket-2/i"
    assert MAIN.index_file("dt=1", 2, "i") == "/w/d.db/t/index/i"
    assert MAIN.index_file("dt=1", 2, "i", "/x/i") == "/x/i"


@pytest.mark.parametrize("name", ["", ".", "..", "../f", "/etc/passwd", "a/b", "a\\b", "a\0b"])
def test_names_that_lead_out_of_their_folder_are_refused(name: str) -> None:
    for place in (MAIN.manifest, MAIN.index, MAIN.statistics):
        with pytest.raises(CorruptFileError):
            place(name)
    with pytest.raises(CorruptFileError):
        MAIN.data_file("dt=1", 0, name)
    with pytest.raises(CorruptFileError):
        MAIN.extra_file("dt=1", 0, name, "/x/f")
    for given in (MAIN.tag, MAIN.tag_success, MAIN.consumer, MAIN.branch_dir, MAIN.for_branch):
        with pytest.raises(InvalidInputError):
            given(name)


def test_a_data_directory_is_a_folder_of_the_table() -> None:
    assert TablePaths("/t", data_directory="a/b").data_root == "/t/a/b"
    with pytest.raises(CorruptFileError, match=r"data-file\.path-directory"):
        TablePaths("/t", data_directory="a/../../other")
