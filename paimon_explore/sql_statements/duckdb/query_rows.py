"""The rows of a query that DuckDB runs."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from uuid import uuid4
from weakref import WeakSet

import numpy as np
import pyarrow as pa
import pyarrow.types as pat

from paimon_explore.data_types.arrow import (
    VARIANT_ARROW,
    from_arrow,
    is_variant_storage,
    to_arrow,
)
from paimon_explore.data_types.arrow_buffers import as_bytes, take_rows
from paimon_explore.data_types.definitions import (
    ArrayType,
    DataField,
    DataType,
    MapType,
    RowType,
    with_nullable,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import cached_property, dataclass
from paimon_explore.limits import memory_limit
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.sql_statements.duckdb.char_columns import fitted
from paimon_explore.sql_statements.duckdb.database import (
    FileRows,
    QueryRun,
    analysed,
    duckdb_errors,
    keep_unused,
    new_cursor,
    text_constant,
)
from paimon_explore.sql_statements.duckdb.dialect import duckdb_text, parsed_expression
from paimon_explore.sql_statements.duckdb.spark_semantics import cast_argument
from paimon_explore.sql_statements.duckdb.type_names import duckdb_type, plain_type, quoted
from paimon_explore.sql_statements.outcome import QueryField
from paimon_explore.sql_statements.parameter_markers import default_text
from paimon_explore.table.scan import Scan, read_within
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import is_keyed

if TYPE_CHECKING:
    import duckdb

    from paimon_explore.write.input.table_batches import Rows
    from paimon_explore.write.write_target import WriteTarget

_BATCH_ROWS = 1 << 15
"""Maximum number of rows of a batch of a result, whose texts have at most 2 GiB."""
_NOTHING: Mapping[str, object] = MappingProxyType({})
_UNTYPED = '"NULL"'
_HUGE: Mapping[str, pa.DataType] = {
    "HUGEINT": pa.int64(),
    "UHUGEINT": pa.decimal128(38, 0),
    "INTERVAL": pa.duration("us"),
}
"""Types of sums: BIGINT as in Spark, whose sums of integers fit it or are errors; of intervals."""
_MOST_DAYS = 106_751_991
"""The longest interval, whose microseconds are a BIGINT."""
_INTERVAL = np.dtype([("months", np.int32), ("days", np.int32), ("nanos", np.int64)])
_FEW_VALUES = 1 << 18
"""Maximum number of values that DuckDB reads without a dataset, which takes time for each query."""
_MAX_VALUES = 64_000_000
"""Maximum number of values of the tables that are read into memory."""


class StorableRows(ABC):
    """Rows that can be read in batches, and stored in a table."""

    @abstractmethod
    def to_batches(self) -> pa.RecordBatchReader:
        """Read the rows in batches."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the rows as an Arrow C stream."""
        return self.to_batches().__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]  # in stubs

    def insert_into(self, table: Table) -> Snapshot | None:
        """Append or upsert the rows."""
        return insert(self, table)

    def overwrite(self, table: Table, partition: object) -> Snapshot | None:
        """Replace rows of a table by these rows."""
        return table.overwrite(self, partition=partition)  # type: ignore[arg-type]  # as given

    def replace_table(self, target: "WriteTarget") -> Snapshot | None:
        """Replace the schema and all rows of a table."""
        from paimon_explore.maintenance.schema_replacement import replace_table  # noqa: PLC0415 - not for queries

        return replace_table(self.to_batches(), target)


@dataclass(frozen=True, slots=True, kw_only=True)
class _AnalysedQuery:
    """A query on a connection of its own."""

    process: int
    cursor: "duckdb.DuckDBPyConnection"
    relation: "duckdb.DuckDBPyRelation"


