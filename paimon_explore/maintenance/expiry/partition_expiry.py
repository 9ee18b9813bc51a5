"""Partition expiry: drop partitions older than a given age with an overwrite.

The time of a partition is parsed from its values (`values-time`) or is that of its newest file
(`update-time`), in local time. Partitions whose values are null or cannot be parsed never expire.
As in Java, the text of a DATE value is its day number, which only a custom formatter can parse.

In each chain of a chain table, the newest whole partition that is old enough is kept, as later
changes are merged with it. The whole partitions before it expire, at most `max_num` of each chain,
and all changes before the first one that is left.

Spec: maintenance/manage-partitions; primary-key-table/chain-table, partition expiration.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa

from paimon_explore.commit.catalog_partitions import remove_dropped_partitions
from paimon_explore.commit.committer import Committer
from paimon_explore.commit.overwrite import Overwrite, all_files
from paimon_explore.commit.overwrite_conflicts import OverwrittenPartitions
from paimon_explore.commit.planned_again import repeated_after_conflicts
from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.data_types.definitions import RowType
from paimon_explore.data_types.local_time import local_now, utc_moment
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
from paimon_explore.scan.chains import chain_branches, chains_of, existing_branch
from paimon_explore.scan.live_entries import PartitionFilter
from paimon_explore.scan.manifest_arrays import byte_rows, column, distinct
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

    def times_of(self, partitions: pa.RecordBatch, row_type: RowType) -> list[datetime | None]:
        """Parse the times of n partitions; None where they cannot be parsed.

        Raises:
            UnsupportedFeatureError: as for `time_of`.
        """
        texts = partition_texts(partitions.columns, [field.type for field in row_type])
        named = (dict(zip(row_type.names, row, strict=True)) for row in zip(*texts, strict=True))
        return [self.time_of(text) for text in named]


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


def without_expired(
    files: ManifestEntries,
    schema: TableSchema,
    options: TableOptions,
    now: Callable[[], datetime] = local_now,
) -> ManifestEntries:
    """Return the files that are not in partitions which expire by their values."""
    expiry = expiry_of(options)
    partitions, codes = distinct(column(files.table, "partition"))
    row_type = schema.partition_type
    rows = PartitionFilter(row_type=row_type).decode(partitions)
    before = now() - expiry.age
    times = expiry.times_of(rows, row_type)
    kept = np.array([time is None or time >= before for time in times], np.bool_)
    return files.filter(kept[codes])


@repeated_after_conflicts
def expire_partitions(
    store: TableStore,
    options: TableOptions,
    expiry: PartitionExpiry,
    *,
    now: Callable[[], datetime] = local_now,
    dry_run: bool = False,
) -> list[dict[str, object]]:
    """Drop expired partitions in one commit; those of a chain table in one of each branch.

    With the strategy `update-time`, the expiry is planned again if another commit writes to one of
    them meanwhile: such a partition does not expire.

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
    before = now() - expiry.age
    branches = _branches(store, options)
    found = [_branch_times(branch, expiry) for branch in branches]
    if len(found) == 1:
        gone = [list(found[0].older_than(before))[: expiry.max_num]]
    else:
        gone = _expired_of_chains(found[0], found[1], expiry, before, options)
    expired = []
    for branch, times, partitions in zip(branches, found, gone, strict=True):
        specs = [times.specs[partition] for partition in partitions]
        expired += specs
        if specs and not dry_run:
            own = options if branch is store else TableOptions(times.schema.options)
            what = Overwrite(specs=tuple(specs))
            known = None
            if expiry.strategy is of.PartitionExpirationStrategy.UPDATE_TIME:
                known = OverwrittenPartitions(
                    since=SeenSnapshot.of(times.snapshot), specs=what.specs
                )
            made = Committer(branch, times.schema, options=own).overwrite(
                [], what, overwritten=known
            )
            remove_dropped_partitions(branch, times.schema, own, made)
    return expired


def _branches(store: TableStore, options: TableOptions) -> list[TableStore]:
    """Return the branches whose partitions expire, of a chain table those with changes first."""
    if not options.value(opt.CHAIN_TABLE_ENABLED):
        return [store]
    return [existing_branch(store, name) for name in reversed(chain_branches(options))]


