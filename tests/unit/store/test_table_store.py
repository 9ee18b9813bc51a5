"""Tags, branches, consumers, schemas, statistics and manifests of a table."""

import pickle
import secrets
from dataclasses import replace
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from paimon_explore.errors import CorruptFileError, MissingFileError, NotFoundError
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.fileio.versioned_reads import MAX_KEPT_BYTES
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.metadata.manifest.manifest_codec import encode_records
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_filter import partition_filter
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.statistics_file import Statistics
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.metadata.tag import Tag
from paimon_explore.store.manifests import TABLE_OVERHEAD_BYTES, ManifestCache, shared_cache
from paimon_explore.store.table_store import TableStore
from support.entries import entries, entry, manifest
from support.golden import GoldenTables
from support.memory_files import ObjectStoreInMemory
from support.paused_file_io import PausedFileIO
from support.plain_snapshot import plain_snapshot

SNAPSHOT = plain_snapshot(2)


@pytest.fixture
def store(request: pytest.FixtureRequest) -> TableStore:
    shared_cache().clear()
    return TableStore(MemoryFileIO(request.node.name), TablePaths("memory://m/t"))


def test_tags_are_listed_by_snapshot_and_the_success_folder_is_none(store: TableStore) -> None:
    created = datetime(2024, 1, 1)  # noqa: DTZ001 - a wall clock
    late = Tag(name="a", snapshot=replace(SNAPSHOT, id=3))
    early = Tag(
        name="b", snapshot=SNAPSHOT, create_time=created, time_retained=timedelta(seconds=5)
    )
    assert store.tags.create(late)
    assert store.tags.create(early)
    assert not store.tags.create(replace(late, snapshot=SNAPSHOT))
    store.file_io.create(store.paths.tag_success("a"), b"{}")
    assert store.tags.names() == ["a", "b"]
    assert store.tags.list() == [early, late]
    assert store.tags.load("b") == early
    store.tags.replace(replace(late, snapshot=SNAPSHOT))
    assert store.tags.load("a").snapshot.id == 2
    store.tags.delete("a")
    assert store.tags.find("a") is None
    with pytest.raises(NotFoundError, match=r"Tag 'a' does not exist.*Tags: 'b'"):
        store.tags.load("a")


def test_branches_have_their_own_snapshots(store: TableStore) -> None:
    dev = store.for_branch("dev")
    assert dev.snapshots.create(SNAPSHOT)
    store.file_io.make_folder(f"{store.paths.branches_dir}/other")
    store.file_io.create(f"{store.paths.branches_dir}/branch-file", b"")
    assert store.snapshots.ids() == []
    assert dev.snapshots.ids() == [2]
    assert store.branches.names() == ["dev"]
    assert store.branches.exists("dev")
    store.branches.rename("dev", "prod")
    assert store.branches.names() == ["prod"]
    store.branches.delete("prod")
    assert not store.branches.exists("prod")


def test_consumers_protect_the_oldest_snapshot_they_still_read(store: TableStore) -> None:
    assert store.consumers.min_next_snapshot() is None
    store.consumers.save("a", Consumer(next_snapshot=5))
    store.consumers.save("b", Consumer(next_snapshot=3))
    store.consumers.save("a", Consumer(next_snapshot=6))
    assert store.consumers.list() == {
        "a": Consumer(next_snapshot=6),
        "b": Consumer(next_snapshot=3),
    }
    assert store.consumers.min_next_snapshot() == 3
    assert store.consumers.modified_ms("a") > 1_600_000_000_000
    store.consumers.delete("b")
    assert store.consumers.ids() == ["a"]
    assert store.consumers.find("b") is None


def test_statistics_are_written_once_and_read_back(store: TableStore) -> None:
    statistics = Statistics(snapshot_id=1, schema_id=0, merged_record_count=7)
    assert store.statistics.create("stat-1", statistics)
    assert store.statistics.load("stat-1") == statistics
    with pytest.raises(MissingFileError):
        store.statistics.load("stat-2")


def test_schemas_of_a_real_table_are_found(golden: GoldenTables) -> None:
    folder = golden.table("java200", "se_append").folder
    schemas = TableStore(LocalFileIO(), TablePaths(str(folder))).schemas
    assert schemas.ids() == [schema.id for schema in schemas.list()]
    latest = schemas.latest()
    assert latest is not None
    assert latest.id == max(schemas.ids())
    with pytest.raises(NotFoundError, match=r"Schemas: '0', .*, '8'\. If"):
        schemas.load(999)


def test_a_place_without_schemas_is_no_table(store: TableStore) -> None:
    assert store.schemas.latest() is None


