"""`Table`: one Paimon table, to read, write and explain; `open_table` and `compare`."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from os import PathLike
from typing import TYPE_CHECKING, TypeAlias

from paimon_explore.arguments import (
    instance,
    integer,
    optional_integer,
    optional_string,
)
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.resolve import resolve as resolve_location
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import (
    BLOB_VIEW_FIELD,
    BRANCH,
    DATA_FILE_PATH_DIRECTORY,
    INDEX_FILE_IN_DATA_FILE_DIR,
    TableOptions,
)
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import MAIN_BRANCH, TablePaths
from paimon_explore.scan.time_travel import (
    TimestampLike,
    TimeTravel,
    asked_point,
    epoch_ms,
    travel_of,
)
from paimon_explore.store.table_store import TableStore
from paimon_explore.table import lazy_types as types
from paimon_explore.table.latest_schema import schema_at_open, table_name
from paimon_explore.table.table_alter import AlterableTable
from paimon_explore.table.table_base import inspector_of, point_of, view_of
from paimon_explore.table.table_definition import OptionValue, option_texts
from paimon_explore.table.table_explain import ExplainableTable
from paimon_explore.table.writable_table import WritableTable

if TYPE_CHECKING:
    from paimon_explore.inspection.compare.table_side import TableSide
    from paimon_explore.metastore.catalog_values import TableInfo
    from paimon_explore.store.catalog_environment import CatalogEnvironment
    from paimon_explore.store.iceberg_catalog import ExportedTable, IcebergCatalog


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Table(WritableTable, AlterableTable, ExplainableTable):
    """A Paimon table, opened by `Catalog.table` or `open_table`.

    Reads see the latest snapshot at the time of the call; `at` returns a view of an earlier one.
    Rows are read as Arrow data: by `to_arrow` and `to_pandas`, by the methods of `scan()`, or by
    any library that takes the Arrow C stream.

    >>> import paimon_explore as pe
    >>> t = pe.demo().table("demo.orders")
    >>> t.scan(columns=["id", "city"], where="id = 1").to_arrow().to_pylist()
    [{'id': 1, 'city': 'Turin'}]

    Attributes:
        name: `database.table`, with `$branch_<name>` for another branch than main.
    """

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Raise an error that names the place of what the table can do."""
            from paimon_explore.table.other_names import missing

            groups = {} if name.startswith("_") else _groups()
            raise missing(self, name, "table", groups)

    def at(
        self,
        point: int | str | date | Snapshot | None = None,
        *,
        snapshot: int | None = None,
        tag: str | None = None,
        timestamp: TimestampLike | None = None,
        watermark: int | None = None,
        version: str | None = None,
    ) -> "Table":
        """Return a read-only view of the table at a point in time.

        Args:
            point: a snapshot or its id; or text: the name of a tag, else a time in ISO format
                (`"2026-11-22T05:04"`, local without a zone), else a `version`; or a date or
                datetime.
            snapshot: a snapshot id.
            tag: the name of a tag.
            timestamp: the latest snapshot at or before a time: ISO text, a date or datetime (local
                without a zone), or epoch milliseconds.
            watermark: the first snapshot with at least this watermark, in milliseconds.
            version: the name of a tag, `watermark-<n>` or a snapshot id, as text.

        Raises:
            InvalidInputError: not exactly one of the arguments is given.
            NotFoundError: there is no such snapshot or tag.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> t.at(2).count(), t.at(snapshot=3).count(), t.at("2100-01-01T00:00").count()
        (12, 18, 30)
        """
        asked = TimeTravel(
            snapshot=optional_integer("snapshot", snapshot),
            tag=optional_string("tag", tag),
            timestamp_ms=None if timestamp is None else epoch_ms(timestamp),
            watermark=optional_integer("watermark", watermark),
            version=optional_string("version", version),
        )
        asked = asked_point(self._store, asked, point, "at")
        return replace(self, _travel=asked.pinned(self._store))


def _groups() -> dict[str, type]:
    """Return the classes of what a table's attributes and methods return, by their expression."""
    from paimon_explore.table.maintenance import Maintenance
    from paimon_explore.table.scan import Scan
    from paimon_explore.table.table_inspection import TableInspection

    return {"maintenance": Maintenance, "inspect": TableInspection, "scan()": Scan}


def open_table(
    path: str | PathLike[str],
    branch: str | None = None,
    storage_options: Mapping[str, object] | None = None,
    options: Mapping[str, OptionValue] | None = None,
) -> Table:
    """Open the table in a folder.

    Args:
        path: the table's folder: a local path, `file:///…`, `s3://bucket/…` and so on.
        branch: the branch to read and write; None for main.
        storage_options: settings and secrets of the storage, in the names of Paimon, Hadoop, boto3,
            s3fs or object_store (`s3.endpoint`, `endpoint_url`, …), and `timeout`,
            `connect_timeout`, `retry_timeout`, `max_retries` of requests.
        options: dynamic table options, such as `scan.snapshot-id`.

    Raises:
        NotFoundError: there is no table, or it has no such branch, snapshot or tag.
        InvalidInputError: an option has an invalid value.

    >>> import paimon_explore as pe
    >>> path = pe.demo().table("demo.trips").path
    >>> pe.open_table(path).count(), pe.open_table(path, branch="draft").count()
    (3, 3)
    """
    optional_string("branch", branch)
    file_io, root = resolve_location(path, storage_options)
    return open_stored_table(file_io, root, branch, option_texts(options))


