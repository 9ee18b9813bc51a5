"""The command `import`."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from paimon_explore.command_line.command import command, confirm_options, confirmed, main_group
from paimon_explore.command_line.options import (
    column_names,
    key_values,
    output_options,
    table_name,
)
from paimon_explore.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    undo_on_error,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.sanitize import sanitized

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_explore.command_line.file_import.import_file import ImportFile, Target
    from paimon_explore.command_line.rendering.output import Output
    from paimon_explore.command_line.source import Source
    from paimon_explore.metadata.schema.table_schema import TableSchema
    from paimon_explore.metadata.snapshot import Snapshot
    from paimon_explore.table.catalog.catalog import Catalog
    from paimon_explore.table.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTable:
    """The table that `--create` creates.

    Attributes:
        primary_key: its primary key.
        partition_by: its partition columns.
        types: types by column, in place of those that the file suggests.
        options: table options.
    """

    primary_key: Sequence[str]
    partition_by: Sequence[str]
    types: dict[str, str]
    options: dict[str, str]

    @property
    def is_given(self) -> bool:
        """Whether an option of a new table is given."""
        return bool(self.primary_key or self.partition_by or self.types or self.options)

    def schema(self, catalog: "Catalog", name: str, columns: dict[str, str]) -> "TableSchema":
        """Return the schema that the table would have; nothing is created.

        Args:
            catalog: the catalog.
            name: `database.table`.
            columns: its columns and their types.

        Raises:
            AlreadyExistsError: the table exists.
            InvalidInputError: columns, keys or options break a rule, which the message names.
            UnsupportedFeatureError: the option `type` is not that of a table with snapshots.
        """
        from paimon_explore.metastore.catalog_values import check_paimon_table
        from paimon_explore.metastore.identifier import new_table
        from paimon_explore.table.catalog.catalog_objects import new_table_schema

        wanted = new_table(name)
        made = new_table_schema(
            catalog,
            columns,
            primary_key=self.primary_key,
            partition_by=self.partition_by,
            options=self.options,
        )
        check_paimon_table(wanted, made, "by create_table")
        if catalog.table_exists(name):
            raise AlreadyExistsError("table", wanted.table, wanted.database)
        return made


@command(main_group, "import")
@table_name
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--create", "is_new", is_flag=True, help="Create the table, and its database.")
@click.option("--primary-key", metavar="NAMES", help="Primary key of the new table.")
@click.option("--partition-by", metavar="NAMES", help="Partition columns of the new table.")
@click.option(
    "--type",
    "types",
    multiple=True,
    metavar="NAME=TYPE",
    help="Type of a column of the new table; by default the first rows decide.",
)
@click.option(
    "--table-option", "table_options", multiple=True, metavar="KEY=VALUE", help="Of the new table."
)
@click.option("--overwrite", "is_overwrite", is_flag=True, help="Replace all rows of the table.")
@click.option("--format", "form", type=click.Choice(["csv", "json", "parquet"]))
@click.option("--delimiter", metavar="CHAR", help=r"Between the values of CSV; \t is a tab.")
@click.option("--null", default="", metavar="TEXT", help='Null in CSV; default: empty, but not "".')
@click.option("--no-header", metavar="NAMES", help="The columns of CSV without a header.")
@confirm_options
@output_options
def import_files(  # noqa: PLR0913 - the options of the command
    *,
    source: "Source",
    name: str,
    branch: str | None,
    files: tuple[Path, ...],
    is_new: bool,
    primary_key: str | None,
    partition_by: str | None,
    types: tuple[str, ...],
    table_options: tuple[str, ...],
    is_overwrite: bool,
    form: str | None,
    delimiter: str | None,
    null: str,
    no_header: str | None,
    is_confirmed: bool,
    is_dry_run: bool,
    output: "Output",
) -> None:
    """Import CSV, JSON or Parquet files into a table, in one commit.

    Columns are matched by name. Text is cast to the types of the columns; a value that does not
    fit ends the import with the line and the column, and nothing is imported. JSON has an object
    on each line, or an array of objects. Bytes are Base64; lists, maps and rows in CSV are JSON.
    Text files may be compressed with gzip (.gz).

    In a table with a primary key, rows replace or merge with those of the same key.

    Examples:
        import wh/demo.db/orders orders.csv --dry-run
        import demo.orders orders.csv more.jsonl -w wh
        import demo.people people.csv -w wh --create --primary-key id --type id=BIGINT
        import wh/demo.db/notes notes.parquet --overwrite --yes --json
    """
    from paimon_explore.command_line.file_import.file_formats import format_of, open_import
    from paimon_explore.command_line.file_import.import_file import CsvOptions

    if Path(name).is_file():
        raise click.UsageError(
            f"{sanitized(name)!r} is a file. The table is named before the files: "
            "import TABLE FILES."
        )
    if Path("-") in files:
        raise click.UsageError("The standard input cannot be imported. Save the rows in a file.")
    if delimiter == r"\t":
        delimiter = "\t"
    elif delimiter is not None and len(delimiter) != 1:
        raise click.UsageError(r"--delimiter must be a single character, or \t for a tab.")
    header = column_names(no_header)
    options = CsvOptions(
        delimiter=delimiter, null=null, names=None if header is None else tuple(header)
    )
    opened = [open_import(path, format_of(path, form), options) for path in files]
    new = NewTable(
        primary_key=column_names(primary_key) or [],
        partition_by=column_names(partition_by) or [],
        types=key_values(types, "--type"),
        options=key_values(table_options, "--table-option"),
    )
    if new.is_given and not is_new:
        raise click.UsageError("Options of a new table require --create.")
    job = ImportJob(source=source, name=name, branch=branch, files=opened, output=output)
    if is_new:
        job.create(new, is_dry_run=is_dry_run)
        return
    job.append(is_overwrite=is_overwrite, is_confirmed=is_confirmed, is_dry_run=is_dry_run)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportJob:
    """One import.

    Attributes:
        source: where the table is.
        name: the table.
        branch: its branch; None for main.
        files: the files.
        output: where the result is printed.
    """

    source: "Source"
    name: str
    branch: str | None
    files: "Sequence[ImportFile]"
    output: "Output"

    def append(self, *, is_overwrite: bool, is_confirmed: bool, is_dry_run: bool) -> None:
        """Import into an existing table."""
        try:
            table = self.source.open_table(self.name, self.branch)
        except NotFoundError as error:
            if error.kind not in {"database", "table"} or not self.source.has_catalog:
                raise
            hint = f"{error.hint} Add --create to create it.".lstrip()
            raise NotFoundError(
                error.kind, error.name, error.where, message=error.message, hint=hint
            ) from error
        counter = RowCounter(self.files, _target_of(table))
        if is_dry_run:
            counter.check(table.schema)
            self._report(table.name, counter.rows, "would be imported")
            return
        if is_overwrite:
            question = f"{table.name}: replace all {table.count():,} rows?"
            confirmed(sanitized(question), is_confirmed=is_confirmed)
            snapshot = table.overwrite(counter.batches(), partition={})
        else:
            snapshot = table.append(counter.batches())
        self._report(table.name, counter.rows, _imported(snapshot), snapshot)

    def create(self, new: NewTable, *, is_dry_run: bool) -> None:
        """Create the table and import into it; undo both, and the database, on failure."""
        import pyarrow as pa

        from paimon_explore.data_types.arrow import row_type_from_arrow
        from paimon_explore.data_types.formatter import type_text

        if not self.source.has_catalog or self.branch is not None:
            raise InvalidInputError(
                "A new table requires a catalog.",
                hint="Give --warehouse PATH or --catalog NAME, and database.table as its name.",
            )
        schema = pa.unify_schemas(
            [file.inferred_schema() for file in self.files], promote_options="permissive"
        )
        unknown = next((name for name in new.types if name not in schema.names), None)
        if unknown is not None:
            raise InvalidInputError(f"--type names column {unknown!r}, which no file has.")
        catalog = self.source.open_catalog()
        columns = {
            field.name: new.types.get(field.name) or type_text(field.type)
            for field in row_type_from_arrow(schema)
        }
        if is_dry_run:
            counter = RowCounter(self.files, _target_of_types(columns))
            counter.check(new.schema(catalog, self.name, columns))
            self._report(self.name, counter.rows, "would be imported", columns=columns)
            return
        database = self.name.partition(".")[0]
        with ExitStack() as undone:
            with suppress(AlreadyExistsError):
                catalog.create_database(database)
                undone.enter_context(undo_on_error(catalog.drop_database, database))
            table = catalog.create_table(
                self.name,
                columns,
                primary_key=new.primary_key,
                partition_by=new.partition_by,
                options=new.options,
            )
            undone.enter_context(undo_on_error(catalog.drop_table, self.name))
            counter = RowCounter(self.files, _target_of(table))
            snapshot = table.append(counter.batches())
        self._report(table.name, counter.rows, _imported(snapshot), snapshot, columns)

    def _report(
        self,
        name: str,
        rows: int,
        end: str,
        snapshot: "Snapshot | None" = None,
        columns: dict[str, str] | None = None,
    ) -> None:
        from paimon_explore.inspection.rendering.number_format import plural

        document: dict[str, object] = {
            "table": name,
            "rows": rows,
            "snapshot_id": None if snapshot is None else snapshot.id,
        }
        if columns is not None:
            document["columns"] = columns
            width = max(map(len, columns), default=0)
            for column, type_text in columns.items():
                self.output.message(f"  {column:{width}}  {type_text}")
        self.output.document(document, f"{name}: {plural(rows, 'row')} {end}.")


def _imported(snapshot: "Snapshot | None") -> str:
    return "imported; no snapshot" if snapshot is None else f"imported; snapshot {snapshot.id}"


class RowCounter:
    """Reads the rows of files, and counts them; progress is shown on a terminal.

    Args:
        files: the files.
        target: the columns of the table.
    """

    def __init__(self, files: "Sequence[ImportFile]", target: "Target") -> None:
        self._files = files
        self._target = target
        self.rows = 0

    def batches(self) -> "Iterator[pa.RecordBatch]":
        """Yield the rows of all files."""
        if not sys.stderr.isatty():
            yield from self._counted(lambda: None)
            return
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"))
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("reading")
            yield from self._counted(
                lambda: progress.update(task, description=f"{self.rows:,} rows")
            )

    def _counted(self, show: "Callable[[], None]") -> "Iterator[pa.RecordBatch]":
        for file in self._files:
            for batch in file.batches(self._target):
                self.rows += batch.num_rows
                show()
                yield batch

    def check(self, schema: "TableSchema") -> None:
        """Read everything, cast it, and check that a table with a schema can store it.

        Raises:
            InvalidInputError: a value does not fit, or is null in a NOT NULL column.
        """
        from paimon_explore.write.input.table_batches import InputShape, open_rows

        for _ in open_rows(self.batches(), InputShape(row_type=schema.row_type)):
            pass


def _target_of(table: "Table") -> "Target":
    from paimon_explore.command_line.file_import.import_file import Target
    from paimon_explore.data_types.formatter import type_text

    schema = table.scan().schema
    texts = {field.name: type_text(field.type) for field in table.schema.fields}
    return Target(schema=schema, type_texts=texts)


def _target_of_types(columns: dict[str, str]) -> "Target":
    import pyarrow as pa

    from paimon_explore.command_line.file_import.import_file import Target
    from paimon_explore.data_types.arrow import to_arrow
    from paimon_explore.data_types.type_parser import parse_type_text

    fields = [(name, to_arrow(parse_type_text(text))) for name, text in columns.items()]
    return Target(schema=pa.schema(fields), type_texts=columns)