def test_a_schema_file_with_another_number_is_corrupt(
    store: TableStore, golden: GoldenTables
) -> None:
    data = (golden.table("java200", "append_avro").folder / "schema" / "schema-0").read_bytes()
    store.file_io.create(store.paths.schema(4), data)
    with pytest.raises(CorruptFileError, match="id must be 4"):
        store.schemas.load(4)
    store.file_io.create(store.paths.schema(0), data)
    schema = store.schemas.load(0)
    assert not store.schemas.create(schema)


def put(store: TableStore, name: str, data: bytes) -> None:
    store.file_io.replace(store.paths.manifest(name), data)


def test_manifests_are_read_together_in_the_order_of_their_names(store: TableStore) -> None:
    put(store, "m1", encode_records(entries(entry("a"), entry("b"))))
    put(store, "m2", encode_records(entries(entry("c"))))
    found = store.manifests.read_many(["m2", "m1"])
    assert [row["file_name"] for row in found.rows()] == ["c", "a", "b"]
    assert len(store.manifests.read_many([])) == 0
    assert store.manifests.read_many([], ["level"]).table.schema.names == ["level"]


def test_manifests_are_kept_in_memory_whole_or_by_columns(store: TableStore) -> None:
    put(store, "m1", encode_records(entries(entry("a", level=3))))
    assert store.manifests.read("m1", ["level"]).table.to_pylist() == [{"level": 3}]
    assert len(store.manifests.read("m1")) == 1
    put(store, "m1", b"gone")  # files never change: what is known is not read again
    assert store.manifests.read("m1").rows()[0]["file_name"] == "a"
    assert store.manifests.read("m1", ["level"]).table.to_pylist() == [{"level": 3}]
    assert store.manifests.read("m1", ["bucket"]).table.to_pylist() == [{"bucket": 0}]


def test_what_was_just_written_need_not_be_read(store: TableStore) -> None:
    store.manifests.cache_written("m1", entries(entry("a")))
    store.manifests.cache_written("l1", ManifestFiles.empty())
    assert len(store.manifests.read("m1")) == 1
    assert len(store.manifests.list("l1")) == 0


def test_the_lists_of_a_snapshot_are_read_in_order(store: TableStore) -> None:
    put(store, "base", encode_records(ManifestFiles.empty()))
    put(store, "delta", encode_records(ManifestFiles.empty()))
    assert len(store.manifests.all(SNAPSHOT)) == 0
    assert len(store.manifests.changelog(SNAPSHOT)) == 0
    assert len(store.manifests.index_of(SNAPSHOT)) == 0


def test_a_missing_file_names_the_snapshot_and_the_key_that_led_to_it(store: TableStore) -> None:
    broken = replace(SNAPSHOT, index_manifest="index", changelog_manifest_list="changes")
    for read, key in (
        (store.manifests.base, "baseManifestList"),
        (store.manifests.all, "baseManifestList"),
        (store.manifests.delta, "deltaManifestList"),
        (store.manifests.changelog, "changelogManifestList"),
        (store.manifests.index_of, "indexManifest"),
    ):
        with pytest.raises(MissingFileError, match=f"the {key} of snapshot 2, memory:"):
            read(broken)
    put(store, "base", encode_records(ManifestFiles.empty()))
    with pytest.raises(MissingFileError, match="the deltaManifestList of snapshot 2, memory:"):
        store.manifests.all(broken)


def test_the_cache_forgets_the_least_recently_used_beyond_its_budget() -> None:
    frame = ManifestEntries(entries(entry("a")).table)
    size = TABLE_OVERHEAD_BYTES + frame.table.get_total_buffer_size()
    cache = ManifestCache(budget_bytes=4 * size)
    for key in "abcd":
        cache.keep(key, frame)
    assert cache.find("a") is frame
    cache.keep("e", frame)
    assert cache.find("b") is None
    assert cache.find("a") is frame
    cache.keep("e", frame)
    assert cache.used_bytes == 4 * size
    cache.keep("large", entries(*(entry("a") for _ in range(50))))  # not columns yet
    assert cache.find("large") is None
    cache.clear()
    assert (cache.find("a"), cache.used_bytes) == (None, 0)


def test_what_was_decoded_together_is_kept_and_forgotten_together() -> None:
    frame = ManifestEntries(entries(entry("a"), entry("b"), entry("c")).table)
    size = TABLE_OVERHEAD_BYTES + frame.table.get_total_buffer_size()
    cache = ManifestCache(budget_bytes=5 * size)
    cache.put_slices({"m1": (0, 2), "m2": (2, 1)}, frame)
    part = cache.find_slice("m2")
    assert part is not None
    assert (part.records, part.start, part.count) == (frame, 2, 1)
    cache.keep("m1", frame)
    assert cache.used_bytes == 2 * size
    cache.keep("m2", frame)  # now nobody asks for the first frame any more
    assert cache.used_bytes == 2 * size
    cache.keep("l", ManifestFiles.empty())
    assert cache.find_slice("l") is None
    assert cache.find_slice("unknown") is None