class DuckRows(StorableRows):
    """The rows of a query, read anew by each use.

    Args:
        text: the query, in DuckDB's dialect, or what returns it.
        sources: the views that it reads, by name: rows that DuckDB can read, or a query as text.
        streams: what it reads itself instead of some of them; not used by queries around it.
        has_known_sizes: whether the sources are those that `with_known_sizes` returned.
    """

    def __init__(
        self,
        text: str | Callable[[], str],
        sources: Mapping[str, object],
        streams: Mapping[str, object] = _NOTHING,
        *,
        has_known_sizes: bool = False,
    ) -> None:
        self._text = text
        self._has_known_sizes = has_known_sizes
        self.sources = dict(sources)
        self._read = {**sources, **streams}
        self._free: list[_AnalysedQuery] = []
        self._running: WeakSet[duckdb.DuckDBPyConnection] = WeakSet()
        self._analyse()

    @cached_property
    def text(self) -> str:
        """The query, in DuckDB's dialect."""
        return self._text if isinstance(self._text, str) else self._text()

    def _analyse(self) -> None:
        """Raise the errors of the query now, not when its rows are read."""
        with self._analysed():
            pass

    @cached_property
    def _kinds(self) -> list[str]:
        with self._analysed() as query:
            return [str(kind) for kind in query.relation.types]

    def _taken(self) -> "_AnalysedQuery":
        """Return the query on a connection for one reader, in one thread."""
        with suppress(IndexError):
            found = self._free.pop()
            if found.process == os.getpid():
                return found
            keep_unused(found)
        cursor = new_cursor(self._read, self.text)
        relation = analysed(cursor, self.text, self.sources)
        return _AnalysedQuery(process=os.getpid(), cursor=cursor, relation=relation)

    @contextmanager
    def _analysed(self) -> Iterator["_AnalysedQuery"]:
        query = self._taken()
        yield query
        self._free.append(query)

    def to_batches(self) -> pa.RecordBatchReader:
        """Read the rows in batches."""
        kinds = self._kinds
        with self._errors():
            query = self._taken()
            cursor, relation = query.cursor, query.relation
            if len(self.sources) > 1 and not self._has_known_sizes:
                cursor = new_cursor(with_known_sizes(self.sources), self.text)
                relation = cursor.sql(self.text)
            self._running.add(cursor)
            run = QueryRun(cursor)
            reader = run.call(partial(relation.to_arrow_reader, _BATCH_ROWS))
        schema = _with_sums(reader.schema, kinds)
        return pa.RecordBatchReader.from_batches(schema, self._converted(run, reader, schema))

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise errors of DuckDB as those of this library; name a file that no longer exists."""
        with duckdb_errors():
            try:
                yield
            except Exception:
                for rows in self.sources.values():
                    if isinstance(rows, FileRows):
                        rows.check()
                raise

    def interrupt(self) -> None:
        """Stop what reads the rows, from another thread."""
        for cursor in list(self._running):
            cursor.interrupt()

    def _converted(
        self, run: QueryRun, reader: pa.RecordBatchReader, schema: pa.Schema
    ) -> Iterator[pa.RecordBatch]:
        while True:
            with self._errors():
                try:
                    batch = run.call(reader.read_next_batch)
                except StopIteration:
                    return
            try:
                yield batch if batch.schema == schema else _with_types(batch, schema)
            except pa.ArrowInvalid as error:
                raise InvalidInputError(
                    f"A whole number is out of the range of BIGINT: {error}.",
                    hint="Cast it, or the argument of a sum, to DECIMAL(38, 0).",
                ) from error

    @property
    def schema(self) -> pa.Schema:
        """The columns in Arrow's types."""
        return self.to_empty().schema

    def to_empty(self) -> pa.Table:
        """Return no rows, with all columns."""
        with duckdb_errors(), self._analysed() as query:
            empty = query.relation.limit(0).to_arrow_table()
        return _with_sums(empty.schema, self._kinds).empty_table()

    @property
    def fields(self) -> tuple[QueryField, ...]:
        """The columns."""
        return tuple(
            QueryField(name=field.name, type=paimon_type(field.type), shown=kind)
            for field, kind in zip(self.schema, self._kinds, strict=True)
        )

    def renamed(self, names: Sequence[str]) -> "DuckRows":
        """Return the rows with other names of the columns."""
        columns = ", ".join(map(quoted, names))
        return DuckRows(f"SELECT * FROM ({self.text}) AS q({columns})", self.sources)  # noqa: S608 - quoted

    def with_own_sources(self) -> "DuckRows":
        """Return the rows of sources whose names no later view has."""
        views = {one: f"_paimon_{uuid4().hex}" for one in self.sources if one[:8] != "_paimon_"}
        if not views:
            return self
        sources = {views.get(name, name): rows for name, rows in self.sources.items()}
        named = (f"{quoted(name)} AS (FROM {view})" for name, view in views.items())
        return DuckRows(f"WITH {', '.join(named)} FROM ({self.text})", sources)

    def assigned(
        self, fields: Sequence[DataField], constants: Sequence[tuple[DataField, object]] = ()
    ) -> "AssignedRows":
        """Convert columns by position to the names and types of table columns."""
        if len(self._kinds) != len(fields):
            names = ", ".join(field.name for field in fields)
            raise InvalidInputError(
                f"The query returns {len(self._kinds)} columns, but must return {len(fields)}.",
                hint=f"Return a value for each of the columns {names}.",
            )
        return AssignedRows(self, self._kinds, fields, constants)


