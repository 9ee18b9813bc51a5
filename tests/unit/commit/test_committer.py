"""What a commit makes visible, and what it does when others are faster."""

import dataclasses
import re
from contextlib import nullcontext, suppress

import pytest

from paimon_explore.commit.commit_attempt import CommitNote
from paimon_explore.commit.commit_timing import Timing
from paimon_explore.commit.commit_trace import CommitStep
from paimon_explore.commit.committer import Committer
from paimon_explore.commit.overwrite import NEW_PARTITIONS, WHOLE_TABLE, Overwrite
from paimon_explore.errors import (
    CommitConflictError,
    CommitError,
    InvalidInputError,
    StorageError,
)
from paimon_explore.metadata.commit_message import CommitMessage, SeenSnapshot
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import (
    BATCH_COMMIT_IDENTIFIER,
    CommitKind,
    Snapshot,
    parse_snapshot,
)
from paimon_explore.metadata.statistics_file import Statistics
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.append_writer import write_append
from support.entries import EMPTY_ROW, entries, entry, index, index_row, int_row, names, vector_row
from support.faulty_file_io import Fault, FaultyFileIO
from support.memory_files import ObjectStoreInMemory
from support.new_tables import all_files, latest, live_files, live_values, new_table

QUIET = Timing(clock=lambda: 1_700_000_000_000, sleep=lambda _: None, chance=lambda: 0.0)


def append(store: TableStore, schema: TableSchema, *values: int) -> list[CommitMessage]:
    return write_append(store, schema, [{"a": value} for value in values])


def table(**options: str) -> tuple[TableStore, TableSchema]:
    return new_table({"a": "INT"}, options={k.replace("_", "."): v for k, v in options.items()})


def with_committer() -> tuple[TableStore, TableSchema, Committer]:
    store, schema = table()
    return store, schema, Committer(store, schema, timing=QUIET)


def test_the_first_snapshot_has_an_empty_base_list_and_both_hints() -> None:
    store, schema = table()
    (made,) = Committer(store, schema, timing=QUIET).commit(append(store, schema, 1, 2))
    assert made == latest(store)
    assert (made.id, made.schema_id, made.commit_kind) == (1, 0, CommitKind.APPEND)
    assert (made.total_record_count, made.delta_record_count) == (2, 2)
    assert made.commit_identifier == BATCH_COMMIT_IDENTIFIER
    assert (made.next_row_id, made.time_millis) == (0, 1_700_000_000_000)
    assert len(store.manifests.list(made.base_manifest_list)) == 0
    assert store.file_io.read(store.paths.latest_hint) == b"1"
    assert store.file_io.read(store.paths.earliest_hint) == b"1"
    numbered = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-[0-9]"
    for path in all_files(store):
        if path.startswith("manifest/"):
            assert re.fullmatch(f"manifest/manifest(-list)?-{numbered}", path)
    for name, size in (
        (made.base_manifest_list, made.base_manifest_list_size),
        (made.delta_manifest_list, made.delta_manifest_list_size),
    ):
        assert len(store.file_io.read(store.paths.manifest(name))) == size


def test_each_snapshot_builds_on_the_one_before() -> None:
    store, schema, committer = with_committer()
    for value in range(5):
        committer.commit(append(store, schema, value))
    assert store.snapshots.ids() == [1, 2, 3, 4, 5]
    assert live_values(store, "a") == [0, 1, 2, 3, 4]
    assert live_values(store, "a", store.snapshots.load(3)) == [0, 1, 2]
    assert latest(store).total_record_count == 5
    assert store.file_io.read(store.paths.latest_hint) == b"5"
    assert store.file_io.read(store.paths.earliest_hint) == b"1"


def test_manifests_are_merged_once_there_are_many() -> None:
    store, schema = table(**{"manifest_merge-min-count": "4"})
    committer = Committer(store, schema, timing=QUIET)
    for value in range(10):
        committer.commit(append(store, schema, value))
    assert len(store.manifests.all(latest(store))) <= 5
    assert live_values(store, "a") == list(range(10))


def test_a_commit_of_nothing_makes_no_snapshot() -> None:
    store, _, committer = with_committer()
    assert committer.commit([]) == []
    assert [event.step for event in committer.trace] == [CommitStep.SKIP_EMPTY]
    assert store.snapshots.latest() is None


