"""Checks that the values of columns may be read; contents of BLOB columns of descriptors.

Spec: append-table/blob, `blob-descriptor-field`; `blob-as-descriptor`.
"""

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.encoding.blob.blob_descriptor import decode_descriptor
from paimon_explore.errors import CorruptFileError, UnsupportedFeatureError
from paimon_explore.metadata.options.table_options import (
    BLOB_AS_DESCRIPTOR,
    BLOB_DESCRIPTOR_FIELD,
    BLOB_VIEW_FIELD,
    BLOB_VIEW_RESOLVE_ENABLED,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.store.blob_contents import managed_blobs, read_contents
from paimon_explore.store.table_store import TableStore


def check_readable_columns(
    store: TableStore,
    names: Sequence[str],
    schema_options: Mapping[str, str],
    options: TableOptions,
) -> None:
    """Check that all rows of columns may be read, and that the stored values are the contents.

    Args:
        store: the table.
        names: the columns.
        schema_options: options of the schema.
        options: effective options.

    Raises:
        UnsupportedFeatureError: the catalog restricts rows or values, or a BLOB column stores
            references to contents elsewhere, which are not followed.
    """
    check_stored_contents(store, names, options)
    if store.environment is not None:
        from paimon_explore.store.query_authorization import check_unrestricted  # noqa: PLC0415 - catalogs

        check_unrestricted(store, names, schema_options, options)


def check_stored_contents(store: TableStore, names: Sequence[str], options: TableOptions) -> None:
    """Check that the stored values of columns are the contents.

    Raises:
        UnsupportedFeatureError: a BLOB column stores references, which are not followed.
    """
    for name, kind, hint in _references(options):
        if name in names:
            raise UnsupportedFeatureError(
                f"reading the contents of BLOB column {name!r}, which stores {kind},",
                store.paths.root,
                hint=f"Select other columns, or pass options={{{hint}}} to read what is stored.",
            )


def _references(options: TableOptions) -> Iterator[tuple[str, str, str]]:
    """Yield each column of references, what it stores, and the option that returns it."""
    if options.has(BLOB_VIEW_FIELD) and options.value(BLOB_VIEW_RESOLVE_ENABLED):
        for name in options.value(BLOB_VIEW_FIELD):
            yield name, "references to other tables", f"{BLOB_VIEW_RESOLVE_ENABLED.key!r}: 'false'"


def with_contents(
    batches: Iterator[pa.RecordBatch],
    columns: Sequence[str],
    schema: TableSchema,
    options: TableOptions,
    store: TableStore,
) -> Iterator[pa.RecordBatch]:
    """Replace descriptors by the contents that they refer to, unless they are asked for.

    Args:
        batches: rows.
        columns: their columns.
        schema: the reading schema.
        options: effective options.
        store: the table.

    Raises:
        CorruptFileError: a value is no descriptor, or its file ends before the contents do.
        UnsupportedFeatureError: contents are in another storage than the table.
        MissingFileError: a file of contents does not exist.
    """
    stored = {*options.value(BLOB_DESCRIPTOR_FIELD), *managed_blobs(schema, options)}
    names = [name for name in columns if name in stored]
    if not names or options.value(BLOB_AS_DESCRIPTOR):
        return batches
    return (_batch_with_contents(batch, names, store) for batch in batches)


def _batch_with_contents(
    batch: pa.RecordBatch, names: Sequence[str], store: TableStore
) -> pa.RecordBatch:
    for name in names:
        at = batch.schema.get_field_index(name)
        values = [_contents(value, name, store) for value in as_python(batch.column(at))]
        column: Column = pa.array(values, batch.column(at).type)
        batch = batch.set_column(at, batch.schema.field(at), column)
    return batch


def _contents(value: object, name: str, store: TableStore) -> object:
    """Replace the descriptors of a value: a BLOB, a list of them, or the pairs of a map."""
    match value:
        case list():
            return [_contents(one, name, store) for one in value]
        case (key, item):
            return key, _contents(item, name, store)
        case bytes():
            return _blob(value, name, store)
        case _:
            return None


def _blob(value: bytes, name: str, store: TableStore) -> bytes:
    try:
        descriptor = decode_descriptor(value)
    except ValueError as error:
        raise CorruptFileError(store.paths.root, f"column {name!r}", str(error)) from error
    return read_contents(store, descriptor)
