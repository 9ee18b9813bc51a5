"""One data file of any format into batches of the wanted columns.

Theory of operation. A data file is described by the schema it was written with (its `_SCHEMA_ID`),
restricted to its `_WRITE_COLS`; the caller wants columns of a newer or other schema.

1. `read/evolution.py` finds for every wanted field the field of the same id in the file's schema and
   so the *name* under which the file holds it, and what to do with the values afterwards.
2. The format's reader (`encoding/parquet.py`, `orc.py`, `avro_rows.py`, `text.py`, `row_file.py`,
   `blob_file.py`) decodes only those columns, in the file's types, together with the physical
   position of the first row of each batch.
3. Values are cast to the wanted types, absent columns become nulls, system columns are computed,
   and rows that are deleted or not selected are dropped.

Positions are always physical: skipping row groups or stripes never renumbers rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa
from pyroaring import BitMap, BitMap64

from paimon_explore.fileio.file_io import FileIO
from paimon_explore.metadata.schema import TableSchema
from paimon_explore.scan.expression import Expression
from paimon_explore.types.data_types import DataField


class SystemColumn(StrEnum):
    """Columns that are no columns of the table, by their name in the result."""

    SEQUENCE_NUMBER = "_SEQUENCE_NUMBER"
    VALUE_KIND = "_VALUE_KIND"
    ROW_ID = "_ROW_ID"
    POSITION = "_POSITION"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFileSource:
    """A data file and what its manifest entry says about it.

    Attributes:
        file_io: where the file lies.
        path: of the file; its last extension names the format (`.zst.parquet`, `.json.gz`).
        size: in bytes, if known; saves a request on object stores.
        schema: the table's schema of the entry's `_SCHEMA_ID`.
        write_cols: the entry's `_WRITE_COLS`: names, as of `schema`, that the file holds. None: all.
        first_row_id: the entry's `_FIRST_ROW_ID`; row ids that are not stored are this + position.
        max_sequence_number: the entry's; stands in for sequence numbers that are not stored (row
            tracking). Without it they are null.
        sequence_number: replaces every stored sequence number (level-0 files of tables with
            `sequence.snapshot-ordering`, where it is the snapshot id of the manifest entry).
    """

    file_io: FileIO
    path: str
    schema: TableSchema
    size: int | None = None
    write_cols: tuple[str, ...] | None = None
    first_row_id: int | None = None
    max_sequence_number: int | None = None
    sequence_number: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRequest:
    """What to read of a data file.

    Attributes:
        fields: the wanted columns in result order, ids and types of the reading schema. Nested ROW
            fields may be a part of what the table has. May be empty: batches then have the right
            number of rows and only the system columns.
        system_columns: appended after `fields`, in this order.
        from_keys: read trimmed primary-key columns from `_KEY_<name>` where the file has it (changelog
            and data files of primary-key tables); thin files and False: from the value column.
        deleted: positions to drop (a deletion vector), if any.
        selection: the only positions to keep (a file index's answer), if any.
        predicate: bound to `fields`; whole row groups or stripes that cannot match are skipped. Never
            used to drop single rows: the caller filters.
        batch_rows: no batch is longer; batches may be shorter, none is empty.
        use_threads: decode columns of one batch in parallel.
    """

    fields: tuple[DataField, ...]
    system_columns: tuple[SystemColumn, ...] = ()
    from_keys: bool = False
    deleted: BitMap | BitMap64 | None = None
    selection: BitMap | BitMap64 | None = None
    predicate: Expression | None = None
    batch_rows: int = 65_536
    use_threads: bool = True


def result_schema(request: ReadRequest) -> pa.Schema:
    """The schema of every batch that `read_data_file` gives for this request.

    `arrow_field` of each wanted field, then `_SEQUENCE_NUMBER` int64, `_VALUE_KIND` int8, `_ROW_ID`
    int64, `_POSITION` int64 as asked for.
    """
    raise NotImplementedError(request)


def read_data_file(source: DataFileSource, request: ReadRequest) -> Iterator[pa.RecordBatch]:
    """Read the wanted columns of one data file, in file order.

    Args:
        source: the file.
        request: columns, rows and batch size.

    Yields:
        Batches of `result_schema(request)`: columns in exactly `to_arrow(type)`. `_VALUE_KIND` is 0
        where the file has none; `_POSITION` is the row's 0-based place in the file before any row was
        dropped. The file is opened at the first step and closed at the end or when the iterator is.

    Raises:
        MissingFileError: the file is not there.
        CorruptFileError: the bytes break the format, or the extension is none of Paimon's.
        UnsupportedFeatureError: a format that needs an engine (lance, vortex, mosaic, text).

    Spec: concepts/spec/datafile; schema evolution: concepts/spec/schema.
    """
    raise NotImplementedError(source, request)