def test_a_streaming_commit_of_nothing_makes_an_empty_snapshot() -> None:
    store, schema = table()
    (made,) = Committer(store, schema, timing=QUIET).commit([], 1, ignore_empty=False)
    assert (made.commit_kind, made.delta_record_count) == (CommitKind.APPEND, 0)


def test_written_and_compacted_files_become_two_snapshots() -> None:
    store, schema = table()
    message = CommitMessage(
        partition=EMPTY_ROW,
        bucket=0,
        new_files=entries(entry("a", row_count=3)),
        compact_before=entries(entry("a", row_count=3)),
        compact_after=entries(entry("b", row_count=2)),
    )
    made = Committer(store, schema, commit_user="u", timing=QUIET).commit([message], 5)
    assert [(s.id, s.commit_kind, s.commit_identifier) for s in made] == [
        (1, CommitKind.APPEND, 5),
        (2, CommitKind.COMPACT, 5),
    ]
    assert [s.total_record_count for s in made] == [3, 2]
    assert names(live_files(store)) == ["+b"]


def test_a_changelog_has_its_own_list_and_count() -> None:
    store, schema = table()
    message = CommitMessage(
        partition=EMPTY_ROW,
        bucket=0,
        new_files=entries(entry("a")),
        changelog_files=entries(entry("c", row_count=7)),
    )
    (made,) = Committer(store, schema, timing=QUIET).commit([message])
    assert made.changelog_manifest_list is not None
    assert made.changelog_record_count == 7
    listed = store.manifests.list(made.changelog_manifest_list)
    assert names(store.manifests.read(listed.names[0])) == ["+c"]
    assert names(live_files(store)) == ["+a"]


def test_index_files_are_inherited_until_they_change() -> None:
    store, schema = new_table({"a": "INT"}, options={"bucket": "1", "bucket-key": "a"})
    committer = Committer(store, schema, timing=QUIET)
    first = CommitMessage(
        partition=EMPTY_ROW,
        bucket=0,
        new_files=entries(entry("a")),
        new_index_files=index(index_row("i1")),
    )
    second = CommitMessage(partition=EMPTY_ROW, bucket=0, new_files=entries(entry("b")))
    committer.commit([first])
    committer.commit([second])
    assert store.snapshots.load(1).index_manifest == store.snapshots.load(2).index_manifest
    committer.commit(
        [
            dataclasses.replace(
                first,
                new_files=entries(entry("c")),
                new_index_files=index(index_row("i2")),
                deleted_index_files=index(index_row("i1")),
            )
        ]
    )
    assert [row["file_name"] for row in store.manifests.index_of(latest(store)).rows()] == ["i2"]


@pytest.mark.parametrize("bucket", ["-1", "1"])
def test_only_a_bucket_has_one_file_of_deletion_vectors(bucket: str) -> None:
    options = {"bucket": bucket, **({"bucket-key": "a"} if bucket == "1" else {})}
    store, schema = new_table({"a": "INT"}, options=options)
    committer = Committer(store, schema, timing=QUIET)
    message = CommitMessage(partition=EMPTY_ROW, bucket=0)
    files = entries(entry("f"), entry("g"))
    vectors = [index(vector_row(f"v{name}", name)) for name in "fg"]
    committer.commit([dataclasses.replace(message, new_files=files)])
    committer.commit([dataclasses.replace(message, new_index_files=vectors[0])])
    with pytest.raises(CommitConflictError) if bucket == "1" else nullcontext():
        committer.commit([dataclasses.replace(message, new_index_files=vectors[1])])


def test_deleting_rows_is_an_overwrite() -> None:
    store, schema, committer = with_committer()
    committer.commit(append(store, schema, 1))
    name = str(live_files(store).rows()[0]["file_name"])
    vectors = CommitMessage(
        partition=EMPTY_ROW, bucket=0, new_index_files=index(vector_row("v", name))
    )
    assert committer.commit([vectors])[0].commit_kind is CommitKind.OVERWRITE
    files = CommitMessage(
        partition=EMPTY_ROW,
        bucket=0,
        deleted_files=live_files(store),
        deleted_index_files=vectors.new_index_files,
    )
    (made,) = committer.commit([files])
    assert (made.commit_kind, made.total_record_count) == (CommitKind.OVERWRITE, 0)


