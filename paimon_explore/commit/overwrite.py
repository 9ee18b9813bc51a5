"""Which live files an overwrite removes.

An overwrite names partitions: all of them, those that begin with given values, or those of its new
files. Their live files at the latest snapshot go, with their index files; so the plan is made anew
for every try of the commit.

Spec: sql-write, INSERT OVERWRITE; flink procedures, drop_partition.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.commit.file_changes import Changes, in_partitions
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Bools, Column, bool_values, valid_mask
from paimon_explore.data_types.casts.cast_errors import UncastableError
from paimon_explore.data_types.default_values import default_column
from paimon_explore.data_types.definitions import DataField, RowType, TypeRoot, with_nullable
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.binary_row.encoder import decode_rows
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import ENTRY_SCHEMA, FileKind, ManifestEntries
from paimon_explore.scan.splits.key_range_sections import key_ranks

PartitionSpec = Mapping[str, object]
"""Values of some partition columns, by name; a text may stand for a value of any type."""

_UNFIT = (pa.ArrowException, TypeError, ValueError, OverflowError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overwrite:
    """What an overwrite replaces.

    Attributes:
        specs: partitions that match one of these; an empty spec matches all.
        dynamic: the partitions of the new files instead.
    """

    specs: tuple[PartitionSpec, ...] = ()
    dynamic: bool = False


WHOLE_TABLE = Overwrite(specs=({},))
NEW_PARTITIONS = Overwrite(dynamic=True)


@dataclass(frozen=True, slots=True)
class PartitionMatcher:
    """Tells which partition rows an overwrite replaces.

    Attributes:
        partition_type: the partition columns.
        overwrite: the overwrite.
        new: partitions of the new files.
    """

    partition_type: RowType
    overwrite: Overwrite
    new: frozenset[bytes]

    def matches(self, partitions: Sequence[bytes]) -> Bools:
        """Which of n partition rows are replaced.

        Raises:
            InvalidInputError: a spec names a column that is no partition column, or a value that
                does not fit its column.
        """
        if self.overwrite.dynamic:
            return np.array([partition in self.new for partition in partitions], np.bool_)
        rows = pa.array(list(partitions), pa.binary())
        types = [field.type for field in self.partition_type]
        columns = decode_rows(rows, types, where="_PARTITION")
        found = np.zeros(len(partitions), np.bool_)
        for spec in self.overwrite.specs:
            found |= self._match(spec, columns, len(partitions))
        return found

    def _match(self, spec: PartitionSpec, columns: Sequence[Column], count: int) -> Bools:
        names = self.partition_type.names
        found = np.ones(count, np.bool_)
        for name, value in spec.items():
            if name not in names:
                raise InvalidInputError(
                    f"{name!r} is not a partition column.",
                    hint=f"Partition columns: {choices(names)}.",
                )
            place = names.index(name)
            found &= _equal(columns[place], value, self.partition_type.fields[place])
        return found


def _equal(column: Column, value: object, field: DataField) -> Bools:
    if value is None:
        return ~valid_mask(column)
    same: Column = pc.equal(column, partition_scalar(value, field))
    return bool_values(same) & valid_mask(same)


def partition_scalar(value: object, field: DataField) -> "pa.Scalar[pa.DataType]":
    """A value of a partition column; a str may stand for a value of any type, as in folder names.

    Raises:
        InvalidInputError: it is not a value of the column's type.
    """
    try:
        if isinstance(value, str) and not is_root(field.type, TypeRoot.CHAR, TypeRoot.VARCHAR):
            return default_column(value, field.type)[0]
        return pa.scalar(value, to_arrow(field.type))
    except (*_UNFIT, UncastableError) as error:
        kind = type_text(with_nullable(field.type, nullable=True))
        raise InvalidInputError(
            f"Partition column {field.name!r} is {kind}; {value!r} is not a valid {kind}."
        ) from error


def check_partition(partition_type: RowType, spec: PartitionSpec) -> None:
    """Refuse what does not name a partition.

    Raises:
        InvalidInputError: a name is not a partition column, or a value does not fit its column.
    """
    fields = {field.name: field for field in partition_type}
    for name, value in spec.items():
        if name not in fields:
            raise InvalidInputError(
                f"{name!r} is not a partition column.",
                hint=f"Partition columns: {choices(fields)}.",
            )
        if value is not None:
            partition_scalar(value, fields[name])


def check_new_files(matcher: PartitionMatcher) -> None:
    """Refuse new files outside of the partitions that a static overwrite replaces.

    Raises:
        InvalidInputError: there are some.
    """
    partitions = sorted(matcher.new)
    if not bool(matcher.matches(partitions).all()):
        raise InvalidInputError(
            "The new rows include rows outside of the partition that is overwritten.",
            hint="Pass only rows of this partition, or leave partition= out to replace the "
            "partitions of the new rows.",
        )


def overwritten(
    live: ManifestEntries, index: IndexEntries, changes: Changes, matcher: PartitionMatcher
) -> Changes:
    """The changes of the overwrite: what it removes before what it brings.

    Args:
        live: live files of the table, or of a part of it that holds all that match.
        index: all index files.
        changes: what the overwrite brings.
        matcher: which partitions it replaces.
    """
    gone = _matching(live, matcher)
    old_index = index.filter(_mask(index.table.column("partition"), matcher))
    return Changes(
        entries=ManifestEntries.concat(
            [part for part in (gone.with_kind(FileKind.DELETE), changes.entries) if len(part)]
        ),
        added_index=changes.added_index,
        deleted_index=IndexEntries.concat(
            [part for part in (old_index, changes.deleted_index) if len(part)]
        ),
    )


def _matching(live: ManifestEntries, matcher: PartitionMatcher) -> ManifestEntries:
    distinct = [partition.as_py() for partition in live.column("partition").unique()]
    found = matcher.matches(distinct)
    wanted = frozenset(p for p, hit in zip(distinct, found.tolist(), strict=True) if hit)
    return live if len(wanted) == len(distinct) else in_partitions(live, wanted)


def _mask(column: "pa.ChunkedArray[pa.Scalar[pa.DataType]]", matcher: PartitionMatcher) -> Bools:
    partitions = [value.as_py() for value in column]
    return matcher.matches(partitions) if partitions else np.zeros(0, np.bool_)


def upgraded(entries: ManifestEntries, keys: RowType, level: int) -> ManifestEntries:
    """New level-0 files as files of the top level, where that is what they would become.

    An overwrite leaves nothing below its new files. So a bucket whose new files have disjoint keys
    and no deletions is compacted already.

    Args:
        entries: the new files.
        keys: the trimmed primary key.
        level: the top level.
    """
    rows = entries.table.select(["partition", "bucket", "level", "delete_row_count"]).to_pylist()
    lows, highs = key_ranks(entries, keys)
    buckets: dict[tuple[object, object], list[int]] = {}
    for position, row in enumerate(rows):
        buckets.setdefault((row["partition"], row["bucket"]), []).append(position)
    levels = [row["level"] for row in rows]
    for positions in buckets.values():
        ranges = sorted((int(lows[i]), int(highs[i])) for i in positions)
        is_run = all(after[0] > before[1] for before, after in pairwise(ranges))
        is_plain = all(
            rows[i]["level"] == 0 and rows[i]["delete_row_count"] == 0 for i in positions
        )
        if is_run and is_plain and all(rows[i]["bucket"] >= 0 for i in positions):
            for i in positions:
                levels[i] = level
    place = ENTRY_SCHEMA.get_field_index("level")
    column = pa.array(levels, pa.int32())
    return ManifestEntries(entries.table.set_column(place, ENTRY_SCHEMA.field("level"), column))
