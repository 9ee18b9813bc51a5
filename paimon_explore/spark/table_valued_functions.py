"""Table functions for plain `spark.sql`: metadata, time travel and changes of a table by its path.

    SELECT * FROM paimon_snapshots('/warehouse/db.db/t')
    SELECT * FROM paimon_table('/warehouse/db.db/t', snapshot => 3)
    SELECT * FROM paimon_changes('/warehouse/db.db/t', 'v1', 'v2')

They always read the latest snapshot, which is not fixed in the plan. One task returns the rows one
by one, which suits metadata and small tables; use `pe.spark.sql` or `pe.spark.read` for large
tables.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import types as st
from pyspark.sql.functions import udtf
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.udtf import AnalyzeArgument, AnalyzeResult

from paimon_explore.data_types.arrow import row_type_from_arrow
from paimon_explore.data_types.arrow_buffers import Column, as_python_with_dicts
from paimon_explore.encoding.blob.blob_descriptor import (
    TO_THE_END,
    BlobDescriptor,
    decode_descriptor,
    encode_descriptor,
)
from paimon_explore.encoding.blob.blob_view import BlobView, encode_view
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.inspection.system_tables.history_tables import SYSTEM_TABLES
from paimon_explore.spark.spark_types import spark_schema, to_spark, wire_schema
from paimon_explore.sql_statements.scalar_functions import BUCKET_FUNCTIONS
from paimon_explore.table.audit_log_binlog_tables import ROW_TABLES
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.table import Table, open_table

PREFIX = "paimon_"
POINTS = ("snapshot", "tag", "timestamp", "watermark", "version")
CHOICES = (*POINTS, "branch")
_TABLE_CHOICES = (*CHOICES, "where", "columns")


def _opened(path: object, given: dict[str, object], known: tuple[str, ...]) -> Table:
    """Open the table at the snapshot given by the arguments."""
    for name in given:
        if name not in known:
            hint = f"Arguments: {choices(known)}."
            raise InvalidInputError(f"Unknown argument {name!r}.", hint=hint)
    if not isinstance(path, str):
        raise InvalidInputError(
            "The function requires the path of a table.", hint="Pass the path as a string."
        )
    branch = given.get("branch")
    opened = open_table(path, None if branch is None else str(branch))
    points = {name: given[name] for name in POINTS if given.get(name) is not None}
    return opened.at(**points) if points else opened  # type: ignore[arg-type]  # checked there


def _values(arguments: dict[str, AnalyzeArgument]) -> dict[str, object]:
    return {name: argument.value for name, argument in arguments.items()}


def _schema(source: RowSource) -> st.StructType:
    return spark_schema(row_type_from_arrow(source.schema))


def _rows(source: RowSource) -> Iterator[tuple[object, ...]]:
    row_type = row_type_from_arrow(source.schema)
    wire = wire_schema(spark_schema(row_type))
    for batch in source.to_batches():
        named = pa.RecordBatch.from_arrays(batch.columns, names=list(row_type.names))
        columns = map(as_python_with_dicts, to_spark(named, row_type, wire).columns)
        yield from zip(*columns, strict=True)


def _system_rows(name: str, path: object, given: dict[str, object]) -> RowSource:
    return _opened(path, given, CHOICES).inspect.system_table(name)


def _table_rows(path: object, given: dict[str, object]) -> RowSource:
    opened = _opened(path, given, _TABLE_CHOICES)
    where, columns = given.get("where"), given.get("columns")
    names = None if columns is None else [name.strip() for name in str(columns).split(",")]
    scan = opened.scan(names, None if where is None else str(where))
    return RowSource(name=opened.name, schema=scan.schema, load=scan.to_batches)


def _changed_rows(path: object, start: object, end: object, given: dict[str, object]) -> RowSource:
    opened = _opened(path, {k: v for k, v in given.items() if k != "mode"}, ("branch",))
    mode = str(given.get("mode") or "auto")
    return opened.between(_point(start), _point(end), mode=mode, row_kinds=True)


def _point(value: object) -> int | str:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise InvalidInputError(f"{value!r} is neither a snapshot id nor the name of a tag.")
    return int(value) if isinstance(value, int) or value.isdigit() else value


def _system_function(name: str) -> type:
    """Return the table function class for one system table."""

    class SystemFunction:
        """Rows of a system table."""

        @staticmethod
        def analyze(path: AnalyzeArgument, **given: AnalyzeArgument) -> AnalyzeResult:
            """Return the columns of the result."""
            return AnalyzeResult(schema=_schema(_system_rows(name, path.value, _values(given))))

        def eval(self, path: str, **given: object) -> Iterator[tuple[object, ...]]:
            """Return the rows of the result."""
            yield from _rows(_system_rows(name, path, given))

    return SystemFunction


class TableFunction:
    """`paimon_table(path, snapshot => …, where => …, columns => …)`: the rows of a table."""

    @staticmethod
    def analyze(path: AnalyzeArgument, **given: AnalyzeArgument) -> AnalyzeResult:
        """Return the columns of the result."""
        return AnalyzeResult(schema=_schema(_table_rows(path.value, _values(given))))

    def eval(self, path: str, **given: object) -> Iterator[tuple[object, ...]]:
        """Return the rows of the result."""
        yield from _rows(_table_rows(path, given))


class ChangesFunction:
    """`paimon_changes(path, start, end, mode => …)`: the changed rows, with their row kinds."""

    @staticmethod
    def analyze(
        path: AnalyzeArgument,
        start: AnalyzeArgument,
        end: AnalyzeArgument,
        **given: AnalyzeArgument,
    ) -> AnalyzeResult:
        """Return the columns of the result."""
        rows = _changed_rows(path.value, start.value, end.value, _values(given))
        return AnalyzeResult(schema=_schema(rows))

    def eval(
        self, path: str, start: object, end: object, **given: object
    ) -> Iterator[tuple[object, ...]]:
        """Return the rows of the result."""
        yield from _rows(_changed_rows(path, start, end, given))


@cache
def functions() -> dict[str, type]:
    """Return the table function classes by function name."""
    names = sorted({*SYSTEM_TABLES, *ROW_TABLES})
    system = {PREFIX + name: _system_function(name) for name in names}
    return {**system, PREFIX + "table": TableFunction, PREFIX + "changes": ChangesFunction}


def path_to_descriptor(path: str | None) -> bytes | None:
    """Return a descriptor of a whole file."""
    if path is None:
        return None
    return encode_descriptor(BlobDescriptor(uri=path, offset=0, length=TO_THE_END))


def descriptor_to_string(data: bytes | None) -> str | None:
    """Return a descriptor as Java prints it."""
    if data is None:
        return None
    found = decode_descriptor(bytes(data))
    place = f"uri='{found.uri}', offset={found.offset}, length={found.length}"
    return f"BlobDescriptor{{version={data[0]}, {place}}}"


def blob_view(table: str | None, field_id: int | None, row_id: int | None) -> bytes | None:
    """Return a reference to a BLOB of another table."""
    if table is None or field_id is None or row_id is None:
        return None
    return encode_view(BlobView(table=table, field_id=field_id, row_id=row_id))


def _of_columns(kernel: Callable[[Sequence[Column]], Column]) -> Callable[..., Column]:
    def call(*columns: pa.Array) -> pa.Array:  # type: ignore[type-arg]  # Spark reads these types
        return kernel(columns)

    return call


def register_functions(spark: SparkSession) -> None:
    """Register all table functions, and the functions of BLOB columns, in a session."""
    for name, handler in functions().items():
        spark.udtf.register(name, udtf(handler))  # type: ignore[arg-type] # a class makes one
    for name, kernel in BUCKET_FUNCTIONS.items():
        function = arrow_udf(_of_columns(kernel), "int")  # type: ignore[call-overload]  # in stubs
        spark.udf.register(name, function)
    spark.udf.register("path_to_descriptor", path_to_descriptor, st.BinaryType())
    spark.udf.register("descriptor_to_string", descriptor_to_string, st.StringType())
    spark.udf.register("blob_view", blob_view, st.BinaryType())
