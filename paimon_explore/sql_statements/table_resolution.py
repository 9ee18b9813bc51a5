"""Resolution of table names in statements to Paimon tables or tables of the engine.

| name | refers to |
| --- | --- |
| `db.t`, `paimon.db.t` | a Paimon table or view, if the warehouse has that database |
| `t` | a temporary view of that name; else a table or view of the current database |
| `db.t$files`, `db.t$branch_b`, ``db.`t$branch_b$files` `` | a system table, a branch |
| `sys.all_tables` … | a table of the whole catalog |
| ``paimon.`/a/folder` ``, ``paimon_explore.`/a/folder` `` | the table in that folder |
| anything else | a table of the engine |
"""

from collections.abc import Callable, Mapping
from dataclasses import field, replace

from paimon_explore.errors import (
    InvalidInputError,
    NotFoundError,
    UnsupportedFeatureError,
    choices,
    suggestion,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.schema.option_changes import check_option_change, is_unchanged
from paimon_explore.metastore.identifier import parse_identifier
from paimon_explore.sql_statements.engine import Engine
from paimon_explore.sql_statements.quoted_names import CATALOG
from paimon_explore.sql_statements.session_settings import table_options
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.catalog.catalog_objects import open_file_table
from paimon_explore.table.catalog.catalog_system_tables import DATABASE as SYS
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.table import Table, open_table
from paimon_explore.table.table_base import dynamic_options_of

Travel = Callable[[Table], Table]
"""Returns the view of a table that queries read."""
DEFAULT = "default"
GIVEN = " Pass a DataFrame or an Arrow table as an argument: pe.sql(text, {0}={0})."
"""What a query does for a variable of Python, which it does not find by itself."""
_FOLDERS = (CATALOG, "paimon_explore")
_DEEPEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """The name of a Paimon table in a statement.

    Attributes:
        table: `database.table` with an optional `$` suffix, or a folder.
        is_folder: whether it is a folder.
        is_given: whether it is the name of one of `Warehouse.given`.
    """

    table: str
    is_folder: bool = False
    is_given: bool = False

    @property
    def alias(self) -> str:
        """Return the name by which a query may qualify its columns."""
        if self.is_folder:
            return self.table.rstrip("/").rpartition("/")[2].partition("$")[0]
        return self.table if self.is_given else self.table.partition(".")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Warehouse:
    """The catalog and current database in which a statement's table names are resolved.

    Attributes:
        engine: runs the queries of statements.
        catalog: the warehouse; None if tables can only be named by their folders.
        database: the current database, for unqualified names.
        open_views: the views whose queries are being resolved, the outermost first.
        given: tables by the names that only these statements know.
        travel: the views of tables that queries read at their latest snapshots.
    """

    engine: Engine
    catalog: Catalog | None
    database: str
    open_views: tuple[str, ...] = ()
    given: Mapping[str, Table] = field(default_factory=dict)
    travel: Travel | None = None

    def find(self, parts: tuple[str, ...]) -> Name | None:
        """Return the Paimon table of a name; None if the table belongs to the engine."""
        if len(parts) == 1 and parts[0].partition("$")[0] in self.given:
            return Name(table=parts[0], is_given=True)
        if len(parts) == _DEEPEST and parts[0].lower() == CATALOG:
            return Name(table=f"{self.known_database(parts[1])}.{parts[2]}")
        if len(parts) == 2 and "/" in parts[1] and parts[0].lower() in _FOLDERS:  # noqa: PLR2004 - database and table
            return Name(table=parts[1], is_folder=True)
        if self.catalog is None:
            return None
        if len(parts) == 1:
            return self._present(parts[0])
        database = self.find_database(parts[0]) if len(parts) == 2 else None  # noqa: PLR2004 - the same
        return None if database is None else Name(table=f"{database}.{parts[1]}")

    def named(self, parts: tuple[str, ...]) -> Name:
        """Return the name of an existing or new Paimon table.

        Raises:
            NotFoundError: no such database.
            InvalidInputError: the name belongs to a table of the engine.
        """
        is_given = parts[0].partition("$")[0] in self.given
        found = self.find(parts) if len(parts) > 1 or is_given else None
        if found is not None:
            return found
        if len(parts) == 1:
            return Name(table=f"{self.known_database(self.database)}.{parts[0]}")
        if len(parts) == 2:  # noqa: PLR2004 - database and table
            return Name(table=f"{self.known_database(parts[0])}.{parts[1]}")
        raise InvalidInputError(
            f"{'.'.join(parts)!r} is not the name of a Paimon table.",
            hint="Write the name as database.table.",
        )

    def new_name(self, old: Name, parts: tuple[str, ...]) -> Name:
        """Return the new name of a table or view: without a database, in that of the old name.

        Raises:
            NotFoundError: no such database.
            InvalidInputError: the name belongs to a table of the engine.
        """
        if old.is_given or old.is_folder:
            return self.named(parts)
        return replace(self, database=parse_identifier(old.table).database).named(parts)

    def _present(self, name: str) -> Name | None:
        if self.is_view(name):
            return None
        base = name.partition("$")[0]
        database: str | None = self.database
        if not self._has_table(
            f"{database}.{base}"
        ):  # else neither databases nor tables are listed
            database = self.find_database(self.database)
            if database is None:
                return None
            catalog = self.warehouse()
            is_known = _same(base, catalog.tables(database)) is not None
            if not is_known and not (base == name and name in catalog.views(database)):
                return None
        return Name(table=f"{database}.{name}")

    def _has_table(self, name: str) -> bool:
        """Return whether a table exists, without listing the others of its database."""
        try:
            return self.warehouse().table_exists(name)
        except InvalidInputError:
            return False

    def refuse_missing(self, parts: tuple[str, ...]) -> None:
        """Raise an error if neither Paimon nor the engine has a table; it lists those that exist.

        Raises:
            NotFoundError: neither its database nor the engine has it, or there is no such database.
        """
        if len(parts) == 1 and self.engine.has_table(parts[0]):
            return
        if len(parts) > 1 and not self.engine.has_own_tables:
            from paimon_explore.inspection.system_tables.history_tables import SYSTEM_TABLES  # noqa: PLC0415 - for errors

            if parts[-1].lower() in SYSTEM_TABLES:
                hint = f"Names of system tables have a $: {'.'.join(parts[:-1])}${parts[-1]}."
                raise NotFoundError("table", ".".join(parts), hint=hint)
        if self.catalog is None:
            if len(parts) == 1 and self.given:
                names = [*self.given, *self.engine.temporary_views()]
                hint = f"{suggestion(parts[0], names)}Tables: {choices(sorted(names))}."
                hint += GIVEN.format(parts[0])
                raise NotFoundError("table", parts[0], hint=hint)
            return
        database = self.find_database(self.database if len(parts) == 1 else parts[0])
        if database is None and not self.engine.has_own_tables:
            if len(parts) == _DEEPEST:
                hint = f"The name of the session's only catalog is {CATALOG}: {CATALOG}."
                raise NotFoundError("catalog", parts[0], hint=f"{hint}{'.'.join(parts[1:])}.")
            if len(parts) > 1:
                self.known_database(parts[0])
            hint = "USE selects a database; or write database.table. Databases: "
            where = f"{self.database}, the current database, which does not exist"
            known = choices(self.catalog.databases())
            raise NotFoundError("table", parts[0], where, hint=f"{hint}{known}.")
        if database is not None and len(parts) == 1:
            self.base(Name(table=f"{database}.{parts[0]}"))

    def find_or_refuse(self, parts: tuple[str, ...]) -> Name | None:
        """Return the Paimon table of a name; None if the table belongs to the engine.

        Raises:
            NotFoundError: neither has it.
        """
        name = self.find(parts)
        if name is None:
            self.refuse_missing(parts)
        return name

    def is_missing(self, parts: tuple[str, ...]) -> bool:
        """Return whether neither Paimon nor the engine has a table or view."""
        try:
            self.refuse_missing(parts)
        except NotFoundError:
            return True
        return False

    def is_view(self, name: str) -> bool:
        """Return whether a name is a temporary view."""
        return any(name.lower() == view.lower() for view in self.engine.temporary_views())

    def warehouse(self) -> Catalog:
        """Return the catalog.

        Raises:
            InvalidInputError: no catalog was given.
        """
        if self.catalog is None:
            raise InvalidInputError(
                "The statement requires a catalog, but none was given.",
                hint="Use catalog.sql(text) or pe.sql(text, catalog); on Spark, start with "
                "pe.spark.session(warehouse=…).",
            )
        return self.catalog

    def find_database(self, name: str) -> str | None:
        """Return the database of that name, ignoring case unless two differ by case alone."""
        if self.catalog is None:
            return None
        found = _same(name, self.catalog.databases())
        return SYS if found is None and name.lower() == SYS else found

    def known_database(self, name: str) -> str:
        """Return the database of that name, ignoring case.

        Raises:
            NotFoundError: it does not exist.
        """
        found = self.find_database(name)
        if found is None:
            known = self.warehouse().databases()
            hint = f"Databases: {choices(known)}."
            raise NotFoundError("database", name, self.warehouse().warehouse, hint=hint)
        return found

    def open(
        self, name: Name, options: Mapping[str, str] | None = None, *, travels: bool = True
    ) -> Table | RowSource:
        """Open a table or system table, with the options that settings of the session give it.

        Args:
            name: the table.
            options: other dynamic options.
            travels: whether settings of time travel apply.

        Raises:
            NotFoundError: it does not exist.
        """
        if name.is_given:
            return self._given(name.table, options)
        if name.is_folder:
            folder, system = self.split(name)
            opened = open_table(folder.table, options=options)
            return opened if not system else opened.inspect.system_table(system)
        try:
            return self._in_catalog(name.table, options, travels=travels)
        except NotFoundError as error:
            other = self._other_case(name.table) if error.kind == "table" else None
            if other is None:
                raise
            return self._in_catalog(other, options, travels=travels)

    def _given(self, text: str, options: Mapping[str, str] | None) -> Table | RowSource:
        base, _, system = text.partition("$")
        table = self.given[base]
        if options:
            table = replace(table, _dynamic_options={**dynamic_options_of(table), **options})
        return table.inspect.system_table(system) if system else table

    def _in_catalog(
        self, text: str, options: Mapping[str, str] | None, *, travels: bool
    ) -> Table | RowSource:
        catalog, wanted = self.warehouse(), parse_identifier(text)
        settings = self.engine.settings()
        if settings:
            own = table_options(settings, wanted.database, wanted.table, travels=travels)
            options = {**own, **(options or {})}
        is_global = wanted.database == SYS and SYS not in catalog.databases()
        if wanted.system_table is not None or is_global:
            return catalog.system_table(text, options)
        try:
            table = catalog.table(text, options)
        except UnsupportedFeatureError:
            files = open_file_table(catalog, text)
            if files is None:
                raise
            return files if isinstance(files, RowSource) else files.rows()
        for key, value in (options or {}).items():
            if not is_unchanged(table.schema, key, value):
                check_option_change(table.schema, key, value, has_snapshots=True)
        return table

    def base(self, name: Name, options: Mapping[str, str] | None = None) -> Table:
        """Open a table for a statement that changes it.

        Raises:
            NotFoundError: it does not exist.
            InvalidInputError: it is a system table, a format table or an object table.
        """
        found = self.open(name, options, travels=False)
        if not isinstance(found, Table):
            raise InvalidInputError(
                f"{name.table!r} is a system table, or consists of files, and can only be queried."
            )
        return found

    def _other_case(self, text: str) -> str | None:
        database, _, rest = text.partition(".")
        table, dollar, suffix = rest.partition("$")
        found = _same(table, self.warehouse().tables(database))
        return None if found is None else f"{database}.{found}{dollar}{suffix}"

    def split(self, name: Name) -> tuple[Name, str | None]:
        """Split a name into the table and the name of its system table."""
        if name.is_folder or name.is_given:
            parent, slash, last = name.table.rpartition("/")  # a folder above it may have a $
            base, _, system = last.partition("$")
            return replace(name, table=parent + slash + base), system or None
        wanted = parse_identifier(name.table)
        if wanted.system_table is None:
            return name, None
        return Name(table=name.table[: -len(wanted.system_table) - 1]), wanted.system_table


def _same(name: str, known: list[str]) -> str | None:
    if name in known:
        return name
    alike = [other for other in known if other.lower() == name.lower()]
    return alike[0] if len(alike) == 1 else None
