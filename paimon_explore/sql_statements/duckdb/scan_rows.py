"""Queries that are answered without DuckDB: by a scan as it is, or by metadata.

A scan answers columns of one table with conditions that it evaluates. DuckDB is loaded, and
analyses such a query, only if it becomes a part of another one.

For DuckDB a scan reads only the paths of VARIANT columns that a query needs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from uuid import uuid4

import pyarrow as pa
from sqlglot import exp

from paimon_explore.data_types.definitions import DataField, TypeRoot
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.variant.paths import VariantPath
from paimon_explore.scan.predicate.variants.path_needs import path_of
from paimon_explore.sql_statements.duckdb.dialect import duckdb_tree
from paimon_explore.sql_statements.duckdb.functions.variant_functions import reads_path
from paimon_explore.sql_statements.duckdb.metadata_answers import (
    given_args,
    metadata_answer,
    only_table,
    partition_rows,
)
from paimon_explore.sql_statements.duckdb.parquet_files import is_alike
from paimon_explore.sql_statements.duckdb.query_rows import DuckRows
from paimon_explore.sql_statements.query_pushdown import whole_where
from paimon_explore.table.scan import Scan

_CLAUSES = frozenset({"expressions", "from", "from_", "where", "limit"})
_FEW_ROWS = 1 << 20
"""Rows of files up to which a scan reads them sooner than DuckDB, whose connection takes time."""


class DirectRows(DuckRows):
    """Rows that are read without DuckDB.

    Args:
        text: the query, in DuckDB's dialect, or what returns it.
        sources: the views that it reads.
        schema: the columns.
        read: returns the rows.
    """

    def __init__(
        self,
        text: str | Callable[[], str],
        sources: Mapping[str, object],
        schema: pa.Schema,
        read: Callable[[], Iterable[pa.RecordBatch]],
    ) -> None:
        super().__init__(text, sources)
        self._schema = schema
        self._read_batches = read
        self._is_stopped = False

    def _analyse(self) -> None:
        """Leave it to the query around these rows, if there is one: the columns are known."""

    def to_batches(self) -> pa.RecordBatchReader:
        """Read the rows in batches."""
        self._is_stopped = False
        return pa.RecordBatchReader.from_batches(self._schema, self._batches())

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for batch in self._read_batches():
            if self._is_stopped:
                raise KeyboardInterrupt
            yield pa.RecordBatch.from_arrays(batch.columns, schema=self._schema)

    def interrupt(self) -> None:
        """Stop what reads the rows, from another thread."""
        self._is_stopped = True


def from_metadata(
    tree: exp.Query, scans: Mapping[str, Scan], write: Callable[[exp.Query], str]
) -> DuckRows | None:
    """Return the result of a query that needs no rows of its tables; None if it needs some.

    Args:
        tree: the query.
        scans: the tables by the names that the query uses.
        write: writes a query as text of DuckDB.
    """
    known = metadata_answer(tree, scans)
    if known is None:
        return partition_rows(tree, scans, write)
    name = f"_paimon_{uuid4().hex}"
    text = f"SELECT * FROM {name}"  # noqa: S608 - a name made here
    return DirectRows(text, {name: known}, known.schema, known.to_batches)


class RowStream:
    """The rows of a scan for a query that has no use for a dataset, whose import takes long.

    Args:
        scan: the rows.
    """

    def __init__(self, scan: Scan) -> None:
        self._scan = scan

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows through Arrow's C stream interface."""
        rows = (batch for scan in [self._scan] for batch in scan.to_batches())  # not planned yet
        reader = pa.RecordBatchReader.from_batches(self._scan.schema, rows)
        return reader.__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]  # in stubs


def has_few_rows(scan: Scan) -> bool:
    """Return whether the files that a scan reads have few rows."""
    if scan.row_limit is not None:
        return True
    is_planned = scan.increment is None
    return is_planned and sum(split.row_count for split in scan.plan().splits) <= _FEW_ROWS


