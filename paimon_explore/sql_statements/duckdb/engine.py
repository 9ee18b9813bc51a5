"""The engine of statements that DuckDB runs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa
from sqlglot import exp

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.definitions import DataField, DataType, RowType
from paimon_explore.data_types.object_columns import check_object_columns, check_pandas_types
from paimon_explore.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    UnsupportedFeatureError,
)
from paimon_explore.fileio.paths import scheme
from paimon_explore.fileio.resolve import resolve
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.sql_statements.duckdb.char_columns import compare_without_spaces, padded_rows
from paimon_explore.sql_statements.duckdb.column_types import (
    cut_nanoseconds,
    mark_sources,
    mark_types,
)
from paimon_explore.sql_statements.duckdb.constant_operands import compute_constants, push_keys
from paimon_explore.sql_statements.duckdb.database import (
    FileRows,
    SelectedColumns,
    duckdb_errors,
    new_cursor,
)
from paimon_explore.sql_statements.duckdb.dialect import (
    DUCKDB,
    SPARK,
    duckdb_text,
    in_database,
    named,
    parsed_expression,
    parsed_query,
    with_values,
)
from paimon_explore.sql_statements.duckdb.parquet_files import parquet_files
from paimon_explore.sql_statements.duckdb.query_rows import (
    AssignedRows,
    DuckRows,
    has_few_values,
    paimon_type,
)
from paimon_explore.sql_statements.duckdb.scan_rows import (
    DirectRows,
    RowStream,
    from_metadata,
    has_few_rows,
    plain_scan,
    variant_paths,
)
from paimon_explore.sql_statements.duckdb.top_rows import selected_rows, top_rows
from paimon_explore.sql_statements.duckdb.type_names import plain_type
from paimon_explore.sql_statements.engine import (
    TARGET_VIEW,
    Args,
    ForeignTable,
    RowMerge,
    RowUpdate,
    TableRows,
)
from paimon_explore.sql_statements.outcome import QueryRows
from paimon_explore.sql_statements.query_pushdown import usable_where
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.scan import Scan
from paimon_explore.table.table import Table

if TYPE_CHECKING:
    from paimon_explore.sql_statements.copy_into.file_format import FileFormat
    from paimon_explore.sql_statements.copy_into.file_load import FileLoad, LoadResult, SourceFile

_PLAIN_CLAUSES = frozenset({"expressions", "from", "from_", "limit"})
_NO_FILES = "A query reads no files: load the file, and pass it as pe.sql(text, name=data)."
_ALIAS = re.compile(r"(_paimon_[0-9a-f]{32} AS )`([^`]*)`")
"""A view with the alias that replaces a table, quoted as in Spark."""


def _stored(view: str) -> str:
    """Return the view of the stored rows, which another one pads."""
    return f"{view}_stored"


class SessionState:
    """What statements of a session leave for later ones.

    Attributes:
        database: the current database.
        views: temporary views by lower-case name.
        names: their names as given.
        settings: what SET has set.
    """

    def __init__(self, database: str) -> None:
        self.database = database
        self.views: dict[str, DuckRows | object] = {}
        self.names: dict[str, str] = {}
        self.settings: dict[str, str] = {}

    def add(self, name: str, rows: object) -> None:
        """Add a temporary view."""
        self.views[name.lower()] = rows
        self.names[name.lower()] = name


class DuckDBEngine:
    """Runs the queries of one statement.

    Args:
        state: of the session.
        dialect: of its queries.
        rows: tables and data for names that nothing else has.
        storage_options: settings of the storage of files outside of tables.

    Attributes:
        tree: the last query, whose tables are views and whose constants are computed; None before
            one.
        has_subquery: whether it had subqueries, which may be constants in `tree`.
        read: the tables of these views.
    """

    name = "DuckDB"
    has_own_tables = False

    def __init__(
        self,
        state: SessionState,
        dialect: str = SPARK,
        rows: Mapping[str, object] | None = None,
        storage_options: Mapping[str, object] | None = None,
    ) -> None:
        self._state = state
        self._rows = {name.lower(): value for name, value in (rows or {}).items()}
        self._dialect = dialect
        self._storage_options = storage_options or {}
        self._sources: dict[str, object] = {}
        self.tree: exp.Query | None = None
        self.has_subquery = False
        self.read: dict[str, TableRows] = {}
        self._scans: dict[str, Scan] = {}
        self._system: dict[str, RowSource] = {}
        self._fields: dict[str, Sequence[DataField]] = {}

    def evaluate(self, text: str) -> object:
        """Return the value of a constant expression."""
        value: object = self._constant_rows(text).to_batches().read_all().column(0)[0].as_py()
        return value

    def _constant_rows(self, text: str) -> DuckRows:
        tree = parsed_expression(text)
        return DuckRows(f"SELECT {duckdb_text(tree)}", {})

    def constant(self, text: str, field: DataField) -> object:
        """Return the value of a constant expression, read as a value of a column."""
        rows = self._constant_rows(text)
        if rows.fields[0].shown != "BLOB":  # by its text: 1.5 is no INT
            value = self.evaluate(text)
            if value is None:
                return None
            cast = exp.cast(exp.Literal.string(str(value)), _duckdb_type(field))
            rows = DuckRows(f"SELECT {duckdb_text(cast)}", {})
        found = AssignedRows(rows, [one.shown for one in rows.fields], [field], ())
        table = found.to_batches().read_all()
        try:
            return table.column(0).cast(to_arrow(field.type))[0].as_py()
        except pa.ArrowException as error:
            raise InvalidInputError(f"{text} does not fit: {error}.") from error

    def query(self, text: str, args: Args = None) -> DuckRows:
        """Run a query."""
        if self._dialect == DUCKDB:
            text = _ALIAS.sub(r'\1"\2"', text)
        tree = with_values(parsed_query(text, self._dialect), args)
        self._check_tables(tree)
        if self._dialect == SPARK:
            tree = in_database(named(tree), self._state.database)
        self.tree, self.has_subquery = tree, tree.find(exp.Subquery) is not None
        return self._rows_of(tree)

    def _rows_of(self, tree: exp.Query) -> DuckRows:
        """Run a query whose tables are known."""
        views = self._session_views(tree)
        if self._dialect == SPARK:
            self._prepare(tree, list(self._column_types(views)))
        names = {table.name for table in tree.find_all(exp.Table)}
        others = self._scans.keys() - names
        scans = {view: one for view, one in self._scans_of_paths(tree).items() if view in names}
        write = partial(duckdb_text, dialect=self._dialect)
        known = from_metadata(tree, scans, write)
        if known is not None:
            return known
        sources = {name: rows for name, rows in self._sources.items() if name not in others} | views
        for view in self._system.keys() & names:
            found = selected_rows(tree, self.read[view], self._system[view]).to_arrow()
            sources[view] = SelectedColumns(rows=found, names=self._system[view].schema.names)
        meant, plain = partial(write, tree), plain_scan(tree, scans)
        direct = None if plain is None else (plain[1], plain[0].to_batches)
        if plain is not None and direct is not None and has_few_rows(plain[0]):
            return DirectRows(meant, {**sources, **scans}, *direct)
        top = top_rows(tree, scans)
        streams: dict[str, object] = {}
        for view, scan in scans.items():
            columns = self.read[view].columns
            rows = scan if columns is None else scan.select(columns)
            if _reads_first_rows(tree):
                streams[view] = RowStream(rows)
            elif top is None:
                files = parquet_files(scan, columns)
                sources[view] = files or (scan if len(scans) == 1 else rows)
                if files is None and has_few_values(rows):
                    streams[view] = RowStream(rows)
            else:
                files = parquet_files(top.scan, columns)
                sources[view] = top.scan if files is None else top.bounded(files)
        if direct is None or any(isinstance(rows, FileRows) for rows in sources.values()):
            return DuckRows(meant, sources, streams)
        return DirectRows(meant, sources, *direct)

    def _prepare(self, tree: exp.Query, typed: list[tuple[str, DataType | None]]) -> None:
        """Mark types and sources, compute constants, and push down what follows from them."""
        mark_types(tree, typed)
        cut_nanoseconds(tree)
        is_changed = compute_constants(tree, self._computed, self._column_names)
        others = tree.find_all(exp.Join, exp.In)
        if is_changed or any(isinstance(one, exp.Join) or one.args.get("query") for one in others):
            mark_sources(tree, self._column_names)
            self._filter_again(tree)
            push_keys(tree, self._stored_scan, self._read_all, self._filter_again)
        compare_without_spaces(tree, typed)

    def _computed(self, query: exp.Query) -> pa.Table:
        """Return the rows of a query; of several rows not all."""
        reader = self._rows_of(query).to_batches()
        found: list[pa.RecordBatch] = []
        for batch in reader:
            found.append(batch)
            if sum(one.num_rows for one in found) > 1:
                break
        return pa.Table.from_batches(found, reader.schema)

    def _read_all(self, query: exp.Query) -> pa.Table:
        """Return the rows of a query."""
        return self._rows_of(query).to_batches().read_all()

    def _column_names(self, view: str) -> list[str] | None:
        """Return the columns of a table by its view."""
        fields = self._fields.get(view)
        return None if fields is None else [field.name for field in fields]

    def _filter_again(self, tree: exp.Query) -> None:
        """Push down conditions whose constants are computed, and those of equal columns."""
        for node in tree.find_all(exp.Table):
            fields = self._fields.get(node.name)
            where = None if fields is None else usable_where(node, RowType(fields=tuple(fields)))
            if where is None:
                continue
            self.read[node.name] = replace(self.read[node.name], where=where)
            scan = self._stored_scan(node.name)
            if scan is not None and node.name in self._scans:
                self._scans[node.name] = scan.filter(where)
            elif scan is not None:
                self._sources[_stored(node.name)] = scan.filter(where)

    def _stored_scan(self, view: str) -> Scan | None:
        """Return the scan of a table by its view, before CHAR columns are padded."""
        found = self._sources.get(_stored(view), self._scans.get(view))
        return found if isinstance(found, Scan) else None

    def _column_types(self, views: Mapping[str, object]) -> Iterator[tuple[str, DataType | None]]:
        """Yield the columns of the tables, and of the rows of variables."""
        for fields in self._fields.values():
            yield from ((field.name, field.type) for field in fields)
        for rows in views.values():
            schema = getattr(rows, "schema", ())
            yield from ((field.name, paimon_type(field.type)) for field in schema)

    def _scans_of_paths(self, tree: exp.Query) -> dict[str, Scan]:
        """Return the scans, with the paths at which the query needs VARIANT columns."""
        names_all = all(self.read[view].columns is not None for view in self._scans)
        if self._dialect != SPARK or not names_all:
            return self._scans
        fields = [field for scan in self._scans.values() for field in scan.target.schema.fields]
        paths = variant_paths(tree, fields)
        return {view: replace(scan, variant_paths=paths) for view, scan in self._scans.items()}

    def _check_tables(self, tree: exp.Query) -> None:
        """Refuse names that DuckDB would take for those of databases or files."""
        ctes = {cte.alias for cte in tree.find_all(exp.CTE)}
        for table in tree.find_all(exp.Table):
            if table.db:
                raise NotFoundError("database", table.db, hint="SHOW DATABASES lists them.")
            is_known = table.name in ctes or self.has_table(table.name)
            if "." in table.name and not is_known and table.name not in self._sources:
                raise NotFoundError("table", table.name, hint=_NO_FILES)

    def _session_views(self, tree: exp.Expr) -> dict[str, object]:
        """Return the temporary views that a query reads, with those that they read."""
        found: dict[str, object] = {}
        for table in tree.find_all(exp.Table):
            name = table.name.lower()
            if table.args.get("db") is not None or name in found or not self.has_table(name):
                continue
            rows = self._state.views.get(name)
            if isinstance(rows, DuckRows):
                found |= rows.sources
                found[name] = rows.text
            else:
                found[name] = readable(name, self._rows[name]) if rows is None else rows
        return found

    def explain(self, mode: str, text: str) -> DuckRows:
        """Return which files are read, and the plan of DuckDB."""
        rows = self.query(text)
        lines: list[str] = []
        for view, read in self.read.items():
            if view in rows.text and isinstance(read.table, Table) and read.system is None:
                found = (
                    read.table.explain() if read.where is None else read.table.explain(read.where)
                )
                lines += [*str(found).splitlines(), ""]
        cursor = new_cursor(rows.sources, rows.text)
        with duckdb_errors():
            words = "ANALYZE " if mode == "ANALYZE" else ""
            plans = cursor.sql(f"EXPLAIN {words}{rows.text}").to_arrow_table()
        for plan in plans.column(plans.num_columns - 1).to_pylist():
            lines += str(plan).splitlines()
        return DuckRows(
            "SELECT plan FROM plan", {"plan": pa.table({"plan": pa.array(lines, pa.string())})}
        )

    @contextmanager
    def viewed(self, rows: TableRows | QueryRows) -> Iterator[str]:
        """Create a temporary view of rows for the context; yields its name."""
        view = f"_paimon_{uuid4().hex}"
        if isinstance(rows, TableRows):
            self.read[view] = rows
            self._sources[view] = self._readable(view, rows)
        else:
            found = _duck_rows(rows)
            self._sources |= found.sources
            self._sources[view] = found.text
        try:
            yield view
        finally:
            for known in (self._scans, self._system, self._fields, self._sources):
                known.pop(view, None)
            self._sources.pop(_stored(view), None)

    def _readable(self, view: str, rows: TableRows) -> object:
        """Return what DuckDB reads the rows from."""
        if rows.system is not None:
            assert isinstance(rows.table, Table)  # noqa: S101 - which has system tables
            source = rows.table.inspect.system_table(rows.system)
            self._system[view] = source
            self._fields[view] = source.row_type.fields
            return source.scan(rows.columns, rows.where)
        if not isinstance(rows.table, Table):
            self._fields[view] = rows.fields
            return self._padded(view, rows, rows.table.to_arrow())
        scan = replace(rows.table.scan(), plans={})
        self._fields[view] = scan.target.schema.fields
        _check_names(scan.target.schema.row_type.names)
        scan = scan if rows.where is None else scan.filter(rows.where)
        found = self._padded(view, rows, scan)
        if found is scan:
            self._scans[view] = scan
        return found

    def _padded(self, view: str, rows: TableRows, stored: object) -> object:
        """Return rows, or a query that pads their CHAR columns."""
        names = rows.columns
        fields = [one for one in self._fields[view] if names is None or one.name in names]
        name = _stored(view)
        text = padded_rows(name, fields) if self._dialect == SPARK else None
        if text is None:
            return stored
        self._sources[name] = stored
        return text

    def update(self, change: RowUpdate) -> Snapshot | None:
        """Update or delete rows."""
        from paimon_explore.sql_statements.duckdb.row_changes import update  # noqa: PLC0415 - not for queries

        _check_names(change.table.schema.row_type.names)
        tree = with_values(parsed_query(change.query.replace(TARGET_VIEW, "t", 1)), None)
        tree = in_database(tree, self._state.database)
        mark_types(tree, ((field.name, field.type) for field in change.table.schema.fields))
        cut_nanoseconds(tree)
        compute_constants(tree, self._computed, self._column_names)
        assert isinstance(tree, exp.Select)  # noqa: S101 - as `RowUpdate` says
        return update(change, tree, {**self._sources, **self._session_views(tree)})

    def merge(self, change: RowMerge) -> Snapshot | None:
        """Merge rows."""
        from paimon_explore.sql_statements.duckdb.row_changes import merge  # noqa: PLC0415 - not for queries

        _check_names(change.table.schema.row_type.names)
        return merge(change, _duck_rows(change.source), self._sources)

    def compact(
        self,
        table: Table,
        *,
        full: bool = True,
        partitions: Sequence[Mapping[str, object]] | None = None,
        buckets: Sequence[int] | None = None,
    ) -> None:
        """Compact a table."""
        table.compact(full=full, partitions=partitions, buckets=buckets)

    def has_database(self, name: str) -> bool:
        """Return False: DuckDB has no databases of its own."""
        del name
        return False

    def has_table(self, name: str) -> bool:
        """Return whether there is a temporary view or a variable."""
        return name.lower() in self._state.views or name.lower() in self._rows

    def temporary_views(self) -> list[str]:
        """Return the names of the temporary views."""
        return sorted(self._state.names.values())

    def create_temporary_view(
        self, name: str, rows: QueryRows, *, replaces: bool, is_global: bool
    ) -> None:
        """Create a temporary view; it stays at the current snapshots."""
        if is_global:
            raise UnsupportedFeatureError(
                "a global temporary view", name, hint="Write CREATE TEMPORARY VIEW."
            )
        if name.lower() in self._state.views and not replaces:
            raise AlreadyExistsError("view", name, "the session")
        self._state.add(name, _duck_rows(rows).with_own_sources())

    def drop_temporary_view(self, name: str) -> None:
        """Drop a temporary view."""
        del self._state.views[name.lower()], self._state.names[name.lower()]

    def use(self, database: str) -> None:
        """Make a database that of unqualified names."""
        self._state.database = database

    def settings(self) -> Mapping[str, str]:
        """Return the settings of the session."""
        return self._state.settings

    def change_setting(self, key: str, value: str | None) -> None:
        """Set a setting, or remove it."""
        if value is None and not key:
            self._state.settings.clear()
        elif value is None:
            self._state.settings.pop(key, None)
        else:
            self._state.settings[key] = value

    def list_files(self, folder: str) -> "list[SourceFile]":
        """List the files directly in a folder of any storage that this library opens."""
        from paimon_explore.sql_statements.copy_into.file_load import SourceFile  # noqa: PLC0415 - not for queries

        file_io, path = resolve(folder, self._storage_options)
        if not file_io.exists(path):
            raise InvalidInputError(f"COPY INTO: there is no file or folder {folder!r}.")
        status = file_io.status(path)
        return [
            SourceFile(
                path=one.path if scheme(one.path) else f"file:{one.path}",
                name=one.name,
                size=one.size,
                modified=one.modified_ms,
            )
            for one in (file_io.list(path) if status.is_folder else [status])
            if not one.is_folder and not one.name.startswith(("_", "."))
        ]

    def load_files(self, load: "FileLoad", files: "Sequence[SourceFile]") -> "list[LoadResult]":
        """Load files into a table."""
        from paimon_explore.sql_statements.duckdb.file_import import FileImport  # noqa: PLC0415 - not for queries

        return FileImport(to=load, storage_options=self._storage_options).load(files)

    def export_files(
        self, rows: QueryRows, made: "FileFormat", folder: str, *, overwrite: bool
    ) -> int:
        """Write rows to a file in a folder."""
        from paimon_explore.sql_statements.duckdb.file_export import export_rows  # noqa: PLC0415 - not for queries

        storage = resolve(folder, self._storage_options)
        return export_rows(_duck_rows(rows), made, folder, storage, overwrite=overwrite)

    def foreign_table(self, path: tuple[str, ...]) -> ForeignTable:
        """Return a folder of Parquet files; tables of other catalogs need Spark."""
        if "/" not in path[-1]:
            raise _refused(f"migrating {'.'.join(path)}")
        from paimon_explore.sql_statements.duckdb.parquet_folder import parquet_folder  # noqa: PLC0415 - imports pandas

        return parquet_folder(*resolve(path[-1], self._storage_options))

    def foreign_tables(self, database: str) -> list[str]:
        """Raise an error: DuckDB has no databases of its own."""
        raise NotFoundError("database", database, "DuckDB")

    def drop_foreign_table(self, table: ForeignTable) -> None:
        """Refuse migrations, which need Spark."""
        raise _refused(f"migrating {table.name}")


def _refused(what: str) -> UnsupportedFeatureError:
    return UnsupportedFeatureError(
        f"{what} without Spark",
        hint="Run the statement with pe.spark.sql, or use the command import.",
    )


def readable(name: str, rows: object) -> object:
    """Return rows in a form that DuckDB can read several times.

    Raises:
        InvalidInputError: they have no rows, or columns that SQL or Arrow cannot tell or hold.
    """
    if isinstance(rows, Scan):
        _check_names(rows.columns)
        return rows.to_dataset()
    check_object_columns(rows)
    found = _arrow_table(name, rows)
    _check_names(found.column_names)
    check_pandas_types(found.schema)
    return found


def _check_names(names: Sequence[str]) -> None:
    """Reject columns of which DuckDB would always read the first one."""
    known: dict[str, str] = {}
    for name in names:
        other = known.setdefault(name.lower(), name)
        if other is not name:
            raise InvalidInputError(
                f"SQL does not distinguish the columns {other!r} and {name!r}.",
                hint="Rename one of them, or use methods of the table, such as scan().",
            )


def _arrow_table(name: str, rows: object) -> pa.Table:
    if isinstance(rows, pa.Table | pa.RecordBatch):
        return rows if isinstance(rows, pa.Table) else pa.Table.from_batches([rows])
    try:
        if hasattr(rows, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(rows).read_all()
        if isinstance(rows, Mapping):
            return pa.table(dict(rows))
        if isinstance(rows, list):
            return pa.Table.from_pylist(rows)
        if hasattr(rows, "scanner"):  # a dataset of Arrow
            return rows.scanner().to_table()  # type: ignore[no-any-return]  # of any class
        problem = ""
    except ValueError as error:
        problem = f" that Arrow cannot read: {error}".rstrip(".")
    except (pa.ArrowException, TypeError, AttributeError):
        problem = ""
    raise InvalidInputError(
        f"The rows {name!r} have type {type(rows).__name__}{problem}.",
        hint="Pass a Table, a Scan, Arrow, pandas or Polars data, a dictionary of columns, or a "
        "list of dictionaries; a lazy frame has collect().",
    )


def _reads_first_rows(tree: exp.Query) -> bool:
    """Return whether a query asks for the first rows of a table: it has no clause but LIMIT."""
    clauses = {key for key, value in tree.args.items() if value}
    tables = list(tree.find_all(exp.Table))
    is_plain = isinstance(tree, exp.Select) and clauses <= _PLAIN_CLAUSES
    is_simple = is_plain and tree.find(exp.Subquery, exp.AggFunc) is None
    return is_simple and "limit" in clauses and len(tables) == 1


def _duck_rows(rows: QueryRows) -> DuckRows:
    assert isinstance(rows, DuckRows)  # noqa: S101 - made by this engine
    return rows


def _duckdb_type(field: DataField) -> exp.DataType:
    return exp.DataType.build(plain_type(to_arrow(field.type)), dialect="duckdb", udt=True)