def test_note_statistics_and_watermark_go_into_the_snapshot() -> None:
    store, schema, committer = with_committer()
    note = CommitNote(watermark=50, properties={"k": "v"}, operation="WRITE")
    (first,) = committer.commit(append(store, schema, 1), note=note)
    assert (first.watermark, first.properties, first.operation) == (50, {"k": "v"}, "WRITE")
    (second,) = committer.commit(append(store, schema, 1), note=CommitNote(watermark=20))
    assert (second.watermark, second.properties) == (50, None)


def with_statistics(store: TableStore) -> Snapshot:
    changed = dataclasses.replace(latest(store), id=2, statistics="stat-1")
    assert store.snapshots.create(changed)
    return changed


def test_statistics_are_inherited_until_the_schema_changes() -> None:
    store, schema, committer = with_committer()
    committer.commit(append(store, schema, 1))
    with_statistics(store)
    assert committer.commit(append(store, schema, 2))[0].statistics == "stat-1"
    assert store.schemas.create(dataclasses.replace(schema, id=1))
    (made,) = committer.commit(append(store, schema, 3))
    assert (made.schema_id, made.statistics) == (1, None)


def test_the_clock_of_snapshots_never_goes_back() -> None:
    store, schema = table()
    late = dataclasses.replace(QUIET, clock=lambda: 5_000)
    early = dataclasses.replace(QUIET, clock=lambda: 4_000)
    Committer(store, schema, timing=late).commit(append(store, schema, 1))
    (made,) = Committer(store, schema, timing=early).commit(append(store, schema, 2))
    assert made.time_millis == 5_000


def test_the_same_identifier_of_a_user_is_committed_once() -> None:
    store, schema = table()
    messages = append(store, schema, 1)
    Committer(store, schema, commit_user="u", timing=QUIET).commit(messages, 4)
    again = Committer(store, schema, commit_user="u", timing=QUIET)
    assert [s.id for s in again.commit(messages, 4)] == [1]
    assert [event.step for event in again.trace] == [CommitStep.LOOK_FOR_EARLIER]
    assert again.commit(append(store, schema, 2), 3) == []
    assert [s.id for s in again.commit(append(store, schema, 3), 5)] == [2]
    other = Committer(store, schema, commit_user="v", timing=QUIET)
    assert [s.id for s in other.commit(append(store, schema, 4), 4)] == [3]


class Rival:
    """Commits first, a number of times, whenever the other one waits or is about to publish."""

    def __init__(self, store: TableStore, schema: TableSchema, times: int) -> None:
        self.store, self.schema, self.times = store, schema, times
        self.user: str | None = None
        self.identifier = BATCH_COMMIT_IDENTIFIER
        self.compacts = False

    def strike(self) -> None:
        if self.times:
            self.times -= 1
            rival = Committer(self.store, self.schema, commit_user=self.user, timing=QUIET)
            (message,) = append(self.store, self.schema, 100 + self.times)
            if self.compacts:
                files = message.new_files
                message = dataclasses.replace(message, new_files=entries(), compact_after=files)
            rival.commit([message], self.identifier)


class RacingFileIO(FaultyFileIO):
    """Lets the rival commit just before a snapshot is created."""

    rival: Rival

    def create(self, path: str, data: bytes) -> bool:
        if "/snapshot-" in path:
            self.rival.strike()
        return self.inner.create(path, data)


def race(
    times: int, **options: str
) -> tuple[TableStore, Committer, list[CommitMessage], list[float]]:
    store, schema = table(**options)
    io = RacingFileIO(store.file_io, fault=Fault.BEFORE)
    io.rival = Rival(store, schema, times)
    waits: list[float] = []
    timing = dataclasses.replace(QUIET, sleep=waits.append)
    racing = TableStore(io, store.paths)
    committer = Committer(racing, schema, timing=timing)
    return store, committer, append(store, schema, 1), waits


