"""Which files a row view reads: those of a snapshot, a partition, a bucket, or a single file."""

from collections.abc import Sequence

import numpy as np

from paimon_explore.data_types.arrow_buffers import Bools, as_python
from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import InvalidInputError, NotFoundError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.partition_argument import Given, resolve_partition
from paimon_explore.inspection.rendering.partition_text import Partitions, partitions_of
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.scan.manifest_arrays import numbers, text
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.builder import col
from paimon_explore.scan.predicate.expression import TRUE, Expression, conjunction


@dataclass(frozen=True, slots=True, kw_only=True)
class RowScope:
    """The files of a row view.

    Attributes:
        partition: a partition as `dt=d1/hr=3`; None for all.
        bucket: a bucket; None for all.
        file: name of a data file; None for all.
    """

    partition: str | None = None
    bucket: int | None = None
    file: str | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all files of the snapshot are read."""
        return self == RowScope()

    @property
    def text(self) -> str:
        """The scope for headings."""
        if self.file is not None:
            return f"file {self.file}"
        parts = [] if self.partition is None else [self.partition or "unpartitioned"]
        parts += [] if self.bucket is None else [f"bucket {self.bucket}"]
        return ", ".join(parts) or "all rows"


class LiveFiles:
    """The live files of a snapshot, to select a scope from.

    Args:
        entries: the files.
        partition_type: types of the partition columns.
    """

    def __init__(self, entries: ManifestEntries, partition_type: RowType) -> None:
        self.entries = entries
        self.partitions: Partitions = partitions_of(entries.table, partition_type)
        self._partition_type = partition_type

    def scope(self, partition: Given, bucket: int | None, file: str | None) -> RowScope:
        """The scope of the arguments of `Table.rows`.

        Raises:
            NotFoundError: there is no such partition, bucket or live file.
            InvalidInputError: the table does not have these partition columns.
        """
        names = self._partition_type.names
        texts = self.partitions.texts
        found = RowScope(
            partition=resolve_partition(partition, names, texts), bucket=bucket, file=file
        )
        if not found.is_whole and not self.mask(found).any():
            raise self._nothing(found)
        return found

    def _nothing(self, scope: RowScope) -> NotFoundError | InvalidInputError:
        if scope.file is not None:
            hint = "List the live files with t.files(); a removed file is in an older snapshot."
            return NotFoundError("data file", scope.file, hint=hint)
        buckets = sorted(set(numbers(self.entries.table, "bucket").tolist()))
        hint = f"Existing buckets: {choices([str(one) for one in buckets], limit=20) or 'none'}."
        return NotFoundError("bucket", scope.text, hint=hint)

    def mask(self, scope: RowScope) -> Bools:
        """Which files are in a scope."""
        table = self.entries.table
        found = np.ones(len(self.entries), np.bool_)
        if scope.partition is not None:
            codes = [self.partitions.texts.index(scope.partition)]
            found &= np.isin(self.partitions.codes, codes)
        if scope.bucket is not None:
            found &= numbers(table, "bucket") == scope.bucket
        if scope.file is not None:
            names = as_python(text(table, "file_name"))
            found &= np.array([name == scope.file for name in names], np.bool_)
        return found

    def names(self, scope: RowScope) -> frozenset[str]:
        """Names of the files in a scope."""
        names = as_python(text(self.entries.table, "file_name"))
        return frozenset(str(names[at]) for at in np.flatnonzero(self.mask(scope)).tolist())

    def condition(self, scope: RowScope) -> Expression:
        """The condition on the partition columns of a scope's partition; TRUE if it has none."""
        columns = self.partitions.columns
        if not scope.partition or columns is None:
            return TRUE
        at = self.partitions.texts.index(scope.partition)
        terms = [
            (col(name).is_null() if value is None else col(name) == value).expression
            for name, column in zip(self._partition_type.names, columns, strict=True)
            for value in [column[at].as_py()]
        ]
        return bind(conjunction(terms), self._partition_type)

    def in_order(self) -> Sequence[int]:
        """The files by partition, bucket, level and age."""
        table = self.entries.table
        order = np.lexsort(
            (
                numbers(table, "min_sequence_number"),
                numbers(table, "level"),
                numbers(table, "bucket"),
                self.partitions.codes,
            )
        )
        found: list[int] = order.tolist()
        return found
