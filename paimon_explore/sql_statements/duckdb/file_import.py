"""COPY INTO table FROM 'folder' without Spark.

Files are read to count their errors before the commit, and again to write rows that were not kept.
"""

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pat

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.definitions import DataField
from paimon_explore.errors import CorruptFileError, InvalidInputError
from paimon_explore.fileio.resolve import resolve
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.sql_statements.copy_into.file_format import PARQUET
from paimon_explore.sql_statements.copy_into.file_load import (
    FAILED,
    MALFORMED,
    FileLoad,
    LoadResult,
    SourceFile,
)
from paimon_explore.sql_statements.copy_into.text_rows import text_rows
from paimon_explore.sql_statements.duckdb.database import text_constant
from paimon_explore.sql_statements.duckdb.query_rows import DuckRows, insert
from paimon_explore.sql_statements.duckdb.spark_semantics import cast_argument
from paimon_explore.sql_statements.duckdb.type_names import plain_type, quoted
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table_base import store_of

_BATCH_ROWS = 20_000
_KEPT_BYTES = 256 << 20
_ERROR, _CORRUPT = "_paimon_error", "_paimon_corrupt"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileImport:
    """An import of files.

    Attributes:
        to: the table, the columns and the format.
        storage_options: settings of the storage of the files.
    """

    to: FileLoad
    storage_options: Mapping[str, object]

    def load(self, files: Sequence[SourceFile]) -> list[LoadResult]:
        """Load files; return what became of each.

        Raises:
            InvalidInputError: a value or line cannot be read, for ABORT_STATEMENT.
        """
        known = dict[str, list[pa.Table]]()
        results = [self.to.result(one, self._counts(one, known)) for one in files]
        if sum(result[2] for result in results):
            kept = [
                one for one, (_, status, *_) in zip(files, results, strict=True) if status != FAILED
            ]
            fields = latest_schema(store_of(self.to.table)).fields
            schema = pa.schema([(field.name, to_arrow(field.type)) for field in fields])
            batches = (
                batch
                for one in kept
                for rows in known.pop(one.path, None) or self._converted(one)
                for batch in _stored(rows.filter(rows[_ERROR].is_null()), schema).to_batches()
            )
            insert(pa.RecordBatchReader.from_batches(schema, batches), self.to.table)
        self.to.record(files, results)
        return results

    def _counts(
        self, one: SourceFile, known: dict[str, list[pa.Table]]
    ) -> tuple[int, int, str | None]:
        """Return the rows of a file, the rows with errors, and the first error; keep its rows.

        Rows beyond the memory for all files are not kept.
        """
        parsed, errors, kept = 0, list[object](), list[pa.Table]()
        room = _KEPT_BYTES - sum(rows.nbytes for tables in known.values() for rows in tables)
        for rows in self._converted(one):
            found = rows[_ERROR].drop_null()
            parsed += rows.num_rows
            errors += [None] * len(found) if errors else found.to_pylist()
            room -= rows.nbytes
            if room >= 0:
                kept.append(rows)
        if room >= 0:
            known[one.path] = kept
        return parsed, len(errors), str(errors[0]) if errors else None

    def _converted(self, one: SourceFile) -> Iterator[pa.Table]:
        """Yield the table's columns and the error of each row."""
        for rows in self._read(one):
            columns, errors = list[str](), ["NULL"]
            if _CORRUPT in rows.column_names:
                errors.append(f"{text_constant(MALFORMED)} || {_CORRUPT}")
            for field in latest_schema(store_of(self.to.table)).fields:
                value, error = self._value(field, rows.schema)
                columns.append(f"{value} AS {quoted(field.name)}")
                errors += [error] if error else []
            columns.append(f"coalesce({', '.join(errors)})::VARCHAR AS {_ERROR}")
            query = f"SELECT {', '.join(columns)} FROM files"  # noqa: S608 - quoted
            yield DuckRows(query, {"files": rows}).to_batches().read_all()

    def _value(self, field: DataField, schema: pa.Schema) -> tuple[str, str]:
        """Return a column of the table, and the error of its values."""
        at = self.to.columns.index(field) if field in self.to.columns else -1
        wanted = to_arrow(field.type)
        if f"_{at}" not in schema.names:
            default = field.default_value if at < 0 else None
            return _cast("NULL" if default is None else text_constant(default), wanted), ""
        before, source = self.to.uncastable(field), f"_{at}"
        for text in self.to.format.null_texts:
            source = f"nullif({source}, {text_constant(text)})"
        if schema.field(f"_{at}").type == wanted or pat.is_nested(wanted):
            return source, ""
        cast = _cast(source, wanted)
        shown = f"{text_constant(before)} || {source}::VARCHAR || ''''"
        return cast, f"CASE WHEN {source} IS NOT NULL AND {cast} IS NULL THEN {shown} END"

    def _read(self, one: SourceFile) -> Iterator[pa.Table]:
        """Yield the values in columns `_0`, `_1`, … by the place of the column in the statement."""
        file_io, path = resolve(one.path, self.storage_options)
        names = [field.name for field in self.to.columns]
        with file_io.open(path) as stream:
            if self.to.format.kind == PARQUET:
                yield from _parquet_rows(stream, path, names)
                return
            columns = [*(f"_{at}" for at in range(len(names))), _CORRUPT]
            for rows in text_rows(stream, path, self.to.format, names):
                yield pa.table(rows, names=columns)


def _stored(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return rows in the types of the table.

    Raises:
        InvalidInputError: a value within a nested column does not fit.
    """
    columns = []
    for field in schema:
        try:
            columns.append(rows[field.name].cast(field.type, safe=pat.is_nested(field.type)))
        except pa.ArrowInvalid as error:
            msg = f"COPY INTO: a value in column {field.name!r} does not fit its type: {error}."
            raise InvalidInputError(msg, hint="Nothing was loaded. Correct the file.") from error
    return pa.Table.from_arrays(columns, schema=schema)


def _parquet_rows(stream: pa.NativeFile, path: str, names: Sequence[str]) -> Iterator[pa.Table]:
    try:
        file = pq.ParquetFile(stream)
    except pa.ArrowInvalid as error:
        raise CorruptFileError(path, "footer", f"{error}".splitlines()[0]) from error
    known = {name.lower(): name for name in file.schema_arrow.names}
    found = {known[name.lower()]: at for at, name in enumerate(names) if name.lower() in known}
    for batch in file.iter_batches(_BATCH_ROWS, columns=list(found)):
        yield pa.table(batch).rename_columns([f"_{found[name]}" for name in batch.schema.names])


def _cast(source: str, wanted: pa.DataType) -> str:
    """Return a cast as `try_cast` of Spark computes it."""
    if pat.is_binary(wanted):
        return f"encode({source})"
    kind = plain_type(wanted)
    return f"TRY_CAST({cast_argument(kind, source)} AS {kind})"