def _expired_of_chains(
    changes: "PartitionTimes",
    whole: "PartitionTimes",
    expiry: PartitionExpiry,
    before: datetime,
    options: TableOptions,
) -> list[list[bytes]]:
    """Return the expired partitions of changes, then the expired whole ones."""
    if expiry.strategy is not of.PartitionExpirationStrategy.VALUES_TIME:
        raise InvalidInputError(
            "Partitions of a chain table expire by their values only, as later changes need older "
            "partitions.",
            hint="Set 'partition.expiration-strategy' to 'values-time'.",
        )
    old, earlier = whole.older_than(before), changes.older_than(before)
    options = TableOptions({**whole.schema.options, **options.texts})
    found: list[list[bytes]] = [[], []]
    for chain in chains_of(old.keys() | earlier.keys(), whole.schema, options):
        own = [partition for partition in chain if partition in old]
        count = min(len(own) - 1, expiry.max_num)
        if count > 0:
            end = old[own[count]]
            found[0] += [one for one in chain if one in earlier and earlier[one] < end]
            found[1] += own[:count]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionTimes:
    """The live files of a branch by partition, and the time of each partition.

    Attributes:
        schema: the latest schema.
        snapshot: the latest snapshot.
        files: the files.
        specs: values of each partition by column.
        times: local time of each partition; None if it has none.
    """

    schema: TableSchema
    snapshot: Snapshot | None
    files: ManifestEntries
    specs: Mapping[bytes, dict[str, object]]
    times: Mapping[bytes, datetime | None]

    def older_than(self, moment: datetime) -> dict[bytes, datetime]:
        """The partitions with an earlier time, and their times."""
        times = self.times.items()
        return {one: time for one, time in times if time is not None and time < moment}


def partition_times(
    store: TableStore, options: TableOptions, expiry: PartitionExpiry
) -> PartitionTimes:
    """Return the times that decide which partitions expire, of all branches where they do.

    Raises:
        InvalidInputError, UnsupportedFeatureError: as for `expire_partitions`.
    """
    found = [_branch_times(branch, expiry) for branch in _branches(store, options)]
    first = found[0]
    return replace(
        first,
        files=ManifestEntries.concat([one.files for one in found]),
        specs={key: spec for one in found for key, spec in one.specs.items()},
        times={key: time for one in found for key, time in one.times.items()},
    )


def _branch_times(store: TableStore, expiry: PartitionExpiry) -> PartitionTimes:
    schema = store.schemas.latest()
    if schema is None or not schema.partition_keys:
        raise InvalidInputError("expire_partitions() requires a partitioned table.")
    snapshot = store.snapshots.latest()
    live = ManifestEntries.empty()
    if snapshot is not None:
        with explain_missing_files(store, snapshot):
            live = all_files(store, schema, snapshot)
    row_type = schema.partition_type
    partitions, codes = distinct(column(live.table, "partition"))
    rows = PartitionFilter(row_type=row_type).decode(partitions)
    if expiry.strategy is of.PartitionExpirationStrategy.UPDATE_TIME:
        times = _update_times(live, codes.tolist(), rows.num_rows)
    elif expiry.strategy is of.PartitionExpirationStrategy.VALUES_TIME:
        times = expiry.times_of(rows, row_type)
    else:
        raise UnsupportedFeatureError(
            f"option 'partition.expiration-strategy' = {expiry.strategy.value!r}"
        )
    keys = byte_rows(partitions)
    values = zip(*(as_python(values) for values in rows.columns), strict=True)
    specs = [dict(zip(row_type.names, row, strict=True)) for row in values]
    return PartitionTimes(
        schema=schema,
        snapshot=snapshot,
        files=live,
        specs=dict(zip(keys, specs, strict=True)),
        times=dict(zip(keys, times, strict=True)),
    )


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
        None if code in unknown else utc_moment(ms).replace(tzinfo=None)
        for code, ms in enumerate(newest)
    ]
