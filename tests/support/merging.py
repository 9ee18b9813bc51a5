"""Small tables to merge: schemas, records and runs from plain values."""

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.data_types.json_parser import parse_fields, parse_type
from paimon_explore.merge.in_memory_merge import merge_sorted
from paimon_explore.merge.merge_spec import SEQUENCE_NUMBER, VALUE_KIND, MergeSpec, merge_spec
from paimon_explore.merge.sort_merge import merge_runs
from paimon_explore.metadata.schema.table_schema import TableSchema

Row = tuple[object, ...]
"""A record as its kind (`+I`, `-U`, `+U`, `-D`) and then its values."""

KINDS = ("+I", "-U", "+U", "-D")


def schema_of(
    columns: Mapping[str, object],
    options: Mapping[str, str] | None = None,
    *,
    keys: Sequence[str] = ("k",),
) -> TableSchema:
    """A table's schema from column types as in schema files."""
    fields = tuple(
        parse_fields([{"id": at, "name": name, "type": kind}], "test")[0]
        for at, (name, kind) in enumerate(columns.items())
    )
    return TableSchema(
        id=0,
        fields=fields,
        highest_field_id=len(fields),
        primary_keys=tuple(keys),
        options=dict(options or {}),
    )


def spec_of(
    columns: Mapping[str, object], options: Mapping[str, str] | None = None, **wanted: object
) -> MergeSpec:
    """The merge of such a table; `columns` are the wanted ones."""
    names = wanted.get("columns")
    return merge_spec(
        schema_of(columns, options),
        [str(name) for name in names] if isinstance(names, list) else None,
    )


def column_of(values: Sequence[object], kind: str) -> Column:
    """Python values as a column of a type written as in schema files."""
    return pa.array(values, to_arrow(parse_type(kind, "test")))


def batch_of(schema: TableSchema, rows: Sequence[Row], *, first: int = 0) -> pa.RecordBatch:
    """Records with sequence numbers from `first` on."""
    columns: list[Column] = [
        pa.array([row[at + 1] for row in rows], to_arrow(field.type))
        for at, field in enumerate(schema.fields)
    ]
    columns.append(pa.array(range(first, first + len(rows)), pa.int64()))
    columns.append(pa.array([KINDS.index(str(row[0])) for row in rows], pa.int8()))
    names = [*schema.row_type.names, SEQUENCE_NUMBER, VALUE_KIND]
    return pa.RecordBatch.from_arrays(columns, names=names)


def merged_commits(
    schema: TableSchema, commits: Sequence[Sequence[Row]], *, batch_rows: int = 2, **how: bool
) -> list[Row]:
    """The rows of a table after several commits: each is merged, then all are.

    Args:
        schema: of the table.
        commits: their records.
        batch_rows: the runs come in batches of that many rows.
        how: keywords of `merge_runs`.
    """
    spec = merge_spec(schema)
    runs, number = [], 0
    for rows in commits:
        runs.append(merge_sorted(batch_of(schema, rows, first=number), spec))
        number += len(rows)
    return rows_of(merge_runs([cut(run, batch_rows) for run in runs], spec, **how))


def cut(batch: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
    """A batch in pieces of some rows."""
    for begin in range(0, batch.num_rows, rows):
        yield batch.slice(begin, rows)


def rows_of(batches: Iterator[pa.RecordBatch]) -> list[Row]:
    """The rows of batches, which are checked to be sound."""
    found: list[Row] = []
    for batch in batches:
        batch.validate(full=True)
        found.extend(zip(*(as_python(column) for column in batch.columns), strict=True))
    return found


def merged(
    columns: Mapping[str, object],
    options: Mapping[str, str],
    rows: Sequence[Row],
    **how: bool,
) -> list[Row]:
    """The rows of a table after commits of one record each."""
    return merged_commits(schema_of(columns, options), [[row] for row in rows], **how)