def test_a_commit_that_loses_tries_the_next_number() -> None:
    store, committer, messages, waits = race(2)
    (made,) = committer.commit(messages)
    assert made.id == 3
    assert live_values(store, "a") == [1, 100, 101]
    assert waits == [0.01, 0.02]
    trace = [(event.step.value, event.figures) for event in committer.trace]
    rival, *_ = store.snapshots.list()
    assert trace[4][0] == "delete files of the failed attempt"
    assert trace[3:9:2] == [
        ("another commit created the snapshot id first", {"to": rival.commit_user}),
        ("wait before the next attempt", {"ms": 10}),
        ("write the base manifest list", trace[7][1]),
    ], "the delta is used again"
    assert (trace.count(trace[3]), trace[-1][0]) == (1, "the snapshot is visible")


@pytest.mark.parametrize(
    ("user", "identifier", "compacts", "is_same"),
    [
        ("u", 7, False, True),
        ("u", 6, False, False),
        ("u", 7, True, False),
        ("v", 7, False, False),
    ],
)
def test_a_commit_that_loses_to_itself_is_there_already(
    user: str, identifier: int, *, compacts: bool, is_same: bool
) -> None:
    """A job that runs twice commits the same user, identifier and kind once."""
    store, schema = table()
    io = RacingFileIO(store.file_io)
    io.rival = Rival(store, schema, 1)
    io.rival.user, io.rival.identifier, io.rival.compacts = user, identifier, compacts
    committer = Committer(TableStore(io, store.paths), schema, commit_user="u", timing=QUIET)
    (made,) = committer.commit(append(store, schema, 1), 7)
    assert (made.id, made.commit_kind) == (1 if is_same else 2, CommitKind.APPEND)
    assert live_values(store, "a") == ([100] if is_same else [1, 100])


@pytest.mark.parametrize("fault", [Fault.BEFORE, Fault.AFTER])
def test_statistics_that_are_not_committed_are_deleted(fault: Fault) -> None:
    store, schema = table()
    Committer(store, schema, timing=QUIET).commit(append(store, schema, 1))
    for step in range(1, 7):
        io = FaultyFileIO(store.file_io, step, fault)
        committer = Committer(TableStore(io, store.paths), schema, timing=QUIET)
        with suppress(StorageError, CommitError):
            committer.analyze(Statistics(snapshot_id=1, schema_id=0, merged_record_count=1))
        used = {one.statistics for one in store.snapshots.list()} - {None}
        stored = {path for path in all_files(store) if path.startswith("statistics/")}
        in_vain = step == 1 and fault is Fault.AFTER  # the reply to the creation of this file
        assert len(stored) == len(used) + in_vain
        for path in stored if in_vain else ():
            store.file_io.delete(f"{store.paths.root}/{path}")


def test_all_files_of_a_commit_are_in_a_remote_storage_before_its_snapshot() -> None:
    store, schema = table()
    stored: list[int] = []

    def before(operation: str) -> None:
        if operation.startswith("create snapshot-"):
            stored.append(sum(path.startswith("manifest/") for path in all_files(store)))

    remote = TableStore(ObjectStoreInMemory(store.file_io, before), store.paths)
    committer = Committer(remote, schema, timing=QUIET)
    committer.commit(append(store, schema, 1))
    committer.commit(append(store, schema, 2))
    assert (stored, live_values(store, "a")) == ([3, 6], [1, 2])
    gone = CommitMessage(partition=EMPTY_ROW, bucket=0, deleted_files=entries(entry("gone")))
    known = all_files(store)
    with pytest.raises(CommitConflictError):
        committer.commit([gone])
    assert all_files(store) == known
    committer.commit(append(store, schema, 3))
    assert stored == [3, 6, 9], "files of the failed commit are stored"