def _with_sums(schema: pa.Schema, kinds: Sequence[str]) -> pa.Schema:
    """Return the schema with Spark's types of sums and intervals."""
    return pa.schema(
        [
            field.with_type(_HUGE[kind]) if kind in _HUGE else field
            for field, kind in zip(schema, kinds, strict=True)
        ]
    )


def _with_types(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [
        _durations(column) if pat.is_interval(column.type) else column.cast(field.type)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _durations(intervals: "pa.Array[Any]") -> "pa.Array[Any]":
    """Return intervals of days and times as durations.

    Raises:
        InvalidInputError: one has months, whose length varies, or is too long.
    """
    parts = as_bytes(intervals.buffers()[1]).view(_INTERVAL)[intervals.offset :][: len(intervals)]
    nulls = intervals.is_null().to_numpy(zero_copy_only=False)
    if parts["months"][~nulls].any():
        raise InvalidInputError(
            "A column of intervals of months has no type.",
            hint="Select its parts: extract(YEAR FROM …) and extract(MONTH FROM …).",
        )
    days = parts["days"] + parts["nanos"] / 86_400_000_000_000
    if (np.abs(days[~nulls]) > _MOST_DAYS).any():
        raise InvalidInputError(f"An interval is longer than {_MOST_DAYS} days.")
    micros = parts["days"] * np.int64(86_400_000_000) + parts["nanos"] // 1000
    return pa.array(micros, pa.duration("us"), mask=nulls)


class AssignedRows(StorableRows):
    """The rows of a query in the columns of a table; `write.input.safe_cast` converts the values.

    Args:
        rows: those of the query.
        kinds: DuckDB's types of its columns.
        targets: the table's columns, in the order of the query's.
        constants: more columns of one value each.
    """

    def __init__(
        self,
        rows: DuckRows,
        kinds: Sequence[str],
        targets: Sequence[DataField],
        constants: Sequence[tuple[DataField, object]],
    ) -> None:
        self._targets = targets
        self._constants = constants
        names = [f"_{at}" for at in range(len(targets))]
        found = zip(names, kinds, rows.schema.types, targets, strict=True)
        columns = ", ".join(f"{stored_value(*one)} AS {one[0]}" for one in found)
        listed = ", ".join(names)
        self._rows = DuckRows(f"SELECT {columns} FROM ({rows.text}) AS q({listed})", rows.sources)  # noqa: S608 - quoted

    @property
    def fields(self) -> tuple[QueryField, ...]:
        """The columns."""
        return self._rows.fields

    @property
    def schema(self) -> pa.Schema:
        """The columns in Arrow's types."""
        return self.to_batches().schema

    def to_batches(self) -> pa.RecordBatchReader:
        """Read the rows in batches."""
        reader = self._rows.to_batches()
        names = [target.name for target in self._targets]
        more = [
            (field.name, pa.array([value], to_arrow(field.type)))
            for field, value in self._constants
        ]
        kinds = [*(field.type for field in reader.schema), *(value.type for _, value in more)]
        schema = pa.schema(list(zip([*names, *(name for name, _ in more)], kinds, strict=True)))

        def parts() -> Iterator[pa.RecordBatch]:
            for batch in reader:
                rows = [take_rows(value, np.zeros(batch.num_rows, np.int64)) for _, value in more]
                yield pa.RecordBatch.from_arrays([*batch.columns, *rows], schema=schema)

        return pa.RecordBatchReader.from_batches(schema, parts())

    def interrupt(self) -> None:
        """Stop what reads the rows, from another thread."""
        self._rows.interrupt()

    def renamed(self, names: Sequence[str]) -> DuckRows:
        """Return the rows with other names of the columns."""
        return self._rows.renamed(names)

    def assigned(
        self, fields: Sequence[DataField], constants: Sequence[tuple[DataField, object]] = ()
    ) -> "AssignedRows":
        """Convert columns by position to the names and types of table columns."""
        return self._rows.assigned(fields, constants)


def stored_value(value: str, kind: str, arrow: pa.DataType, target: DataField) -> str:
    """Return a value as Paimon's Spark connector stores it.

    It is cast as by CAST where the column has another type: texts are parsed, fractions truncated
    or rounded; a value out of range is an error that names the column. NULL becomes the default
    value of the column.

    Args:
        value: a column of DuckDB.
        kind: its type.
        arrow: its type in Arrow.
        target: the column that stores it.

    Raises:
        InvalidInputError: the column is a VARIANT, and the value is not.
    """
    made = _cast_value(value, kind, arrow, target)
    if made != value and kind != _UNTYPED and not pat.is_nested(arrow):
        told = f"Column {target.name!r} ({type_text(with_nullable(target.type, nullable=True))}): "
        cure = " cannot be converted to this type. Use try_cast to get NULL."
        shown = f"{text_constant(told)} || CAST({value} AS VARCHAR) || {text_constant(cure)}"
        made = f"coalesce(try({made}), CASE WHEN {value} IS NOT NULL THEN error({shown}) END)"
    if target.default_value is not None:
        default = duckdb_text(parsed_expression(default_text(target)))
        made = f"coalesce({made}, CAST({default} AS {duckdb_type(target.type)}))"
    return fitted(made, target.type)


def _cast_value(value: str, kind: str, arrow: pa.DataType, target: DataField) -> str:
    wanted = to_arrow(target.type)
    if wanted.equals(VARIANT_ARROW) and kind != _UNTYPED and not is_variant_storage(arrow):
        raise InvalidInputError(
            f"Column {target.name!r} (VARIANT) cannot store {kind} without a cast.",
            hint="Write parse_json(…) for a JSON document, or CAST(… AS VARIANT) for the value.",
        )
    if kind == _UNTYPED or pat.is_null(arrow):
        return _null(target.type)
    if pat.is_struct(arrow) and isinstance(target.type, RowType):
        return _stored_struct(value, arrow, target.type)
    if pat.is_list(arrow) and isinstance(target.type, ArrayType):
        made = _stored_part("x", arrow.value_type, target, target.type.element)
        return value if made == "x" else f"list_transform({value}, lambda x: {made})"
    if pat.is_map(arrow) and isinstance(target.type, MapType):
        made = _stored_part("x.key", arrow.key_type, target, target.type.key)
        item = _stored_part("x.value", arrow.item_type, target, target.type.value)
        pairs = (
            f"list_transform(map_entries({value}), lambda x: struct_pack(k := {made}, v := {item}))"
        )
        return value if (made, item) == ("x.key", "x.value") else f"map_from_entries({pairs})"
    is_whole = pat.is_integer(arrow) and pat.is_integer(wanted)  # checked by the writer
    if is_whole or pat.is_nested(wanted) or pat.is_large_binary(wanted):
        return value
    name = "TEXT" if pat.is_string(wanted) else plain_type(wanted)
    return value if arrow.equals(wanted) else f"CAST({cast_argument(name, value)} AS {name})"


def _null(data_type: DataType) -> str:
    """Return NULL of a type, untyped where DuckDB has no such type."""
    try:
        return f"CAST(NULL AS {duckdb_type(data_type)})"
    except InvalidInputError:
        return "NULL"


def _stored_part(value: str, arrow: pa.DataType, column: DataField, kind: DataType) -> str:
    """Return a member, an element of an array, or a key or value of a map, as it is stored."""
    return fitted(_cast_value(value, "", arrow, replace(column, type=kind)), kind)


def _stored_struct(value: str, arrow: pa.StructType, target: RowType) -> str:
    """Return a struct whose members are stored as columns are: by name, else by position."""
    names = [field.name for field in target.fields]
    given = [one.name for one in arrow]
    if len(given) != len(names):
        return value
    order = names if set(given) == set(names) else given
    plain = [f"struct_extract({value}, {text_constant(name)})" for name in order]
    kinds = [arrow.field(name).type for name in order]
    triples = zip(plain, kinds, target.fields, strict=True)
    made = [_stored_part(member, kind, field, field.type) for member, kind, field in triples]
    if made == plain and given == names:
        return value
    members = ", ".join(f"{quoted(name)} := {text}" for name, text in zip(names, made, strict=True))
    return f"CASE WHEN {value} IS NOT NULL THEN struct_pack({members}) END"


def insert(rows: "Rows", table: Table) -> Snapshot | None:
    """Append or upsert rows."""
    return table.upsert(rows) if is_keyed(table.schema, table.options) else table.append(rows)


def engine_type(arrow: pa.DataType) -> DataType:
    """Return the type of a column of DuckDB, where structs of byte strings are variants.

    Raises:
        InvalidInputError: there is no such type.
    """
    return from_arrow(VARIANT_ARROW if is_variant_storage(arrow) else arrow)


def paimon_type(arrow: pa.DataType) -> DataType | None:
    """Return the type of a column of DuckDB; None if there is none."""
    try:
        return engine_type(arrow)
    except InvalidInputError:
        return None


def with_known_sizes(sources: Mapping[str, object]) -> dict[str, object]:
    """Return the sources of a join with scans read into memory, unless they are too large.

    DuckDB takes a scan for one row, but knows the rows of an Arrow table, by which it chooses the
    order of the joins. So small tables are read before the join, once for all references with the
    same columns and conditions; together they take at most a quarter of the memory limit.

    Args:
        sources: by name: scans, and others that stay as they are.
    """
    read: list[tuple[Scan, pa.Table]] = []
    found = dict(sources)
    values, size = _MAX_VALUES, memory_limit() // 4
    scans = [(name, scan) for name, scan in sources.items() if isinstance(scan, Scan)]
    for name, scan in sorted(scans, key=lambda one: _values(one[1])):
        table = next((rows for other, rows in read if _is_same(other, scan)), None)
        if table is None:
            values -= _values(scan)
            table = None if values < 0 else read_within(scan, size)
            if table is None:
                break
            size -= table.nbytes
            read.append((scan, table))
        found[name] = table
    return found


def _values(scan: Scan) -> int:
    """The number of stored values that a scan may read."""
    snapshot = scan.target.snapshot
    rows = 0 if snapshot is None else snapshot.total_record_count
    return _MAX_VALUES + 1 if rows is None else rows * len(scan.columns)


def has_few_values(scan: Scan) -> bool:
    """Return whether DuckDB needs no filters to read a scan in moments: it has few values."""
    return scan.increment is None and _values(scan) <= _FEW_VALUES


def _is_same(one: Scan, other: Scan) -> bool:
    if one.increment is not None or other.increment is not None:
        return False
    left, right = one.target, other.target
    return (
        (one.columns, one.where, one.row_limit) == (other.columns, other.where, other.row_limit)
        and (left.store.paths, left.branch) == (right.store.paths, right.branch)
        and (left.snapshot, left.schema, left.options)
        == (right.snapshot, right.schema, right.options)
    )
