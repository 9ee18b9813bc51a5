"""Object tables: the files below a folder as rows; read-only, as in Java.

Spec: concepts/table-types, object table.
"""

from functools import partial

import pyarrow as pa

from paimon_explore.fileio.file_io import FileIO
from paimon_explore.table.row_reader import RowSource

_TEXTS, _NUMBERS = ("path", "name"), ("length", "mtime", "atime")
_FIELDS: "list[pa.Field[pa.DataType]]" = [
    *(pa.field(name, pa.string(), nullable=False) for name in _TEXTS),
    *(pa.field(name, pa.int64(), nullable=False) for name in _NUMBERS),
    pa.field("owner", pa.string()),
]
OBJECT_SCHEMA = pa.schema(_FIELDS)
"""The columns: the path relative to the folder, the size in bytes, times in epoch milliseconds.

The time of the last access is 0 and the owner null, since storages do not list them.
"""


def object_table(name: str, location: str, file_io: FileIO) -> RowSource:
    """Return the files below a folder as rows, sorted by path.

    Args:
        name: `database.table`.
        location: the folder.
        file_io: its storage.
    """
    return RowSource(name=name, schema=OBJECT_SCHEMA, load=partial(_files_below, location, file_io))


def _files_below(location: str, file_io: FileIO) -> pa.RecordBatchReader:
    start = len(location.rstrip("/")) + 1
    files = sorted(file_io.walk(location), key=lambda status: status.path)
    rows = [
        {
            "path": status.path[start:],
            "name": status.name,
            "length": status.size,
            "mtime": status.modified_ms,
            "atime": 0,
            "owner": None,
        }
        for status in files
    ]
    return pa.Table.from_pylist(rows, schema=OBJECT_SCHEMA).to_reader()
