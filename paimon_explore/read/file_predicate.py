"""Evaluation of predicates on the columns and statistics of one data file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import arrow_field, to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Column,
    Ints,
    bool_values,
    build_fixed,
    null_array,
    take_rows,
    valid_mask,
)
from paimon_explore.data_types.definitions import AtomicType, DataField, RowType
from paimon_explore.encoding.data_file_reader import PositionedBatch, StoredColumn
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.read.deletion_vector_filter import FileRows, Positions
from paimon_explore.read.schema_evolution import Casting, FieldSource
from paimon_explore.scan.predicate.evaluator import evaluate
from paimon_explore.scan.predicate.expression import Expression, names_of
from paimon_explore.scan.pruning.statistics_pruning import (
    ColumnStats,
    Outcomes,
    StatsTable,
    outcomes,
)

COPY_SHARE = 0.25
"""Share of matching rows of a batch up to which they are copied instead of sliced."""

_TAKEN_SHARE = 0.5
"""Share of matching rows up to which it is faster to take them by position than to filter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePredicate:
    """A predicate with the file columns it reads.

    Attributes:
        predicate: bound to the reading schema.
        read: its columns, each with the column of the file, or None if the file lacks it.
        casting: parameters of casts.
    """

    predicate: Expression
    read: tuple[tuple[FieldSource, StoredColumn | None], ...]
    casting: Casting

    @classmethod
    def of(
        cls,
        predicate: Expression,
        sources: Sequence[tuple[FieldSource, int | None]],
        stored: Sequence[StoredColumn],
        casting: Casting,
    ) -> "FilePredicate":
        """Creates it from the requested columns, each with its index in `stored`."""
        names = names_of(predicate)
        read = [
            (source, None if at is None else stored[at])
            for source, at in sources
            if source.wanted.name in names
        ]
        return cls(predicate=predicate, read=tuple(read), casting=casting)

    @property
    def columns(self) -> tuple[StoredColumn, ...]:
        """The columns of the file that it reads, in the order of `read`."""
        return tuple(column for _, column in self.read if column is not None)

    @property
    def bounded(self) -> Mapping[str, StoredColumn]:
        """The file columns whose statistics apply without a cast, by name in the reading schema."""
        return {
            source.wanted.name: column
            for source, column in self.read
            if column is not None and _is_same(source.wanted, column)
        }

    @property
    def is_flat(self) -> bool:
        """Whether it reads only columns that exist in the file and are not nested."""
        found = {source.wanted.name for source, _ in self.read}
        atomic = all(isinstance(column.type, AtomicType) for column in self.columns)
        return atomic and bool(self.columns) and names_of(self.predicate) <= found

    def truth(self, columns: Sequence[Column], rows: int) -> pa.BooleanArray:
        """Evaluates the predicate for n rows; null where it is unknown.

        Args:
            columns: the columns of `columns`, n values each.
            rows: n.

        Raises:
            InvalidInputError: the predicate fails on a row.
        """
        arrays = iter(columns)
        values = [
            source.column(None if column is None else next(arrays), rows, self.casting)
            for source, column in self.read
        ]
        row_type = RowType(fields=tuple(source.wanted for source, _ in self.read))
        schema = pa.schema([arrow_field(field) for field in row_type])
        batch = pa.RecordBatch.from_arrays(values, schema=schema)
        return evaluate(self.predicate, batch, row_type)  # type: ignore[return-value]  # of a batch

    def outcomes(self, rows: Ints, known: Mapping[str, ColumnStats]) -> Outcomes:
        """The possible outcomes of the predicate in each of n parts of the file.

        Args:
            rows: number of rows per part.
            known: statistics of the parts, by name in the reading schema.
        """
        counts = build_fixed(pa.int64(), rows)
        stats = dict(known)
        for source, column in self.read:
            if column is None and source.partition is not None:
                value = source.column(None, len(rows), self.casting)
                nulls = np.where(valid_mask(value), 0, rows)
                stats[source.wanted.name] = ColumnStats(
                    minimum=value, maximum=value, null_count=build_fixed(pa.int64(), nulls)
                )
            elif column is None:
                nothing = null_array(len(rows), to_arrow(source.wanted.type))
                stats[source.wanted.name] = ColumnStats(
                    minimum=nothing, maximum=nothing, null_count=counts
                )
        return outcomes(self.predicate, StatsTable(row_count=counts, columns=stats))


def only_matches(
    rows: Iterable[FileRows],
    predicate: FilePredicate,
    stored: Sequence[StoredColumn],
    output: int,
    *,
    may_fail: bool = False,
) -> Iterator[FileRows]:
    """Keeps the rows for which a predicate is true, and the first `output` columns.

    Args:
        rows: batches of the stored columns.
        predicate: the predicate.
        stored: the columns that were read, including those of the predicate.
        output: how many of them to return.
        may_fail: whether all rows of a batch are returned if the predicate fails on one of them,
            because the row may not be in the result.

    Raises:
        InvalidInputError: the predicate fails on a row, and `may_fail` is not set.
    """
    indices = [stored.index(column) for column in predicate.columns]
    for batch, positions in rows:
        try:
            truth = predicate.truth([batch.columns[index] for index in indices], batch.rows)
        except InvalidInputError:
            if not may_fail:
                raise
            yield replace(batch, columns=batch.columns[:output]), positions
            continue
        count = truth.true_count
        if count == batch.rows:
            yield replace(batch, columns=batch.columns[:output]), positions
        elif count:
            yield _kept(batch, positions, batch.columns[:output], truth)


def _kept(
    batch: PositionedBatch,
    positions: Positions | None,
    columns: tuple[Column, ...],
    truth: pa.BooleanArray,
) -> FileRows:
    """The rows for which `truth` is true; a slice if they are many and consecutive."""
    mask = bool_values(truth) & valid_mask(truth)
    count, first = truth.true_count, int(np.argmax(mask))
    if count > batch.rows * COPY_SHARE and mask[first : first + count].all():
        found = None if positions is None else positions[first : first + count]
        start = batch.first + first if positions is None else int(positions[first])
        kept = tuple(column.slice(first, count) for column in columns)
        return PositionedBatch(first=start, rows=count, columns=kept), found
    at = np.flatnonzero(mask)
    found = at + batch.first if positions is None else positions[at]
    kept = tuple(
        pc.filter(column, truth) if count > batch.rows * _TAKEN_SHARE else take_rows(column, at)
        for column in columns
    )
    return PositionedBatch(first=int(found[0]), rows=count, columns=kept), found


def _is_same(wanted: DataField, stored: StoredColumn) -> bool:
    """Whether a column has the same type in the file as in the reading schema."""
    return (
        isinstance(stored.type, AtomicType)
        and replace(stored.type, nullable=wanted.type.nullable) == wanted.type
    )