@pytest.mark.parametrize(
    ("options", "ordered", "reads", "conflicts"),
    [
        ({}, False, False, False),
        ({}, True, False, True),
        ({}, False, True, True),
        ({"bucket": "-1"}, False, False, True),
        ({"sequence.field": "a"}, True, False, False),
        ({"sequence.snapshot-ordering": "true"}, True, False, False),
    ],
)
def test_records_that_would_not_replace_those_of_others_are_refused_on_request(
    options: dict[str, str], *, ordered: bool, reads: bool, conflicts: bool
) -> None:
    schema_options = {"bucket": "1", **options}
    store, schema = new_table({"a": "INT"}, primary_keys=["a"], options=schema_options)
    committer = Committer(store, schema, timing=QUIET)

    def message(name: str, seen: SeenSnapshot | None = None) -> CommitMessage:
        keys = {"min_key": int_row(1), "max_key": int_row(1), "total_buckets": 1}
        return CommitMessage(
            partition=EMPTY_ROW, bucket=0, new_files=entries(entry(name, **keys)), seen=seen
        )

    committer.commit([message("first")])
    seen = SeenSnapshot.of(latest(store))
    committer.commit([message("other")])
    later = dataclasses.replace(SeenSnapshot.of(latest(store)), reads=reads)
    own = [message("a", later), message("b", seen)]
    with pytest.raises(CommitConflictError) if conflicts else nullcontext():
        committer.commit(own, ordered=True) if ordered else committer.commit(own)


def test_a_snapshot_that_orders_rows_numbers_them_in_each_attempt() -> None:
    store, committer, messages, _ = race(1, **{"sequence_snapshot-ordering": "true"})
    committer.commit(messages)
    rows = live_files(store).rows()
    assert [(row["min_sequence_number"], row["max_sequence_number"]) for row in rows] == [
        (1, 1),
        (2, 2),
    ]
    old = live_files(store)
    moved = CommitMessage(partition=EMPTY_ROW, bucket=0, compact_before=old, compact_after=old)
    new = entries(entry("new", max_sequence_number=2))
    committer.commit([dataclasses.replace(moved, compact_after=new)])
    assert live_files(store).rows()[0]["max_sequence_number"] == 2


def test_a_commit_that_loses_too_often_gives_up_and_leaves_no_manifest() -> None:
    store, committer, messages, _ = race(3, **{"commit_max-retries": "1"})
    before = len([path for path in all_files(store) if path.startswith("manifest/")])
    with pytest.raises(CommitError, match="failed after 2 attempts"):
        committer.commit(messages)
    after = len([path for path in all_files(store) if path.startswith("manifest/")])
    assert after - before == 2 * 3, "three files of each of the rival's two commits"
    told = [event.figures for event in committer.trace if event.step is CommitStep.CLEAN_UP]
    assert [figures["files"] for figures in told] == [1, 1, 2]
    assert str(told[0]["names"]).startswith("manifest-list-")


def test_files_that_are_gone_end_a_compaction() -> None:
    store, schema, committer = with_committer()
    committer.commit(append(store, schema, 1))
    files = live_files(store)
    message = CommitMessage(
        partition=EMPTY_ROW, bucket=0, compact_before=files, compact_after=entries(entry("z"))
    )
    committer.commit([message])
    known = all_files(store)
    with pytest.raises(CommitConflictError):
        committer.commit([message])
    assert all_files(store) == known


def test_an_overwrite_replaces_all_files() -> None:
    store, schema, committer = with_committer()
    committer.commit(append(store, schema, 1, 2))
    (made,) = committer.overwrite(append(store, schema, 9), WHOLE_TABLE)
    assert live_values(store, "a") == [9]
    assert made.commit_kind is CommitKind.OVERWRITE
    assert (made.total_record_count, made.delta_record_count) == (1, -1)


def test_an_overwrite_finds_its_files_anew_when_it_loses() -> None:
    store, committer, messages, _ = race(1)
    (made,) = committer.overwrite(messages, WHOLE_TABLE)
    assert made.id == 2
    assert live_values(store, "a") == [1]


def test_a_dynamic_overwrite_of_nothing_changes_nothing() -> None:
    store, schema = table()
    assert Committer(store, schema, timing=QUIET).overwrite([], NEW_PARTITIONS) == []


def test_dropping_partitions_is_an_overwrite_without_files() -> None:
    store, schema = new_table({"a": "INT", "p": "STRING"}, partition_keys=["p"])
    rows = [{"a": i, "p": "xyx"[i]} for i in range(3)]
    committer = Committer(store, schema, timing=QUIET)
    committer.commit(write_append(store, schema, rows))
    (made,) = committer.overwrite([], Overwrite(specs=({"p": "x"},)))
    assert made.total_record_count == 1
    with pytest.raises(InvalidInputError, match="'q' is not a partition column"):
        committer.overwrite([], Overwrite(specs=({"q": "x"},)))


