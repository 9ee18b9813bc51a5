"""COPY INTO table FROM 'folder': loads CSV, JSON and Parquet files in one commit.

CSV columns are assigned by position; those of JSON and Parquet by name, and null where they are
missing. Texts are cast to the types of the table; a value that cannot be cast, and a line that
cannot be parsed, is an error of its file.

| ON_ERROR | a file with errors |
| --- | --- |
| ABORT_STATEMENT | nothing is loaded; an exception names the first error |
| CONTINUE | its other rows are loaded |
| SKIP_FILE | is left out |
"""

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as st

from paimon_explore.commit.commit_timing import system_clock
from paimon_explore.data_types.definitions import DataField
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.spark.quoted_names import quoted
from paimon_explore.spark.spark_types import spark_type
from paimon_explore.spark.sql.copy_into.file_format import CSV, JSON, PARQUET, FileFormat
from paimon_explore.spark.sql.copy_into.load_history import SourceFile, record_loaded
from paimon_explore.spark.writes.write_table import write
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table import Table

_FILE, _ERROR, _CORRUPT = "_paimon_source", "_paimon_error", "_paimon_corrupt"
_NESTED = (st.ArrayType, st.MapType, st.StructType, st.VariantType)
Result = tuple[str, str, int, int, int, str | None]
"""Name of the file, status, rows loaded, rows parsed, errors, the first error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileImport:
    """An import of files.

    Attributes:
        spark: the session.
        table: the table.
        columns: the columns that the files contain.
        format: the format of the files.
        on_error: `ABORT_STATEMENT`, `CONTINUE` or `SKIP_FILE`.
    """

    spark: SparkSession
    table: Table
    columns: tuple[DataField, ...]
    format: FileFormat
    on_error: str

    def load(self, files: Sequence[SourceFile]) -> list[Result]:
        """Load files; return what became of each.

        Raises:
            InvalidInputError: a value or line cannot be read, for ABORT_STATEMENT.
        """
        if not files:
            return []
        rows = self._converted(self._read([one.path for one in files]))
        rows = rows.persist(StorageLevel.MEMORY_AND_DISK)
        try:
            counts = _counts(rows)
            results = [self._result(one, counts.get(one.name, (0, 0, None))) for one in files]
            kept = rows.filter(f.col(_ERROR).isNull())
            failed = [name for name, status, *_ in results if status == "LOAD_FAILED"]
            if failed:
                kept = kept.filter(~f.col(_FILE).isin(failed))
            if sum(result[2] for result in results):
                write(kept.drop(_FILE, _ERROR), self.table)
        finally:
            rows.unpersist()
        self._record(files, results)
        return results

    def _read(self, paths: list[str]) -> DataFrame:
        reader = self.spark.read.options(**self.format.options)
        if self.format.kind == PARQUET:
            found = reader.parquet(*paths)
            return found.withColumn(_CORRUPT, f.lit(None).cast("string")).withColumn(
                _FILE, f.col("_metadata.file_name")
            )
        names = (
            [field.name for field in self.columns]
            if self.format.kind == JSON
            else [f"_c{at}" for at in range(len(self.columns))]
        )
        text = [st.StructField(name, st.StringType()) for name in (*names, _CORRUPT)]
        reader = reader.schema(st.StructType(text)).option("mode", "PERMISSIVE")
        reader = reader.option("columnNameOfCorruptRecord", _CORRUPT)
        found = reader.json(paths) if self.format.kind == JSON else reader.csv(paths)
        return found.withColumn(_FILE, f.col("_metadata.file_name"))

    def _converted(self, given: DataFrame) -> DataFrame:
        """Return the table's columns, the file of each row, and its error."""
        columns, errors = [], [f.when(f.col(_CORRUPT).isNotNull(), _malformed())]
        sources = self._sources(given)
        for field in latest_schema(self.table.store).fields:
            wanted = spark_type(field.type)
            source = sources.get(field.name)
            if source is None:
                is_listed = field in self.columns
                default = None if is_listed else field.default_value
                columns.append(f.lit(default).cast(wanted).alias(field.name))
                continue
            cast = self._cast(source, wanted, field)
            columns.append(cast.alias(field.name))
            errors.append(f.when(source.isNotNull() & cast.isNull(), _uncastable(source, field)))
        return given.select(*columns, f.col(_FILE), f.coalesce(*errors).alias(_ERROR))

    def _sources(self, given: DataFrame) -> dict[str, Column]:
        """Return the values of the files by column of the table."""
        if self.format.kind == CSV:
            found = {one.name: f.col(f"_c{at}") for at, one in enumerate(self.columns)}
        else:
            known = {name.lower(): name for name in given.columns}
            found = {
                one.name: f.col(quoted(known[one.name.lower()]))
                for one in self.columns
                if one.name.lower() in known
            }
        nulls = self.format.null_texts
        if not nulls:
            return found
        return {
            name: reduce(lambda made, text: f.nullif(made, f.lit(text)), nulls, column)
            for name, column in found.items()
        }

    def _cast(self, source: Column, wanted: st.DataType, field: DataField) -> Column:
        is_text = self.format.kind != PARQUET
        if is_text and isinstance(wanted, _NESTED):
            raise UnsupportedFeatureError(
                f"COPY INTO column {field.name!r} of type {wanted.simpleString()} from "
                f"{self.format.kind} files",
                self.table.name,
                hint="Load Parquet files, or INSERT the rows with from_json(…).",
            )
        return source.try_cast(wanted)

    def _result(self, one: SourceFile, counted: tuple[int, int, str | None]) -> Result:
        parsed, errors, first = counted
        if not errors:
            return (one.name, "LOADED", parsed, parsed, 0, None)
        if self.on_error == "ABORT_STATEMENT":
            raise InvalidInputError(
                f"COPY INTO: {errors} of {parsed} rows of file {one.path} cannot be loaded. The "
                f"first error: {first}.",
                hint="Nothing was loaded. Correct the file, or write ON_ERROR = CONTINUE (load the "
                "other rows) or SKIP_FILE (load the other files).",
            )
        rows = 0 if self.on_error == "SKIP_FILE" else parsed - errors
        return (
            one.name,
            "PARTIALLY_LOADED" if rows else "LOAD_FAILED",
            rows,
            parsed,
            errors,
            first,
        )

    def _record(self, files: Sequence[SourceFile], results: Sequence[Result]) -> None:
        store, now = self.table.store, system_clock()
        snapshot = store.snapshots.latest_id() or 0
        for one, (_, status, rows, *_) in zip(files, results, strict=True):
            if status != "LOAD_FAILED":
                record_loaded(store, one, rows=rows, snapshot=snapshot, time_millis=now)


def _malformed() -> Column:
    return f.concat(f.lit("the line cannot be parsed: "), f.col(_CORRUPT))


def _uncastable(source: Column, field: DataField) -> Column:
    kind = spark_type(field.type).simpleString()
    return f.concat(
        f.lit(f"column {field.name!r} of type {kind} cannot store '"),
        source.cast("string"),
        f.lit("'"),
    )


def _counts(rows: DataFrame) -> Mapping[str, tuple[int, int, str | None]]:
    """Return rows, rows with errors and the first error by file."""
    found = rows.groupBy(_FILE).agg(
        f.count(f.lit(1)), f.count(_ERROR), f.first(_ERROR, ignorenulls=True)
    )
    return {row[0]: (row[1], row[2], row[3]) for row in found.collect()}
