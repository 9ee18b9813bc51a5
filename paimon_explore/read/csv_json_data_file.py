"""Reader of CSV and JSON data files.

Values are texts that are cast to the column's type by Java's cast from STRING. Texts (CHAR is
stored without padding) and bytes (in base64) are not cast.

Spec: concepts/spec/fileformat, CSV and JSON. Seen in: golden append_csv.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.data_types.casts.cast_errors import UncastableError
from paimon_explore.data_types.definitions import (
    STRING,
    TEXTS,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.csv_json import CsvLayout, Json, csv_columns, csv_records, json_records
from paimon_explore.encoding.data_file_reader import WHOLE_FILE, PositionedBatch, StoredColumn
from paimon_explore.encoding.positional_batches import sliced
from paimon_explore.errors import CorruptFileError, PaimonError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.format_options import (
    CSV_ESCAPE_CHARACTER,
    CSV_FIELD_DELIMITER,
    CSV_INCLUDE_HEADER,
    CSV_LINE_DELIMITER,
    CSV_NULL_LITERAL,
    CSV_QUOTE_CHARACTER,
    JSON_LINE_DELIMITER,
)
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.read.schema_evolution import adapt

_BYTES = frozenset({TypeRoot.BINARY, TypeRoot.VARBINARY, TypeRoot.BLOB})
_NOT_AS_TEXT = frozenset({TypeRoot.VARIANT, TypeRoot.GEOMETRY, TypeRoot.GEOGRAPHY})


@dataclass(frozen=True, slots=True)
class TextDataFile:
    """A decoded text file; implements `OpenDataFile`.

    Attributes:
        path: for messages.
        texts: the values of each column, as texts or as JSON of texts.
        rows: number of rows.
    """

    path: str
    texts: "Mapping[str, Sequence[Json] | Column]"
    rows: int

    spans = WHOLE_FILE

    @property
    def names(self) -> frozenset[str]:
        """The names of the columns."""
        return frozenset(self.texts)

    def batches(
        self, columns: Sequence[StoredColumn], spans: Sequence[int], batch_rows: int
    ) -> Iterator[PositionedBatch]:
        """Reads all rows; see `OpenDataFile`."""
        if not spans:
            return
        arrays = [self._column(column) for column in columns]
        yield from sliced(arrays, 0, self.rows, batch_rows)

    def _column(self, column: StoredColumn) -> Column:
        where = f"column {column.name!r}"
        stored = _as_stored(column.type)
        try:
            array: Column = _stored_array(self.texts[column.name], stored)
            return adapt(array, stored, column.type, None)
        except UnsupportedFeatureError:
            raise
        except (PaimonError, UncastableError, pa.ArrowException, ValueError, TypeError) as error:
            raise CorruptFileError(self.path, where, str(error)) from error


def _stored_array(texts: "Sequence[Json] | Column", stored: DataType) -> Column:
    if isinstance(texts, pa.Array):
        if is_root(stored, *TEXTS):
            return texts
        return _stored_array(
            [None if text is None else str(text) for text in as_python(texts)], stored
        )
    if is_root(stored, *TEXTS) and {*map(type, texts)} <= {str, type(None)}:
        return pa.array(texts, to_arrow(stored))
    return pa.array([_plain(value, stored) for value in texts], to_arrow(stored))


def csv_file(text: str, names: Sequence[str], options: TableOptions, *, path: str) -> TextDataFile:
    """Decodes a CSV file.

    Args:
        text: the whole file.
        names: all columns in the file, in order.
        options: of the file's schema.
        path: for messages.

    Raises:
        CorruptFileError: a row has a wrong number of fields.
    """
    layout = CsvLayout(
        field_delimiter=options.value(CSV_FIELD_DELIMITER),
        line_delimiter=options.value(CSV_LINE_DELIMITER),
        quote=options.value(CSV_QUOTE_CHARACTER),
        escape=options.value(CSV_ESCAPE_CHARACTER),
        null_literal=options.value(CSV_NULL_LITERAL),
        has_header=options.value(CSV_INCLUDE_HEADER),
    )
    columns = csv_columns(text, names, layout)
    if columns:
        return TextDataFile(path, columns, len(columns[names[0]]))
    records = csv_records(text, layout)
    for number, record in enumerate(records):
        if len(record) != len(names):
            rule = f"must have {len(names)} fields, not {len(record)}"
            raise CorruptFileError(path, f"row {number}", rule)
    values = zip(*records, strict=True) if records else ((),) * len(names)
    return TextDataFile(path, dict(zip(names, values, strict=True)), len(records))


def json_file(text: str, options: TableOptions, *, path: str) -> TextDataFile:
    """Decodes a JSON file; keys that a row lacks are null.

    Raises:
        CorruptFileError: a line is not a JSON object.
    """
    line = options.value(JSON_LINE_DELIMITER)
    records = list(json_records(text, line_delimiter=line, path=path))
    names = dict.fromkeys(chain.from_iterable(records))
    texts = {name: [record.get(name) for record in records] for name in names}
    return TextDataFile(path, texts, len(records))


def _as_stored(data_type: DataType) -> DataType:
    """The type of the values before the cast: unchanged for texts and bytes, else STRING."""
    match data_type:
        case AtomicType(root=root) if root in _NOT_AS_TEXT:
            raise UnsupportedFeatureError(f"type {root.value} in a text file")
        case AtomicType(root=root):
            return data_type if root in TEXTS | _BYTES else STRING
        case ArrayType(element=element) | VectorType(element=element):
            return replace(data_type, element=_as_stored(element))
        case MapType(key=key, value=value):
            return replace(data_type, key=_as_stored(key), value=_as_stored(value))
        case RowType(fields=fields):
            inner = tuple(replace(field, type=_as_stored(field.type)) for field in fields)
            return replace(data_type, fields=inner)
        case MultisetType():
            raise UnsupportedFeatureError("type MULTISET in a text file")


def _plain(value: Json, stored: DataType) -> object:
    """Converts a JSON value to a Python value for Arrow."""
    if value is None:
        return None
    match stored:
        case ArrayType(element=element) | VectorType(element=element) if isinstance(value, list):
            return [_plain(item, element) for item in value]
        case MapType(key=key, value=inner) if isinstance(value, dict):
            return [(_plain(name, key), _plain(item, inner)) for name, item in value.items()]
        case RowType(fields=fields) if isinstance(value, dict):
            return {field.name: _plain(value.get(field.name), field.type) for field in fields}
        case AtomicType(root=root) if isinstance(value, str | bool):
            text = str(value).lower() if isinstance(value, bool) else value
            return base64.b64decode(text, validate=True) if root in _BYTES else text
        case _:
            raise TypeError(
                f"a JSON value of Python type {type(value).__name__} cannot be read as "
                f"{type_text(stored)}"
            )