def test_a_store_travels_to_other_processes(store: TableStore) -> None:
    again = pickle.loads(pickle.dumps(store))  # noqa: S301 - our own bytes
    assert again == store
    opened = replace(store, siblings=again, open_iceberg_catalog=again)
    assert (opened, repr(opened)) == (store, repr(store))


def test_many_lists_are_decoded_together_in_the_order_of_their_names(store: TableStore) -> None:
    for name in ("l1", "l2"):
        put(store, name, encode_records(ManifestFiles.empty()))
    assert [len(found) for found in store.manifests.list_many(["l2", "l1", "l2"])] == [0, 0, 0]
    assert store.manifests.list_many([]) == ()


def lists_of(snapshot: Snapshot) -> tuple[str, str]:
    return snapshot.base_manifest_list, snapshot.delta_manifest_list


def test_lists_that_were_read_ahead_are_not_read_again(store: TableStore) -> None:
    snapshots = [
        replace(SNAPSHOT, base_manifest_list=f"base{n}", delta_manifest_list=f"delta{n}")
        for n in range(50)
    ]
    for one in snapshots:
        for name in lists_of(one):
            rows = [manifest(f"{name}-{number}") for number in range(200)]
            put(store, name, encode_records(ManifestFiles.from_rows(rows)))
    store.manifests.read_ahead(name for one in snapshots for name in lists_of(one))
    for one in snapshots:
        put(store, one.base_manifest_list, b"gone")
        assert store.manifests.base(one).names[0] == f"{one.base_manifest_list}-0"
    together = 100 * TABLE_OVERHEAD_BYTES
    size = sum(store.manifests.delta(one).table.nbytes for one in snapshots) * 2
    assert together + size // 2 < shared_cache().used_bytes < together + size * 2
    store.manifests.read_ahead(["missing"])


@pytest.mark.parametrize("kind", [PausedFileIO, ObjectStoreInMemory])
def test_small_manifests_of_a_remote_storage_are_read_ahead(
    store: TableStore, kind: type[PausedFileIO]
) -> None:
    sizes = {"m1": 100, "m2": MAX_KEPT_BYTES, "large": MAX_KEPT_BYTES + 1}
    lists = [ManifestFiles.from_rows([{**manifest(n), "file_size": sizes[n]}]) for n in sizes]
    for name in ("m1", "m2"):
        put(store, name, encode_records(entries(entry(name))))
    asked: list[str] = []
    manifests = TableStore(kind(store.file_io, asked.append), store.paths).manifests
    manifests.read_small_ahead(lists)
    assert sorted(asked) == (["read m1", "read m2"] if kind is ObjectStoreInMemory else [])
    manifests.decode_small_ahead(lists)
    put(store, "m2", b"gone")
    assert manifests.read("m2").rows()[0]["file_name"] == "m2"
    missing = [ManifestFiles.from_rows([manifest("missing")])]
    manifests.read_small_ahead(missing)
    manifests.decode_small_ahead(missing)


@pytest.mark.parametrize("count", [3, 30_000])
def test_entries_of_wanted_partitions_are_found_in_small_and_large_manifests(
    store: TableStore, count: int
) -> None:
    here = b"\0\0\0\1" + bytes(16)
    there = b"\0\0\0\1" + bytes(15) + b"\1"
    rows = [entry("first", partition=here), entry("last", partition=here)]
    many = entries(*(entry(secrets.token_hex(60), partition=there) for _ in range(count)))
    put(store, "m1", encode_records(ManifestEntries.concat([entries(rows[0]), many]), "null"))
    put(store, "m2", encode_records(ManifestEntries.concat([many, entries(rows[1])]), "null"))

    def wanted(partitions: pa.BinaryArray) -> pa.BooleanArray:
        return pc.equal(partitions, pa.scalar(here))

    for _ in range(2):
        found, reasons = store.manifests.read_filtered(["m1", "m2"], [partition_filter(wanted)])
        assert [row["file_name"] for row in found.rows()] == ["first", "last"]
        assert reasons[0, :2].tolist() == [2, 2 * count]
    assert (shared_cache().used_bytes > 0) == (count == 3)
    put(store, "m3", store.file_io.read(store.paths.manifest("m1")))
    found = store.manifests.read_partitions(["m1", "m3", "m2"], wanted)
    assert [row["file_name"] for row in found.rows()] == ["first", "first", "last"]
    names = store.manifests.read_partitions(["m2", "m1"], wanted, ["file_name"]).table
    assert names.column("file_name").to_pylist() == ["last", "first"]
    assert len(store.manifests.read_partitions([], wanted)) == 0