TableOrPath: TypeAlias = Table | str | PathLike[str]
"""A table, or its folder."""


def compare(
    a: TableOrPath,
    b: TableOrPath | None = None,
    *,
    rows: int = 20,
    max_read: int | None = 256 * 1024 * 1024,
) -> "types.TableComparison":
    """Compare two tables, branches or snapshots: schema, options, files and rows.

    Columns are matched by name. Rows are compared by primary key if both tables have the same
    one, else as whole rows with duplicates; columns that only one table has are left out.

    Args:
        a: the first table, or its folder.
        b: the second table, or its folder; `t.at(5)` for a snapshot of a table; None for the
            snapshot before the one of `a`, or the empty table before the first one.
        rows: show so many of the keys or rows that differ; 0 to compare no rows.
        max_read: compare rows only if the data files to read are at most this large, in bytes; None
            for any size. The result says how much it is.

    Raises:
        NotFoundError: a folder is not a table.

    >>> import paimon_explore as pe
    >>> t = pe.demo().table("demo.orders")
    >>> pe.compare(t, t.path).rows_equal
    True
    >>> found = pe.compare(t, t.at(4))
    >>> found.schema_equal, found.rows_equal, found.rows.only_a, found.rows.only_b
    (True, False, 6, 0)
    """
    from paimon_explore.inspection.compare.table_comparison import table_comparison
    from paimon_explore.inspection.rendering.code_snippet import Code

    integer("rows", rows, minimum=0)
    optional_integer("max_read", max_read, minimum=0)
    first = _table_argument("a", a)
    second = None if b is None else _table_argument("b", b)
    shown = [_expression("a", first), *([] if second is None else [_expression("b", second)])]
    if rows != 20:  # noqa: PLR2004 - the default
        shown.append(f"rows={rows}")
    return table_comparison(
        _side(first),
        _side_before(first) if second is None else _side(second),
        sample=rows,
        max_read=max_read,
        code=Code(python=f"pe.compare({', '.join(shown)})"),
    )


def _side(table: Table) -> "TableSide":
    from paimon_explore.inspection.compare.table_side import TableSide

    return TableSide(
        view=view_of(table), snapshot=table.snapshot, travelled=bool(point_of(table).given)
    )


def _side_before(table: Table) -> "TableSide":
    from paimon_explore.inspection.compare.table_side import TableSide

    inspector = inspector_of(table)
    before = inspector.before(inspector.snapshot)
    return TableSide(view=inspector.view, snapshot=before, travelled=True)


def _expression(name: str, table: Table) -> str:
    """The code of a table at the point in time that it is read at."""
    from paimon_explore.inspection.rendering.code_snippet import point_code

    snapshot = table.snapshot
    return point_code(name, snapshot.id if snapshot and point_of(table).given else 0)


def _table_argument(name: str, given: TableOrPath) -> Table:
    if isinstance(given, str | PathLike):
        return open_table(given)
    return instance(name, given, Table, "a Table or the path of one")


def open_stored_table(
    file_io: FileIO,
    root: str,
    branch: str | None = None,
    options: Mapping[str, str] | None = None,
    info: "TableInfo | None" = None,
) -> Table:
    """Open the table in a folder of a storage.

    Args:
        file_io: the storage.
        root: the table's folder.
        branch: the branch to read and write; None for the option `branch`, else main.
        options: dynamic table options.
        info: what the table's catalog knows about it; None for a table in a folder.
    """
    dynamic = dict(options or {})
    wanted = branch or dynamic.get(BRANCH.key, MAIN_BRANCH)
    environment = None if info is None else info.environment
    store = TableStore(file_io, TablePaths(root, wanted), environment=environment)
    schema = info.schema if info is not None else None
    schema = schema or schema_at_open(store)
    if dynamic:
        from paimon_explore.metadata.schema.schema_validation import check_dynamic_options

        check_dynamic_options(schema, dynamic)
    if info is not None and info.options:
        dynamic = {**info.options, **dynamic}
    chosen = TableOptions({**schema.options, **dynamic})
    paths = TablePaths(
        root,
        wanted,
        data_directory=chosen.value(DATA_FILE_PATH_DIRECTORY) or "",
        index_in_data_directory=chosen.value(INDEX_FILE_IN_DATA_FILE_DIR),
    )
    siblings = info.siblings if info is not None and chosen.has(BLOB_VIEW_FIELD) else None
    store = TableStore(
        file_io,
        paths,
        environment=environment,
        siblings=siblings,
        open_iceberg_catalog=_open_iceberg_catalog,
    )
    return Table(
        name=table_name(root, wanted) if environment is None else _name_of(environment, wanted),
        _store=store,
        _dynamic_options=dynamic,
        _travel=travel_of(chosen).pinned(store),
    )


def _open_iceberg_catalog(table: "ExportedTable") -> "IcebergCatalog":
    from paimon_explore.metastore.iceberg.open_iceberg_catalog import open_iceberg_catalog

    return open_iceberg_catalog(table)


def _name_of(environment: "CatalogEnvironment", branch: str) -> str:
    return environment.identifier + ("" if branch == MAIN_BRANCH else f"$branch_{branch}")
