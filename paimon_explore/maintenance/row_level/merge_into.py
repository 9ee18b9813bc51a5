"""MERGE INTO: the entry point that returns commit messages."""

import re
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.types as pat

from paimon_explore.data_types.array_sizes import check_fits
from paimon_explore.data_types.arrow import arrow_schema, from_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import (
    STRING,
    DataField,
    DataType,
    RowType,
    with_nullable,
)
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.joined_row import SOURCE, TARGET, Sides
from paimon_explore.maintenance.row_level.merge_clauses import Clause, ClauseKind, MergeChange
from paimon_explore.maintenance.row_level.merge_join import MergeJoin, On
from paimon_explore.maintenance.row_level.supported_operations import (
    check_delete,
    check_update,
)
from paimon_explore.maintenance.row_level.update_delete import (
    RowLevelResult,
    readable_row_type,
    run_change,
    scan_of,
)
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.input.arrow_cast import conform, plain_form
from paimon_explore.write.input.arrow_stream import ArrowStream, batches_of
from paimon_explore.write.input.table_batches import Rows

_INDEX = re.compile(r"__index_level_\d+__")
PARTS = "Merge parts of the rows one after the other."
"""The hint for a source with more than 2 GiB of a column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeSpec:
    """A merge as passed by the caller.

    Attributes:
        source: the rows to merge into the table.
        on: the condition under which a table row and a source row match.
        clauses: the clauses in order of precedence.
        source_alias, target_alias: other names of `source` and `target` in expressions.
    """

    source: Rows
    on: On
    clauses: Sequence[Clause] = ()
    source_alias: str | None = None
    target_alias: str | None = None


def merge_rows(
    store: TableStore, schema: TableSchema, options: TableOptions, spec: MergeSpec
) -> RowLevelResult:
    """Merge rows into a table, without committing them.

    Args:
        store: the table.
        schema: the latest schema.
        options: effective options.
        spec: the merge.

    Raises:
        InvalidInputError: there are no clauses, a clause or condition is invalid, several source
            rows update the same row, a value does not fit, or the merge engine does not support
            the operation.
        UnsupportedFeatureError: the table uses a feature that merges do not support.
    """
    if not spec.clauses:
        raise InvalidInputError(
            "The merge has no clauses.",
            hint="Add a clause, such as when_matched_update(...) or when_not_matched_insert(...).",
        )
    scan = scan_of(store, schema, options)
    source_type, rows = source_rows(spec.source, schema.row_type)
    if not source_type.fields:
        spec = _without_source(spec, schema)
        if not spec.clauses:
            return RowLevelResult(messages=[], planned_on=None)
        source_type, rows = source_rows(spec.source, schema.row_type)
    names = _names(spec)
    sides = Sides(
        target=readable_row_type(schema, options),
        assigned=schema.row_type,
        source=source_type,
        names=names,
    )
    change = MergeChange(sides, rows, MergeJoin(spec.on, sides, rows), spec.clauses)
    if change.updated:
        check_update(schema, options, change.updated)
    if change.deletes:
        check_delete(schema, options)
    return run_change(scan, change, change.new_rows if change.inserts else None)


def _without_source(spec: MergeSpec, schema: TableSchema) -> MergeSpec:
    """Return the merge of no rows whose columns are not known: no row of the table matches one."""
    kept = [one for one in spec.clauses if one.kind is ClauseKind.NOT_MATCHED_BY_SOURCE]
    empty = arrow_schema(schema.row_type).empty_table()
    return replace(spec, source=empty, on=schema.row_type.names[0], clauses=kept)


def _names(spec: MergeSpec) -> dict[str, str]:
    """Map the names of both sides in expressions to the sides."""
    names = {TARGET: TARGET, SOURCE: SOURCE}
    for alias, side in ((spec.target_alias or "t", TARGET), (spec.source_alias or "s", SOURCE)):
        if not alias.isidentifier():
            raise InvalidInputError(f"Alias {alias!r} of the {side} is not a valid identifier.")
        if names.setdefault(alias.lower(), side) != side:
            raise InvalidInputError(f"The target and the source have the same alias {alias!r}.")
    return names


def source_rows(source: Rows, target: RowType) -> tuple[RowType, pa.RecordBatch]:
    """Load all rows of a source into memory.

    Args:
        source: an Arrow table, batch or reader, a data frame, another table, or dictionaries.
        target: the table's columns; values of dictionaries get the types of columns of that name.

    Returns:
        The columns, nullable, and the rows; no columns if there are no rows that tell them.

    Raises:
        InvalidInputError: the rows cannot be read, or two columns have the same name.
    """
    rows = _table_of(source, target)
    names = [name for name in rows.schema.names if not _INDEX.fullmatch(name)]
    if len({name.lower() for name in names}) != len(names):
        lower = [name.lower() for name in names]
        first, second = [n for n in names if lower.count(n.lower()) > 1][:2]
        problem = f"The names of the source columns {first!r} and {second!r} differ only in case."
        if first == second:
            problem = f"The source has two columns named {first!r}."
        raise InvalidInputError(problem, hint="Rename one of them.")
    check_fits(rows, "for one merge", PARTS)
    fields: list[DataField] = []
    columns: list[Column] = []
    for number, name in enumerate(names):
        array = _one(rows.column(name))
        known = target.field(name)
        kind = _type_of(array, None if known is None else known.type)
        fields.append(DataField(id=number, name=name, type=kind))
        columns.append(conform(array, kind, where=name))
    row_type = RowType(fields=tuple(fields))
    return row_type, pa.RecordBatch.from_arrays(columns, schema=arrow_schema(row_type))


def _table_of(source: object, target: RowType) -> pa.Table:
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatchReader):
        return source.read_all()
    fields = [
        replace(field, type=with_nullable(field.type, nullable=True), default_value=None)
        for field in target
    ]
    row_type = RowType(fields=tuple(fields))
    parts = [pa.Table.from_batches([b]) for b in batches_of(source, row_type, lambda _: None)]
    if parts:
        return parts[0] if len(parts) == 1 else _concat(parts)
    if isinstance(source, ArrowStream):
        return pa.RecordBatchReader.from_stream(source).read_all()
    return pa.table({})


def _concat(parts: Sequence[pa.Table]) -> pa.Table:
    try:
        return pa.concat_tables(parts, promote_options="permissive")
    except pa.ArrowException as error:
        raise InvalidInputError(
            f"The batches of the source have different columns: {error}."
        ) from error


def _one(values: "pa.ChunkedArray[pa.Scalar[pa.DataType]]") -> Column:
    return plain_form(values.combine_chunks() if values.num_chunks else pa.array([], values.type))


def _type_of(array: Column, known: DataType | None) -> DataType:
    if pat.is_null(array.type):
        return STRING if known is None else with_nullable(known, nullable=True)
    return from_arrow(array.type)
