"""Partition expiry: drop partitions older than a given age with an overwrite.

The time of a partition is parsed from its values (`values-time`) or is that of its newest file
(`update-time`), in local time. Partitions whose values are null or cannot be parsed never expire.
As in Java, the text of a DATE value is its day number, which only a custom formatter can parse.

Spec: maintenance/manage-partitions.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from paimon_explore.commit.catalog_partitions import remove_dropped_partitions
from paimon_explore.commit.committer import Committer
from paimon_explore.commit.overwrite import Overwrite, PartitionSpec, all_files
from paimon_explore.commit.overwrite_conflicts import OverwrittenPartitions
from paimon_explore.commit.planned_again import repeated_after_conflicts
from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.data_types.local_time import local_now
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.commit_message import SeenSnapshot
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options import option_enums as of
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.partition_path import partition_texts
from paimon_explore.metadata.partition_time import PartitionTimeFormat
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.live_entries import PartitionFilter
from paimon_explore.scan.manifest_arrays import column, distinct
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.store.table_store import TableStore


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionExpiry:
    """The rules of partition expiry.

    Attributes:
        age: partitions older than this expire.
        strategy: how the time of a partition is determined.
        pattern: text with placeholders `$column`; None for the value of the first column.
        formatter: Java date-time pattern of that text; None for `yyyy-MM-dd[ HH:mm:ss]`.
        max_num: maximum number of partitions to drop at once.
    """

    age: timedelta
    strategy: of.PartitionExpirationStrategy
    pattern: str | None = None
    formatter: str | None = None
    max_num: int = 100

    def time_of(self, values: Mapping[str, str | None]) -> datetime | None:
        """Parse the time of partition values; None if they cannot be parsed.

        Raises:
            UnsupportedFeatureError: the formatter has an unsupported pattern letter.
        """
        return PartitionTimeFormat(pattern=self.pattern, formatter=self.formatter).time_of(values)


def expiry_of(options: TableOptions, age: timedelta | None = None) -> PartitionExpiry:
    """Return the rules of partition expiry from the options.

    Raises:
        InvalidInputError: neither the caller nor the options set an age.
    """
    if age is None:
        own_ms = options.value(opt.PARTITION_EXPIRATION_TIME)
        if own_ms is None:
            raise InvalidInputError(
                "expire_partitions() requires the age from which partitions expire.",
                hint="Pass older_than, or set the option 'partition.expiration-time'.",
            )
        age = timedelta(milliseconds=own_ms)
    return PartitionExpiry(
        age=age,
        strategy=options.value(opt.PARTITION_EXPIRATION_STRATEGY),
        pattern=options.value(opt.PARTITION_TIMESTAMP_PATTERN),
        formatter=options.value(opt.PARTITION_TIMESTAMP_FORMATTER),
        max_num=options.value(opt.PARTITION_EXPIRATION_MAX_NUM),
    )


@repeated_after_conflicts
def expire_partitions(
    store: TableStore,
    options: TableOptions,
    expiry: PartitionExpiry,
    *,
    now: Callable[[], datetime] = local_now,
    dry_run: bool = False,
) -> list[dict[str, object]]:
    """Drop expired partitions in one commit.

    If another commit writes to one of them meanwhile, the expiry is planned again: with the
    strategy `update-time` such a partition does not expire.

    Args:
        store: the table and branch.
        options: effective options.
        expiry: the rules of the expiry.
        now: local wall clock.
        dry_run: whether to only return the expired partitions.

    Returns:
        The values of the expired partitions by column.

    Raises:
        InvalidInputError: the table is not partitioned.
        UnsupportedFeatureError: the formatter or strategy is not supported.
        CommitError, StorageError: as for any commit.
    """
    schema, snapshot, live = _partitioned(store)
    before = now() - expiry.age
    specs = [
        spec for spec, time in _times(schema, live, expiry) if time is not None and time < before
    ][: expiry.max_num]
    if specs and not dry_run:
        dropped: tuple[PartitionSpec, ...] = tuple(specs)
        known = OverwrittenPartitions(since=SeenSnapshot.of(snapshot), specs=dropped)
        committer = Committer(store, schema, options=options)
        made = committer.overwrite([], Overwrite(specs=dropped), overwritten=known)
        remove_dropped_partitions(store, schema, options, made)
    return specs


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionTimes:
    """The live files of a table by partition, and the time of each partition.

    Attributes:
        files: the files.
        codes: per file the number of its partition.
        specs: values of each partition by column.
        times: local time of each partition; None if it has none.
    """

    files: ManifestEntries
    codes: tuple[int, ...]
    specs: tuple[dict[str, object], ...]
    times: tuple[datetime | None, ...]


def partition_times(store: TableStore, expiry: PartitionExpiry) -> PartitionTimes:
    """Return the times that decide which partitions expire.

    Raises:
        InvalidInputError, UnsupportedFeatureError: as for `expire_partitions`.
    """
    schema, _, live = _partitioned(store)
    found = _times(schema, live, expiry)
    return PartitionTimes(
        files=live,
        codes=tuple(distinct(column(live.table, "partition"))[1].tolist()),
        specs=tuple(spec for spec, _ in found),
        times=tuple(time for _, time in found),
    )


def _partitioned(store: TableStore) -> tuple[TableSchema, Snapshot | None, ManifestEntries]:
    """Return the schema of a partitioned table, its latest snapshot, and the live files."""
    schema = store.schemas.latest()
    if schema is None or not schema.partition_keys:
        raise InvalidInputError("expire_partitions() requires a partitioned table.")
    snapshot = store.snapshots.latest()
    if snapshot is None:
        return schema, None, ManifestEntries.empty()
    with explain_missing_files(store, snapshot):
        return schema, snapshot, all_files(store, schema, snapshot)


def _times(
    schema: TableSchema, live: ManifestEntries, expiry: PartitionExpiry
) -> list[tuple[dict[str, object], datetime | None]]:
    """Return the values and time of each partition."""
    row_type = schema.partition_type
    partitions, codes = distinct(column(live.table, "partition"))
    rows = PartitionFilter(row_type=row_type, predicate=None).decode(partitions)
    values = [as_python(values) for values in rows.columns]
    specs = [dict(zip(row_type.names, row, strict=True)) for row in zip(*values, strict=True)]
    if expiry.strategy is of.PartitionExpirationStrategy.UPDATE_TIME:
        return list(zip(specs, _update_times(live, codes.tolist(), len(specs)), strict=True))
    if expiry.strategy is not of.PartitionExpirationStrategy.VALUES_TIME:
        raise UnsupportedFeatureError(
            f"option 'partition.expiration-strategy' = {expiry.strategy.value!r}"
        )
    texts = partition_texts(rows.columns, [field.type for field in row_type])
    named = [dict(zip(row_type.names, row, strict=True)) for row in zip(*texts, strict=True)]
    return [(spec, expiry.time_of(text)) for spec, text in zip(specs, named, strict=True)]


def _update_times(live: ManifestEntries, codes: Sequence[int], count: int) -> list[datetime | None]:
    """Return the time of each partition's newest file; None if a file has no creation time."""
    newest = [0] * count
    unknown = set()
    for code, created in zip(codes, live.column("creation_time"), strict=True):
        time_ms = created.as_py()
        if isinstance(time_ms, int):
            newest[code] = max(newest[code], time_ms)
        else:
            unknown.add(code)
    return [
        None if code in unknown else datetime.fromtimestamp(ms / 1000, UTC).replace(tzinfo=None)
        for code, ms in enumerate(newest)
    ]
