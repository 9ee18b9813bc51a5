"""Manifests of a table rewritten as an older release would have written them, by fastavro."""

import io
from collections.abc import Callable, MutableMapping

import fastavro

from paimon_explore import Table, open_table
from support.avro_records import records_in, writer_schema

Record = MutableMapping[str, object]


def without_delete_counts(table: Table, change: Callable[[Record], None] | None = None) -> Table:
    """A copy of a table whose manifests lack `_DELETE_ROW_COUNT`, as before release 0.8.

    Args:
        table: what is copied.
        change: what else becomes of the file's record (`_FILE`) of each entry.
    """
    root, file_io = table.path, table._store.file_io
    copy = f"{root}_copy"
    for status in file_io.walk(table._store.paths.root):
        path = status.path.removeprefix(table._store.paths.root)
        data = file_io.read(status.path)
        if path.startswith("/manifest/manifest-") and "manifest-list" not in path:
            data = _without_delete_counts(data, change)
        file_io.create(table._store.paths.root + "_copy" + path, data)
    return open_table(copy)


def _without_delete_counts(data: bytes, change: Callable[[Record], None] | None) -> bytes:
    schema = writer_schema(data)
    (file,) = [field["type"] for field in schema["fields"] if field["name"] == "_FILE"]
    file["fields"] = [field for field in file["fields"] if field["name"] != "_DELETE_ROW_COUNT"]
    records = list(records_in(data))
    for record in records:
        described = record["_FILE"]
        assert isinstance(described, dict)
        if change is not None:
            change(described)
    sink = io.BytesIO()
    fastavro.writer(sink, schema, records, codec="deflate")
    return sink.getvalue()
