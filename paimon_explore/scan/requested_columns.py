"""Projection: the columns, and the fields of ROW columns, that a read returns.

Selection: the rows that it needs of those that are computed on request.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.scan.manifest_arrays import Rows, row_array, true_rows
from paimon_explore.scan.predicate.expression import TRUE, Expression, names_of

_Path = tuple[str, ...]


def project(names: Sequence[str], row_type: RowType) -> RowType:
    """The row type with only some columns, or some fields of ROW columns.

    A dot leads into a ROW column unless a column has that very name. Names match exactly, or
    without regard to case if only one column does. The fields of one ROW column stay one column,
    which has the position of the first of them and its fields in the order of the schema.

    Args:
        names: columns in result order, such as `"id"` and `"address.city"`.
        row_type: the columns to choose from.

    Raises:
        InvalidInputError: an unknown or ambiguous name, or one that is given twice.
    """
    paths = [_path(name, row_type) for name in names]
    _check_repeated(paths, names)
    columns: dict[str, list[_Path]] = {}
    for path in paths:
        columns.setdefault(path[0], []).append(path[1:])
    known = {field.name: field for field in row_type}
    return RowType(fields=tuple(_narrowed(known[name], rest) for name, rest in columns.items()))


def _path(name: str, row_type: RowType) -> _Path:
    if row_type.field(name) is not None:
        return (name,)
    from paimon_explore.scan.predicate.binder import column_hint, resolve  # noqa: PLC0415 - for few reads

    lowered = {name.lower(), name.partition(".")[0].lower()}
    if not any(field.name.lower() in lowered for field in row_type):
        msg = f"The table has no column {name!r}."
        raise InvalidInputError(msg, hint=column_hint(name, row_type))
    return resolve((name,), row_type)[0]


def _check_repeated(paths: Sequence[_Path], names: Sequence[str]) -> None:
    for at, path in enumerate(paths):
        if path in paths[:at]:
            msg = f"Column {names[at]!r} is selected twice."
            raise InvalidInputError(msg, hint="Name each column once.")


def _narrowed(field: DataField, paths: Iterable[_Path]) -> DataField:
    """The field with only the members at the paths; an empty path selects all of it."""
    wanted: dict[str, list[_Path]] = {}
    for path in paths:
        if not path:
            return field
        wanted.setdefault(path[0], []).append(path[1:])
    if not isinstance(field.type, RowType):
        return field
    members = [_narrowed(m, wanted[m.name]) for m in field.type if m.name in wanted]
    return replace(field, type=replace(field.type, fields=tuple(members)))


def projected_columns(
    columns: Iterable[Column], source: Iterable[DataField], target: Iterable[DataField]
) -> list[Column]:
    """Columns without the fields of ROW columns that the target does not have."""
    from paimon_explore.data_types.casts.cast_column import cast_column  # noqa: PLC0415 - for few reads

    return [
        column if before.type == after.type else cast_column(column, before.type, after.type)
        for column, before, after in zip(columns, source, target, strict=True)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is needed of rows that are computed on request; what computes them may add more.

    Attributes:
        row_type: the columns of the rows.
        columns: names of the columns, at least one; None for all.
        where: a condition bound to the columns; TRUE keeps all rows.
        limit: the number of rows that fulfil it; None for all.
    """

    row_type: RowType = RowType(fields=())
    columns: tuple[str, ...] | None = None
    where: Expression = TRUE
    limit: int | None = None

    @property
    def names(self) -> frozenset[str]:
        """The columns that are needed, also by the condition, unless all are."""
        return names_of(self.where).union(self.columns or ())

    def narrowed(self, schema: pa.Schema) -> pa.Schema:
        """The columns that are needed, in the order of the schema."""
        if self.columns is None:
            return schema
        names = self.names
        return pa.schema([field for field in schema if field.name in names])

    def pushed(self, names: Collection[str]) -> "Selection":
        """What some of the columns decide; it may select more rows."""
        from paimon_explore.scan.predicate.predicate_split import split  # noqa: PLC0415 - for few reads

        parts = split(self.where, names)
        limit = self.limit if parts.rest == TRUE else None
        return replace(self, where=parts.pushed, limit=limit)

    def positions(self, rows: pa.Table) -> Rows:
        """The positions of the selected ones of n rows, ascending."""
        if self.where == TRUE:
            return np.arange(rows.num_rows)[: self.limit]
        from paimon_explore.scan.predicate.evaluator import evaluate  # noqa: PLC0415 - there is a predicate

        truth = evaluate(self.where, rows, self.row_type)
        return np.flatnonzero(true_rows(truth))[: self.limit]

    def rows(self, rows: pa.Table) -> pa.Table:
        """The selected rows and columns."""
        if self.where != TRUE:
            rows = rows.take(row_array(self.positions(rows)))
        rows = rows.slice(0, self.limit)
        return rows if self.columns is None else rows.select(self.columns)

    def batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The selected rows and columns; reads no batch after the last row of the limit."""
        left = self.limit
        for batch in batches:
            found = replace(self, limit=left).rows(pa.Table.from_batches([batch]))
            yield from found.to_batches()
            if left is not None:
                left -= found.num_rows
                if not left:
                    return


EVERYTHING = Selection()
"""All rows and columns."""
