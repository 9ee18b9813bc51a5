"""COPY INTO table FROM 'folder': loads CSV, JSON and Parquet files in one commit."""

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as st

from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.spark.spark_types import spark_type
from paimon_explore.spark.writes.write_table import write
from paimon_explore.sql_statements.copy_into.file_format import CSV, JSON, PARQUET, FileFormat
from paimon_explore.sql_statements.copy_into.file_load import (
    FAILED,
    MALFORMED,
    FileLoad,
    LoadResult,
    SourceFile,
)
from paimon_explore.sql_statements.parameter_markers import default_text
from paimon_explore.sql_statements.quoted_names import quoted
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table_base import store_of

_FILE, _ERROR, _CORRUPT = "_paimon_source", "_paimon_error", "_paimon_corrupt"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileImport:
    """An import of files.

    Attributes:
        spark: the session.
        to: the table, the columns and the format.
    """

    spark: SparkSession
    to: FileLoad

    def load(self, files: Sequence[SourceFile]) -> list[LoadResult]:
        """Load files; return what became of each.

        Raises:
            InvalidInputError: a value or line cannot be read, for ABORT_STATEMENT.
        """
        rows = self._converted(self._read([one.path for one in files]))
        rows = rows.persist(StorageLevel.MEMORY_AND_DISK)
        try:
            counts = _counts(rows)
            results = [self.to.result(one, counts.get(one.name, (0, 0, None))) for one in files]
            kept = rows.filter(f.col(_ERROR).isNull())
            failed = [name for name, status, *_ in results if status == FAILED]
            if failed:
                kept = kept.filter(~f.col(_FILE).isin(failed))
            if sum(result[2] for result in results):
                write(kept.drop(_FILE, _ERROR), self.to.table)
        finally:
            rows.unpersist()
        self.to.record(files, results)
        return results

    def _read(self, paths: list[str]) -> DataFrame:
        reader = self.spark.read.options(**self.to.format.options)
        if self.to.format.kind == PARQUET:
            found = reader.parquet(*paths)
            return found.withColumn(_CORRUPT, f.lit(None).cast("string")).withColumn(
                _FILE, f.col("_metadata.file_name")
            )
        names = (
            [field.name for field in self.to.columns]
            if self.to.format.kind == JSON
            else [f"_c{at}" for at in range(len(self.to.columns))]
        )
        text = [st.StructField(name, st.StringType()) for name in (*names, _CORRUPT)]
        reader = reader.schema(st.StructType(text)).option("mode", "PERMISSIVE")
        reader = reader.option("columnNameOfCorruptRecord", _CORRUPT)
        found = reader.json(paths) if self.to.format.kind == JSON else reader.csv(paths)
        return found.withColumn(_FILE, f.col("_metadata.file_name"))

    def _converted(self, given: DataFrame) -> DataFrame:
        """Return the table's columns, the file of each row, and its error."""
        columns, errors = [], [f.concat(f.lit(MALFORMED), f.col(_CORRUPT))]
        sources = self._sources(given)
        for field in latest_schema(store_of(self.to.table)).fields:
            wanted = spark_type(field.type)
            source = sources.get(field.name)
            if source is None:
                default = "NULL" if field in self.to.columns else default_text(field)
                columns.append(f.expr(default).cast(wanted).alias(field.name))
                continue
            cast = source.try_cast(wanted)
            columns.append(cast.alias(field.name))
            text = f.concat(f.lit(self.to.uncastable(field)), source.cast("string"), f.lit("'"))
            errors.append(f.when(source.isNotNull() & cast.isNull(), text))
        return given.select(*columns, f.col(_FILE), f.coalesce(*errors).alias(_ERROR))

    def _sources(self, given: DataFrame) -> dict[str, Column]:
        """Return the values of the files by column of the table."""
        if self.to.format.kind == CSV:
            found = {one.name: f.col(f"_c{at}") for at, one in enumerate(self.to.columns)}
        else:
            known = {name.lower(): name for name in given.columns}
            found = {
                one.name: f.col(quoted(known[one.name.lower()]))
                for one in self.to.columns
                if one.name.lower() in known
            }
        nulls = self.to.format.null_texts
        if not nulls:
            return found
        return {
            name: reduce(lambda made, text: f.nullif(made, f.lit(text)), nulls, column)
            for name, column in found.items()
        }


def _counts(rows: DataFrame) -> Mapping[str, tuple[int, int, str | None]]:
    """Return rows, rows with errors and the first error by file."""
    found = rows.groupBy(_FILE).agg(
        f.count(f.lit(1)), f.count(_ERROR), f.first(_ERROR, ignorenulls=True)
    )
    return {row[0]: (row[1], row[2], row[3]) for row in found.collect()}


def source_files(spark: SparkSession, folder: str) -> list[SourceFile]:
    """List the files directly in a folder of any Hadoop file system, by name.

    Files whose name begins with `_` or `.` are left out, as Spark does.

    Raises:
        InvalidInputError: there is no such folder or file.
    """
    session = spark._jsparkSession  # noqa: SLF001 - PySpark has no other way to list files
    jvm = spark._jvm  # noqa: SLF001 - the same
    assert jvm is not None  # noqa: S101 - the session runs
    path = jvm.org.apache.hadoop.fs.Path(folder)
    system = path.getFileSystem(session.sessionState().newHadoopConf())
    if not system.exists(path):
        raise InvalidInputError(f"COPY INTO: there is no file or folder {folder!r}.")
    found = [
        SourceFile(
            path=str(one.getPath().toString()),
            name=str(one.getPath().getName()),
            size=int(one.getLen()),
            modified=int(one.getModificationTime()),
        )
        for one in system.listStatus(path)
        if one.isFile() and not str(one.getPath().getName()).startswith(("_", "."))
    ]
    return sorted(found, key=lambda one: one.name)


def export_rows(rows: DataFrame, made: FileFormat, folder: str, *, overwrite: bool) -> int:
    """Write rows to files of a folder; return their number.

    Raises:
        InvalidInputError: the folder exists and is not replaced.
    """
    kept = rows.persist()
    try:
        count = kept.count()
        _write(kept, made, folder, overwrite=overwrite)
    finally:
        kept.unpersist()
    return count


def _write(rows: DataFrame, made: FileFormat, folder: str, *, overwrite: bool) -> None:
    writer = rows.write.options(**made.options).mode("overwrite" if overwrite else "errorifexists")
    try:
        if made.kind == CSV:
            writer.csv(folder)
        elif made.kind == JSON:
            writer.json(folder)
        else:
            writer.parquet(folder)
    except PySparkException as error:
        if error.getCondition() != "PATH_ALREADY_EXISTS":
            raise
        raise InvalidInputError(
            f"COPY INTO: the folder {folder!r} exists.",
            hint="Add OVERWRITE = TRUE to replace its files.",
        ) from error