def test_rows_get_ids_on_tables_with_row_tracking() -> None:
    store, schema = new_table({"a": "INT"}, options={"row-tracking.enabled": "true"})
    committer = Committer(store, schema, timing=QUIET)
    committer.commit(append(store, schema, 1, 2, 3))
    (made,) = committer.commit(append(store, schema, 4, 5))
    assert made.next_row_id == 5
    rows = live_files(store).rows()
    assert [(r["first_row_id"], r["min_sequence_number"]) for r in rows] == [(0, 1), (3, 2)]
    delta = store.manifests.list(made.delta_manifest_list)
    assert [(r["min_row_id"], r["max_row_id"]) for r in delta.rows()] == [(3, 4)]


def test_an_unknown_compression_of_manifests_is_refused() -> None:
    store, schema = table()
    with pytest.raises(InvalidInputError, match=r"manifest\.compression"):
        Committer(store, schema, options=TableOptions({"manifest.compression": "rar"}))


def test_fresh_users_have_the_prefix_of_the_option() -> None:
    store, schema = table()
    options = TableOptions({"commit.user-prefix": "job"})
    user = Committer(store, schema, options=options).commit_user
    assert re.fullmatch("job_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", user)
    assert Committer(store, schema).commit_user != Committer(store, schema).commit_user


def test_old_snapshots_without_totals_are_counted_through_their_files() -> None:
    store, schema, committer = with_committer()
    committer.commit(append(store, schema, 1, 2, 3))
    old = dataclasses.replace(
        latest(store), id=2, version=2, total_record_count=None, delta_record_count=None
    )
    assert store.snapshots.create(old)
    assert committer.commit(append(store, schema, 4))[0].total_record_count == 4


def test_new_statistics_are_a_snapshot_without_changes() -> None:
    store, schema, committer = with_committer()
    committer.commit(append(store, schema, 1, 2))
    made = committer.analyze(Statistics(snapshot_id=1, schema_id=0, merged_record_count=2))
    assert (made.id, made.commit_kind) == (2, CommitKind.ANALYZE)
    assert (made.total_record_count, made.delta_record_count) == (2, 0)
    assert made.statistics is not None
    assert store.statistics.load(made.statistics).merged_record_count == 2
    assert committer.commit(append(store, schema, 3))[0].statistics == made.statistics


def test_manifests_are_compacted_on_demand_and_only_if_it_pays() -> None:
    store, schema, committer = with_committer()
    assert committer.compact_manifests() is None
    committer.commit(append(store, schema, 1))
    assert committer.compact_manifests() is None
    committer.commit(append(store, schema, 2))
    committer.overwrite(append(store, schema, 3), WHOLE_TABLE)
    made = committer.compact_manifests()
    assert made is not None
    assert (made.commit_kind, made.delta_record_count) == (CommitKind.COMPACT, 0)
    (row,) = store.manifests.all(made).rows()
    assert (row["num_added_files"], row["num_deleted_files"]) == (1, 0)
    assert live_values(store, "a") == [3]
    assert committer.compact_manifests() is None


def test_manifests_without_a_small_one_are_compacted_if_one_has_deletions() -> None:
    store, schema = table(**{"manifest_target-file-size": "1 b"})
    committer = Committer(store, schema, timing=QUIET)
    committer.commit(append(store, schema, 1))
    committer.commit(append(store, schema, 2))
    assert committer.compact_manifests() is None
    committer.overwrite(append(store, schema, 3), WHOLE_TABLE)
    assert committer.compact_manifests() is not None
    assert not store.manifests.all(latest(store)).numbers("num_deleted_files").any()


def test_a_snapshot_that_was_just_written_is_what_its_file_says() -> None:
    store, schema = table()
    note = CommitNote(watermark=5, properties={"who": "é"}, operation="INSERT")
    (made,) = Committer(store, schema).commit(append(store, schema, 1), note=note)
    data = store.file_io.read(store.paths.snapshot(1))
    assert latest(store) == parse_snapshot(data, "snapshot-1") == made
