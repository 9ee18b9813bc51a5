"""Expressions of UPDATE, DELETE and MERGE, which DuckDB computes for rows of the table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
from sqlglot import exp

from paimon_explore.data_types.array_sizes import within_size
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column as Values
from paimon_explore.data_types.arrow_buffers import build_fixed
from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.scan.predicate.expression import Column, Computed, Literal, literal
from paimon_explore.sql_statements.duckdb.char_columns import compare_without_spaces, padded_rows
from paimon_explore.sql_statements.duckdb.column_types import cut_nanoseconds, mark_types
from paimon_explore.sql_statements.duckdb.constant_operands import RANDOM
from paimon_explore.sql_statements.duckdb.dialect import duckdb_text
from paimon_explore.sql_statements.duckdb.query_rows import (
    DuckRows,
    engine_type,
    stored_value,
    with_known_sizes,
)
from paimon_explore.sql_statements.duckdb.type_names import quoted
from paimon_explore.write.input.arrow_cast import conform

_ROW, _ROWS = "_paimon_row", "_paimon_rows"
"""The number of a row, and the view of the rows, which has the name of no view of a session."""
_OF_ROWS = (exp.Window, exp.AggFunc, exp.Explode, exp.Posexplode, exp.Inline, exp.Stack, exp.Unnest)
"""Expressions that are computed from several rows, or return several."""
_SORTED_BYTES = 64 << 20
"""Maximum size of the rows that DuckDB computes and sorts at a time."""


def computed(
    tree: exp.Expr,
    alias: str,
    columns: Sequence[tuple[Column, str]],
    row_type: RowType,
    sources: Mapping[str, object],
    target: DataField | None = None,
) -> Computed | Literal:
    """Return an expression that DuckDB computes; NULL has the type of its column.

    Args:
        tree: the expression.
        alias: the name by which it qualifies columns.
        columns: the columns that it may read, with their names in the expression.
        row_type: their types, in the same order.
        sources: the views that its subqueries read.
        target: the column that stores the value; None for a condition.

    Raises:
        InvalidInputError: an unknown column or function, types that do not fit, or an expression
            that is not computed from one row.
        UnsupportedFeatureError: the result of the expression is random.
    """
    _check_of_one_row(tree)
    is_null = isinstance(tree.unnest(), exp.Null)
    if is_null and (target is None or target.default_value is None):
        return literal(None)
    names = [name for _, name in columns]
    typed = list(zip(names, (one.type for one in row_type.fields), strict=True))
    mark_types(tree, typed)
    compare_without_spaces(tree, typed)
    cut_nanoseconds(tree)
    text, view = duckdb_text(tree), quoted(alias)
    words = {node.name.lower() for node in tree.find_all(exp.Identifier)}
    used = [at for at, (_, name) in enumerate(columns) if name.lower() in words]
    fields = [
        (name, to_arrow(field.type))
        for (_, name), field in zip(columns, row_type.fields, strict=True)
    ]

    numbered = (_ROW, pa.int64())

    padded = padded_rows(_ROWS, [replace(row_type.fields[at], name=names[at]) for at in used])
    source = _ROWS if padded is None else f"({padded})"
    computed_rows = f"SELECT ({text}) AS v, {view}.{_ROW} AS r FROM {source} AS {view}"  # noqa: S608 - the user's own words

    @cache
    def others() -> dict[str, object]:
        return with_known_sizes(sources)  # read once, not for each batch

    def rows_of(batch: pa.Table, value: str) -> DuckRows:
        query = f"SELECT {value} AS v FROM ({computed_rows}) ORDER BY r"  # noqa: S608 - as above
        known = others() if len(batch) else sources
        return DuckRows(query, {**known, _ROWS: batch}, has_known_sizes=True)

    value, empty = "v", pa.schema([*fields, numbered]).empty_table()
    rows = rows_of(empty, value)
    if target is not None:
        value = stored_value(value, rows.fields[0].shown, rows.schema.types[0], target)
        rows = rows_of(empty, value)
    found = rows.schema.types[0]
    schema = pa.schema([*(fields[at] for at in used), numbered])

    def compute(arrays: Sequence[Values], count: int) -> Values:
        values = [
            conform(one, row_type.fields[at].type, where=columns[at][1])
            for one, at in zip(arrays, used, strict=True)
        ]
        numbers = build_fixed(pa.int64(), np.arange(count))
        batch = pa.RecordBatch.from_arrays([*values, numbers], schema=schema)
        parts = (
            rows_of(pa.Table.from_batches([part]), value).to_batches().read_all()
            for part in within_size(batch, _SORTED_BYTES)
        )
        table = pa.concat_tables(parts)
        if table.num_rows != count:
            raise InvalidInputError(f"The expression {text} returns several values for a row.")
        column = table.column(0)
        made: Values = column.combine_chunks() if column.num_chunks else pa.array([], found)
        return conform(made, kind, where=text)

    kind = engine_type(found)
    return Computed(
        text=tree.sql(dialect="spark"),
        arguments=tuple(columns[at][0] for at in used),
        type=kind,
        compute=compute,
    )


def _check_of_one_row(tree: exp.Expr) -> None:
    """Refuse an expression whose value does not follow from one row."""
    if tree.find(*RANDOM) is not None:
        raise UnsupportedFeatureError(
            f"the random value {tree.sql(dialect='spark')} in a change of rows",
            hint="Insert the values into a table first, and merge this table.",
        )
    for one in tree.find_all(*_OF_ROWS):
        if one.parent_select is tree.parent_select:
            raise InvalidInputError(
                f"{one.sql(dialect='spark')} is no value of one row, as a change of rows needs.",
                hint="Compute it in a subquery, or merge it: MERGE INTO … USING (SELECT …).",
            )
