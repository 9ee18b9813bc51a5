"""Answers of `SELECT count(*), min(a), max(a) FROM t` from the metadata of the data files.

A WHERE may compare partition columns, if only rows are counted. A query that groups by partition
columns reads a row for each split instead of the rows.

An answer is given only if it is certain: the files' rows must be the table's rows without a merge,
and for statistics none of them may be deleted. Bounds of numbers and dates are exact; those of
strings may be truncated, and those of floating-point numbers do not count NaN.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from uuid import uuid4

import numpy as np
import pyarrow as pa
from sqlglot import exp

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Column,
    Ints,
    as_python,
    fixed_values,
    valid_mask,
)
from paimon_explore.data_types.definitions import AtomicType, DataField, RowType, TypeRoot
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.scan.live_entries import PartitionFilter, live_files
from paimon_explore.scan.manifest_arrays import byte_array, column, numbers
from paimon_explore.scan.pruning.file_statistics import value_stats
from paimon_explore.scan.pruning.statistics_pruning import ColumnStats
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.sql_statements.duckdb.constant_operands import RANDOM
from paimon_explore.sql_statements.duckdb.query_rows import DuckRows
from paimon_explore.sql_statements.query_pushdown import names_columns, whole_where
from paimon_explore.table.engine_scans.scan_part import ScanPart
from paimon_explore.table.scan import Scan

_EXACT = frozenset(
    {TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT, TypeRoot.DATE}
)
_CLAUSES = frozenset({"expressions", "from", "from_", "where"})
_GROUPING = _CLAUSES | {"group", "having", "order", "limit", "offset", "distinct"}
_TABLE_PARTS = frozenset({"this", "alias"})
_OTHER_ROWS = (exp.Query, exp.Window, exp.UDTF, exp.Explode, exp.Filter, exp.Anonymous, *RANDOM)
"""What needs each row, or may."""


def metadata_answer(tree: exp.Expr, scans: Mapping[str, Scan]) -> pa.Table | None:
    """Return the result of a query that asks for counts and bounds of a whole table.

    Args:
        tree: the query.
        scans: the tables by the names that the query uses.

    Returns:
        One row, with the names of the query's aliases; None if the rows must be read, or DuckDB
        has to name a column.

    >>> import paimon_explore as pe, sqlglot
    >>> scans = {"t": pe.demo().table("demo.orders").scan()}
    >>> metadata_answer(sqlglot.parse_one("SELECT count(*) AS n FROM t"), scans).to_pydict()
    {'n': [30]}
    """
    table = only_table(tree, _CLAUSES)
    scan = None if table is None else scans.get(table.name)
    if table is None or scan is None:
        return None
    names = [item.alias for item in tree.expressions]
    wanted = [_aggregate(item.unalias(), scan.row_type) for item in tree.expressions]
    if "" in names or scan.narrowed is not None or not wanted or None in wanted:
        return None
    where = tree.args.get("where")
    if where is not None:
        schema = scan.target.schema
        given = {column.name for column in where.find_all(exp.Column)}
        term = whole_where(table, schema.row_type) if given <= set(schema.partition_keys) else None
        if term is None or any(one is not None and one[1] is not None for one in wanted):
            return None
        scan = scan.filter(term)
    parts = scan.parts()
    if any(part.row_count is None for part in parts):
        return None
    values = [None if one is None else _value(one[0], one[1], scan, parts) for one in wanted]
    if any(value is None for value in values):
        return None
    columns = [pa.array([value.as_py()], value.type) for value in values if value is not None]
    return pa.Table.from_arrays(columns, names=names)


def partition_rows(
    tree: exp.Query, scans: Mapping[str, Scan], write: Callable[[exp.Query], str]
) -> DuckRows | None:
    """Return the result of a query that needs only the partitions and their numbers of rows.

    DuckDB reads a row for each split, and adds up their numbers of rows in place of `count(*)`.

    Args:
        tree: the query.
        scans: the tables by the names that the query uses.
        write: writes a query as text of DuckDB.

    Returns:
        The result; None if the query names other columns than those of the partitions, or depends
        on the number or order of the rows in another way.
    """
    table = only_table(tree, _GROUPING)
    scan = None if table is None else scans.get(table.name)
    if table is None or scan is None or not _is_of_partitions(tree, table, scan):
        return None
    parts = [part for part in scan.parts() if part.row_count != 0]
    splits = [part.split for part in parts if isinstance(part.split, DataSplit)]
    if len(splits) < len(parts) or any(part.row_count is None for part in parts):
        return None
    kinds, name = scan.target.schema.partition_type, f"_paimon_{uuid4().hex}"
    keys = byte_array([split.partition for split in splits])
    values = decode_rows(keys, [field.type for field in kinds], where="_PARTITION")
    counts = pa.array([part.row_count for part in parts], pa.int64())
    rows = pa.Table.from_arrays([*values, counts], names=[*kinds.names, name])
    tree = tree.copy()
    for one in tree.find_all(exp.Count):
        one.set("this", exp.column(name))
    total = f"CAST(coalesce(sum({name}), 0) AS BIGINT)"
    return DuckRows(write(tree).replace(f"COUNT({name})", total), {table.name: rows})


def _is_of_partitions(tree: exp.Query, table: exp.Table, scan: Scan) -> bool:
    """Return whether the result of a query follows from which partitions have how many rows."""
    keys = {name.lower() for name in scan.target.schema.partition_keys}
    others = {name.lower() for name in scan.target.schema.row_type.names} - keys
    if not keys or any(isinstance(one, _OTHER_ROWS) for one in tree.walk() if one is not tree):
        return False
    names = (keys | {item.alias.lower() for item in tree.selects}) - others
    known = [_aggregate(one, scan.row_type) for one in tree.find_all(exp.AggFunc)]
    is_grouped = bool(tree.args.get("group") or tree.args.get("distinct"))
    return (
        all(one is not None and (one[0] is not exp.Count or one[1] is None) for one in known)
        and all(isinstance(one.parent, exp.Count) for one in tree.find_all(exp.Star))
        and (is_grouped or all(one.find(exp.AggFunc) for one in tree.selects))
        and all(isinstance(one, exp.Alias) or not one.find(exp.Count) for one in tree.selects)
        and all(_is_one_of(one, table, names) for one in tree.find_all(exp.Column))
    )


def _is_one_of(column: exp.Column, table: exp.Table, names: Collection[str]) -> bool:
    """Return whether a column is an alias of the result, or one of partitions, by its name."""
    is_plain = column.table.lower() in {"", table.alias_or_name.lower()}
    return is_plain and not column.args.get("db") and column.name.lower() in names


def only_table(tree: exp.Expr, clauses: Collection[str]) -> exp.Table | None:
    """Return the table of a SELECT that reads one table and has only some clauses."""
    if not isinstance(tree, exp.Select) or not given_args(tree) <= set(clauses):
        return None
    source = tree.args.get("from_") or tree.args.get("from")
    table = source.this if isinstance(source, exp.From) else None
    if not isinstance(table, exp.Table) or names_columns(table):
        return None
    return table if given_args(table) <= _TABLE_PARTS else None


def given_args(node: exp.Expr) -> set[str]:
    """Return the names of the arguments that a node has."""
    return {key for key, value in node.args.items() if value}


def _aggregate(item: exp.Expr, row_type: RowType) -> tuple[type[exp.Expr], DataField | None] | None:
    """The function and its column, if metadata may answer it; none for `count(*)`, `count(1)`."""
    if type(item) not in (exp.Count, exp.Min, exp.Max) or item.expressions:
        return None
    is_whole = isinstance(item.this, exp.Star) and not given_args(item.this)
    if isinstance(item, exp.Count) and (is_whole or isinstance(item.this, exp.Literal)):
        return exp.Count, None
    if not isinstance(item.this, exp.Column) or isinstance(item.this.this, exp.Star):
        return None
    found = [field for field in row_type if field.name.lower() == item.this.name.lower()]
    if len(found) != 1 or len(item.this.parts) > 1:
        return None
    return type(item), found[0]


def _value(
    function: type[exp.Expr], field: DataField | None, scan: Scan, parts: Sequence[ScanPart]
) -> "pa.Scalar[pa.DataType] | None":
    rows = sum(part.row_count or 0 for part in parts)
    if field is None:
        return pa.scalar(rows, pa.int64())
    if not parts:
        nothing = pa.array([], to_arrow(field.type))
        return pa.scalar(0, pa.int64()) if function is exp.Count else _bound("min", nothing)
    is_exact = has_exact_bounds(field)
    found = statistics_of(field, scan, parts) if is_exact or function is exp.Count else None
    if found is None:
        return None
    stats = found[0]
    if function is exp.Count:
        nulls = int(fixed_values(stats.null_count, np.int64).sum())
        return pa.scalar(rows - nulls, pa.int64())
    is_min = function is exp.Min
    return _bound("min" if is_min else "max", stats.minimum if is_min else stats.maximum)


def has_exact_bounds(field: DataField) -> bool:
    """Return whether the bounds of a column are values of it."""
    return isinstance(field.type, AtomicType) and field.type.root in _EXACT


def _bound(name: str, bounds: Column) -> "pa.Scalar[pa.DataType]":
    found: pa.Scalar[pa.DataType] = pc.call_function(name, [bounds])
    return found


def statistics_of(
    field: DataField, scan: Scan, parts: Sequence[ScanPart]
) -> tuple[ColumnStats, Ints] | None:
    """Return statistics and row counts of the data files; None if they are not the table's."""
    target = scan.target
    splits = [part.split for part in parts if isinstance(part.split, DataSplit)]
    if target.snapshot is None or any(
        part.split is None or part.row_count != part.split.row_count for part in parts
    ):
        return None
    whole = PartitionFilter(row_type=target.schema.partition_type)
    entries = live_files(target.store, target.snapshot, whole)
    planned = [name for split in splits for name in _names(split.files)]
    if sorted(planned) != sorted(_names(entries)):
        return None
    stats = value_stats(entries, target.store.schemas.load, [field]).columns.get(field.name)
    if stats is None or stats.null_count.null_count:
        return None
    bounded = valid_mask(stats.minimum) & valid_mask(stats.maximum)
    nulls = fixed_values(stats.null_count, np.int64)
    rows = numbers(entries.table, "row_count")
    return (stats, rows) if (bounded | (nulls == rows)).all() else None


def _names(entries: ManifestEntries) -> list[str]:
    return [str(name) for name in as_python(column(entries.table, "file_name"))]