def plain_scan(tree: exp.Expr, scans: Mapping[str, Scan]) -> tuple[Scan, pa.Schema] | None:
    """Return the scan whose rows are those of a query, and the query's columns.

    None if the query computes something, or DuckDB could return values of other types.

    Args:
        tree: the query.
        scans: the tables by the names that the query uses.
    """
    table = only_table(tree, _CLAUSES)
    scan = None if table is None else scans.get(table.name)
    if table is None or scan is None or scan.narrowed is not None:
        return None
    columns: list[tuple[str, DataField]] = []
    for item in tree.expressions:
        found = _columns(item, table, scan)
        if not found or not all(_is_returned(field) for _, field in found):
            return None
        columns += found
    names = [name for name, _ in columns]
    read = [field.name for _, field in columns]
    if len(set(map(str.lower, names))) < len(names) or len(set(read)) < len(read):
        return None
    if tree.args.get("where") is not None:
        term = whole_where(table, scan.target.schema.row_type)
        if term is None:
            return None
        scan = scan.filter(term)
    limit = tree.args.get("limit")
    if limit is not None:
        number = limit.args.get("expression")
        if not isinstance(number, exp.Literal) or not number.is_int or len(given_args(limit)) > 1:
            return None
        scan = scan.limit(int(number.name))
    scan = scan.select(read)
    return scan, pa.schema([*zip(names, scan.schema.types, strict=True)])


def _columns(item: exp.Expr, table: exp.Table, scan: Scan) -> list[tuple[str, DataField]]:
    """Return the columns of an item of SELECT with their names; empty for an expression."""
    if isinstance(item, exp.Star) and not any(item.args.values()):
        return [(field.name, field) for field in scan.row_type]
    column = item.unalias()
    if not isinstance(column, exp.Column) or isinstance(column.this, exp.Star):
        return []
    if len(column.parts) > 2 or column.table.lower() not in {"", table.alias_or_name.lower()}:  # noqa: PLR2004 - table and column
        return []
    found = [field for field in scan.row_type if field.name.lower() == column.name.lower()]
    is_named = isinstance(item, exp.Alias) or [one.name for one in found] == [column.name]
    return [(item.alias_or_name, found[0])] if len(found) == 1 and is_named else []


def _is_returned(field: DataField) -> bool:
    """Return whether DuckDB would return the same; times with a zone are those of its session."""
    return is_alike(field) and not is_root(field.type, TypeRoot.TIMESTAMP_LTZ)


def variant_paths(
    tree: exp.Expr, fields: Iterable[DataField]
) -> Mapping[str, tuple[VariantPath, ...]]:
    """Return the VARIANT columns of which a query needs only some paths, by name.

    A column whose name occurs anywhere else in the query is needed as a whole.

    Args:
        tree: the query, in Spark's dialect; it names all columns that it needs.
        fields: the columns of its tables.
    """
    names = {field.name for field in fields if is_root(field.type, TypeRoot.VARIANT)}
    if not names:
        return {}
    meant = duckdb_tree(tree)
    tables = {table.alias_or_name.lower() for table in meant.find_all(exp.Table, exp.Subquery)}
    if any(column.name.lower() in tables for column in meant.find_all(exp.Column)):
        return {}  # a table as a column: its whole rows
    found: dict[str, set[VariantPath]] = {}
    for part in meant.find_all(exp.Identifier):
        found.setdefault(part.name.lower(), set()).update(_paths(part))
    paths = {name: found.get(name.lower(), {()}) for name in names}
    return {name: tuple(sorted(of, key=repr)) for name, of in paths.items() if () not in of}


def _paths(name: exp.Identifier) -> tuple[VariantPath, ...]:
    """Return the paths at which a column is needed where it is named; `()` is all of it."""
    column = name.parent
    user = column.parent if isinstance(column, exp.Column) and column.this is name else None
    if isinstance(user, exp.Is) and isinstance(user.expression, exp.Null):
        return ()
    if not isinstance(user, exp.Anonymous) or not reads_path(user.name):
        return ((),)
    value, path, *more = user.expressions
    is_constant = value is column and isinstance(path, exp.Literal) and path.is_string
    return (path_of(path.name) if is_constant and not more else (),)
