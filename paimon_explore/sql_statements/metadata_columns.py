"""Rows with the metadata columns that Paimon's Spark connector offers in each query.

| column | value |
| --- | --- |
| `_ROW_ID`, `_SEQUENCE_NUMBER` | of tables with row tracking, as in `$row_tracking` |
| `__paimon_file_path`, `__paimon_row_index` | the data file, and the position of the row in it |
| `__paimon_partition`, `__paimon_bucket` | its partition as a struct, and its bucket |

Spec: spark/sql-query.
"""

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.metadata.options.table_options import ROW_TRACKING_ENABLED
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.predicate.builder import Term
from paimon_explore.scan.splits.data_split import DataSplit, Split
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.table import Table

_TRACKED = {str(one): one for one in (SystemColumn.ROW_ID, SystemColumn.SEQUENCE_NUMBER)}
_POSITION = "__paimon_row_index"
_PARTITION = "__paimon_partition"
_OF_FILES: dict[str, Callable[[pa.RecordBatch, DataSplit, TableSchema], Column]] = {
    "__paimon_file_path": lambda batch, split, _: pa.repeat(split.paths[0], batch.num_rows),
    _PARTITION: lambda batch, _, schema: _structs(batch, schema),
    "__paimon_bucket": lambda batch, split, _: pa.repeat(
        pa.scalar(split.bucket, pa.int32()), batch.num_rows
    ),
    _POSITION: lambda batch, _, __: batch.column(str(SystemColumn.POSITION)),
}
METADATA_COLUMNS = (*_TRACKED, *_OF_FILES)
"""Their names."""


def offered_columns(table: Table) -> list[str]:
    """Return the metadata columns that a table has."""
    schema = table.schema
    absent = set(schema.row_type.names)
    if not table.options.value(ROW_TRACKING_ENABLED):
        absent |= set(_TRACKED)
    if not schema.partition_keys:
        absent.add(_PARTITION)
    return [name for name in METADATA_COLUMNS if name not in absent]


def metadata_rows(
    table: Table, columns: Sequence[str] | None, where: Term | None, names: Sequence[str]
) -> RowSource:
    """Return rows of a table with metadata columns.

    Args:
        table: the table.
        columns: its columns; None for all.
        where: rows to read; None for all.
        names: the metadata columns to add.

    Raises:
        UnsupportedFeatureError: columns of files, but rows of several files are merged.
    """
    scan = table.scan(columns, where)
    schema, of_files = scan.target.schema, any(name in _OF_FILES for name in names)
    added = [pa.field(name, _type(name, schema)) for name in names]
    result = pa.schema([*arrow_schema(schema.project(scan.columns)), *added])
    keys = schema.partition_keys if _PARTITION in names else ()
    system = [_TRACKED[name] for name in names if name in _TRACKED]
    reader = SplitReader(
        target=scan.target,
        columns=tuple(dict.fromkeys((*scan.columns, *keys))),
        predicate=scan.where,
        system_columns=(*system, *([SystemColumn.POSITION] if _POSITION in names else [])),
    )

    def batches() -> Iterator[pa.RecordBatch]:
        with explain_missing_files(scan.target.store, scan.target.snapshot):
            splits = scan.plan().splits
            parts = [part for split in splits for part in _files_of(split)] if of_files else splits
            for part, found in reader.by_split(parts):
                for batch in found:
                    columns = [_value(name, batch, part, schema) for name in result.names]
                    yield pa.RecordBatch.from_arrays(columns, schema=result)

    return RowSource(
        name=f"{table.name} with metadata columns",
        schema=result,
        load=lambda: pa.RecordBatchReader.from_batches(result, batches()),
    )


def _value(name: str, batch: pa.RecordBatch, part: Split, schema: TableSchema) -> Column:
    if name in _OF_FILES and isinstance(part, DataSplit):
        return _OF_FILES[name](batch, part, schema)
    return batch.column(name)


def _files_of(split: Split) -> Iterator[DataSplit]:
    if not isinstance(split, DataSplit) or not split.raw_convertible or split.same_rows:
        raise UnsupportedFeatureError(
            "reading the file and position of rows that are merged from several files",
            hint="Select no metadata columns of files; t.rows(where) shows the records of all "
            "files.",
        )
    return (split.file(row) for row in range(split.count))


def _type(name: str, schema: TableSchema) -> pa.DataType:
    if name == _PARTITION:
        return pa.struct(list(arrow_schema(schema.project(schema.partition_keys))))
    types: dict[str, pa.DataType] = {
        "__paimon_file_path": pa.string(),
        "__paimon_bucket": pa.int32(),
    }
    return types.get(name, pa.int64())


def _structs(batch: pa.RecordBatch, schema: TableSchema) -> Column:
    fields = list(arrow_schema(schema.project(schema.partition_keys)))
    return pa.StructArray.from_arrays([batch.column(f.name) for f in fields], fields=fields)
