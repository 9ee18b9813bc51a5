"""A predicate on wanted columns, asked of a file's columns and of their statistics."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_field, to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Column,
    Ints,
    bool_values,
    build_fixed,
    null_array,
    valid_mask,
)
from paimon_explore.data_types.definitions import AtomicType, DataField, RowType
from paimon_explore.encoding.data_file_reader import PositionedBatch, StoredColumn
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.read.deletion_filter import FileRows, Positions
from paimon_explore.read.schema_evolution import Casting, FieldSource
from paimon_explore.scan.predicate.evaluator import evaluate
from paimon_explore.scan.predicate.expression import Expression, names_of
from paimon_explore.scan.pruning.statistics_pruning import (
    ColumnStats,
    Outcomes,
    StatsTable,
    outcomes,
)

FEW = 0.25
"""Share of the rows of a batch below which they are copied out of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A predicate and what it reads of a file.

    Attributes:
        predicate: bound to the reading schema.
        read: its columns, each with the column of the file, None where that has none.
        casting: what casts depend on.
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
    ) -> "Condition":
        """A predicate on wanted columns, of which each tells its place among the stored ones."""
        names = names_of(predicate)
        read = [
            (source, None if at is None else stored[at])
            for source, at in sources
            if source.wanted.name in names
        ]
        return cls(predicate=predicate, read=tuple(read), casting=casting)

    @property
    def columns(self) -> tuple[StoredColumn, ...]:
        """The columns of the file, in the order of `read`."""
        return tuple(column for _, column in self.read if column is not None)

    @property
    def bounded(self) -> Mapping[str, StoredColumn]:
        """The columns whose statistics in the file are those of the wanted ones, by wanted name."""
        return {
            source.wanted.name: column
            for source, column in self.read
            if column is not None and _is_same(source.wanted, column)
        }

    @property
    def is_flat(self) -> bool:
        """Whether all that is read is there, and columns without members."""
        found = {source.wanted.name for source, _ in self.read}
        atomic = all(isinstance(column.type, AtomicType) for column in self.columns)
        return atomic and bool(self.columns) and names_of(self.predicate) <= found

    def truth(self, columns: Sequence[Column], rows: int) -> pa.BooleanArray:
        """Of each of n rows whether the predicate is true; null where that is unknown.

        Args:
            columns: as told by the attribute, n values each.
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
        """What the predicate can be in each of n parts of the file.

        Args:
            rows: of each part.
            known: statistics of the parts, by wanted name.
        """
        counts = build_fixed(pa.int64(), rows)
        stats = dict(known)
        for source, column in self.read:
            if column is None:
                nothing = null_array(len(rows), to_arrow(source.wanted.type))
                stats[source.wanted.name] = ColumnStats(
                    minimum=nothing, maximum=nothing, null_count=counts
                )
        return outcomes(self.predicate, StatsTable(row_count=counts, columns=stats))


def only_matches(
    rows: Iterable[FileRows], condition: Condition, stored: Sequence[StoredColumn], given: int
) -> Iterator[FileRows]:
    """The rows of which a predicate is true, with the first columns of those that were read.

    Args:
        rows: batches of the stored columns.
        condition: the predicate.
        stored: columns that were read, the predicate's among them.
        given: how many of them are wanted.

    Raises:
        InvalidInputError: the predicate fails on a row.
    """
    places = [stored.index(column) for column in condition.columns]
    for batch, positions in rows:
        truth = condition.truth([batch.columns[place] for place in places], batch.rows)
        count = truth.true_count
        if count == batch.rows:
            yield replace(batch, columns=batch.columns[:given]), positions
        elif count:
            yield _kept(batch, positions, batch.columns[:given], truth)


def _kept(
    batch: PositionedBatch,
    positions: Positions | None,
    columns: tuple[Column, ...],
    truth: pa.BooleanArray,
) -> FileRows:
    """The rows of which it is true; without a copy where they are many and lie together."""
    places = bool_values(truth) & valid_mask(truth)
    count, first = truth.true_count, int(np.argmax(places))
    if count > batch.rows * FEW and places[first : first + count].all():
        found = None if positions is None else positions[first : first + count]
        start = batch.first + first if positions is None else int(positions[first])
        kept = tuple(column.slice(first, count) for column in columns)
        return PositionedBatch(first=start, rows=count, columns=kept), found
    at = np.flatnonzero(places)
    found = at + batch.first if positions is None else positions[at]
    kept = tuple(column.filter(truth) for column in columns)
    return PositionedBatch(first=int(found[0]), rows=count, columns=kept), found


def _is_same(wanted: DataField, stored: StoredColumn) -> bool:
    """Whether a column has the same type in the file as in the reading schema."""
    return (
        isinstance(stored.type, AtomicType)
        and replace(stored.type, nullable=wanted.type.nullable) == wanted.type
    )
