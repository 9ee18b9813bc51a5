"""What operations ask an object store for: how many requests, and which of them together.

The store is a server on this machine; requests are counted, not timed. A gate holds requests back
until all that should be sent together have arrived.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError, NotFoundError, StorageError
from paimon_explore.table.table import Table
from support.s3 import Requests, S3Place, objects_of, s3_place

PARTITIONS, BUCKETS, COMMITS = 4, 2, 3
FILES = PARTITIONS * BUCKETS * COMMITS
COLUMNS = {"dt": "STRING NOT NULL", "k": "BIGINT NOT NULL", "v": "STRING"}
NUMBERS = count()
"""Of buckets: the server keeps them as long as the process."""


@dataclass(frozen=True)
class FarTable:
    """A table of several small files per bucket on a store."""

    place: S3Place

    @property
    def requests(self) -> Requests:
        return self.place.requests

    @property
    def catalog(self) -> pe.Catalog:
        return pe.Catalog(self.place.location, storage_options=dict(self.place.options))

    @property
    def elsewhere(self) -> pe.Catalog:
        """The catalog as another process sees it, which knows nothing of the table."""
        return pe.Catalog(
            self.place.location, storage_options={**self.place.options, "s3.region": "elsewhere"}
        )

    def open(self) -> Table:
        return self.catalog.table("db.t")

    def files(self) -> list[str]:
        """The files of the table."""
        table = self.open()
        return sorted(status.path for status in table._store.file_io.walk(table.path))

    def since(self) -> list[str]:
        """The requests since the last call, sorted."""
        found = sorted(self.requests.log)
        self.requests.clear()
        return found


def rows(first: int, many: int = 160) -> pa.Table:
    numbers = range(first, first + many)
    days = [f"d{number % PARTITIONS}" for number in numbers]
    return pa.table({"dt": days, "k": [*numbers], "v": ["x"] * many})


@pytest.fixture(scope="module")
def written() -> Mapping[str, bytes]:
    """The objects of the table that each test gets."""
    bucket = f"far{next(NUMBERS)}"
    with s3_place(bucket) as place:
        catalog = FarTable(place).catalog
        catalog.create_database("db")
        table = catalog.create_table(
            "db.t",
            COLUMNS,
            primary_key=["dt", "k"],
            partition_by="dt",
            options={"bucket": BUCKETS, "write-only": "true"},
        )
        for commit in range(COMMITS):
            table.upsert(rows(commit * 40))
    return objects_of(bucket)


@pytest.fixture
def far(written: Mapping[str, bytes]) -> Iterator[FarTable]:
    with s3_place(f"far{next(NUMBERS)}", written) as place:
        found = FarTable(place)
        assert found.open().scan().plan().splits, "so that the process knows the table"
        found.requests.clear()
        yield found


def test_a_plan_asks_for_the_schemas_the_hint_and_two_snapshots(far: FarTable) -> None:
    assert len(far.open().scan().plan().splits) == PARTITIONS * BUCKETS
    assert far.since() == [
        "GET snapshot/LATEST",
        "GET snapshot/snapshot-3",
        "GET snapshot/snapshot-4",
        "LIST schema/",
        "LIST schema/",
    ]


def test_what_does_not_depend_on_other_answers_is_asked_together(far: FarTable) -> None:
    table = far.open()
    with far.requests.together(4, "GET snapshot/|LIST schema/"):
        assert table.scan().plan().splits


def test_all_files_are_asked_for_once_and_together(far: FarTable) -> None:
    table = far.open()
    with far.requests.together(FILES, r"\.parquet"):
        assert table.to_arrow().num_rows == 240
    assert sum(".parquet" in line for line in far.requests.log) == FILES
    assert set(far.requests.counts()) == {"GET", "LIST"}, "the manifest has the sizes"


READS: dict[str, Callable[[Table], object]] = {
    "compact": lambda table: table.compact(full=True),
    "changes": lambda table: [*table.changes(1, COMMITS)],
    "between": lambda table: table.between(1, COMMITS, mode="diff").to_arrow(),
    "delete": lambda table: table.delete("v = 'x'"),
    "rescale": lambda table: table.maintenance.rescale(3),
    "audit_log": lambda table: table.inspect.system_table("audit_log").to_arrow(),
}
"""Acts that read one file after the other."""


@pytest.mark.parametrize("name", READS)
def test_acts_that_read_file_by_file_ask_for_the_next_files(far: FarTable, name: str) -> None:
    table = far.open()
    with far.requests.together(PARTITIONS * BUCKETS, r"GET \S+\.parquet"):
        assert READS[name](table)
    assert not any(line.startswith("GET schema/") for line in far.requests.log), "it is known"


@pytest.mark.parametrize(
    "act",
    [
        lambda table: table.delete("v = 'x'"),
        lambda table: table.maintenance.rescale(3),
        lambda table: table.compact(full=True),
    ],
    ids=["delete", "rescale", "compact"],
)
def test_new_files_of_all_buckets_are_stored_together(
    far: FarTable, act: Callable[[Table], object]
) -> None:
    with far.requests.together(PARTITIONS * BUCKETS, r"PUT \S+\.parquet"):
        assert act(far.open())


def test_files_of_many_schemas_ask_for_all_schemas_together(far: FarTable) -> None:
    for number in range(3):
        far.open().add_column(f"c{number}", "INT")
        far.open().upsert(rows(number, 8))
    table = far.elsewhere.table("db.t")
    far.requests.clear()
    with far.requests.together(3, r"GET schema/schema-[0-2]"):
        assert table.to_arrow().num_rows == 240
    assert sum(line.startswith("GET schema/") for line in far.requests.log) == 3


def test_deletion_vectors_are_asked_for_with_their_files(far: FarTable) -> None:
    options = {"deletion-vectors.enabled": "true", "write-only": "true"}
    table = far.catalog.create_table("db.d", COLUMNS, partition_by="dt", options=options)
    for commit in range(3):
        table.append(rows(commit * 40))
    table.delete("k % 8 = 1")
    with far.requests.together(3 + 3, r"GET (dt=d1/\S+\.parquet|index/)"):
        assert table.scan(where="dt = 'd1'").to_arrow().num_rows == 60


def test_an_update_asks_once_for_each_deletion_vector(far: FarTable) -> None:
    options = {"deletion-vectors.enabled": "true", "write-only": "true"}
    table = far.catalog.create_table("db.d", COLUMNS, partition_by="dt", options=options)
    for commit in range(3):
        table.append(rows(commit * 40))
    table.delete("k % 8 = 1")
    far.requests.clear()
    with far.requests.together(3, r"GET dt=d1/\S+\.parquet"):
        table.update({"v": "'y'"}, "k % 8 = 5 AND dt = 'd1'")
    read = [line for line in far.requests.log if line.startswith("GET index/")]
    assert len(read) == len(set(read)) == 3


def test_a_small_index_file_is_read_as_a_whole(far: FarTable) -> None:
    options = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    table = far.catalog.create_table("db.g", COLUMNS, options=options)
    table.append(rows(0))
    table.maintenance.create_global_index("k", "btree")
    far.requests.clear()
    assert far.elsewhere.table("db.g").scan(where="k = 5").to_arrow().num_rows == 1
    assert sum(line.startswith("GET index/") for line in far.requests.log) == 1


def test_a_partition_asks_for_its_own_files(far: FarTable) -> None:
    assert far.open().scan(where="dt = 'd1'").to_arrow().num_rows == 60
    assert len(far.requests.log) == 5 + BUCKETS * COMMITS


def test_another_process_reads_metadata_once(far: FarTable) -> None:
    with far.requests.together(2, "LIST schema/|GET snapshot/LATEST"):
        table = far.elsewhere.table("db.t")
    with far.requests.together(COMMITS, "GET manifest/manifest-[0-9a-f]{8}-"):
        assert len(table.scan().plan().splits) == PARTITIONS * BUCKETS
    more = "the schema, the hint at once with the listing, two lists, and the manifests"
    assert len(far.requests.log) == 5 + 1 + 1 + 2 + COMMITS, more
    far.requests.clear()
    assert len(far.elsewhere.table("db.t").scan().plan().splits) == PARTITIONS * BUCKETS
    assert len(far.requests.log) == 5


def test_a_table_that_was_dropped_and_created_again_is_seen(far: FarTable) -> None:
    held = far.open()
    other = far.elsewhere
    other.drop_table("db.t")
    other.create_table("db.t", {"a": "INT", "b": "INT"})
    assert held.schema.row_type.names == ("a", "b")
    assert held.snapshot is None
    assert far.open().to_arrow().column_names == ["a", "b"]
    other.table("db.t").append({"a": [1], "b": [2]})
    assert held.to_arrow().to_pylist() == [{"a": 1, "b": 2}]
    other.drop_table("db.t")
    with pytest.raises(NotFoundError):
        held.to_arrow()


def test_changes_of_others_are_seen(far: FarTable) -> None:
    held = far.open()
    assert held.count() == 240
    other = far.elsewhere.table("db.t")
    for number in range(6):
        other.upsert(rows(1_000 + number, 1))
        assert held.count() == 241 + number
    other.add_column("w", "INT")
    assert held.schema.row_type.names == ("dt", "k", "v", "w")
    other.rollback_to(snapshot=2)
    assert held.snapshot is not None
    assert held.snapshot.id == 2
    assert held.count() == 200


def test_an_upsert_sends_few_requests_most_of_them_together(far: FarTable) -> None:
    table = far.open()
    table.upsert(rows(0, 2))  # checks once whether the store knows conditions
    far.requests.clear()
    with far.requests.together(3, "PUT manifest/"), far.requests.together(2, r"PUT dt=.*parquet"):
        table.upsert({"dt": ["d1"] * 10, "k": [*range(10)], "v": ["y"] * 10})
    log = far.requests.log
    assert far.requests.counts() == {"GET": 7, "LIST": 2, "PUT": 7}
    assert log[-3:] == [
        "PUT snapshot/snapshot-5",
        "GET snapshot/snapshot-4",
        "PUT snapshot/LATEST",
    ]
    assert sum(line.startswith("PUT") for line in log[:-3]) == 5, "before they are visible"


@pytest.mark.parametrize(
    "failing",
    [
        r"PUT .*\.parquet",
        r"PUT .*bucket-1/.*\.parquet",
        "PUT manifest/",
        "PUT manifest/manifest-list-.*-1$",
        "PUT manifest/manifest-[0-9a-f]{8}-",
    ],
)
def test_a_file_that_cannot_be_stored_leaves_nothing(far: FarTable, failing: str) -> None:
    table = far.open()
    assert table.upsert(rows(0, 2)) is not None
    once = {**far.place.options, "max_retries": "0", "s3.region": "elsewhere"}
    catalog = pe.Catalog(far.place.location, storage_options=once)
    writer = catalog.table("db.t")
    assert writer.upsert(rows(0, 2)) is not None  # checks whether the store knows conditions
    before = far.files()
    with far.requests.failing(failing), pytest.raises(StorageError):
        writer.upsert(rows(2_000, 16))
    assert far.files() == before
    assert table.count() == 240
    assert writer.upsert(rows(2_000, 16)) is not None
    assert table.count() == 256


def test_files_that_expire_are_deleted_by_one_request_of_a_kind(far: FarTable) -> None:
    table = far.open()
    assert table.compact(full=True) is not None
    far.requests.clear()
    removed = table.maintenance.expire_snapshots(retain_max=1)
    assert len(removed.files.data_files) == FILES
    deleted = [line for line in far.requests.log if line.startswith("DELETE ")]
    assert len(deleted) == COMMITS + 2, "snapshots, data files, manifest lists"
    assert not {path for line in deleted for path in line.split()[1:]}.intersection(far.files())


@pytest.mark.parametrize("options", [{}, {"disable_bulk_delete": "true"}])
def test_a_store_that_deletes_one_file_per_request_is_asked_for_all_together(
    far: FarTable, options: dict[str, str]
) -> None:
    catalog = pe.Catalog(far.place.location, storage_options={**far.place.options, **options})
    table = catalog.table("db.t")
    assert table.compact(full=True) is not None
    refused = r"DELETE \S+ \S"
    with far.requests.failing(refused), far.requests.together(FILES, r"DELETE \S*\.parquet$"):
        removed = table.maintenance.expire_snapshots(retain_max=1)
    assert len(removed.files.data_files) == FILES
    assert sum(path.endswith(".parquet") for path in far.files()) == PARTITIONS * BUCKETS


def test_an_expiry_reads_only_what_is_new_since_the_last_one(far: FarTable) -> None:
    table = far.elsewhere.table("db.t")
    for number in range(6):
        far.open().upsert(rows(number, 1))
    assert table.maintenance.expire_snapshots(retain_max=8).expired == (1,)
    far.open().upsert(rows(0, 1))
    far.requests.clear()
    assert table.maintenance.expire_snapshots(retain_max=8).expired == (2,)
    lists_and_manifests = [line for line in far.requests.log if line.startswith("GET manifest/")]
    assert len(lists_and_manifests) == 3, "of the last commit"


def test_the_history_of_a_key_asks_for_the_manifest_lists_together(far: FarTable) -> None:
    table = far.elsewhere.table("db.t")
    with far.requests.together(COMMITS, "GET manifest/manifest-list"):
        assert len(table.history({"dt": "d1", "k": 81}).states) == COMMITS


def test_changes_of_several_commits_are_asked_for_together(far: FarTable) -> None:
    table = far.elsewhere.table("db.t")
    with far.requests.together(COMMITS - 1, "GET manifest/manifest-list"):
        ids = [change.snapshot.id for change in table.changes()]
    assert ids == [1, 2, 3]


def test_the_first_answer_of_the_explorer_lists_what_it_shows(far: FarTable) -> None:
    assert "snapshot 3 APPEND" in repr(far.open())
    far.requests.clear()
    with far.requests.together(4, "LIST (snapshot|tag|consumer|branch)/"):
        assert "snapshot 3 APPEND" in repr(far.open())
    assert far.requests.counts() == {"GET": 5, "LIST": 6}


@pytest.fixture
def large() -> Iterator[FarTable]:
    """A table of one file with several row groups, larger than what is read as a whole."""
    with s3_place(f"far{next(NUMBERS)}") as place:
        found = FarTable(place)
        found.catalog.create_database("db")
        options = {"file.block-size": "2 mb", "write-only": "true"}
        table = found.catalog.create_table("db.t", LARGE_COLUMNS, options=options)
        numbers = np.random.default_rng(7).integers(0, 1 << 60, (2, LARGE_ROWS))
        table.append(pa.table({"a": numbers[0], "b": numbers[1], "c": range(LARGE_ROWS)}))
        found.requests.clear()
        yield found


LARGE_ROWS, LARGE_COLUMNS = 400_000, {"a": "BIGINT", "b": "BIGINT", "c": "BIGINT"}


def test_row_groups_of_a_large_file_are_requested_one_ahead(large: FarTable) -> None:
    table = large.open()
    with large.requests.together(2, r"\.parquet .*bytes=\d+-"):
        assert table.to_arrow().num_rows == LARGE_ROWS
    parts = [line for line in large.since() if ".parquet" in line]
    assert 4 <= len(parts) - 1 <= 8
    assert sum("bytes=-" in line for line in parts) == 1, "the footer, and no HEAD"


def test_stripes_of_a_large_orc_file_are_requested_one_ahead(large: FarTable) -> None:
    options = {"file.format": "orc", "file.block-size": "1 mb", "write-only": "true"}
    table = large.catalog.create_table("db.o", LARGE_COLUMNS, options=options)
    rows = large.open().to_arrow()
    table.append(rows)
    large.requests.clear()
    with large.requests.together(2, r"\.orc .*bytes=\d+-"):
        assert table.to_arrow().equals(rows)
    parts = [line for line in large.since() if ".orc" in line]
    assert 4 <= len(parts) <= 12


def test_one_column_of_a_large_file_is_requested_without_the_others(large: FarTable) -> None:
    large.open().scan(["a"]).to_arrow()
    whole = sum(map(size_of, large.since()))
    large.open().to_arrow()
    assert whole < sum(map(size_of, large.since())) / 2


def size_of(line: str) -> int:
    """The length of the requested range of a data file; 0 for other requests."""
    first, _, last = line.partition(" bytes=")[2].partition("-")
    return int(last) - int(first) + 1 if first else 0


def test_the_size_of_files_that_are_read_as_a_whole_can_be_set(large: FarTable) -> None:
    options = {**large.place.options, "small_file_bytes": str(64 << 20)}
    catalog = pe.Catalog(large.place.location, storage_options=options)
    assert catalog.table("db.t").to_arrow().num_rows == LARGE_ROWS
    parts = [line for line in large.since() if ".parquet" in line]
    assert len(parts) == 1
    assert "bytes" not in parts[0]


def test_processes_share_a_cache_on_the_local_disk(far: FarTable, tmp_path: Path) -> None:
    options = {**far.place.options, "cache_folder": str(tmp_path / "cache"), "cache_bytes": "1e7"}
    with pytest.raises(InvalidInputError, match="cache_bytes"):
        pe.Catalog(far.place.location, storage_options=options)
    options["cache_bytes"] = str(10 << 20)
    for region, many in (("x", 5 + 1 + 1 + 2 + COMMITS + FILES), ("y", 5 + 1 + 1)):
        options["s3.region"] = region  # as another process
        catalog = pe.Catalog(far.place.location, storage_options=options)
        assert catalog.table("db.t").to_arrow().num_rows == 240
        assert len(far.since()) == many


def test_collections_are_read_at_the_same_time(far: FarTable) -> None:
    table = far.open()
    with far.requests.together(COMMITS, "GET snapshot/snapshot-"):
        assert [snapshot.id for snapshot in table.snapshots] == [1, 2, 3]
    with far.requests.together(COMMITS, "GET snapshot/snapshot-"):
        assert repr(table.snapshots).count("APPEND") == 3


REFERENCES: dict[str, tuple[str, int, Callable[[Table], object]]] = {
    "orphan files": (
        r"LIST (branch/branch-\w+/)?tag/",
        3,
        lambda table: table.maintenance.remove_orphan_files(older_than="0 s"),
    ),
    "fsck": (
        r"GET (branch/branch-\w+/)?snapshot/snapshot-[12]$",
        4,
        lambda table: table.maintenance.fsck(),
    ),
    "purge": (r"DELETE branch/", 2, lambda table: table.maintenance.purge_files(dry_run=False)),
    "tags": (r"GET tag/", 2, lambda table: table.inspect.tags),
    "branches": (r"LIST branch/branch-\w+/schema/", 2, lambda table: table.inspect.branches),
}
"""Acts on tags and branches, with the requests that are sent together."""


@pytest.mark.parametrize("name", REFERENCES)
def test_all_tags_and_branches_are_asked_for_together(far: FarTable, name: str) -> None:
    for number in (1, 2):
        far.open().create_tag(f"t{number}", number)
        far.open().create_branch(f"b{number}", f"t{number}")
    pattern, count, act = REFERENCES[name]
    table = far.open()
    with far.requests.together(count, pattern):
        act(table)


def test_all_tables_of_a_catalog_are_opened_together(far: FarTable) -> None:
    for name in ("db.u", "db.v"):
        far.catalog.create_table(name, COLUMNS)
    far.requests.clear()
    with far.requests.together(3, "GET schema/schema-0"):
        found = far.elsewhere.system_table("sys.all_tables").to_arrow()
    assert found.column("table_name").to_pylist() == ["t", "u", "v"]
    assert far.requests.log.count("GET schema/schema-0") == 3  # none came alone and again


def test_a_health_check_lists_the_snapshots_for_the_timeline_and_for_its_rules(
    far: FarTable,
) -> None:
    table = far.open()
    far.requests.clear()
    table.health()
    assert far.requests.log.count("LIST snapshot/") == 2


def test_fsck_reads_each_metadata_file_once(far: FarTable) -> None:
    table = far.open()
    far.requests.clear()
    table.maintenance.fsck()
    read = [line for line in far.requests.log if line.startswith("GET manifest/")]
    assert len(read) == len(set(read)) == 3 * COMMITS


def test_the_files_of_a_copied_table_are_copied_together(far: FarTable) -> None:
    with far.requests.together(PARTITIONS * BUCKETS, r"PUT \S+\.parquet"):
        far.catalog.sql("CALL sys.copy('db.t', 'db.u')")
    assert far.catalog.table("db.u").count() == 240


def test_a_transaction_asks_for_files_together(far: FarTable) -> None:
    table = far.open()
    with far.requests.together(FILES, r"GET \S+\.parquet"), table.transaction() as changes:
        changes.delete("v = 'x'")
    assert table.count() == 0
