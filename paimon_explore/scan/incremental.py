"""Which files hold what changed between two snapshots.

`delta` takes the files that APPEND commits added, `changelog` the changelog files of commits other
than OVERWRITE; neither is merged, a row appears as often as it was written. The start is exclusive,
the end inclusive. `diff` compares two states and is done on rows, see `read.snapshot_diff`.
Seen with the official Java 2.0.0: rows are not merged across the commits of the range.

Streams leave OVERWRITE commits out, too, unless the table says so: `streaming-read-overwrite`
(primary-key tables) tells the rows of the removed files as taken back, then those of the new files;
`streaming-read-append-overwrite` (other tables) tells the new ones alone.
Spec: flink/sql-query, incremental query; `incremental-between*` options.
"""

from collections.abc import Iterator, Sequence

from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.options.option_definition import Option
from paimon_explore.metadata.options.option_enums import (
    ChangelogProducer,
    IncrementalBetweenScanMode,
)
from paimon_explore.metadata.options.table_options import (
    CHANGELOG_PRODUCER,
    STREAMING_READ_APPEND_OVERWRITE,
    STREAMING_READ_OVERWRITE,
)
from paimon_explore.metadata.snapshot import CommitKind, Snapshot
from paimon_explore.scan.live_entries import PartitionCut, read_entries
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.expression import TRUE, Expression
from paimon_explore.scan.predicate.predicate_split import split as split_predicate
from paimon_explore.scan.splits.data_split import GoneSplit, Split
from paimon_explore.scan.splits.split_generator import files_as_splits, whole_buckets
from paimon_explore.store.expired import naming_expiry
from paimon_explore.store.table_store import TableStore


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotRange:
    """Commits after `start` up to and including `end`; `start` may be 0 or expired."""

    start: int
    end: int


def change_mode(target: ScanTarget) -> IncrementalBetweenScanMode:
    """What `auto` stands for: changelog files where the table makes them, else added files."""
    none = target.options.value(CHANGELOG_PRODUCER) is ChangelogProducer.NONE
    return IncrementalBetweenScanMode.DELTA if none else IncrementalBetweenScanMode.CHANGELOG


def change_splits(
    target: ScanTarget,
    span: SnapshotRange,
    mode: IncrementalBetweenScanMode = IncrementalBetweenScanMode.AUTO,
    predicate: Expression = TRUE,
) -> Iterator[tuple[Snapshot, Sequence[Split]]]:
    """What each commit of a range brought, oldest first; commits without a part are left out.

    Args:
        target: the table; its snapshot does not matter, its schema is the reading one.
        span: the commits.
        mode: `delta`, `changelog`, or `auto` for the one that fits the table.
        predicate: bound to the reading schema; here it cuts partitions only.

    Raises:
        InvalidInputError: `diff`, which is not told by files alone.
        NotFoundError: a commit of the range expired and left no changelog.
        SnapshotExpiredError: it does so while it is read.
    """
    overwrites = mode is IncrementalBetweenScanMode.AUTO and target.options.value(
        overwrite_option(target)
    )
    if mode is IncrementalBetweenScanMode.AUTO:
        mode = change_mode(target)
    if mode is IncrementalBetweenScanMode.DIFF:
        raise InvalidInputError("Mode 'diff' compares two states and cannot be read file by file.")
    cut = partition_cut(target, predicate)
    for snapshot in commits(target.store, span):
        with naming_expiry(target.store, snapshot, changes=True):
            if overwrites and snapshot.commit_kind is CommitKind.OVERWRITE:
                if replaced := replaced_splits(target, snapshot, cut):
                    yield snapshot, replaced
                continue
            splits = added_splits(target, snapshot, mode, cut)
        if splits:
            yield snapshot, splits


def partition_cut(target: ScanTarget, predicate: Expression) -> PartitionCut:
    """What a predicate says of partitions."""
    inside = split_predicate(predicate, target.schema.partition_keys).inside
    return PartitionCut(
        row_type=target.schema.partition_type, predicate=None if inside == TRUE else inside
    )


def overwrite_option(target: ScanTarget) -> Option[bool]:
    """The option that says whether streams tell what OVERWRITE commits of the table replaced."""
    keyed = target.schema.primary_keys
    return STREAMING_READ_OVERWRITE if keyed else STREAMING_READ_APPEND_OVERWRITE


def replaced_splits(target: ScanTarget, snapshot: Snapshot, cut: PartitionCut) -> list[Split]:
    """What an OVERWRITE commit removed, for tables with keys, and what it brought."""
    entries = listed_entries(target, snapshot.delta_manifest_list, cut)
    new = target.placed(entries.of_kind(FileKind.ADD), snapshot)
    brought: list[Split] = list(files_as_splits(new, target.rules))
    if not target.schema.primary_keys:
        return brought
    before = target.store.snapshots.find(snapshot.id - 1)  # its deletion vectors, if it is kept
    old = target.placed(entries.of_kind(FileKind.DELETE), before or snapshot)
    return [*(GoneSplit(of=bucket) for bucket in whole_buckets(old)), *brought]


def commits(store: TableStore, span: SnapshotRange) -> Iterator[Snapshot]:
    """The snapshots of a range, from long-lived changelogs where the snapshot expired.

    Raises:
        NotFoundError: neither is there.
    """
    for number in range(span.start + 1, span.end + 1):
        found = store.snapshots.find(number) or store.changelogs.find(number)
        if found is not None:
            yield found
        else:
            earliest = min([*store.snapshots.ids(), *store.changelogs.ids()], default=None)
            hint = (
                f"The earliest that is kept is {earliest}: start there, or read a full state first."
            )
            raise NotFoundError("snapshot", number, store.paths.root, hint=hint)


def added_splits(
    target: ScanTarget,
    snapshot: Snapshot,
    mode: IncrementalBetweenScanMode,
    cut: PartitionCut,
) -> Sequence[Split]:
    """The files that one commit added, as Java's mode `delta` or `changelog` takes them."""
    if mode is IncrementalBetweenScanMode.CHANGELOG:
        wanted = snapshot.commit_kind is not CommitKind.OVERWRITE
        name = snapshot.changelog_manifest_list if wanted else None
    else:
        added = snapshot.commit_kind is CommitKind.APPEND
        name = snapshot.delta_manifest_list if added else None
    if name is None:
        return ()
    entries = listed_entries(target, name, cut).of_kind(FileKind.ADD)
    return files_as_splits(target.placed(entries, snapshot), target.rules) if len(entries) else ()


def listed_entries(target: ScanTarget, manifest_list: str, cut: PartitionCut) -> ManifestEntries:
    """The entries of the wanted partitions of a manifest list."""
    manifests = target.store.manifests.list(manifest_list)
    return read_entries(target.store, manifests.filter(cut.manifests(manifests)), cut)
